"""A scenario that does not come to its end explains itself."""

import asyncio
from pathlib import Path

import pytest

from tests.chaos.driver import ScenarioBroken, play
from tests.chaos.registry import Scenario
from tests.chaos.run import Run, Skipped
from workers.settings.addresses import Addresses


async def test_a_scenario_that_waits_in_vain_tells_how_each_worker_stood(addresses: Addresses, tmp_path: Path) -> None:
    async def waits_in_vain(run: Run) -> None:
        killed = await run.worker(["citations"])
        await killed.kill()
        await run.worker(["release"])
        raise TimeoutError("10 records settled: not within 300 s")

    with pytest.raises(ScenarioBroken) as broken:
        await play(Scenario("vain", "nothing", waits_in_vain), addresses, tmp_path, 10)
    text = str(broken.value)
    assert text.startswith("TimeoutError: 10 records settled: not within 300 s\n--- worker-0.log: ended with -9\n")
    assert '--- worker-1.log: runs, lag 0, in flight 0, ready: {"ready":' in text
    assert text.count('"event": "worker_started"') == 2, "the end of each log"


async def test_a_skipped_scenario_stays_one(addresses: Addresses, tmp_path: Path) -> None:
    async def skips(run: Run) -> None:
        raise Skipped("not here")

    with pytest.raises(Skipped):
        async with asyncio.timeout(60):
            await play(Scenario("skips", "nothing", skips), addresses, tmp_path, 10)
