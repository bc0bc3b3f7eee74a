"""Scenarios in which all workers are replaced, one after the other. Evaluation is stubbed: delivery is what is tested."""

import asyncio
import time

from tests.chaos.registry import scenario
from tests.chaos.run import Run, Skipped
from tests.chaos.standstill import standstills
from tests.harness.deployment import WorkerProcess

WORKERS = 2
STEADY_SECONDS = 10.0
"""Time of ordinary work before the first worker is stopped, with 300 answers; with fewer it is shorter."""

BURST_SECONDS = 1.0
"""Time between two answers on a partition: what eight workers do in passing, so that a start does not wait for a core."""

NAME_VARIABLE = "CONSUMER_GROUP_INSTANCE_ID"
"""Variable of Faust that makes a worker a static member of its groups. Touchstone itself does not set it."""

SESSION_SECONDS = "60"
"""Session timeout on Apache Kafka: longer than a start, or partitions of static members move."""


@scenario(
    "rolling_deployment",
    "each worker is stopped by SIGTERM and started again, one after the other, while answers flow",
)
async def rolling_deployment(run: Run) -> None:
    await _replace_each(run, static=False)


@scenario("static_deployment", "the same with static members (KIP-345), which Touchstone does not use")
async def static_deployment(run: Run) -> None:
    if run.deployment.addresses.light_broker:
        raise Skipped("the light broker does not know static members")
    await _replace_each(run, static=True)


async def _replace_each(run: Run, *, static: bool) -> None:
    count = run.fleet or WORKERS
    run.stub_evaluation()
    if run.deployment.addresses.light_broker:
        if count > run.deployment.partitions:
            raise Skipped(f"topics on the light broker have {run.deployment.partitions} partitions")
    else:
        run.deployment.partitions = max(run.deployment.partitions, count)
        await run.own_kafka()
    workers = [await _start(run, number, static=static) for number in range(count)]
    for worker in workers:
        await worker.wait_ready()
    async with run.traffic(run.deployment.partitions, BURST_SECONDS):
        await asyncio.gather(*(run.until_assembled(worker, 1) for worker in workers))
        steady = time.time()
        await asyncio.sleep(STEADY_SECONDS * min(1.0, run.answers / 300))
        started = time.time()
        stops, starts = [], []
        for number, worker in enumerate(workers):
            run.observe()
            began = time.monotonic()
            assert await worker.terminate() == 0, worker.tail()
            stops.append(time.monotonic() - began)
            workers[number] = again = await _start(run, number, static=static)
            await again.wait_ready()
            starts.append(time.monotonic() - began - stops[-1])
            await run.until_assembled(again, 1)
            assert all(each.running for each in workers), "no worker ends by itself"
            run.faults += 1
            run.tell("workers replaced", run.faults, count)
        ended = time.time()
    await run.until_settled()
    run.notes.append(f"a stop took {max(stops):.1f} s at most, a start {max(starts):.1f} s")
    run.standstills = await standstills(run.deployment, steady, started, ended)


async def _start(run: Run, number: int, *, static: bool) -> WorkerProcess:
    environment: dict[str, str] = {}
    if not run.deployment.addresses.light_broker:
        environment["TOUCHSTONE_KAFKA__SESSION_TIMEOUT_SECONDS"] = SESSION_SECONDS
    if static:
        environment[NAME_VARIABLE] = f"{run.deployment.name}-{number}"
    return await run.deployment.start_worker(module=run.module, environment=environment, ready=False)
