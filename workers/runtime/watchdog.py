"""Measure pauses of the event loop, which delay the whole worker including heartbeats."""

import asyncio
from time import monotonic

from prometheus_client import Histogram

from workers.observability import metrics
from workers.observability.logs import get_logger

TICK_SECONDS = 0.02
"""Interval between two measurements; a measured pause is too short by at most this time."""

TOLD_SECONDS = 1.0
"""Minimum length of a logged pause: a tenth of the broker's session timeout."""

log = get_logger(__name__)


async def watch_loop(pauses: Histogram = metrics.LOOP_PAUSE) -> None:
    """Observe repeatedly in ``pauses`` how late the loop wakes this task, in seconds, until cancelled."""
    while True:
        due = monotonic() + TICK_SECONDS
        await asyncio.sleep(TICK_SECONDS)
        late = max(0.0, monotonic() - due)
        pauses.observe(late)
        if late >= TOLD_SECONDS:
            log.warning("event_loop_paused", seconds=round(late, 2))
