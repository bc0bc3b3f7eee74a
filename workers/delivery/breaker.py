"""The breaker: when too much is dead-lettered, the worker stops instead of the flood going on.

A burst of bad records is a producer's trouble and is dead-lettered. When most of a long run
of records fails, the trouble is more likely ours (a release that cannot read its input);
then the safest place for the records is the topic they are on.
"""

import time
from collections import deque
from collections.abc import Callable

from workers import metrics
from workers.delivery.errors import BrokenPromise
from workers.logs import get_logger
from workers.settings import BreakerSettings

SLICES = 12
"""Parts of the window; what is older than a whole window is forgotten part by part."""

log = get_logger(__name__)


class BreakerOpen(BrokenPromise):
    """Too large a share of the records is dead-lettered."""


class DeadLetterBreaker:
    """Counts what an agent settles and what it dead-letters; open for good once it trips.

    Args:
        agent: whose records.
        settings: share, window and least number.
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
        """Whether the agent must take nothing more."""
        return self.reason is not None

    def settled(self, records: int) -> None:
        """Note records that were acknowledged, dead-lettered ones among them."""
        self._slice()[1] += records

    def dead_lettered(self) -> None:
        """Note a dead letter; it may trip the breaker."""
        self._slice()[2] += 1
        oldest = self._clock() - self._settings.window_seconds
        records = sum(count for start, count, _ in self._slices if start >= oldest)
        letters = sum(count for start, _, count in self._slices if start >= oldest)
        if self.reason is None and letters >= self._settings.least and letters >= records * self._settings.share:
            self.reason = (
                f"breaker open: {self._agent} dead-lettered {letters:.0f} of {records:.0f} records within "
                f"{self._settings.window_seconds:g} s; look at `touchstone dlq list`, mend the cause, restart"
            )
            metrics.BREAKER_OPEN.labels(self._agent).set(1)
            log.error("breaker_open", agent=self._agent, dead_lettered=letters, records=records)

    def _slice(self) -> list[float]:
        now = self._clock()
        if not self._slices or now - self._slices[-1][0] >= self._settings.window_seconds / SLICES:
            self._slices.append([now, 0.0, 0.0])
        return self._slices[-1]
