"""How long the event loop stands still: everything of a worker waits meanwhile, heartbeats too."""

import asyncio
from collections.abc import Callable
from time import monotonic

from workers import metrics
from workers.logs import get_logger

TICK_SECONDS = 0.02
"""Time between two looks. A pause is seen shorter than it is by at most this much."""

TOLD_SECONDS = 1.0
"""Pauses from this length on are in the log: a tenth of what a broker's session bears is gone."""

log = get_logger(__name__)


async def watch_loop(clock: Callable[[], float] = monotonic) -> None:
    """Look again and again how much later than asked for the loop wakes this, until cancelled."""
    while True:
        due = clock() + TICK_SECONDS
        await asyncio.sleep(TICK_SECONDS)
        late = max(0.0, clock() - due)
        metrics.LOOP_PAUSE.observe(late)
        if late >= TOLD_SECONDS:
            log.warning("event_loop_paused", seconds=round(late, 2))
