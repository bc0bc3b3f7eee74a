"""The shipped rules on a real worker: each fault raises its alert at the team's receiver, and its end resolves it."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from schemas.topics import FEEDBACK_EVENTS
from tests.chaos.proxy import Mode
from tests.chaos.run import Run
from tests.harness.monitoring import Monitoring, MonitoringMissing, monitoring
from workers.runtime.agent_choice import AGENTS

pytestmark = pytest.mark.timeout(3_000)

BURST, PAUSE = 4, 1.0
"""Answers of the traffic, and the seconds between two bursts."""


@asynccontextmanager
async def watched(folder: Path, *ports: int) -> AsyncIterator[Monitoring]:
    """Start Prometheus and Alertmanager once the workers on these ports are ready."""
    try:
        async with monitoring(folder) as started:
            started.watch(*ports)
            await started.until_scraped(len(ports))
            yield started
    except MonitoringMissing as reason:
        pytest.skip(str(reason))


async def send_feedback(run: Run, start: int, count: int) -> None:
    """Send ratings of answers that nobody knows."""
    await run.deployment.send(
        (
            (
                f"nobody-{number}".encode(),
                json.dumps(
                    {"feedback_id": f"f-{number}", "answer_id": f"nobody-{number}", "tenant": "chaos", "kind": "explicit",
                     "explicit": {"rating": 5}, "occurred_at": "2026-11-20T10:00:00Z"}
                ).encode(),
            )
            for number in range(start, start + count)
        ),
        FEEDBACK_EVENTS,
    )  # fmt: skip


@pytest.mark.long
async def test_faults_of_stores_and_records_raise_their_alerts(run: Run, tmp_path: Path) -> None:
    clickhouse, valkey = await run.proxy_clickhouse(), await run.proxy_valkey()
    worker = await run.worker()
    async with watched(tmp_path, worker.metrics_port) as shipped, run.traffic(BURST, PAUSE):
        alerts = shipped.alerts
        await run.send_poison([b"{"])
        await alerts.until_state("TouchstoneDeadLetters", "firing")
        assert alerts.receivers["TouchstoneDeadLetters"] == {"team"}

        clickhouse.cut()
        await alerts.until_state("TouchstoneSinkPaused", "firing")
        assert alerts.receivers["TouchstoneSinkPaused"] == {"on-call"}
        clickhouse.mode = Mode.FORWARD
        await alerts.until_state("TouchstoneSinkPaused", "resolved")

        valkey.cut()
        await alerts.until_state("TouchstoneHistoryAway", "firing")
        valkey.mode = Mode.FORWARD
        for alert in ("TouchstoneHistoryAway", "TouchstoneDeadLetters"):
            await alerts.until_state(alert, "resolved")

        # Half of the answers contradict their source.
        for alert in ("TouchstoneUngroundedShare", "TouchstoneLowGrounding"):
            await alerts.until_state(alert, "firing")


@pytest.mark.long
async def test_no_traffic_raises_its_alert_also_if_there_never_was_any(run: Run, tmp_path: Path) -> None:
    worker = await run.worker()
    async with watched(tmp_path, worker.metrics_port) as shipped:
        await shipped.alerts.until_state("TouchstoneNoTraffic", "firing")
        async with run.traffic(BURST, PAUSE):
            await shipped.alerts.until_state("TouchstoneNoTraffic", "resolved")


@pytest.mark.long
async def test_failed_evaluations_raise_their_alerts(run: Run, tmp_path: Path) -> None:
    switch = tmp_path / "broken"
    worker = await run.worker(environment=run.faulty("model_error", switch))
    switch.touch()
    failing = ("TouchstoneJudgementsFail", "TouchstoneDegradedAnswers")
    async with watched(tmp_path, worker.metrics_port) as shipped, run.traffic(BURST, PAUSE):
        for alert in failing:
            await shipped.alerts.until_state(alert, "firing")
        switch.unlink()
        for alert in failing:
            await shipped.alerts.until_state(alert, "resolved")


@pytest.mark.long
async def test_answers_without_an_evaluation_of_their_grounding_raise_their_alert(run: Run, tmp_path: Path) -> None:
    agents = [name for name in AGENTS if name != "grounding"]
    worker = await run.worker(agents, {"TOUCHSTONE_DELIVERY__JOIN_DEADLINE_SECONDS": "2"})
    async with watched(tmp_path, worker.metrics_port) as shipped, run.traffic(BURST, PAUSE):
        alerts = shipped.alerts
        await alerts.until_state("TouchstoneUnevaluatedAnswers", "firing")
        assert alerts.receivers["TouchstoneUnevaluatedAnswers"] == {"on-call"}
        other = await run.worker(["grounding"])
        shipped.watch(worker.metrics_port, other.metrics_port)
        await alerts.until_state("TouchstoneUnevaluatedAnswers", "resolved")


@pytest.mark.long
async def test_a_missing_worker_and_a_missing_agent_raise_their_alerts(run: Run, tmp_path: Path) -> None:
    worker = await run.worker()
    async with watched(tmp_path, worker.metrics_port) as shipped:
        alerts = shipped.alerts
        await worker.kill()
        await alerts.until_state("TouchstoneNoWorker", "firing")
        for other_alert in ("TouchstoneAgentMissing", "TouchstoneWorkerDown"):
            assert alerts.states.get(other_alert) != "firing", "the missing worker is told alone"
        killed, worker = worker, await run.worker([name for name in AGENTS if name != "analytics"])
        shipped.watch(worker.metrics_port, killed.metrics_port)
        await alerts.until_state("TouchstoneNoWorker", "resolved")
        for alert in ("TouchstoneWorkerDown", "TouchstoneAgentMissing"):
            await alerts.until_state(alert, "firing")
        other = await run.worker(["analytics"])
        shipped.watch(worker.metrics_port, other.metrics_port)
        for alert in ("TouchstoneWorkerDown", "TouchstoneAgentMissing"):
            await alerts.until_state(alert, "resolved")


@pytest.mark.long
async def test_lag_and_an_open_breaker_raise_their_alerts(run: Run, tmp_path: Path) -> None:
    clickhouse = await run.proxy_clickhouse()
    worker = await run.worker(["feedback", "assembly"])
    clickhouse.cut()

    async def more_and_more() -> None:
        start = 0
        while True:
            await send_feedback(run, start, 300)
            start += 300
            await asyncio.sleep(PAUSE)

    async with watched(tmp_path, worker.metrics_port) as shipped:
        sending = asyncio.create_task(more_and_more())
        await shipped.alerts.until_state("TouchstoneLagGrows", "firing")
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
        clickhouse.mode = Mode.FORWARD
        await shipped.alerts.until_state("TouchstoneLagGrows", "resolved")

        await run.send_poison([b"{"] * 2_000)
        await shipped.alerts.until_state("TouchstoneBreakerOpen", "firing")
