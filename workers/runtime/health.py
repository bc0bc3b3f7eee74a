"""Serve /metrics, /healthz and /readyz of a worker process."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import orjson
from aiohttp import web
from prometheus_client import REGISTRY, Metric
from prometheus_client.exposition import choose_encoder

from workers.errors import TouchstoneError
from workers.runtime.merged_metrics import MergedMetrics

Readiness = Callable[[], Mapping[str, str | None]]
"""Reasons by part of the worker; ``None`` for ready parts."""


class NoResponse(Exception):
    """Report that a further process of this worker does not respond."""


class WatchedProcess(Protocol):
    """Give the state of a further process of this worker."""

    async def is_alive(self) -> bool:
        """Return whether the event loop of the process runs; true while the process starts."""

    async def checks(self) -> Mapping[str, str | None]:
        """Return reasons by part of the process; ``None`` for ready parts."""

    async def metrics(self) -> list[Metric]:
        """Return the metrics of the process; empty while it starts.

        Raises:
            NoResponse: the process does not respond.
        """


class HealthServer:
    """Answer probes and scrapes, also for further processes of the worker.

    ``/healthz`` shows that the event loops run; otherwise the worker may be restarted. ``/readyz`` shows
    whether records are processed, and if not, the reason. An agent that waits for a store is alive but not ready, and a
    restart would not help.

    Args:
        host: address to listen on.
        port: port to listen on; 0 for a free port.
        readiness: called at every probe.
        others: further processes of the worker.
    """

    def __init__(self, host: str, port: int, readiness: Readiness, others: Sequence[WatchedProcess] = ()) -> None:
        self._host = host
        self._port = port
        self._readiness = readiness
        self._others = others
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
        if not self._others:
            return web.Response(body=encode(REGISTRY), headers={"Content-Type": content_type})
        try:
            others = await asyncio.gather(*(other.metrics() for other in self._others))
        except NoResponse as error:
            # Without a part of the figures counters would seem to begin again.
            return web.Response(text=f"{error}\n", status=503)
        merged: Any = MergedMetrics([REGISTRY.collect(), *others])
        return web.Response(body=encode(merged), headers={"Content-Type": content_type})

    async def _healthz(self, _: web.Request) -> web.Response:
        alive = all(await asyncio.gather(*(other.is_alive() for other in self._others)))
        return _json({"alive": alive}, 200 if alive else 503)

    async def _readyz(self, _: web.Request) -> web.Response:
        checks = dict(self._readiness())
        for others in await asyncio.gather(*(other.checks() for other in self._others)):
            for name, reason in others.items():
                checks[name] = checks.get(name) or reason
        ready = all(reason is None for reason in checks.values())
        body = {"ready": ready, "checks": {name: reason or "ok" for name, reason in checks.items()}}
        return _json(body, 200 if ready else 503)


def _json(body: dict[str, Any], status: int) -> web.Response:
    return web.Response(body=orjson.dumps(body), status=status, content_type="application/json")
