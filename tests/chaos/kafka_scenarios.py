"""Scenarios on Apache Kafka: brokers that end, stand still, move and are upgraded, and topics that change."""

import asyncio

from aiokafka import TopicPartition
from aiokafka.admin import NewPartitions, RecordsToDelete

from schemas.topics import ANSWERS_GENERATED, TOPICS
from tests.chaos.kafka_admin import admin, coordinator, leaders
from tests.chaos.registry import scenario
from tests.chaos.run import Run
from tests.harness.deployment import until
from tests.harness.kafka_cluster import VERSIONS
from workers.delivery.topics.topic_administration import TopicAdministration


@scenario("broker_restart", "the broker is killed and started again, then stopped and started again, with its log")
async def broker_restart(run: Run) -> None:
    [broker] = (await run.own_kafka()).nodes
    worker = await run.worker()
    for number, end in enumerate((broker.kill, broker.stop)):
        await run.send(run.answers // 2, start=number * (run.answers // 2))
        await run.until_assembled(worker, number * (run.answers // 2) + 1)
        await end()
        await broker.start()
        run.faults += 1
    await run.until_settled()
    assert worker.running, "the worker recovers without a restart"


@scenario("broker_frozen", "the broker stands still for 15 s, connections stay")
async def broker_frozen(run: Run) -> None:
    [broker] = (await run.own_kafka()).nodes
    worker = await run.worker()
    await run.send()
    await run.until_assembled(worker, 1)
    broker.pause()
    await asyncio.sleep(15)
    broker.resume()
    run.faults = 1
    await run.until_settled()
    assert worker.running, "the worker recovers without a restart"


@scenario("replicas_lost", "two of three brokers are killed for 40 s, so that min.insync.replicas is not met")
async def replicas_lost(run: Run) -> None:
    cluster = await run.own_kafka(3)
    worker = await run.worker()
    async with run.traffic(max(10, run.answers // 50), 1.0):
        await run.until_assembled(worker, 1)
    await run.send(run.answers, "b")
    lost = cluster.nodes[1:]
    for node in lost:
        await node.kill()
    await asyncio.sleep(40)
    for node in lost:
        await node.spawn()
    for node in lost:
        await node.wait_started()
    run.faults = len(lost)
    await run.until_settled()
    assert worker.running, "the worker recovers without a restart"


@scenario("brokers_frozen", "each of three brokers in turn stands still for 60 s")
async def brokers_frozen(run: Run) -> None:
    cluster = await run.own_kafka(3)
    worker = await run.worker()
    await run.send(run.answers // 2)
    await run.until_assembled(worker, 1)
    async with run.traffic(max(5, run.answers // 100), 1.0):
        for node in cluster.nodes:
            node.pause()
            await asyncio.sleep(60)
            node.resume()
            run.faults += 1
    await run.send(run.answers - run.answers // 2, start=run.answers // 2)
    await run.until_settled()
    assert worker.running, "the worker recovers without a restart"


@scenario("leader_moved", "a broker ends cleanly and comes back, so that leaders move away and back")
async def leader_moved(run: Run) -> None:
    # Kafka moves leaders back by itself, every five minutes by default.
    back = {"leader.imbalance.check.interval.seconds": "2", "leader.imbalance.per.broker.percentage": "0"}
    cluster = await run.own_kafka(3, properties=back)
    worker = await run.worker()
    first = await leaders(run)
    moved = cluster.nodes[0]
    led = {place for place, leader in first.items() if leader == moved.node.number}
    assert led
    async with run.traffic(max(10, run.answers // 20), 1.0):
        await run.until_assembled(worker, 1)
        await moved.stop()
        run.faults += len(led)
        await run.send(run.answers // 2, "b")
        away = await leaders(run)
        assert all(away[place] != moved.node.number for place in led)
        await moved.start()

        async def moved_back() -> bool:
            return await leaders(run) == first

        await until(moved_back, "leaders moved back", run.patience, interval=1.0)
        run.faults += len(led)
    await run.send(run.answers - run.answers // 2, "c")
    await run.until_settled()
    assert worker.running, "the worker recovers without a restart"


@scenario("in_sync_lost", "min.insync.replicas is not met for 40 s, which is four times the delivery timeout")
async def in_sync_lost(run: Run) -> None:
    run.deployment.min_insync_replicas = 3
    cluster = await run.own_kafka(3)
    worker = await run.worker(environment={"TOUCHSTONE_KAFKA__REQUEST_TIMEOUT_SECONDS": "5"})
    async with run.traffic(max(10, run.answers // 50), 1.0):
        await run.until_assembled(worker, 1)
    await run.send(run.answers, "b")
    lost = cluster.nodes[2]
    await lost.kill()
    await asyncio.sleep(40)
    await lost.start()
    run.faults = 1
    await run.until_settled()
    assert worker.running, "the worker recovers without a restart"


@scenario("coordinator_moved", "the broker that coordinates the group of assembly is killed for 20 s")
async def coordinator_moved(run: Run) -> None:
    cluster = await run.own_kafka(3)
    worker = await run.worker()
    await run.send(run.answers // 2)
    await run.until_assembled(worker, 1)
    group = run.deployment.settings.group_name("assembly")
    first = await coordinator(run, group)
    node = next(node for node in cluster.nodes if node.node.number == first)
    await node.kill()
    await run.send(run.answers - run.answers // 2, start=run.answers // 2)
    await asyncio.sleep(20)
    assert await coordinator(run, group) != first
    run.faults = 1
    await node.start()
    await run.until_settled()
    assert worker.running, "the worker recovers without a restart"


@scenario("retention_passed", "retention deletes answers while no worker runs; they must be reported with their number")
async def retention_passed(run: Run) -> None:
    await run.own_kafka()
    worker = await run.worker()
    await run.send(run.answers // 2)
    await run.until_settled()
    await worker.terminate()
    await run.send(run.answers - run.answers // 2, start=run.answers // 2)
    topic = run.deployment.settings.topic_name(ANSWERS_GENERATED.name)
    records = await run.deployment.read(ANSWERS_GENERATED)
    starts = {
        number: sum(record.partition == number for record in records) - 3 for number in range(run.deployment.partitions)
    }
    async with admin(run) as client:
        await client.delete_records(
            {TopicPartition(topic, number): RecordsToDelete(offset) for number, offset in starts.items()}
        )
    worker = await run.worker()
    gone = {
        (record.key or b"").decode() for record in records if record.offset < starts[record.partition]
    } - await run.stored_identifiers()
    assert gone
    run.expected_lost = gone
    run.faults = len(gone)
    await run.until_settled()
    told = await worker.metric("touchstone_records_lost_total", agent="assembly", topic=ANSWERS_GENERATED.name)
    assert told == len(gone), f"{told:g} of {len(gone)} lost answers were reported"


@scenario("partitions_added", "all topics get twice as many partitions while the worker runs")
async def partitions_added(run: Run) -> None:
    await run.own_kafka()
    worker = await run.worker()
    await run.send(run.answers // 2)
    await run.until_assembled(worker, 1)
    count = 2 * run.deployment.partitions
    async with admin(run) as client:
        names = [run.deployment.settings.topic_name(topic.name) for topic in TOPICS]
        await client.create_partitions({name: NewPartitions(count) for name in names})
    run.faults = len(TOPICS)
    run.deployment.partitions = count
    await run.send(run.answers - run.answers // 2, start=run.answers // 2)
    await run.until_settled()
    assert worker.running, "the worker recovers without a restart"


@scenario(
    "topic_recreated",
    "answers.generated is deleted and made again while the worker runs; more answers follow than before",
)
async def topic_recreated(run: Run) -> None:
    await run.own_kafka()
    worker = await run.worker()
    before = run.answers // 4
    await run.send(before)
    await run.until_settled()
    await run.until_quiet()
    async with TopicAdministration(run.deployment.settings, run.deployment.addresses.kafka) as administration:
        await administration.delete([ANSWERS_GENERATED])

        async def gone() -> bool:
            name = run.deployment.settings.topic_name(ANSWERS_GENERATED.name)
            return not await administration.present([name])

        await until(gone, "the topic deleted", run.patience)
        await administration.create()
    run.faults = 1
    await run.send(run.answers - before, start=before)
    await run.until_settled()
    assert worker.running, "the worker recovers without a restart"


@scenario("rolling_upgrade", "three brokers are upgraded from 3.9.1 to 4.3.1, one after the other")
async def rolling_upgrade(run: Run) -> None:
    cluster = await run.own_kafka(3, version=VERSIONS[1])
    worker = await run.worker()
    async with run.traffic(max(10, run.answers // 50), 1.0):
        await run.until_assembled(worker, 1)
        for node in cluster.nodes:
            await node.stop()
            node.upgrade(VERSIONS[0])
            await node.start()
            run.faults += 1
    await run.send(run.answers, "b")
    await run.until_settled()
    assert worker.running, "the worker recovers without a restart"
