"""chDB, ClickHouse's engine in this process, behind one call: run a statement.

Each statement gets a connection of its own (0.2 ms), so that settings, parameters and the
database of one request never reach another. The engine may be called from several threads.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from workers.local.statements import InlineData, Statement

MAX_THREADS = 2
MAX_QUERY_MEMORY_BYTES = 1_500_000_000
MAX_SERVER_MEMORY_BYTES = 2_000_000_000
MAX_RESULT_BYTES = 512 * 1024 * 1024
MAX_SECONDS = 300
"""Bound on one statement's run, since a client that went away cannot stop it."""

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
    # As the server has them; the embedded engine reads a bare `1` as `SELECT 1`.
    "implicit_select": 0,
    "storage_file_read_method": "pread",
}


class EngineError(Exception):
    """ClickHouse's refusal of a statement.

    Attributes:
        code: ClickHouse's error number.
        symbol: its symbolic name such as UNKNOWN_TABLE; empty if the text has none.
    """

    def __init__(self, code: int, text: str, symbol: str = "") -> None:
        super().__init__(text)
        self.code = code
        self.symbol = symbol


@dataclass(frozen=True, slots=True)
class EngineRequest:
    """A statement and what surrounds it.

    Attributes:
        statement: what to run.
        default_format: the result's format where the statement names none.
        database: the database of names without one; None for the default one.
        settings: ClickHouse settings of this statement.
        parameters: values of `{name:Type}`, escaped as in TabSeparated.
        read_only: whether to refuse whatever changes data.
    """

    statement: Statement
    default_format: str = "TabSeparated"
    database: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, str] = field(default_factory=dict)
    read_only: bool = False


@dataclass(frozen=True, slots=True)
class EngineResult:
    """A statement's result in its format, and its figures as ClickHouse counts them."""

    body: bytes
    elapsed_s: float
    result_rows: int = 0
    read_rows: int = 0
    read_bytes: int = 0
    written_rows: int = 0
    written_bytes: int = 0


class Engine:
    """The tables of one directory. One process at a time can have them open."""

    def __init__(self, path: Path) -> None:
        """Open the directory, which is made if missing.

        Raises:
            EngineError: another process has it open, or it cannot be read.
            ValueError: the path holds a character that the engine takes for its own.
        """
        if set(str(path)) & set("?&%#"):
            raise ValueError(f"The engine cannot open a path with one of ?&%#: {path}")
        # Here and not above: the import takes a second and fixes the time zone.
        import chdb

        self._connect: Callable[[str], Any] = chdb.connect
        options = "&".join(f"{name}={value}" for name, value in _OPTIONS.items())
        self._address = f"{path}?{options}"
        # The engine closes with its last connection; this one keeps it open in between.
        self._keeper = self._open()
        self.version: str = self._keeper.query("SELECT version()", "TSV").bytes().decode().strip()

    def run(self, request: EngineRequest) -> EngineResult:
        """Run one statement; blocks until its whole result is there.

        Raises:
            EngineError: ClickHouse refused it or it failed.
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

    def release_memory(self) -> None:
        """Give freed memory back to the system; the allocator keeps it else."""
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
        """Set what surrounds the statement, the refusal of changes last."""
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
    """Run a statement that brings no data."""
    statement = request.statement
    # A format that the statement names wins over the one given here.
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

    From a file and not through ``send_insert``: that one reports success where the table refuses
    the rows (a constraint, too many partitions or parts), and they are lost.
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
    """For an INSERT with SETTINGS of its own, which FROM INFILE would have to stand before.

    The worker sends settings beside the statement, so this is for people at a prompt.
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
    """A value as an SQL string."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def engine_error(code: int, symbol: str, text: str) -> EngineError:
    """An error in ClickHouse's words."""
    return EngineError(code, f"Code: {code}. DB::Exception: {text} ({symbol})", symbol)


def _as_engine_error(error: Exception) -> EngineError:
    """ClickHouse's own text, number and name out of the engine's exception."""
    text = str(error)
    code = _CODE.search(text)
    if code is None:
        return engine_error(1002, "UNKNOWN_EXCEPTION", text)
    text = _VERSION.sub("", text[code.start() :].strip())
    symbols = _SYMBOL.findall(text)
    return EngineError(int(code.group(1)), text, symbols[-1] if symbols else "")
