"""ClickHouse: rows in, confirmed; every insert can be repeated."""

import asyncio
import math
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any
from urllib.parse import unquote, urlsplit

import clickhouse_connect
import orjson
from clickhouse_connect.driver.asyncclient import AsyncClient
from clickhouse_connect.driver.exceptions import DatabaseError, Error, OperationalError

from workers.delivery.errors import RejectedByStore, StoreUnavailable
from workers.settings import ClickHouseSettings

DATA_ERRORS = frozenset(
    {6, 7, 8, 10, 16, 26, 27, 36, 38, 41, 43, 44, 53, 60, 62, 69, 70, 72, 117, 130, 190, 321, 349, 469}
)
"""ClickHouse error codes that say something of the rows or the statement, so that waiting
cannot help: cannot parse, unknown column or table, type mismatch, not nullable, syntax, constraint. All
others (timeouts, memory, too many parts, read-only, keeper) may pass.
Source: src/Common/ErrorCodes.cpp of ClickHouse."""

CHECK_SECONDS = 5.0
"""Longest wait for an answer when only asked whether it is there."""

INSERT_SETTINGS = {
    "date_time_input_format": "best_effort",
    "input_format_skip_unknown_fields": 0,
    "async_insert": 0,
    "insert_deduplicate": 1,
    # A repeat whose first try reached the rows but not their facts reaches the facts.
    "deduplicate_blocks_in_dependent_materialized_views": 1,
    # A batch of old answers (a backlog, a replay) may touch any number of months.
    "max_partitions_per_insert_block": 0,
}


class AnalyticsStore:
    """Inserts rows into ClickHouse and waits for the confirmation.

    Args:
        client: connected client.
        database: where the tables are.
    """

    def __init__(self, client: AsyncClient, database: str) -> None:
        self._client = client
        self._database = database

    @property
    def client(self) -> AsyncClient:
        """The client, for queries."""
        return self._client

    async def insert(self, table: str, rows: Sequence[Mapping[str, Any]], *, about: str = "") -> None:
        """Insert rows; the same rows in the same order are one insert, however often it is repeated.

        Args:
            table: name without database.
            rows: values by column; times as ISO 8601.
            about: what tells this insert from one of the same rows that must not count as its repeat:
                ClickHouse remembers an insert also when its rows are deleted.

        Raises:
            RejectedByStore: ClickHouse refuses the values.
            StoreUnavailable: it did not confirm; the rows may be there or not.
        """
        if not rows:
            return
        try:
            block = b"\n".join(orjson.dumps(row) for row in rows)
        except TypeError as error:
            raise RejectedByStore(f"a row for table {table} holds a value that ClickHouse has no type for") from error
        token = sha256(f"{table}\0{about}\0".encode() + block if about else table.encode() + b"\0" + block).hexdigest()
        try:
            await self._client.raw_insert(
                f"{self._database}.{table}",
                insert_block=block,
                fmt="JSONEachRow",
                settings=INSERT_SETTINGS | {"insert_deduplication_token": token},
            )
        except DatabaseError as error:
            raise _translated(error, table) from error
        except (Error, OSError, TimeoutError, asyncio.IncompleteReadError) as error:
            raise StoreUnavailable(
                f"ClickHouse did not confirm an insert into {table} ({type(error).__name__})"
            ) from error

    async def problem(self) -> str | None:
        """Why ClickHouse cannot be asked now, or ``None`` if it can."""
        try:
            async with asyncio.timeout(CHECK_SECONDS):
                await self._client.command("SELECT 1")
        except (Error, OSError, TimeoutError, asyncio.IncompleteReadError) as error:
            return f"ClickHouse does not answer ({type(error).__name__})"
        return None

    async def close(self) -> None:
        """Disconnect."""
        await self._client.close()


async def connect(settings: ClickHouseSettings, url: str) -> AsyncClient:
    """A client for the server at ``url``.

    Args:
        settings: user, password and timeout.
        url: http(s)://host:port.

    Raises:
        StoreUnavailable: nobody answers there.
    """
    try:
        parts = urlsplit(url)
        port = parts.port or (8443 if parts.scheme == "https" else 8123)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError
    except ValueError:
        # The URL itself may hold a password.
        raise StoreUnavailable(
            "the address of ClickHouse is no URL; set CLICKHOUSE_URL to http(s)://host:port"
        ) from None
    try:
        return await clickhouse_connect.get_async_client(
            host=parts.hostname,
            port=port,
            interface=parts.scheme,
            username=unquote(parts.username or "") or settings.username,
            password=unquote(parts.password or "") or settings.password.get_secret_value(),
            connect_timeout=10,
            send_receive_timeout=math.ceil(settings.timeout_seconds),
            autogenerate_session_id=False,
        )
    except (Error, OSError) as error:
        raise StoreUnavailable(
            f"no ClickHouse answers at {parts.hostname}:{port} ({type(error).__name__}); start one or set CLICKHOUSE_URL"
        ) from error


def error_code(error: DatabaseError) -> int | None:
    """ClickHouse's error code, if the text tells one."""
    text = str(error)
    for marker in ("Code: ", "error code "):
        _, found, rest = text.partition(marker)
        digits = rest[: len(rest) - len(rest.lstrip("0123456789"))]
        if found and digits:
            return int(digits)
    return None


def _translated(error: DatabaseError, table: str) -> Exception:
    code = error_code(error)
    if not isinstance(error, OperationalError) and code in DATA_ERRORS:
        return RejectedByStore(f"ClickHouse refuses rows for table {table} (error code {code})")
    if code is None:
        return StoreUnavailable(f"ClickHouse did not confirm an insert into {table} ({type(error).__name__})")
    return StoreUnavailable(f"ClickHouse failed to insert into {table} (error code {code})")
