"""Scenarios on Apache Kafka in which a log loses records, offsets or its disk, and a producer its place in it."""

import asyncio
import struct
from collections.abc import Iterator
from pathlib import Path

from aiokafka import TopicPartition
from aiokafka.admin import RecordsToDelete
from aiokafka.client import AIOKafkaClient
from aiokafka.protocol.produce import ProduceRequest
from aiokafka.record.util import calc_crc32c

from schemas.topics import ANSWERS_GENERATED
from tests.chaos.kafka_admin import admin
from tests.chaos.registry import scenario
from tests.chaos.run import Run
from tests.harness.deployment import until
from tests.harness.kafka_cluster import KafkaNode

BATCH_HEAD = struct.Struct(">qiibIhiqqqhii")
"""Head of a batch of records, version 2, up to the number of its records."""
CHECKED_FROM = 21
"""First byte of a batch that its checksum covers."""
PRODUCER_EPOCH, BASE_SEQUENCE = 51, 53
"""Places of two fields in the head."""

DISK_MEGABYTES = 256
"""Size of a disk with room for the records of 1,000 answers, of 50 kB each, and for the empty log."""


@scenario("retention_overtakes", "retention deletes answers that a running worker has not read yet")
async def retention_overtakes(run: Run) -> None:
    await run.own_kafka()
    # Some agents have read an answer that others have lost; its join waits in vain. And no rebalance while it is slow.
    worker = await run.worker(
        environment={
            "TOUCHSTONE_DELIVERY__JOIN_DEADLINE_SECONDS": "15",
            "TOUCHSTONE_KAFKA__SESSION_TIMEOUT_SECONDS": "60",
        }
    )
    half = run.answers // 2
    await run.send(half)
    await run.until_assembled(worker, 1)
    worker.pause()
    await run.send(run.answers - half, start=half)
    records = await run.deployment.read(ANSWERS_GENERATED)
    starts = {
        number: sum(record.partition == number for record in records) - 3 for number in range(run.deployment.partitions)
    }
    topic = run.deployment.settings.topic_name(ANSWERS_GENERATED.name)
    async with admin(run) as client:
        await client.delete_records(
            {TopicPartition(topic, number): RecordsToDelete(offset) for number, offset in starts.items()}
        )
    worker.resume()
    deleted = {(record.key or b"").decode() for record in records if record.offset < starts[record.partition]}
    run.expected_lost = deleted
    await run.until_settled()
    await run.until_quiet()
    run.expected_lost = gone = deleted - await run.stored_identifiers()
    run.faults = len(gone)
    degraded = await run.degraded_identifiers()
    assert degraded <= deleted, "only answers that an agent has lost are degraded"
    run.expected_degraded = len(degraded)
    told = await worker.metric("touchstone_records_lost_total", agent="assembly", topic=ANSWERS_GENERATED.name)
    assert told == len(gone) > 0, f"{told:g} of {len(gone)} lost answers were reported"


@scenario("offsets_expired", "the broker forgets the committed offsets of all groups while no worker runs")
async def offsets_expired(run: Run) -> None:
    # A minute is the shortest time that Kafka keeps them.
    await run.own_kafka(
        properties={"offsets.retention.minutes": "1", "offsets.retention.check.interval.ms": "1000"},
    )
    worker = await run.worker()
    half = run.answers // 2
    await run.send(half)
    await run.until_settled()
    await run.until_quiet()
    await worker.terminate()
    settings = run.deployment.settings

    async def forgotten() -> bool:
        async with admin(run) as client:
            groups = [name for name, *_ in await client.list_consumer_groups()]
        return not any(name.startswith(settings.kafka.group_prefix) for name in groups)

    await until(forgotten, "offsets expired", run.patience, interval=1.0)
    run.faults = 1
    await run.send(run.answers - half, start=half)
    await run.worker()
    await run.until_settled()


@scenario("producer_fenced", "somebody writes with the worker's producer identifiers and a later epoch")
async def producer_fenced(run: Run) -> None:
    [broker] = (await run.own_kafka()).nodes
    worker = await run.worker()
    half = run.answers // 2
    await run.send(half)
    await run.until_assembled(worker, 1)
    client = AIOKafkaClient(bootstrap_servers=run.deployment.addresses.kafka)
    await client.bootstrap()
    try:
        for topic, partition, batch in _last_batches(broker, run.deployment.name):
            # It repeats records of the worker, so that it adds no others.
            request = ProduceRequest(
                transactional_id=None, required_acks=-1, timeout=10_000,
                topics=[(topic, [(partition, _in_later_epoch(batch))])],
            )  # fmt: skip
            response = await client.send(broker.node.number, request)
            [(_, [(_, code, *_)])] = response.topics
            assert code == 0, f"{topic} {partition}: error {code}"
            run.faults += 1
    finally:
        await client.close()
    assert run.faults
    await run.send(run.answers - half, start=half)
    await run.until_settled()
    assert worker.running, "the worker recovers without a restart"
    replaced = await worker.metric("touchstone_producers_replaced_total", error="ProducerFenced")
    assert replaced, "the worker was not fenced"


@scenario("disk_full", "the broker's disk is full, so that it ends; then there is room, and it starts again")
async def disk_full(run: Run) -> None:
    disk = await run.small_disk(DISK_MEGABYTES * max(1, run.answers // 1_000))
    [broker] = (await run.own_kafka(properties={"log.dirs": str(disk)})).nodes
    worker = await run.worker()
    async with run.traffic(max(10, run.answers // 50), 0.5):
        await run.until_assembled(worker, 1)
        ballast = _filled(disk)
        run.faults = 1
        assert broker.process is not None
        await asyncio.wait_for(broker.process.wait(), run.patience)
        await asyncio.sleep(10)
        ballast.unlink()
        # Within the block: traffic ends between two bursts, and none is confirmed without a broker.
        await broker.start()
    await run.send(run.answers, "b")
    await run.until_settled()
    assert worker.running, "the worker recovers without a restart"


def _filled(disk: Path) -> Path:
    """Write a file that takes what room is left; return its path."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file:
        for size in (1 << 20, 1 << 12):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                continue
    return ballast


def _last_batches(node: KafkaNode, prefix: str) -> Iterator[tuple[str, int, bytes]]:
    """Yield topic, partition and the last batch that has a producer identifier, from the node's files."""
    for folder in sorted((node.node.directory / "data").glob(f"{prefix}.*")):
        content = b"".join(file.read_bytes() for file in sorted(folder.glob("*.log")))
        if numbered := [batch for batch in _batches(content) if BATCH_HEAD.unpack_from(batch)[9] >= 0]:
            topic, _, partition = folder.name.rpartition("-")
            yield topic, int(partition), numbered[-1]


def _batches(content: bytes) -> Iterator[bytes]:
    """Yield the complete batches of a file."""
    place = 0
    while place + BATCH_HEAD.size <= len(content):
        size = 12 + int.from_bytes(content[place + 8 : place + 12])
        if size <= 12 or place + size > len(content):
            return
        yield content[place : place + size]
        place += size


def _in_later_epoch(batch: bytes) -> bytes:
    """Return the batch as the first one of its producer's next epoch."""
    changed = bytearray(batch)
    struct.pack_into(">q", changed, 0, 0)  # the base offset of a batch that is sent
    (epoch,) = struct.unpack_from(">h", changed, PRODUCER_EPOCH)
    struct.pack_into(">h", changed, PRODUCER_EPOCH, epoch + 1)
    struct.pack_into(">i", changed, BASE_SEQUENCE, 0)
    struct.pack_into(">I", changed, CHECKED_FROM - 4, calc_crc32c(bytes(changed[CHECKED_FROM:])))
    return bytes(changed)
