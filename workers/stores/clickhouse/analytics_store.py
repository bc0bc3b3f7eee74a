"""Insert rows into ClickHouse and wait for the acknowledgement. Every insert can be repeated."""

import asyncio
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any
from urllib.parse import unquote, urlsplit
from uuid import uuid4

import clickhouse_connect
import orjson
from clickhouse_connect.driver.asyncclient import AsyncClient
from clickhouse_connect.driver.exceptions import DatabaseError, Error, OperationalError

from workers.errors import RejectedByStore, StoreUnavailable
from workers.settings import ClickHouseSettings
from workers.stores.tables.all_tables import WRITTEN
from workers.stores.tables.table_row import TableRow, clock_columns

DATA_ERRORS = frozenset(
    {6, 7, 8, 10, 16, 26, 27, 36, 38, 41, 43, 44, 53, 60, 62, 69, 70, 72, 117, 130, 190, 321, 349, 469}
)
"""ClickHouse error codes that concern the rows or the statement, so that waiting does not help:
cannot parse, unknown column or table, type mismatch, not nullable, syntax, constraint. All
other errors (timeouts, memory, too many parts, read-only, keeper) may pass.
Source: src/Common/ErrorCodes.cpp of ClickHouse."""

AUTHENTICATION_FAILED = 516
"""ClickHouse error code of a wrong user or password."""

CLIENT_ERRORS = (Error, OSError, TimeoutError, asyncio.IncompleteReadError)
"""Errors of a client whose server refuses connections, is unavailable or disconnects."""

LONG_TIMEOUT = 120.0
"""Timeout from which the interval of a statement's progress is longer than the client chooses, seconds."""

CHECK_SECONDS = 5.0
"""Timeout of a health check."""

INSERT_SETTINGS = {
    "date_time_input_format": "best_effort",
    "input_format_skip_unknown_fields": 0,
    "async_insert": 0,
    "insert_deduplicate": 1,
    # If the first try wrote the rows but not their facts, the repeat writes the facts.
    "deduplicate_blocks_in_dependent_materialized_views": 1,
    # A batch of old answers (a backlog, a replay) may touch any number of months.
    "max_partitions_per_insert_block": 0,
}

# A repeat of the same content renews the time from which it is kept. Dropped as a repeat, it would expire while cited.
RENEWED = frozenset(table.table for table in WRITTEN if table.kept_from in clock_columns(table))
"""Tables whose rows are kept from their last insert, so that equal inserts are not dropped."""


class AnalyticsStore:
    """Insert rows into ClickHouse and wait for the confirmation.

    Args:
        client: connected client.
        database: name of the database with the tables.
        query_seconds: longest wait for a query; by default that of the client.

    Attributes:
        query_seconds: longest wait for a query, or ``None``.
    """

    def __init__(self, client: AsyncClient, database: str, query_seconds: float | None = None) -> None:
        self._client = client
        self._database = database
        self.query_seconds = query_seconds

    @property
    def client(self) -> AsyncClient:
        """Return the client, for queries."""
        return self._client

    async def insert(self, table: str, rows: Sequence[Mapping[str, Any]], *, about: str = "") -> None:
        """Insert rows. A repeat of the same rows in the same order has no further effect.

        Args:
            table: name without database.
            rows: values by column; times as ISO 8601.
            about: text that distinguishes this insert from a separate insert of the same rows:
                ClickHouse remembers an insert also when its rows are deleted.

        Raises:
            RejectedByStore: ClickHouse refuses the values.
            StoreUnavailable: ClickHouse did not acknowledge; the rows may be there or not.
        """
        if not rows:
            return
        block = b"\n".join(_line(table, row) for row in rows)
        token = sha256(f"{table}\0{about}\0".encode() + block if about else table.encode() + b"\0" + block).hexdigest()
        if table in RENEWED:
            # Servers differ in the setting that switches deduplication off; a token of its own is new to all of them.
            token = uuid4().hex
        try:
            await self._client.raw_insert(
                f"{self._database}.{table}",
                insert_block=block,
                fmt="JSONEachRow",
                settings=INSERT_SETTINGS | {"insert_deduplication_token": token},
            )
        except DatabaseError as error:
            raise _translated(error, table) from error
        except CLIENT_ERRORS as error:
            raise StoreUnavailable(
                f"ClickHouse did not acknowledge an insert into {table} ({type(error).__name__})"
            ) from error

    async def store(self, rows: Iterable[TableRow], *, about: str = "") -> None:
        """Insert rows into their tables, one insert a table; see :meth:`insert`.

        Raises:
            RejectedByStore: ClickHouse refuses the values.
            StoreUnavailable: ClickHouse did not acknowledge; the rows may be there or not.
        """
        tables: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for row in rows:
            tables[row.table].append(row.columns)
        for table, columns in tables.items():
            await self.insert(table, columns, about=about)

    async def problem(self) -> str | None:
        """Return the reason why ClickHouse cannot be queried now, or ``None`` if it can."""
        try:
            async with asyncio.timeout(CHECK_SECONDS):
                await self._client.command("SELECT 1")
        except CLIENT_ERRORS as error:
            return f"ClickHouse does not respond ({type(error).__name__})"
        return None

    async def close(self) -> None:
        """Disconnect."""
        await self._client.close()


def _line(table: str, row: Mapping[str, Any]) -> bytes:
    try:
        return orjson.dumps(row)
    except TypeError as error:
        column = next((name for name, value in row.items() if not _has_type(value)), "?")
        raise RejectedByStore(
            f"column {column} of a row for table {table} contains a value without a ClickHouse type, such as an integer "
            "of more than 64 bits; write it as a text"
        ) from error


def _has_type(value: Any) -> bool:
    try:
        orjson.dumps(value)
    except TypeError:
        return False
    return True


async def connect(settings: ClickHouseSettings, url: str) -> AsyncClient:
    """Return a client for the server at ``url``.

    Args:
        settings: user, password and timeout.
        url: http(s)://host:port.

    Raises:
        StoreUnavailable: no server answers there.
    """
    try:
        parts = urlsplit(url)
        port = parts.port or (8443 if parts.scheme == "https" else 8123)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError
    except ValueError:
        # The URL itself may hold a password.
        raise StoreUnavailable("CLICKHOUSE_URL is not a URL; set it to http(s)://host:port") from None
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
            settings=_server_settings(settings),
        )
    except (Error, OSError) as error:
        if isinstance(error, DatabaseError) and error_code(error) == AUTHENTICATION_FAILED:
            raise StoreUnavailable(
                f"ClickHouse at {parts.hostname}:{port} refuses the user or the password; correct "
                "TOUCHSTONE_CLICKHOUSE__USERNAME and TOUCHSTONE_CLICKHOUSE__PASSWORD"
            ) from error
        raise StoreUnavailable(
            f"no ClickHouse server responds at {parts.hostname}:{port} ({type(error).__name__}); start one or set "
            "CLICKHOUSE_URL"
        ) from error


def _server_settings(settings: ClickHouseSettings) -> dict[str, Any]:
    chosen: dict[str, Any] = {"insert_quorum": settings.insert_quorum} if settings.insert_quorum else {}
    # While a statement runs, the server sends a header in this interval, so that the connection stays open. By default
    # it is two minutes at most, also with a longer timeout, and aiohttp refuses a reply with more than 128 headers.
    if settings.timeout_seconds > LONG_TIMEOUT:
        chosen["http_headers_progress_interval_ms"] = int(settings.timeout_seconds * 900)
    return chosen


def error_code(error: DatabaseError) -> int | None:
    """Return the ClickHouse error code in a text, or ``None``."""
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
        return RejectedByStore(f"ClickHouse refused rows for table {table} (error code {code})")
    if code is None:
        return StoreUnavailable(f"ClickHouse did not acknowledge an insert into {table} ({type(error).__name__})")
    return StoreUnavailable(f"ClickHouse failed to insert into {table} (error code {code})")
