"""Run statements with chDB, ClickHouse's engine inside this process.

Each statement gets its own connection (0.2 ms), so that settings, parameters and the
database of one request never affect another. The engine may be called from several threads.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from workers.local.engine.statements import InlineData, Statement

MAX_THREADS = 1
"""Threads of a statement: on tables of a local machine, handing parts to a second thread costs more than it gains."""
MAX_QUERY_MEMORY_BYTES = 1_500_000_000
MAX_SERVER_MEMORY_BYTES = 2_000_000_000
MAX_RESULT_BYTES = 512 * 1024 * 1024
MAX_SECONDS = 300
"""Maximum duration of one statement, because a disconnected client cannot stop it."""

_APPEND_BYTES = 1024 * 1024
_SETTINGS = re.compile(rb"\bSETTINGS\b", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_CODE = re.compile(r"Code: (\d+)\.")
_SYMBOL = re.compile(r"\(([A-Z][A-Z0-9_]+)\)")
_VERSION = re.compile(r" \(version [^)]*\)\Z")
_OPTIONS = {
    "max_server_memory_usage": MAX_SERVER_MEMORY_BYTES,
    "max_memory_usage": MAX_QUERY_MEMORY_BYTES,
    "max_threads": MAX_THREADS,
    "max_result_bytes": MAX_RESULT_BYTES,
    "max_execution_time": MAX_SECONDS,
    # The server's values; the embedded engine reads a bare `1` as `SELECT 1`.
    "implicit_select": 0,
    "storage_file_read_method": "pread",
}

BACKUPS = "-backups"
"""End of the name of the folder with backups, which lies beside the folder of the tables."""


class EngineError(Exception):
    """A statement that ClickHouse refused.

    Attributes:
        code: ClickHouse's error number.
        symbol: its symbolic name such as UNKNOWN_TABLE; empty if the message contains none.
    """

    def __init__(self, code: int, text: str, symbol: str = "") -> None:
        super().__init__(text)
        self.code = code
        self.symbol = symbol


@dataclass(frozen=True, slots=True)
class EngineRequest:
    """A statement and its context.

    Attributes:
        statement: SQL to run.
        default_format: format of the result if the statement names none.
        database: database of unqualified names; None for the default database.
        settings: ClickHouse settings of this statement.
        parameters: values of `{name:Type}`, escaped as in TabSeparated.
        read_only: true to refuse every statement that changes data.
    """

    statement: Statement
    default_format: str = "TabSeparated"
    database: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, str] = field(default_factory=dict)
    read_only: bool = False


@dataclass(frozen=True, slots=True)
class EngineResult:
    """A statement's result in its format, with ClickHouse's statistics."""

    body: bytes
    elapsed_s: float
    result_rows: int = 0
    read_rows: int = 0
    read_bytes: int = 0
    written_rows: int = 0
    written_bytes: int = 0


class Engine:
    """The tables of one directory; only one process at a time can open the directory."""

    def __init__(self, path: Path) -> None:
        """Open the directory, which is created if missing.

        Raises:
            EngineError: another process has the directory open, or it cannot be read.
            ValueError: the path contains a character with a special meaning for the engine.
        """
        if set(str(path)) & set("?&%#"):
            raise ValueError(f"The engine cannot open a path with one of ?&%#: {path}")
        # Deferred: the import takes a second and fixes the time zone.
        import chdb

        self._connect: Callable[[str], Any] = chdb.connect
        options = "&".join(f"{name}={value}" for name, value in _OPTIONS.items())
        options += f"&backups.allowed_path={path}{BACKUPS}"
        self._address = f"{path}?{options}"
        # The engine closes with its last connection; this connection keeps it open between statements.
        self._keeper = self._open()
        self.table_functions = frozenset(self._rows("SELECT name FROM system.table_functions"))
        self._close_the_file_system()
        self.version: str = self._keeper.query("SELECT version()", "TSV").bytes().decode().strip()

    def run(self, request: EngineRequest) -> EngineResult:
        """Run one statement and block until its complete result is available.

        Raises:
            EngineError: ClickHouse refused the statement, or it failed.
        """
        connection = self._open()
        try:
            self._prepare(connection, request)
            if request.statement.data is not None:
                return _insert(connection, request.statement.sql, request.statement.data)
            return _query(connection, request)
        except RuntimeError as error:
            raise _as_engine_error(error) from error
        finally:
            connection.close()

    def _rows(self, sql: str) -> list[str]:
        return str(self._keeper.query(sql, "TSV").bytes().decode()).split()

    def _close_the_file_system(self) -> None:
        """Replace the database `default`, in which the embedded engine takes every path for a table, if it is empty."""
        overlaid = self._rows("SELECT name FROM system.databases WHERE name = 'default' AND engine = 'Overlay'")
        if overlaid and not self._rows("SELECT name FROM system.tables WHERE database = 'default'"):
            self._keeper.query("DROP DATABASE default", "TSV")
            self._keeper.query("CREATE DATABASE default ENGINE = Atomic", "TSV")

    def release_memory(self) -> None:
        """Return freed memory to the system; otherwise the allocator keeps it."""
        self._keeper.query("SYSTEM JEMALLOC PURGE", "TSV")

    def close(self) -> None:
        """Close the directory, so that another process can open it."""
        self._keeper.close()

    def _open(self) -> Any:
        try:
            return self._connect(self._address)
        except RuntimeError as error:
            raise _as_engine_error(error) from error

    def _prepare(self, connection: Any, request: EngineRequest) -> None:
        """Set the context of the statement, and the refusal of changes last."""
        if request.database:
            escaped = request.database.replace("\\", "\\\\").replace("`", "\\`")
            connection.query(f"USE `{escaped}`", "TSV")
        changes = dict(request.settings)
        changes |= {f"param_{name}": value for name, value in request.parameters.items()}
        if request.read_only:
            changes["readonly"] = "2"
        for name in changes:
            if not _NAME.match(name):
                raise engine_error(115, "UNKNOWN_SETTING", f"Unknown setting {name!r}.")
        if changes:
            assignments = ", ".join(f"{name} = {_literal(v)}" for name, v in changes.items())
            connection.query(f"SET {assignments}", "TSV")


def _query(connection: Any, request: EngineRequest) -> EngineResult:
    """Run a statement without data."""
    statement = request.statement
    # A format in the statement overrides the format given here.
    result = connection.query(statement.sql, request.default_format)
    if statement.returns_rows:
        return EngineResult(
            result.bytes(),
            result.elapsed(),
            result_rows=result.rows_read(),
            read_rows=result.storage_rows_read(),
            read_bytes=result.storage_bytes_read(),
        )
    return EngineResult(
        result.bytes(),
        result.elapsed(),
        read_rows=result.storage_rows_read(),
        read_bytes=result.storage_bytes_read(),
        written_rows=result.rows_written(),
        written_bytes=result.bytes_written(),
    )


def _insert(connection: Any, sql: bytes, data: InlineData) -> EngineResult:
    """Run an INSERT with its rows, which are parsed before any of their block is visible.

    The rows are read from a file and not passed to ``send_insert``: that function reports success when the table
    refuses the rows (a constraint, too many partitions or parts), and the rows are lost.
    """
    started = time.monotonic()
    if _SETTINGS.search(sql):
        return _insert_streamed(connection, sql, data)
    with NamedTemporaryFile(prefix="touchstone-insert-") as file:
        file.write(data.content)
        file.flush()
        source = b"%s FROM INFILE %s FORMAT %s" % (sql, _literal(file.name).encode(), data.format.encode())
        result = connection.query(source, "TabSeparated")
    return EngineResult(
        b"",
        time.monotonic() - started,
        written_rows=result.rows_written(),
        written_bytes=result.bytes_written(),
    )


def _insert_streamed(connection: Any, sql: bytes, data: InlineData) -> EngineResult:
    """Run an INSERT with SETTINGS of its own, because FROM INFILE would have to precede them.

    The worker sends settings separately from the statement, so only people at a prompt need this function.
    """
    started = time.monotonic()
    with connection.send_insert(sql, data.format) as insert:
        for start in range(0, len(data.content), _APPEND_BYTES):
            insert.append(bytes(data.content[start : start + _APPEND_BYTES]))
        result = insert.finish()
    return EngineResult(
        b"",
        time.monotonic() - started,
        written_rows=result.rows_written,
        written_bytes=result.bytes_written,
    )


def _literal(value: str) -> str:
    """Return a value as an SQL string."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def engine_error(code: int, symbol: str, text: str) -> EngineError:
    """Return an error with ClickHouse's wording."""
    return EngineError(code, f"Code: {code}. DB::Exception: {text} ({symbol})", symbol)


def _as_engine_error(error: Exception) -> EngineError:
    """Extract ClickHouse's message, number and name from the engine's exception."""
    text = str(error)
    code = _CODE.search(text)
    if code is None:
        return engine_error(1002, "UNKNOWN_EXCEPTION", text)
    text = _VERSION.sub("", text[code.start() :].strip())
    symbols = _SYMBOL.findall(text)
    return EngineError(int(code.group(1)), text, symbols[-1] if symbols else "")
