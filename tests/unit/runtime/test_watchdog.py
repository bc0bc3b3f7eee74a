"""Pauses of the event loop are measured, and long ones are logged."""

import asyncio
import time

import pytest
import structlog
from prometheus_client import CollectorRegistry, Histogram
from structlog.testing import capture_logs

from workers.runtime import watchdog
from workers.runtime.watchdog import TICK_SECONDS, watch_loop


def blocks(seconds: float) -> None:
    """Block the thread, which must never happen in an event loop."""
    time.sleep(seconds)


async def watched(block_seconds: float) -> tuple[list[str], float]:
    """Return the logged events and the seconds of all pauses while something blocks the loop."""
    # A histogram of its own: a worker of another test may watch its loop in a thread of this process.
    registry = CollectorRegistry()
    pauses = Histogram("pauses", "Pauses", registry=registry)

    def observed(kind: str) -> float:
        value = registry.get_sample_value(f"pauses_{kind}")
        assert value is not None
        return value

    with capture_logs() as events, pytest.MonkeyPatch.context() as patch:
        # A logger of its own: an earlier test may have set up the module's for another configuration.
        patch.setattr(watchdog, "log", structlog.get_logger())
        watching = asyncio.create_task(watch_loop(pauses))
        while observed("count") < 2:
            await asyncio.sleep(0)
        before = observed("sum")
        blocks(block_seconds)
        after = observed("count")
        while observed("count") == after:
            await asyncio.sleep(0)
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
    return [event["event"] for event in events], observed("sum") - before


async def test_what_blocks_the_loop_is_measured() -> None:
    _, seconds = await watched(0.2)
    assert seconds >= 0.2 - TICK_SECONDS - 0.005


async def test_a_long_pause_is_in_the_log() -> None:
    events, seconds = await watched(1.1)
    assert "event_loop_paused" in events
    assert seconds >= 1.0
