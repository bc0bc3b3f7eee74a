"""Serve the console within an event loop that the caller owns."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from fastapi import FastAPI

from workers.console.http.slow_callers import TimedProtocol
from workers.errors import TouchstoneError
from workers.settings import ConsoleSettings

STOP_SECONDS = 5
"""Maximum wait for open requests during a stop."""


class _Server(uvicorn.Server):
    """A server that leaves signals to its caller and reports when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listens = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to listen and set ``listens``."""
        await super().startup(sockets)
        self.listens.set()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signal handlers unchanged."""
        yield


class ConsoleServer:
    """The HTTP server of the console.

    Args:
        app: the application.
        settings: host, port, TLS files and proxy setting.
    """

    def __init__(self, app: FastAPI, settings: ConsoleSettings) -> None:
        self._settings = settings
        self._server = _Server(
            uvicorn.Config(
                app,
                http=TimedProtocol,
                log_config=None,
                access_log=False,
                server_header=False,
                lifespan="off",
                proxy_headers=False,  # uvicorn would believe the first entry, which the caller writes
                ssl_certfile=settings.tls_certfile,
                ssl_keyfile=settings.tls_keyfile,
                timeout_graceful_shutdown=STOP_SECONDS,
            )
        )
        self._task: asyncio.Task[None] | None = None
        self.url = ""

    async def start(self) -> str:
        """Start to listen.

        Returns:
            The base URL, such as ``http://127.0.0.1:8080``.

        Raises:
            TouchstoneError: the host and port cannot be bound.
        """
        settings = self._settings
        try:
            family, kind, protocol, _, address = socket.getaddrinfo(
                settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )[0]
            listening = socket.socket(family, kind, protocol)
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
        except OSError as error:
            raise TouchstoneError(
                f"port {settings.port} on {settings.host} cannot be used ({error.strerror}); change console.port "
                "or console.host"
            ) from error
        self._task = asyncio.create_task(self._server.serve([listening]), name="console")
        listens = asyncio.ensure_future(self._server.listens.wait())
        await asyncio.wait([listens, self._task], return_when=asyncio.FIRST_COMPLETED)
        listens.cancel()
        if self._task.done():
            await self._task
        host, port = listening.getsockname()[:2]
        scheme = "https" if settings.tls_certfile else "http"
        self.url = f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"
        return self.url

    async def stop(self) -> None:
        """Finish open requests within ``STOP_SECONDS`` and stop listening."""
        if self._task is not None:
            self._server.should_exit = True
            await asyncio.gather(self._task, return_exceptions=True)
