"""The console as a server within an event loop that others use as well."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from fastapi import FastAPI

from workers.delivery.errors import TouchstoneError
from workers.settings import ConsoleSettings

STOP_SECONDS = 5
"""Longest wait for requests in work at the end."""


class _Server(uvicorn.Server):
    """A server that leaves signals to whoever runs it, and says when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listens = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen."""
        await super().startup(sockets)
        self.listens.set()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


class ConsoleServer:
    """Serves the console.

    Args:
        app: the application.
        settings: where to listen.
    """

    def __init__(self, app: FastAPI, settings: ConsoleSettings) -> None:
        self._settings = settings
        self._server = _Server(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                server_header=False,
                lifespan="off",
                proxy_headers=settings.behind_proxy,
                forwarded_allow_ips="*" if settings.behind_proxy else None,
                ssl_certfile=settings.tls_certfile,
                ssl_keyfile=settings.tls_keyfile,
                timeout_graceful_shutdown=STOP_SECONDS,
            )
        )
        self._task: asyncio.Task[None] | None = None
        self.url = ""

    async def start(self) -> str:
        """Listen.

        Returns:
            The address, as in http://127.0.0.1:8080.

        Raises:
            TouchstoneError: the address cannot be used.
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
                f"port {settings.port} on {settings.host} cannot be used ({error.strerror}); set console.port or console.host"
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
        """Finish the requests in work and stop listening."""
        if self._task is not None:
            self._server.should_exit = True
            await asyncio.gather(self._task, return_exceptions=True)
