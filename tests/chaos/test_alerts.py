"""The shipped rules on a real worker: each fault raises its alert at the team's receiver, and its end resolves it."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from schemas.topics import FEEDBACK_EVENTS
from tests.chaos.proxy import Mode
from tests.chaos.run import Run
from tests.harness.deployment import Deployment
from tests.harness.monitoring import Monitoring, MonitoringMissing, monitoring
from workers.settings.addresses import Addresses

pytestmark = [pytest.mark.long, pytest.mark.timeout(3_000)]

BURST, PAUSE = 4, 1.0
"""Answers of the traffic, and the seconds between two bursts."""


@pytest.fixture
async def run(addresses: Addresses, tmp_path: Path) -> AsyncIterator[Run]:
    deployment = Deployment(addresses, tmp_path)
    await deployment.prepare()
    run = Run(deployment, 10, await deployment.client())
    yield run
    await run.close()


@pytest.fixture
async def shipped(tmp_path: Path) -> AsyncIterator[Monitoring]:
    folder = tmp_path / "monitoring"
    folder.mkdir()
    try:
        async with monitoring(folder) as started:
            yield started
    except MonitoringMissing as reason:
        pytest.skip(str(reason))


async def send_feedback(run: Run, count: int) -> None:
    """Send ratings of answers that nobody knows."""
    await run.deployment.send(
        (
            (
                f"nobody-{number}".encode(),
                json.dumps(
                    {"feedback_id": f"f-{number}", "answer_id": f"nobody-{number}", "tenant": "chaos", "kind": "rating",
                     "rating": 5, "occurred_at": "2026-11-20T10:00:00Z"}
                ).encode(),
            )
            for number in range(count)
        ),
        FEEDBACK_EVENTS,
    )  # fmt: skip


async def test_faults_of_stores_and_records_raise_their_alerts(run: Run, shipped: Monitoring) -> None:
    alerts = shipped.alerts
    clickhouse, valkey = await run.proxy_clickhouse(), await run.proxy_valkey()
    worker = await run.worker()
    shipped.watch(worker.metrics_port)

    await run.send_poison([b"{"])
    await alerts.until_state("TouchstoneDeadLetters", "firing")
    assert alerts.receivers["TouchstoneDeadLetters"] == {"team"}

    clickhouse.cut()
    async with run.traffic(BURST, PAUSE):
        await alerts.until_state("TouchstoneSinkPaused", "firing")
        assert alerts.receivers["TouchstoneSinkPaused"] == {"on-call"}
        clickhouse.mode = Mode.FORWARD
        await alerts.until_state("TouchstoneSinkPaused", "resolved")

        valkey.cut()
        await alerts.until_state("TouchstoneHistoryAway", "firing")
        valkey.mode = Mode.FORWARD
        await alerts.until_state("TouchstoneHistoryAway", "resolved")

        # Three of four answers contradict their source, and all were completed weeks before they arrived.
        for alert in ("TouchstoneSlow", "TouchstoneUngroundedShare", "TouchstoneLowGrounding"):
            await alerts.until_state(alert, "firing")
    await alerts.until_state("TouchstoneNoTraffic", "firing")
    for alert in ("TouchstoneDeadLetters", "TouchstoneSlow", "TouchstoneUngroundedShare", "TouchstoneLowGrounding"):
        await alerts.until_state(alert, "resolved")
    async with run.traffic(BURST, PAUSE):
        await alerts.until_state("TouchstoneNoTraffic", "resolved")
    assert "TouchstoneWorkerDown" not in alerts.states and "TouchstoneAgentMissing" not in alerts.states


async def test_faults_of_workers_raise_their_alerts(run: Run, shipped: Monitoring, tmp_path: Path) -> None:
    alerts, switch = shipped.alerts, tmp_path / "broken"
    broken = run.faulty("model_error", switch)
    worker = await run.worker(environment=broken)
    shipped.watch(worker.metrics_port)
    switch.touch()
    failing = ("TouchstoneJudgementsFail", "TouchstoneDegradedAnswers", "TouchstoneUnevaluatedAnswers")
    async with run.traffic(BURST, PAUSE):
        for alert in failing:
            await alerts.until_state(alert, "firing")
        assert alerts.receivers["TouchstoneUnevaluatedAnswers"] == {"on-call"}
        switch.unlink()
        for alert in failing:
            await alerts.until_state(alert, "resolved")

    await worker.kill()
    await alerts.until_state("TouchstoneWorkerDown", "firing")
    assert "TouchstoneAgentMissing" not in alerts.states, "the missing worker is told alone"
    # One agent is left out.
    worker = await run.worker(["citations", "grounding", "quality", "assembly", "release", "decisions", "signals",
                               "feedback", "memory"])  # fmt: skip
    shipped.watch(worker.metrics_port)
    await alerts.until_state("TouchstoneWorkerDown", "resolved")
    await alerts.until_state("TouchstoneAgentMissing", "firing")
    other = await run.worker(["analytics"])
    shipped.watch(worker.metrics_port, other.metrics_port)
    await alerts.until_state("TouchstoneAgentMissing", "resolved")


async def test_lag_and_an_open_breaker_raise_their_alerts(run: Run, shipped: Monitoring) -> None:
    alerts = shipped.alerts
    clickhouse = await run.proxy_clickhouse()
    worker = await run.worker(["feedback", "assembly"])
    shipped.watch(worker.metrics_port)
    clickhouse.cut()

    async def more_and_more() -> None:
        while True:
            await send_feedback(run, 300)
            await asyncio.sleep(PAUSE)

    sending = asyncio.create_task(more_and_more())
    await alerts.until_state("TouchstoneLagGrows", "firing")
    sending.cancel()
    await asyncio.gather(sending, return_exceptions=True)
    clickhouse.mode = Mode.FORWARD
    await alerts.until_state("TouchstoneLagGrows", "resolved")

    await run.send_poison([b"{"] * 2_000)
    await alerts.until_state("TouchstoneBreakerOpen", "firing")
