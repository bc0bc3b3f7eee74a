"""A scenario in which quotas of Apache Kafka hold the worker to a few kilobytes a second."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from tests.chaos.registry import scenario
from tests.chaos.run import Run
from tests.harness.deployment import WorkerProcess, until
from tests.harness.quotas import quota
from workers.runtime.agent_choice import AGENTS

PRODUCER = "touchstone"
"""Client identifier of a worker's producer."""

USER = "ANONYMOUS"
"""Name that Kafka gives clients without a login."""

THROTTLED_SECONDS = 10.0
"""Waits that each quota must have demanded before the next one is set."""


@scenario(
    "throttled", "the broker throttles the worker by producer_byte_rate, consumer_byte_rate and request_percentage"
)
async def throttled(run: Run) -> None:
    await run.own_kafka()
    worker = await run.worker()
    servers = run.deployment.addresses.kafka
    groups = [run.deployment.settings.group_name(agent) for agent in AGENTS]
    await run.send(run.answers // 4)
    await run.until_assembled(worker, 1)
    async with _alive(worker):
        for clients, kind, request, values in (
            ([PRODUCER], "client-id", "Produce", {"producer_byte_rate": 5_000.0}),
            (groups, "client-id", "Fetch", {"consumer_byte_rate": 2_000.0}),
            ([USER], "user", "Heartbeat", {"request_percentage": 0.5}),
        ):
            before = await _waited(worker, request)
            async with AsyncExitStack() as stack:
                for client in clients:
                    await stack.enter_async_context(quota(servers, client, kind, **values))
                await run.send(run.answers // 4, start=run.answers * (run.faults + 1) // 4)

                async def throttled_long_enough(request: str = request, before: float = before) -> bool:
                    return await _waited(worker, request) >= before + THROTTLED_SECONDS

                await until(throttled_long_enough, f"{request} throttled", run.patience, interval=1.0)
                run.faults += 1
        await run.until_settled()
    assert worker.running, "the worker goes on without a restart"
    assert await worker.metric("touchstone_producers_replaced_total") == 0, "no send has failed"
    logged = {entry["client"] for entry in worker.logged("broker_throttled")}
    assert PRODUCER in logged and logged & set(groups), f"the log names throttled clients: {logged}"


async def _waited(worker: WorkerProcess, request: str) -> float:
    return await worker.metric("touchstone_broker_throttled_seconds_total", kind=request)


@asynccontextmanager
async def _alive(worker: WorkerProcess) -> AsyncIterator[None]:
    """Fail if the worker says within the block that it is not ready."""
    problems: list[str] = []

    async def look() -> None:
        while True:
            if '"ready":false' in (ready := await worker.readiness()):
                problems.append(ready)
            await asyncio.sleep(1)

    looking = asyncio.create_task(look())
    try:
        yield
    finally:
        looking.cancel()
    assert not problems, f"not ready {len(problems)} times, at first: {problems[0]}"
