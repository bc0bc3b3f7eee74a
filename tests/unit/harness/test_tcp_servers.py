"""Connections of a test's servers end with the test, whatever their handlers were about to do."""

import asyncio
import gc
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.chaos.proxy import KafkaProxy, TcpProxy
from tests.harness.tcp_servers import TcpServer, forward, never_answer
from workers.local.ports import LOOPBACK, free_port


async def fails(_: asyncio.StreamReader, __: asyncio.StreamWriter) -> None:
    raise OSError("the server behind is gone")


async def forwards_to_nobody(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await forward(reader, writer, LOOPBACK, free_port())


SERVERS = {
    "never answers": lambda: TcpServer(never_answer),
    "fails": lambda: TcpServer(fails),
    "forwards to nobody": lambda: TcpServer(forwards_to_nobody),
    "proxy of nobody": lambda: TcpProxy(free_port()),
    "proxy of no broker": lambda: KafkaProxy(free_port()),
}


@pytest.fixture
def left_open(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """Collect the warnings about connections that nothing refers to any more and that are still open."""
    found: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: found.append(unraisable.exc_value))
    yield found
    gc.collect()


@pytest.mark.filterwarnings("error::ResourceWarning")
@pytest.mark.parametrize("name", SERVERS)
def test_a_client_that_stays_connected_leaves_nothing_open(name: str, left_open: list[Any]) -> None:
    async def connect_and_stop() -> None:
        async with SERVERS[name]() as server:
            reader, writer = await asyncio.open_connection(LOOPBACK, server.port)
            while not server.accepted:
                await asyncio.sleep(0)
        async with asyncio.timeout(60):
            with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
                await reader.readexactly(1)
        writer.transport.abort()

    asyncio.run(connect_and_stop(), debug=False)
    gc.collect()
    assert left_open == []
