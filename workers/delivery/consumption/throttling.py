"""Wait as long as a broker's quota demands before the next request, and pause between attempts to connect.

A Kafka broker answers a client over its quota at once, names a time in the response (``throttle_time_ms``), and reads
nothing from the connection for that time (KIP-219). aiokafka ignores the time. Its next request then waits at the
broker until the request timeout closes the connection, and so does every later one. This module replaces aiokafka's
connection by one that waits before it sends, so that the timeout of a request begins after the wait. The connection
also keeps the pauses of :mod:`workers.delivery.consumption.reconnection`.
"""

import asyncio
import time
from collections.abc import Awaitable, Iterable
from typing import Any

from aiokafka import conn
from aiokafka.conn import AIOKafkaConnection
from aiokafka.errors import KafkaConnectionError, KafkaError

from workers.delivery.consumption.reconnection import pauses_of
from workers.observability import metrics
from workers.observability.logs import get_logger

LOG_SECONDS = 60.0
"""Time between two log lines about one client."""

log = get_logger(__name__)

_logged: dict[str, float] = {}
"""Time of the last line by client, on the monotonic clock."""


class ThrottledConnection(AIOKafkaConnection):  # type: ignore[misc]  # untyped
    """Wait before a request while the broker throttles the connection, and pause between attempts to connect."""

    throttled_until = 0.0
    """Time at which the broker reads from the connection again, on the monotonic clock."""

    async def connect(self) -> Any:
        """Connect, but fail at once during the pause after a failed attempt of the same client.

        Raises:
            KafkaConnectionError: it is too early for the next attempt.
        """
        client = getattr(self._on_close_cb, "__self__", None)
        if client is None:  # the first connection of a client, which is not repeated
            return await super().connect()
        pauses = pauses_of(client)
        if (left := pauses.left(self.host, self.port)) > 0:
            raise KafkaConnectionError(f"{self.host}:{self.port} failed before, the next attempt is in {left:.1f} s")
        try:
            streams = await super().connect()
        except (OSError, TimeoutError, KafkaError):
            pauses.failed(self.host, self.port)
            raise
        pauses.succeeded(self.host, self.port)
        return streams

    def send(self, request: Any, expect_response: bool = True) -> Awaitable[Any]:
        """Send a request, at once where the broker does not throttle."""
        if self.throttled_until <= time.monotonic():
            return self._obey(super().send(request, expect_response))
        return self._send_later(request, expect_response)

    async def _send_later(self, request: Any, expect_response: bool) -> Any:
        while (left := self.throttled_until - time.monotonic()) > 0 and self.connected():
            await asyncio.wait([self._closed_fut], timeout=left)
        # Raises an error that the client retries, if the connection was closed meanwhile.
        return await self._obey(super().send(request, expect_response))

    async def _obey(self, answer: Awaitable[Any]) -> Any:
        response = await answer
        seconds = getattr(response, "throttle_time_ms", 0) / 1000
        if seconds > 0:
            self.throttled_until = max(self.throttled_until, time.monotonic() + seconds)
            metrics.BROKER_THROTTLED.labels(_name(response)).inc(seconds)
            self._log(_name(response), seconds)
        return response

    def _log(self, kind: str, seconds: float) -> None:
        """Log that the broker throttles this client, at most once a minute: a quota applies to every request."""
        now = time.monotonic()
        if now - _logged.get(self._client_id, -LOG_SECONDS) >= LOG_SECONDS:
            _logged[self._client_id] = now
            log.warning("broker_throttled", client=self._client_id, kind=kind, wait_seconds=seconds)


def install() -> None:
    """Make every later connection of this process obey quotas and pauses. Repeated calls are safe."""
    conn.AIOKafkaConnection = ThrottledConnection


def throttled_until(connections: Iterable[AIOKafkaConnection]) -> float:
    """Return the time at which the last of a client's connections is free, on the monotonic clock; 0 without one."""
    return max((getattr(connection, "throttled_until", 0.0) for connection in connections), default=0.0)


def _name(response: Any) -> str:
    """Return the kind of a response for the metric, such as ``Produce``."""
    return type(response).__name__.partition("Response")[0]
