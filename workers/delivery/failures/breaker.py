"""Circuit breaker: stop an agent that dead-letters too large a share of its records.

A short burst of bad records is usually the producer's fault and is dead-lettered. When most of
a long run of records fails, the worker is usually at fault, for example a release that cannot
read its input. The records are then safest on their own topic.
"""

import time
from collections import deque
from collections.abc import Callable

from workers.observability import metrics
from workers.observability.logs import get_logger
from workers.settings import BreakerSettings

SLICES = 12
"""Parts of the window; counts older than a window are removed part by part."""

log = get_logger(__name__)


class DeadLetterBreaker:
    """Counts the settled and the dead-lettered records of an agent; stays open once it trips.

    Args:
        agent: name of the agent.
        settings: share, window and minimum number of dead letters.
        clock: monotonic seconds.
    """

    def __init__(self, agent: str, settings: BreakerSettings, clock: Callable[[], float] = time.monotonic) -> None:
        self._agent = agent
        self._settings = settings
        self._clock = clock
        self._slices: deque[list[float]] = deque(maxlen=SLICES + 1)
        self.reason: str | None = None
        metrics.BREAKER_OPEN.labels(agent).set(0)

    @property
    def is_open(self) -> bool:
        """Return whether the agent must accept no more records."""
        return self.reason is not None

    def settled(self, records: int) -> None:
        """Count acknowledged records, including dead-lettered ones."""
        self._slice()[1] += records

    def dead_lettered(self) -> None:
        """Count a dead letter, which may trip the breaker."""
        self._slice()[2] += 1
        oldest = self._clock() - self._settings.window_seconds
        records = sum(count for start, count, _ in self._slices if start >= oldest)
        letters = sum(count for start, _, count in self._slices if start >= oldest)
        if self.reason is None and letters >= self._settings.least and letters >= records * self._settings.share:
            self.reason = (
                f"the circuit breaker is open: {self._agent} dead-lettered {letters:.0f} of {records:.0f} records "
                f"within {self._settings.window_seconds:g} s; run `touchstone dlq list`, fix the cause, and "
                "restart the worker"
            )
            metrics.BREAKER_OPEN.labels(self._agent).set(1)
            log.error("breaker_opened", agent=self._agent, dead_lettered=letters, records=records)

    def _slice(self) -> list[float]:
        now = self._clock()
        if not self._slices or now - self._slices[-1][0] >= self._settings.window_seconds / SLICES:
            self._slices.append([now, 0.0, 0.0])
        return self._slices[-1]
