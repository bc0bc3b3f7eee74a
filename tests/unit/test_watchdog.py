"""A loop that stands still is seen, and told of where it is long."""

import asyncio
import time

from prometheus_client import REGISTRY
from structlog.testing import capture_logs

from workers.watchdog import TICK_SECONDS, watch_loop


def observed() -> tuple[float, float]:
    """Looks so far, and the seconds of all pauses."""
    name = "touchstone_event_loop_pause_seconds"
    count, total = (REGISTRY.get_sample_value(f"{name}_{kind}") for kind in ("count", "sum"))
    assert count is not None and total is not None
    return count, total


def blocks(seconds: float) -> None:
    """What must never be called in a loop."""
    time.sleep(seconds)


async def watched(block_seconds: float) -> tuple[list[str], float]:
    """Events of the log and seconds of pauses while something blocks the loop."""
    with capture_logs() as events:
        watching = asyncio.create_task(watch_loop())
        looks, before = observed()
        while observed()[0] < looks + 2:
            await asyncio.sleep(0)
        blocks(block_seconds)
        after = observed()[0]
        while observed()[0] == after:
            await asyncio.sleep(0)
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
    return [event["event"] for event in events], observed()[1] - before


async def test_what_blocks_the_loop_is_measured() -> None:
    _, seconds = await watched(0.2)
    assert seconds >= 0.2 - TICK_SECONDS - 0.005


async def test_a_long_pause_is_in_the_log() -> None:
    events, seconds = await watched(1.1)
    assert "event_loop_paused" in events
    assert seconds >= 1.0
