"""Scenarios with several workers on three brokers of Apache Kafka. Evaluation is stubbed: delivery is what is tested."""

import asyncio
import random

from tests.chaos.kafka_admin import replicas_in_sync
from tests.chaos.registry import scenario
from tests.chaos.run import Run
from tests.harness.deployment import WorkerProcess, until
from tests.harness.kafka_cluster import KafkaCluster

SEED = 20261125
BROKERS = 3
WORKERS = 2


@scenario("random_kills", "workers and brokers are killed at random moments and start again; evaluation is stubbed")
async def random_kills(run: Run) -> None:
    chance = random.Random(SEED)
    kills = run.kills or max(4, run.answers // 1_000)
    run.stub_evaluation()
    cluster = await run.own_kafka(BROKERS)
    workers = [await run.worker() for _ in range(WORKERS)]
    sent = 0
    for number in range(kills):
        share = run.answers * (number + 1) // (kills + 1) - sent
        sending = asyncio.create_task(run.send_until_confirmed(share, start=sent))
        sent += share
        await asyncio.sleep(chance.uniform(0, 3))
        # Workers die more often than brokers.
        if chance.random() < 0.6:
            await _kill_worker(run, workers, chance.randrange(WORKERS))
        else:
            await _kill_broker(run, cluster, chance.randrange(BROKERS), chance.uniform(0, 10))
        await sending
        run.faults += 1
        run.tell("killed and started again", run.faults, kills)
    await run.send_until_confirmed(run.answers - sent, start=sent)
    await run.until_settled()
    assert all(worker.running for worker in workers), "no worker ends by itself"


async def _kill_worker(run: Run, workers: list[WorkerProcess], number: int) -> None:
    run.observe()
    assert workers[number].running, f"the worker ended by itself:\n{workers[number].tail()}"
    await workers[number].kill()
    workers[number] = await run.worker()


async def _kill_broker(run: Run, cluster: KafkaCluster, number: int, away: float) -> None:
    node = cluster.nodes[number]
    await node.kill()
    await asyncio.sleep(away)
    await node.start()

    async def whole() -> bool:
        return await replicas_in_sync(run) == BROKERS

    # Otherwise a later kill could take the last replica that has a record.
    await until(whole, "all replicas in sync", run.patience, interval=1.0)
