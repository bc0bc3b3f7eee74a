"""A producer whose sequence numbers have a gap, on Apache Kafka: it is replaced, and every record arrives."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer
from aiokafka.errors import (
    InvalidProducerEpoch,
    NotLeaderForPartitionError,
    OutOfOrderSequenceNumber,
    ProducerFenced,
    UnknownProducerId,
)
from aiokafka.producer.message_accumulator import MessageBatch

from schemas.topics import ANSWERS_GENERATED
from tests.harness.partitions import add_partitions
from workers.delivery.producer import ENDS_IN_A_ROW, ConfirmedProducer
from workers.delivery.records import Output
from workers.delivery.topics.topic_administration import TopicAdministration
from workers.errors import BrokerUnavailable, ProducerEnded, ResultTooLarge
from workers.observability import metrics
from workers.settings import Settings
from workers.settings.addresses import Addresses

PARTITIONS = 16
SECONDS = 120.0


@pytest.fixture
def addresses(kafka_addresses: Addresses) -> Addresses:
    return kafka_addresses


@pytest.fixture
async def producer(settings: Settings, addresses: Addresses, topics: None) -> AsyncIterator[ConfirmedProducer]:
    settings.kafka.request_timeout_seconds = 3.0
    opened = ConfirmedProducer(settings, addresses.kafka)
    await opened.start()
    yield opened
    await opened.stop()


@pytest.fixture
async def topics(settings: Settings, addresses: Addresses) -> AsyncIterator[None]:
    async with TopicAdministration(settings, addresses.kafka) as administration:
        await administration._create([(ANSWERS_GENERATED, PARTITIONS)])
        await administration._wait_for_leaders([settings.topic_name(ANSWERS_GENERATED.name)], None)
        yield
        await administration.delete([ANSWERS_GENERATED])


def on_every_partition(value: bytes) -> list[Output]:
    return [Output(ANSWERS_GENERATED, b"k", value, partition=number) for number in range(PARTITIONS)]


async def stored(settings: Settings, addresses: Addresses, count: int) -> list[bytes | None]:
    topic = settings.topic_name(ANSWERS_GENERATED.name)
    consumer = AIOKafkaConsumer(topic, bootstrap_servers=addresses.kafka, auto_offset_reset="earliest")
    await consumer.start()
    try:
        async with asyncio.timeout(SECONDS):
            return [(await consumer.getone()).value for _ in range(count)]
    finally:
        await consumer.stop()


async def until_sent(producer: ConfirmedProducer, outputs: list[Output]) -> int:
    """Send as an agent does, again and again; return the number of attempts."""
    attempts = 0
    async with asyncio.timeout(SECONDS):
        while True:
            attempts += 1
            try:
                await producer.send(outputs, agent="probe")
                return attempts
            except BrokerUnavailable:
                await asyncio.sleep(0.01)


def replaced() -> float:
    return sum(
        sample.value
        for family in metrics.PRODUCERS_REPLACED.collect()
        for sample in family.samples
        if sample.name.endswith("_total")
    )


async def test_batches_that_expire_without_a_leader_on_many_partitions_stop_nothing_afterwards(
    producer: ConfirmedProducer, settings: Settings, addresses: Addresses, monkeypatch: pytest.MonkeyPatch
) -> None:
    await producer.send(on_every_partition(b"before"), agent="probe")
    assert producer._client is not None
    cluster = producer._client.connection.cluster
    replacements = replaced()
    with monkeypatch.context() as patched:
        patched.setattr(cluster, "leader_for_partition", lambda _: -1)
        await producer.send(on_every_partition(b"expired"), agent="probe")
    assert replaced() == replacements + 1
    await producer.send(on_every_partition(b"after"), agent="probe")
    values = await stored(settings, addresses, 3 * PARTITIONS)
    assert sorted(values, key=str) == sorted([b"before", b"expired", b"after"] * PARTITIONS, key=str)


@pytest.mark.parametrize("error", [OutOfOrderSequenceNumber, InvalidProducerEpoch, UnknownProducerId, ProducerFenced])
async def test_each_refusal_of_a_producer_makes_a_new_one_once_for_all_that_wait(
    producer: ConfirmedProducer,
    settings: Settings,
    addresses: Addresses,
    monkeypatch: pytest.MonkeyPatch,
    error: type[Exception],
) -> None:
    before = replaced()
    done = MessageBatch.done
    refused: list[MessageBatch] = []

    def refuse_first(batch: Any, *arguments: Any, **keywords: Any) -> None:
        if refused and batch is not refused[0]:
            done(batch, *arguments, **keywords)
            return
        refused.append(batch)
        batch.failure(error())

    monkeypatch.setattr(MessageBatch, "done", refuse_first)
    sends = (until_sent(producer, on_every_partition(b"%d" % number)) for number in range(8))
    await asyncio.gather(*sends)
    assert replaced() == before + 1
    values = set(await stored(settings, addresses, 8 * PARTITIONS))
    assert values == {b"%d" % number for number in range(8)}


@pytest.mark.parametrize("idempotent", [True, False])
async def test_a_send_to_a_partition_without_a_leader_is_repeated_within_the_call(
    settings: Settings, addresses: Addresses, topics: None, idempotent: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The console publishes at intervals: what fails waits for the next one."""
    settings.kafka.idempotent_producer = idempotent
    producer = ConfirmedProducer(settings, addresses.kafka)
    await producer.start()
    done, failed = MessageBatch.done, False

    def fail_first(batch: Any, *arguments: Any, **keywords: Any) -> None:
        nonlocal failed
        if failed:
            done(batch, *arguments, **keywords)
        else:
            failed = True
            batch.failure(NotLeaderForPartitionError())

    monkeypatch.setattr(MessageBatch, "done", fail_first)
    try:
        await asyncio.wait_for(producer.send(on_every_partition(b"v"), agent="console"), SECONDS)
    finally:
        await producer.stop()
    assert failed
    assert set(await stored(settings, addresses, PARTITIONS)) == {b"v"}


async def test_a_record_that_the_broker_finds_too_large_harms_no_later_one(
    settings: Settings, addresses: Addresses, topics: None
) -> None:
    """The client's limit is above the broker's: the batch has a number that the broker never sees."""
    settings.kafka.max_record_bytes, settings.kafka.compression = 4_000_000, "none"
    larger = ConfirmedProducer(settings, addresses.kafka)
    await larger.start()
    try:
        with pytest.raises(ResultTooLarge):
            await larger.send([Output(ANSWERS_GENERATED, b"k", bytes(2_000_000), partition=0)], agent="probe")
        assert await until_sent(larger, on_every_partition(b"after")) == 1
    finally:
        await larger.stop()


async def test_a_send_that_is_never_acknowledged_ends_and_the_next_one_starts_with_a_new_producer(
    producer: ConfirmedProducer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An idempotent client sends a batch again without an end, so that its agent would wait unnoticed."""
    with monkeypatch.context() as patched:
        patched.setattr(MessageBatch, "done", lambda *_, **__: None)
        with pytest.raises(BrokerUnavailable, match=r"did not acknowledge a send \(KafkaTimeoutError"):
            await asyncio.wait_for(producer.send(on_every_partition(b"silent"), agent="probe"), SECONDS)
    assert await until_sent(producer, on_every_partition(b"after")) == 1


async def test_producers_that_are_refused_one_after_another_end_the_process(
    producer: ConfirmedProducer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MessageBatch, "done", lambda batch, *_, **__: batch.failure(OutOfOrderSequenceNumber()))
    for _ in range(ENDS_IN_A_ROW - 1):
        with pytest.raises(BrokerUnavailable):
            await producer.send(on_every_partition(b"x"), agent="probe")
    with pytest.raises(ProducerEnded, match="OutOfOrderSequenceNumber"):
        await producer.send(on_every_partition(b"x"), agent="probe")


async def test_a_partition_that_was_added_meanwhile_is_written_at_once(
    settings: Settings, addresses: Addresses, producer: ConfirmedProducer
) -> None:
    await producer.send(on_every_partition(b"before"), agent="probe")
    await add_partitions(settings, addresses, ANSWERS_GENERATED, PARTITIONS + 1)
    await producer.send([Output(ANSWERS_GENERATED, b"k", b"after", partition=PARTITIONS)], agent="probe")
    assert sorted(await stored(settings, addresses, PARTITIONS + 1)) == [b"after", *[b"before"] * PARTITIONS]


async def test_a_missing_partition_is_told_with_its_remedy_and_written_when_it_is_there(
    settings: Settings, addresses: Addresses, producer: ConfirmedProducer
) -> None:
    """Answers got a partition that the reports on them lack: agents wait."""
    await producer.send(on_every_partition(b"before"), agent="probe")
    beyond = [Output(ANSWERS_GENERATED, b"k", b"after", partition=PARTITIONS)]
    topic = settings.topic_name(ANSWERS_GENERATED.name)
    with pytest.raises(BrokerUnavailable, match=f"has no partition {PARTITIONS}, .*; add partitions to {topic} "):
        await producer.send(beyond, agent="probe")
    await add_partitions(settings, addresses, ANSWERS_GENERATED, PARTITIONS + 1)
    await producer.send(beyond, agent="probe")
    assert sorted(await stored(settings, addresses, PARTITIONS + 1)) == [b"after", *[b"before"] * PARTITIONS]
