"""A scenario that does not come to its end explains itself, and one that loses answers to dead letters fails."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.chaos.driver import ScenarioBroken, play
from tests.chaos.registry import Scenario
from tests.chaos.run import STUBBED, Run, Skipped
from tests.harness.deployment import until
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


async def test_every_scenario_can_be_played_with_stubbed_evaluation(addresses: Addresses, tmp_path: Path) -> None:
    async def evaluates(run: Run) -> None:
        assert run.module == STUBBED
        await run.worker()
        await run.send()
        await run.until_settled()

    outcome = await play(Scenario("stubbed", "nothing", evaluates), addresses, tmp_path, 10, stubbed=True)
    assert outcome.passed
    assert outcome.as_dict()["evaluation_stubbed"]


async def test_a_scenario_whose_answers_become_dead_letters_fails(addresses: Addresses, tmp_path: Path) -> None:
    """They are not lost, but nobody evaluates them: with a wrong stub all did, and the scenario passed."""

    async def sends_what_assembly_refuses(run: Run) -> None:
        await run.worker(["assembly", "analytics"])
        for number in range(3):
            value = json.dumps({"answer_id": f"wrong-{number}"}).encode()
            await run.deployment.send([(b"wrong-%d" % number, value)])
            run.sent.add(f"wrong-{number}")
        await run.until_settled()

    outcome = await play(Scenario("wrong", "nothing", sends_what_assembly_refuses), addresses, tmp_path, 10)
    assert outcome.verdict.dead_lettered == 3
    assert not outcome.passed


async def test_traffic_goes_on_after_an_error_of_the_broker(addresses: Addresses, tmp_path: Path) -> None:
    async def cuts(run: Run) -> None:
        proxy = await run.broker_behind_proxy()

        async def more_sent() -> bool:
            return len(run.sent) > known

        async def refused() -> bool:
            return proxy.faults > cut

        async with run.traffic(1, 0.05):
            known = 0
            await until(more_sent, "the first burst")
            proxy.cut()
            cut, known = proxy.faults, len(run.sent)
            await until(refused, "a burst that the broker refuses")
            proxy.mend()
            await until(more_sent, "a burst after the error", 60)
        run.sent.clear()  # no worker is there to settle them

    outcome = await play(Scenario("cut", "the broker is cut off", cuts), addresses, tmp_path, 10)
    assert outcome.passed


async def test_traffic_that_cannot_go_on_fails_its_scenario(addresses: Addresses, tmp_path: Path) -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError("no answers")

    async def sends(run: Run) -> None:
        run.records = broken
        async with run.traffic(1, 0.05):
            await asyncio.sleep(0)

    with pytest.raises(ScenarioBroken, match="no answers"):
        await play(Scenario("broken", "nothing", sends), addresses, tmp_path, 10)
