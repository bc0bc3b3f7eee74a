"""Statements of a migration that take hours: neither the headers of their progress nor the silence between end them."""

import asyncio
import re
from collections.abc import AsyncIterator
from urllib.parse import parse_qs, urlsplit

import pytest
from clickhouse_connect.driver.asyncclient import AsyncClient

from tests.harness.tcp_servers import TcpServer
from workers.local.ports import LOOPBACK
from workers.settings import Settings
from workers.settings.addresses import Addresses
from workers.stores.clickhouse.analytics_store import connect
from workers.stores.clickhouse.migrations import MigrationError, applied_migrations, migrate, migrate_database

HOURS = 24
"""Time that each copying statement takes at the server of these tests."""


class SlowServer:
    """The local server behind a proxy that adds the progress headers of a server whose copies take hours."""

    def __init__(self, url: str) -> None:
        self._parts = urlsplit(url)
        self.copies = 0
        self.intervals: set[int] = set()

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"(?i)content-length: (\d+)", head)
        body = await reader.readexactly(int(length[1])) if length else b""
        upstream, sink = await asyncio.open_connection(self._parts.hostname, self._parts.port)
        sink.write(head[:-2] + b"Connection: close\r\n\r\n" + body)
        rest_of_request = asyncio.create_task(self._pass_on(reader, sink))
        try:
            reply = await upstream.read()
        finally:
            rest_of_request.cancel()
            sink.close()
        status, rest = reply.split(b"\r\n", 1)
        writer.write(status + b"\r\nConnection: close\r\n" + self._progress(head, body) + rest)
        await writer.drain()

    async def _pass_on(self, reader: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while part := await reader.read(65_536):  # a body in chunks, which has no length
            sink.write(part)

    def _progress(self, head: bytes, body: bytes) -> bytes:
        if not re.match(rb"\s*INSERT INTO .* SELECT ", body, re.DOTALL):
            return b""
        self.copies += 1
        query = parse_qs(urlsplit(head.split(b" ")[1].decode()).query)
        if query.get("send_progress_in_http_headers") != ["1"]:
            return b""
        interval = int(query["http_headers_progress_interval_ms"][0])
        self.intervals.add(interval)
        return b'X-ClickHouse-Progress: {"read_rows":"1"}\r\n' * (HOURS * 3_600_000 // interval)


@pytest.fixture
async def slow(addresses: Addresses) -> AsyncIterator[tuple[SlowServer, str]]:
    slow = SlowServer(addresses.clickhouse)
    async with TcpServer(slow.handle) as proxy:
        login = urlsplit(addresses.clickhouse).netloc.rpartition("@")[0]
        yield slow, f"http://{login + '@' if login else ''}{LOOPBACK}:{proxy.port}"


async def test_copies_of_a_migration_may_take_a_day(
    empty_database: AsyncClient, database: str, settings: Settings, slow: tuple[SlowServer, str]
) -> None:
    server, url = slow
    applied = await migrate_database(settings.clickhouse, url)
    assert server.copies > 0
    assert len(applied) == len(await applied_migrations(empty_database, database)) > 0
    # A silence of one interval must not end the statement, either.
    client = await connect(settings.clickhouse.model_copy(update={"timeout_seconds": 1_200.0}), url)
    assert client._timeout.sock_read is not None
    assert all(interval / 1_000 < client._timeout.sock_read - 60 for interval in server.intervals)
    await client.close()


async def test_the_client_of_a_worker_takes_no_such_reply(
    empty_database: AsyncClient, database: str, settings: Settings, slow: tuple[SlowServer, str]
) -> None:
    client = await connect(settings.clickhouse, slow[1])
    with pytest.raises(MigrationError):
        await migrate(client, database)
    await client.close()
