"""Pause before a client tries again to connect to a broker that it could not reach.

aiokafka has several loops that need a connection (metadata, group coordinator, fetches, offsets). Each tries again after
100 ms, and each failure makes the client ask for metadata, which is another attempt. While a broker was away, the ten
clients of a worker tried to connect 450 times a second. Kafka's Java client has growing pauses with jitter
(``reconnect.backoff.ms`` and ``reconnect.backoff.max.ms``), and so has this module: an attempt within the pause fails at
once, without a connection. It does not wait, because requests to other brokers wait for the same lock.
"""

from dataclasses import dataclass
from random import uniform
from time import monotonic
from weakref import WeakKeyDictionary

from aiokafka.client import AIOKafkaClient

FIRST_SECONDS = 0.05
"""Maximum pause after the first failure, in seconds. Every further failure doubles the maximum."""

MAX_SECONDS = 1.0
"""Maximum pause, in seconds. A broker that is back is found after this time at the latest."""

JITTER = 0.3
"""Largest share of a pause that is left out at random, so that clients do not come back together."""


@dataclass(slots=True)
class _Pause:
    seconds: float = 0.0
    until: float = 0.0


class ReconnectPauses:
    """Hold the pauses of one client, by the address of the broker."""

    def __init__(self) -> None:
        self._pauses: dict[tuple[str, int], _Pause] = {}

    def left(self, host: str, port: int) -> float:
        """Return the seconds until the next attempt, 0 if it may be made now."""
        pause = self._pauses.get((host, port))
        return 0.0 if pause is None else max(0.0, pause.until - monotonic())

    def failed(self, host: str, port: int) -> None:
        """Note an attempt that failed, and begin the next pause."""
        pause = self._pauses.setdefault((host, port), _Pause())
        pause.seconds = min(MAX_SECONDS, pause.seconds * 2 or FIRST_SECONDS)
        pause.until = monotonic() + pause.seconds * uniform(1 - JITTER, 1)

    def succeeded(self, host: str, port: int) -> None:
        """Forget the failures of a broker that is connected."""
        self._pauses.pop((host, port), None)


_pauses: WeakKeyDictionary[AIOKafkaClient, ReconnectPauses] = WeakKeyDictionary()


def pauses_of(client: AIOKafkaClient) -> ReconnectPauses:
    """Return the pauses of a client."""
    return _pauses.setdefault(client, ReconnectPauses())
