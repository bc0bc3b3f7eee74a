"""Serve /metrics, /healthz and /readyz of a worker process."""

from collections.abc import Callable, Mapping
from typing import Any

import orjson
from aiohttp import web
from prometheus_client import REGISTRY
from prometheus_client.exposition import choose_encoder

from workers.errors import TouchstoneError

Readiness = Callable[[], Mapping[str, str | None]]
"""Reasons by part of the worker; ``None`` for ready parts."""


class HealthServer:
    """Answer probes and scrapes.

    ``/healthz`` shows that the event loop runs; without a response the process may be restarted. ``/readyz`` shows
    whether records are processed, and if not, the reason. An agent that waits for a store is alive but not ready, and a
    restart would not help.

    Args:
        host: address to listen on.
        port: port to listen on; 0 for a free port.
        readiness: called at every probe.
    """

    def __init__(self, host: str, port: int, readiness: Readiness) -> None:
        self._host = host
        self._port = port
        self._readiness = readiness
        self._runner: web.AppRunner | None = None

    async def start(self) -> int:
        """Start to listen.

        Returns:
            The port.

        Raises:
            TouchstoneError: the port cannot be used.
        """
        app = web.Application()
        app.add_routes(
            [
                web.get("/metrics", self._metrics),
                web.get("/healthz", self._healthz),
                web.get("/readyz", self._readyz),
            ]
        )
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, self._host, self._port).start()
        except OSError as error:
            raise TouchstoneError(
                f"port {self._port} on {self._host} cannot be used ({error.strerror}); change http.metrics_port"
            ) from error
        port: int = self._runner.addresses[0][1]
        return port

    async def stop(self) -> None:
        """Stop listening."""
        if self._runner is not None:
            await self._runner.cleanup()

    async def _metrics(self, request: web.Request) -> web.Response:
        # Use OpenMetrics if requested, as by Prometheus: only this format has exemplars.
        encode, content_type = choose_encoder(request.headers.get("Accept", ""))
        return web.Response(body=encode(REGISTRY), headers={"Content-Type": content_type})

    async def _healthz(self, _: web.Request) -> web.Response:
        return _json({"alive": True}, 200)

    async def _readyz(self, _: web.Request) -> web.Response:
        checks = self._readiness()
        ready = all(reason is None for reason in checks.values())
        body = {"ready": ready, "checks": {name: reason or "ok" for name, reason in checks.items()}}
        return _json(body, 200 if ready else 503)


def _json(body: dict[str, Any], status: int) -> web.Response:
    return web.Response(body=orjson.dumps(body), status=status, content_type="application/json")
