"""A worker with an evaluation process of its own: start, probes, metrics, logs, end.

Kills under traffic: the scenario ``evaluation_killed`` of tests/chaos.
"""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import aiohttp
import pytest
from pydantic import ValidationError

from tests.harness.answers import records
from tests.harness.deployment import EVALUATION, Deployment, WorkerProcess, runs, until
from workers.errors import FatalDeliveryError, TouchstoneError
from workers.process.cores import available_cores
from workers.runtime.agent_choice import AGENTS
from workers.runtime.evaluation_process import EvaluationProcess, process_count
from workers.settings import Settings
from workers.settings.addresses import Addresses

JUDGES = {"citations", "grounding", "quality"}
ONE, TWO = ({"TOUCHSTONE_EVALUATORS__PROCESSES": count} for count in "12")
AUTO = {"TOUCHSTONE_EVALUATORS__PROCESSES": "auto" if available_cores() > 1 else "1"}
"""Settings that make one process; on one core a worker has none by itself."""

SECONDS = 240.0


@pytest.fixture
async def deployment(addresses: Addresses, tmp_path: Path, int8_folder: Path) -> AsyncIterator[Deployment]:
    deployment = Deployment(addresses, tmp_path, int8=int8_folder)
    await deployment.prepare()
    yield deployment
    await deployment.close()


async def get(worker: WorkerProcess, path: str, accept: str = "") -> tuple[int, str]:
    url = f"http://127.0.0.1:{worker.metrics_port}{path}"
    async with aiohttp.ClientSession() as session, session.get(url, headers={"Accept": accept}) as response:
        return response.status, await response.text()


async def until_status(worker: WorkerProcess, path: str, status: int) -> str:
    """The body, once a path answers with this status."""
    body = ""

    async def answers() -> bool:
        nonlocal body
        found, body = await get(worker, path)
        return found == status

    await until(answers, f"{path} {status}", SECONDS)
    return body


async def until_ended(pid: int) -> None:
    async def ended() -> bool:
        return not runs(pid, EVALUATION)

    await until(ended, f"process {pid} ended", SECONDS)


async def test_probes_and_metrics_are_those_of_all_processes_and_sigterm_ends_all(deployment: Deployment) -> None:
    worker = await deployment.start_worker(environment=TWO)
    evaluations = worker.evaluation_pids()
    assert len(evaluations) == 2
    await deployment.send(records(20))
    await deployment.all_caught_up()
    ready = json.loads(await until_status(worker, "/readyz", 200))
    assert ready == {"ready": True, "checks": dict.fromkeys(ready["checks"], "ok")}
    assert set(ready["checks"]) == set(AGENTS)
    assert await get(worker, "/healthz") == (200, '{"alive":true}')

    for agent in JUDGES:
        assert await worker.metric("touchstone_judgements_total", agent=agent, status="ok") == 20
    assert await worker.metric("touchstone_records_acknowledged_total", agent="assembly") >= 20
    _, exposed = await get(worker, "/metrics", "application/openmetrics-text; version=1.0.0")
    assert exposed.count("# TYPE process_resident_memory_bytes gauge") == 1
    resident = await worker.metric("process_resident_memory_bytes")
    assert resident > 1.3 * resident_bytes(worker.pid), "memory is that of all"

    entries = [json.loads(line) for line in worker.log.read_text().splitlines() if line.startswith("{")]
    started = {entry.get("process"): set(entry["agents"]) for entry in entries if entry["event"] == "worker_started"}
    assert started == {"evaluation-1": JUDGES, "evaluation-2": JUDGES, None: set(AGENTS) - JUDGES}

    assert await worker.terminate() == 0, worker.tail()
    assert not any(runs(evaluation, EVALUATION) for evaluation in evaluations)
    assert not worker.logged("stop_grace_exceeded")


def resident_bytes(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


async def test_an_evaluation_process_that_stands_still_makes_its_worker_unhealthy_and_one_that_ends_ends_it(
    deployment: Deployment,
) -> None:
    worker = await deployment.start_worker(environment=AUTO)
    (evaluation,) = worker.evaluation_pids()
    await until_status(worker, "/readyz", 200)
    os.kill(evaluation, signal.SIGSTOP)
    assert await get(worker, "/healthz") == (503, '{"alive":false}')
    checks = json.loads(await until_status(worker, "/readyz", 503))["checks"]
    assert checks["evaluation"] == "does not respond"
    assert {checks[name] for name in set(AGENTS) - JUDGES} == {"ok"}
    # Not the figures of one process, from which counters would seem to begin again.
    assert await get(worker, "/metrics") == (503, "the process evaluation does not respond\n")
    os.kill(evaluation, signal.SIGCONT)
    await until_status(worker, "/readyz", 200)
    await until_status(worker, "/metrics", 200)

    os.kill(evaluation, signal.SIGKILL)
    assert await worker.end() == 1, worker.tail()
    (failed,) = worker.logged("worker_failed")
    assert "the process evaluation ended by signal SIGKILL" in failed["error"]


async def test_a_worker_with_a_list_of_agents_starts_no_further_process(deployment: Deployment) -> None:
    worker = await deployment.start_worker(["analytics", "grounding"], environment=ONE)
    assert worker.evaluation_pids() == []


@pytest.fixture
def cores() -> Iterator[list[int]]:
    """The cores that this thread may use; the test changes them."""
    allowed = os.sched_getaffinity(0)
    yield sorted(allowed)
    os.sched_setaffinity(0, allowed)


@pytest.mark.parametrize(("available", "chosen", "count"), [(1, "auto", 0), (2, "auto", 1), (1, "2", 2), (2, "0", 0)])
def test_a_process_that_may_use_one_core_evaluates_by_itself(
    available: int, chosen: str, count: int, cores: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    if len(cores) < available:
        pytest.skip(f"this machine has {len(cores)} cores")
    os.sched_setaffinity(0, cores[:available])
    monkeypatch.setenv("TOUCHSTONE_EVALUATORS__PROCESSES", chosen)
    assert process_count(Settings(_env_file=None)) == count


@pytest.mark.parametrize("value", ["abc", "-1", "65", "1.5"])
def test_another_number_of_processes_is_refused_in_one_sentence(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOUCHSTONE_EVALUATORS__PROCESSES", value)
    with pytest.raises(ValidationError) as refused:
        Settings(_env_file=None)
    (error,) = refused.value.errors()
    assert error["loc"] == ("evaluators", "processes")
    assert "must be auto or a whole number from 0 to 64" in error["msg"]


@pytest.fixture
async def process(settings: Settings, addresses: Addresses) -> AsyncIterator[EvaluationProcess]:
    """An evaluation process that cannot start."""
    process = await EvaluationProcess.spawn("evaluation")
    await process.start(settings, addresses, ["nonsense"])
    yield process
    await process.stop()


async def test_a_failed_start_is_reported_in_the_words_of_the_process(process: EvaluationProcess) -> None:
    assert await process.checks() == {"evaluation": "starting"}
    assert await process.is_alive()
    assert await process.metrics() == []
    with pytest.raises(TouchstoneError, match="unknown agent nonsense; choose from"):
        await process.wait_started()
    # Also to a worker that looks only after the process has ended.
    assert "unknown agent nonsense" in str(await process.wait_failed())


async def test_a_process_that_dies_in_its_start_is_reported(process: EvaluationProcess) -> None:
    process._process.kill()
    with pytest.raises(FatalDeliveryError, match="the process evaluation ended by signal SIGKILL"):
        await process.wait_started()
    assert not await process.is_alive()


async def test_a_process_ends_with_a_worker_that_gives_no_order() -> None:
    process = await EvaluationProcess.spawn("evaluation")
    process._channel.transport.abort()
    async with asyncio.timeout(SECONDS):
        assert await process._process.wait() == 0
    await process.stop()


async def test_a_process_ends_with_its_worker_while_it_starts(process: EvaluationProcess) -> None:
    process._channel.transport.abort()  # what the kernel does with the sockets of a killed worker
    async with asyncio.timeout(SECONDS):
        await process._process.wait()
