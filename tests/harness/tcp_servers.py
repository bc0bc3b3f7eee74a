"""TCP servers of tests that misbehave: whatever a test does, none of their connections outlives it."""

import asyncio
import contextlib
import ssl
from collections.abc import Awaitable, Callable

from workers.local.ports import LOOPBACK

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class TcpServer:
    """Calls a handler for each connection on a loopback port, and aborts what is open when it stops.

    A handler that the end of a test's event loop cancels leaves its connection open otherwise, and pytest reports
    that in whichever test comes next.

    Args:
        handle: takes the reader and the writer of a connection; the connection is aborted when it returns.
        tls: of the connections; none in plain text.
    """

    def __init__(self, handle: Handler, tls: ssl.SSLContext | None = None) -> None:
        self._handle = handle
        self._tls = tls
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self.port = 0
        self.accepted = 0

    async def __aenter__(self) -> "TcpServer":
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    @property
    def open(self) -> int:
        """Connections that are open."""
        return len(self._connections)

    async def start(self) -> None:
        """Listen, on the port of the last start if there was one."""
        self._server = await asyncio.start_server(self._accept, LOOPBACK, self.port, ssl=self._tls)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Refuse new connections and abort the open ones."""
        if self._server is not None:
            self._server.close()
            self._server = None
        self.cut()
        await asyncio.gather(*self._connections, return_exceptions=True)

    def cut(self) -> None:
        """Abort every connection; new ones are taken."""
        for connection in self._connections:
            connection.cancel()

    # No coroutine: a task that is cancelled before its first step runs nothing that could close its connection.
    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        connection = asyncio.ensure_future(self._handle(reader, writer))
        self._connections.add(connection)
        connection.add_done_callback(lambda _: writer.transport.abort())
        connection.add_done_callback(self._connections.discard)


async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str, port: int) -> None:
    """Pass on what both sides send until both have ended."""
    upstream, sink = await asyncio.open_connection(host, port)
    try:
        await asyncio.gather(_copy(reader, sink), _copy(upstream, writer))
    finally:
        sink.transport.abort()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while content := await reader.read(65_536):
            writer.write(content)
            await writer.drain()
    writer.close()


async def never_answer(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
    """Read what a client sends until it closes the connection."""
    await reader.read()
