"""Serve ClickHouse's HTTP interface on loopback, with chDB as the engine.

    python -m workers.local.engine.clickhouse_server --path DIRECTORY --port PORT --passwords FILE

The unmodified `clickhouse-connect` client works with this server: statements in the URL, the body
or a form; Native results and inserts; parameters, settings, compressed requests; ClickHouse's
error codes. The server differs from ClickHouse in these points, and reports an error where a client asks for them:
no sessions (SET, USE, temporary tables), no external data, results uncompressed and not
streamed, one user, no files and other hosts in statements, DateTime('zone') columns sent without their zone.
"""

from __future__ import annotations

import argparse
import asyncio
import hmac
import json
import os
import signal
import sys
import time
import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import structlog
import uvloop
from aiohttp import BasicAuth, web

from workers.local.bodies import DamagedBodyError, TooLargeError, UnknownEncodingError, decoded
from workers.local.engine.chdb_engine import Engine, EngineError, EngineRequest, EngineResult, engine_error
from workers.local.engine.clickhouse import DISPLAY_NAME, NAME
from workers.local.engine.statement_policy import VERBS, refusal
from workers.local.engine.statements import MultipleStatementsError, Statement, read_statement
from workers.local.passwords import USER, read_passwords
from workers.local.ports import LOOPBACK

log = structlog.get_logger(__name__)

MAX_BODY_BYTES = 256 * 1024 * 1024
"""Largest request body, as sent and decompressed, bytes."""
MAX_CONCURRENT_STATEMENTS = 4
MAX_URL_BYTES = 1024 * 1024
MAX_VALUE_BYTES = 128 * 1024
"""Largest value in a URL or form as sent, bytes; ClickHouse's default of http_max_field_value_size."""
SHUTDOWN_GRACE_S = 10.0
"""Time that running statements have to finish after SIGTERM, seconds."""

_IDLE_S = 5.0
# Parameters of the interface; every other parameter in the URL is a setting.
_INTERFACE_PARAMETERS = frozenset(
    {
        "query", "database", "default_format", "query_id", "user", "password", "quota_key",
        "session_id", "session_timeout", "session_check", "close_session", "role", "stacktrace",
        "buffer_size", "wait_end_of_query", "client_protocol_version", "compress", "decompress",
    }
)  # fmt: skip
_CONTENT_TYPES = {
    "TabSeparated": "text/tab-separated-values; charset=UTF-8",
    "TSV": "text/tab-separated-values; charset=UTF-8",
    "CSV": "text/csv; charset=UTF-8",
    "JSON": "application/json; charset=UTF-8",
    "JSONCompact": "application/json; charset=UTF-8",
    "JSONEachRow": "application/x-ndjson; charset=UTF-8",
    "Native": "application/octet-stream",
}
_NOT_FOUND = (
    "UNKNOWN_TABLE", "UNKNOWN_FUNCTION", "UNKNOWN_IDENTIFIER", "UNKNOWN_TYPE", "UNKNOWN_STORAGE",
    "UNKNOWN_DATABASE", "UNKNOWN_SETTING", "UNKNOWN_DIRECTION_OF_SORTING",
    "UNKNOWN_AGGREGATE_FUNCTION", "UNKNOWN_FORMAT", "UNKNOWN_DATABASE_ENGINE",
    "UNKNOWN_TYPE_OF_QUERY", "NO_SUCH_COLUMN_IN_TABLE",
)  # fmt: skip
_BAD_REQUEST = (
    "BAD_ARGUMENTS", "SYNTAX_ERROR", "TYPE_MISMATCH", "INCORRECT_DATA", "ILLEGAL_COLUMN",
    "DUPLICATE_COLUMN", "THERE_IS_NO_COLUMN", "TOO_DEEP_AST", "TOO_BIG_AST",
    "UNEXPECTED_AST_STRUCTURE", "VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE", "CANNOT_COMPILE_REGEXP",
    "BAD_QUERY_PARAMETER", "UNKNOWN_QUERY_PARAMETER", "UNKNOWN_COMPRESSION_METHOD",
    "CANNOT_DECOMPRESS",
)  # fmt: skip
_STATUS = {
    **dict.fromkeys(_NOT_FOUND, 404),
    **dict.fromkeys(_BAD_REQUEST, 400),
    "QUERY_IS_TOO_LARGE": 413,
    "NOT_IMPLEMENTED": 501,
    "ACCESS_DENIED": 403,
    "AUTHENTICATION_FAILED": 403,
    "TIMEOUT_EXCEEDED": 408,
}


class ClickHouseServer:
    """An HTTP server that runs requests on an engine, a few at a time in threads."""

    def __init__(self, engine: Engine, password: str) -> None:
        self._engine = engine
        self._password = password.encode()
        self._threads = ThreadPoolExecutor(MAX_CONCURRENT_STATEMENTS, "statement")
        self._running = 0
        self._statements_since_release = 0
        self._name = DISPLAY_NAME.format(pid=os.getpid())

    def application(self) -> web.Application:
        """Return the application with the routes of ClickHouse's HTTP interface."""
        app = web.Application(client_max_size=MAX_BODY_BYTES, middlewares=[_own_clients_only])
        app.router.add_get("/ping", self.ping)
        app.router.add_get("/replicas_status", self.ping)
        app.router.add_get("/", self.statement)
        app.router.add_post("/", self.statement)
        return app

    async def ping(self, request: web.Request) -> web.Response:
        """Answer that the server is alive."""
        del request
        return web.Response(text="Ok.\n", headers=self._headers(""))

    async def statement(self, request: web.Request) -> web.Response:
        """Run the request's statement and answer with its result or ClickHouse's error."""
        if request.method in {"GET", "HEAD"} and "query" not in request.query:
            return await self.ping(request)
        query_id = request.query.get("query_id") or str(uuid.uuid4())
        try:
            self._check_password(request)
            question = await _read_request(request)
            reason = refusal(question.statement, question.settings, self._engine.table_functions)
            if reason is not None:
                raise engine_error(497, "ACCESS_DENIED", f"The local server refuses this statement: {reason}.")
            result = await self._run(question)
        except EngineError as error:
            return self._refusal(error, query_id)
        return self._answer(question.statement, question.default_format, result, query_id)

    def _check_password(self, request: web.Request) -> None:
        user, password = _credentials(request)
        if not (user == USER and hmac.compare_digest(password.encode("utf-8", "replace"), self._password)):
            raise engine_error(
                516,
                "AUTHENTICATION_FAILED",
                "Authentication failed: user and password are in the address that touchstone uses, and in passwords.json "
                "of its state directory",
            )

    def close(self) -> None:
        """Wait for running statements, and close the engine."""
        self._threads.shutdown(wait=True)
        self._engine.close()

    async def _run(self, question: EngineRequest) -> EngineResult:
        """Run a statement in a thread."""
        self._running += 1
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._threads, self._engine.run, question)
        finally:
            self._running -= 1
            self._statements_since_release += 1

    async def release_memory_when_idle(self) -> None:
        """Release memory after each burst of statements, until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(_IDLE_S)
            if self._statements_since_release and not self._running:
                self._statements_since_release = 0
                await loop.run_in_executor(self._threads, self._engine.release_memory)

    def _headers(self, query_id: str) -> dict[str, str]:
        return {
            "X-ClickHouse-Server-Display-Name": self._name,
            "X-ClickHouse-Timezone": "UTC",
            **({"X-ClickHouse-Query-Id": query_id} if query_id else {}),
        }

    def _answer(self, statement: Statement, default_format: str, result: EngineResult, query_id: str) -> web.Response:
        """Return a result with ClickHouse's statistics in the headers."""
        headers = self._headers(query_id)
        headers["X-ClickHouse-Summary"] = json.dumps(_summary(result))
        form = statement.format or default_format
        if statement.returns_rows:
            headers["X-ClickHouse-Format"] = form
        headers["Content-Type"] = _CONTENT_TYPES.get(form, "text/plain; charset=UTF-8")
        return web.Response(body=result.body, headers=headers)

    def _refusal(self, error: EngineError, query_id: str) -> web.Response:
        """Return an error in ClickHouse's format."""
        headers = self._headers(query_id)
        headers["X-ClickHouse-Exception-Code"] = str(error.code)
        symbol = error.symbol
        fallback = 400 if symbol.startswith("CANNOT_PARSE") else 500
        status = _STATUS.get(symbol, fallback)
        log.info("statement_refused", code=error.code, symbol=symbol, query_id=query_id)
        text = f"{error} (version {self._engine.version} (chDB))\n"
        return web.Response(status=status, text=text, headers=headers)


@web.middleware
async def _own_clients_only(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """Refuse requests from web pages, which a browser would otherwise send to loopback.

    A browser sends the page's origin when it posts, and the page's host when a host name of the page
    resolves to loopback. Clients of a database send neither.
    """
    host = request.host.rpartition(":")[0] or request.host
    if "Origin" in request.headers or host not in {LOOPBACK, "localhost"}:
        return web.Response(status=403, text="Only local clients other than browsers.\n")
    return await handler(request)


def _credentials(request: web.Request) -> tuple[str, str]:
    """Return user and password from where ClickHouse takes them: its headers, Basic authorization, or the URL."""
    headers, query = request.headers, request.query
    if "X-ClickHouse-User" in headers or "X-ClickHouse-Key" in headers:
        return headers.get("X-ClickHouse-User", ""), headers.get("X-ClickHouse-Key", "")
    if "Authorization" in headers:
        try:
            login = BasicAuth.decode(headers["Authorization"], encoding="utf-8")
        except ValueError:
            return "", ""
        return login.login, login.password
    return query.get("user", ""), query.get("password", "")


async def _read_request(request: web.Request) -> EngineRequest:
    """Return the statement of a request and its context.

    Raises:
        EngineError: the request is too large or damaged, or asks for an unsupported feature.
    """
    _check_values(field.partition("=")[2] for field in request.rel_url.raw_query_string.split("&"))
    url = dict(request.query)
    if url.get("compress", "0") != "0" or url.get("decompress", "0") != "0":
        raise engine_error(48, "NOT_IMPLEMENTED", "Native compression is not supported.")
    try:
        if request.content_type == "multipart/form-data":
            url, sql = {**url, **(await _read_form(request))}, b""
        else:
            encoding = request.headers.get("Content-Encoding")
            sql = await request.read()
            if encoding:
                sql = await asyncio.to_thread(decoded, sql, encoding, MAX_BODY_BYTES)
    except (web.HTTPRequestEntityTooLarge, TooLargeError):
        raise engine_error(
            229, "QUERY_IS_TOO_LARGE", f"A request's body is limited to {MAX_BODY_BYTES} bytes."
        ) from None
    except UnknownEncodingError as error:
        raise engine_error(89, "UNKNOWN_COMPRESSION_METHOD", f"Unknown content encoding {error}.") from None
    except DamagedBodyError as error:
        raise engine_error(271, "CANNOT_DECOMPRESS", f"Cannot decompress the body: {error}.") from None
    # ClickHouse's order: the URL's part of the statement, a line break, the body's part.
    if prefix := url.get("query", "").encode():
        sql = b"\n".join((prefix, sql)) if sql else prefix
    return _as_engine_request(request, url, _checked(sql))


async def _read_form(request: web.Request) -> dict[str, str]:
    """Read the fields of a form, which clients use when parameters are too long for the URL."""
    fields: dict[str, str] = {}
    for name, value in (await request.post()).items():
        if not isinstance(value, str):
            raise engine_error(48, "NOT_IMPLEMENTED", "External data is not supported.")
        fields[name] = value
    _check_values(fields.values())
    return fields


def _check_values(values: Iterable[str]) -> None:
    if any(len(value.encode()) > MAX_VALUE_BYTES for value in values):
        raise engine_error(1000, "POCO_EXCEPTION", "HTML Form Exception: Field value too long.")


def _checked(sql: bytes) -> Statement:
    """Return the statement after checking that it runs without a session."""
    try:
        statement = read_statement(sql)
    except MultipleStatementsError:
        raise engine_error(62, "SYNTAX_ERROR", "Syntax error (Multi-statements are not allowed).") from None
    if not statement.verb:
        raise engine_error(62, "SYNTAX_ERROR", "Syntax error: empty query.")
    if statement.verb not in VERBS and not statement.needs_session:
        raise engine_error(
            62, "SYNTAX_ERROR", f"Syntax error: statements that begin with {statement.verb[:40]} are not supported."
        )
    if statement.needs_session:
        raise engine_error(
            48,
            "NOT_IMPLEMENTED",
            "The local server keeps no sessions: send settings and database with each request.",
        )
    return statement


def _as_engine_request(request: web.Request, url: Mapping[str, str], statement: Statement) -> EngineRequest:
    """Sort a request's parameters into settings, values and the interface's own."""
    headers = request.headers
    settings: dict[str, str] = {}
    values: dict[str, str] = {}
    for name, value in url.items():
        if name.startswith("param_"):
            values[name.removeprefix("param_")] = value
        elif name not in _INTERFACE_PARAMETERS:
            settings[name] = value
    default_format = url.get("default_format") or headers.get("X-ClickHouse-Format")
    return EngineRequest(
        statement,
        default_format=default_format or "TabSeparated",
        database=url.get("database") or headers.get("X-ClickHouse-Database"),
        settings=settings,
        parameters=values,
        read_only=request.method != "POST",
    )


def _summary(result: EngineResult) -> dict[str, str]:
    """Return a statement's statistics as in ClickHouse's header, all as text."""
    return {
        "read_rows": str(result.read_rows),
        "read_bytes": str(result.read_bytes),
        "written_rows": str(result.written_rows),
        "written_bytes": str(result.written_bytes),
        "total_rows_to_read": "0",
        "result_rows": str(result.result_rows),
        "result_bytes": str(len(result.body)),
        "elapsed_ns": str(int(result.elapsed_s * 1e9)),
    }


async def _serve(path: Path, port: int, password: str) -> None:
    """Serve a directory until SIGTERM or SIGINT.

    Raises:
        EngineError: the directory is open in another process.
        OSError: the port is in use.
    """
    server = ClickHouseServer(Engine(path), password)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for signal_number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(signal_number, stop.set)
    runner = web.AppRunner(
        server.application(),
        # Bodies are decompressed here, because aiohttp does not support lz4 and sets no bound for the other encodings.
        auto_decompress=False,
        access_log=None,
        shutdown_timeout=SHUTDOWN_GRACE_S,
        max_line_size=MAX_URL_BYTES,
        max_field_size=MAX_URL_BYTES,
    )
    await runner.setup()
    release = asyncio.create_task(server.release_memory_when_idle())
    try:
        await web.TCPSite(runner, LOOPBACK, port).start()
        log.info("clickhouse_started", path=str(path), port=port)
        await stop.wait()
    finally:
        release.cancel()
        await runner.cleanup()
        await asyncio.to_thread(server.close)
        log.info("clickhouse_stopped")


def main() -> int:
    """Serve as given on the command line, and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--path", type=Path, required=True, help="directory of the tables")
    parser.add_argument("--port", type=int, required=True, help="loopback port to listen on")
    parser.add_argument("--passwords", type=Path, required=True, help="file with the passwords of the services")
    arguments = parser.parse_args()
    password = read_passwords(arguments.passwords.parent).get(NAME)
    if not password:
        parser.error(f"{arguments.passwords} holds no password")
    os.environ["TZ"] = "UTC"
    time.tzset()
    try:
        uvloop.run(_serve(arguments.path.resolve(), arguments.port, password))
    except (EngineError, OSError, ValueError) as error:
        print(f"clickhouse_server: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
