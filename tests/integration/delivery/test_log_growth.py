"""Reads at the light broker that are repeated when its log has grown, on a real broker."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.protocol.fetch import FetchRequest

from schemas.topics import ANSWERS_GENERATED
from workers.delivery.consumption import fetching, log_growth
from workers.delivery.consumption.fetching import repeat_when_grown
from workers.delivery.consumption.log_growth import LogGrowth
from workers.settings import Settings
from workers.settings.addresses import Addresses

PROMPT_SECONDS = 60.0
"""More than a look takes on a busy machine, and far less than the time after which a read is repeated in any case."""
IDLE_LOOKS = 15


@pytest.fixture
async def growth(addresses: Addresses, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[LogGrowth]:
    monkeypatch.setattr(fetching, "READ_AGAIN_SECONDS", 600.0)  # only the growth of the log can repeat a read
    monkeypatch.setattr(fetching, "BUFFERED_SECONDS", 600.0)
    growth = LogGrowth(addresses.kafka)
    running = asyncio.create_task(growth.run())
    yield growth
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running


@pytest.fixture
async def consumer(
    settings: Settings, addresses: Addresses, topics: None, growth: LogGrowth
) -> AsyncIterator[AIOKafkaConsumer]:
    fetching.install(settings.kafka.max_batch_bytes)
    consumer = AIOKafkaConsumer(
        settings.topic_name(ANSWERS_GENERATED.name),
        bootstrap_servers=addresses.kafka,
        auto_offset_reset="earliest",
        fetch_max_wait_ms=10,
    )
    repeat_when_grown(consumer, growth)
    await consumer.start()
    yield consumer
    await consumer.stop()


@pytest.fixture
async def producer(addresses: Addresses) -> AsyncIterator[AIOKafkaProducer]:
    async with AIOKafkaProducer(bootstrap_servers=addresses.kafka) as producer:
        yield producer


async def waits(growth: LogGrowth) -> None:
    """Wait until a read that found nothing waits for growth, and one look has been made."""
    async with asyncio.timeout(PROMPT_SECONDS):
        while not growth._waiting or not growth._states:
            await asyncio.sleep(0.01)


async def test_the_first_and_every_later_record_of_each_partition_ends_the_wait(
    settings: Settings, consumer: AIOKafkaConsumer, producer: AIOKafkaProducer, growth: LogGrowth
) -> None:
    topic = settings.topic_name(ANSWERS_GENERATED.name)
    for number in [*range(settings.kafka.partitions), *range(settings.kafka.partitions), 0, 0]:
        await waits(growth)
        await producer.send_and_wait(topic, b"a", partition=number)
        async with asyncio.timeout(PROMPT_SECONDS):
            assert (await consumer.getone()).partition == number


async def test_a_seek_ends_the_wait(
    settings: Settings, consumer: AIOKafkaConsumer, producer: AIOKafkaProducer, growth: LogGrowth
) -> None:
    place = TopicPartition(settings.topic_name(ANSWERS_GENERATED.name), 0)
    await producer.send_and_wait(place.topic, b"a", partition=0)
    async with asyncio.timeout(PROMPT_SECONDS):
        await consumer.getone()
        while not growth._waiting or growth.growths([place]) == 0:
            await asyncio.sleep(0.01)
        for _ in range(2):
            await waits(growth)
            consumer.seek(place, 0)
            assert (await consumer.getone()).offset == 0


async def test_a_consumer_whose_fetch_is_under_way_stops_at_once(
    consumer: AIOKafkaConsumer, growth: LogGrowth, monkeypatch: pytest.MonkeyPatch
) -> None:
    """aiokafka takes the end of its own fetch for a fetch without records."""
    await waits(growth)
    under_way, fetch = asyncio.Event(), consumer._client.send

    async def unanswered(node: int, request: object, **options: object) -> object:
        if isinstance(request, FetchRequest):
            under_way.set()
            await asyncio.Event().wait()
        return await fetch(node, request, **options)

    monkeypatch.setattr(consumer._client, "send", unanswered)
    growth._note({})
    async with asyncio.timeout(PROMPT_SECONDS):
        await under_way.wait()
    # The end of a timeout would be swallowed as well.
    stopping = asyncio.create_task(consumer.stop())
    assert (await asyncio.wait([stopping], timeout=fetching.READ_AGAIN_SECONDS / 2))[0]


async def test_an_idle_consumer_asks_the_broker_once(
    consumer: AIOKafkaConsumer, growth: LogGrowth, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = looks = 0
    fetch, request = consumer._client.send, growth._request

    def looked() -> bytes:
        nonlocal looks
        looks += 1
        return request()

    async def looks_made(count: int) -> None:
        end = looks + count
        async with asyncio.timeout(PROMPT_SECONDS):
            while looks < end:
                await asyncio.sleep(0.01)

    monkeypatch.setattr(growth, "_request", looked)
    async with asyncio.timeout(PROMPT_SECONDS):
        while not consumer.assignment() or not consumer.assignment() <= growth._states.keys():
            await asyncio.sleep(0.01)
    await looks_made(2)  # the first look at a partition counts as growth
    await waits(growth)

    async def counted(*request: object, **options: object) -> object:
        nonlocal sent
        sent += 1
        return await fetch(*request, **options)

    monkeypatch.setattr(consumer._client, "send", counted)
    await looks_made(IDLE_LOOKS)
    assert sent == 0


async def test_growth_between_the_read_and_the_wait_is_not_missed(
    settings: Settings, topics: None, producer: AIOKafkaProducer, growth: LogGrowth
) -> None:
    place = TopicPartition(settings.topic_name(ANSWERS_GENERATED.name), 0)
    growth.growths([place])
    async with asyncio.timeout(PROMPT_SECONDS):
        while not growth._states:
            await asyncio.sleep(0.01)
    seen = growth.growths([place])
    await producer.send_and_wait(place.topic, b"a", partition=0)
    async with asyncio.timeout(PROMPT_SECONDS):
        while growth.growths([place]) == seen:
            await asyncio.sleep(0.01)
        await growth.wait([place], seen, 600.0)


async def test_growth_of_other_partitions_wakes_nothing(
    settings: Settings, topics: None, producer: AIOKafkaProducer, growth: LogGrowth
) -> None:
    topic = settings.topic_name(ANSWERS_GENERATED.name)
    ours, other = TopicPartition(topic, 0), TopicPartition(topic, 1)
    growth.growths([ours, other])
    async with asyncio.timeout(PROMPT_SECONDS):
        while not growth._states:
            await asyncio.sleep(0.01)
    waiting = asyncio.create_task(growth.wait([ours], growth.growths([ours]), 600.0))
    seen = growth.growths([other])
    await producer.send_and_wait(topic, b"a", partition=1)
    async with asyncio.timeout(PROMPT_SECONDS):
        while growth.growths([other]) == seen:
            await asyncio.sleep(0.01)
    assert not waiting.done()
    waiting.cancel()


async def test_a_broker_that_does_not_answer_ends_every_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_growth, "RETRY_SECONDS", 0.05)
    growth = LogGrowth("127.0.0.1:1")
    place = TopicPartition("answers.generated", 0)
    seen = growth.growths([place])
    running = asyncio.create_task(growth.run())
    async with asyncio.timeout(PROMPT_SECONDS):
        await growth.wait([place], seen, 600.0)
    running.cancel()


async def test_a_wait_ends_in_the_loop_of_another_thread(
    settings: Settings, topics: None, producer: AIOKafkaProducer, growth: LogGrowth
) -> None:
    place = TopicPartition(settings.topic_name(ANSWERS_GENERATED.name), 0)
    seen = growth.growths([place])
    async with asyncio.timeout(PROMPT_SECONDS):
        while growth.growths([place]) == seen:  # the first look
            await asyncio.sleep(0.01)
    seen = growth.growths([place])
    waiting = asyncio.create_task(asyncio.to_thread(lambda: asyncio.run(growth.wait([place], seen, 600.0))))
    while not growth._waiting:
        await asyncio.sleep(0.01)
    await producer.send_and_wait(place.topic, b"a", partition=0)
    async with asyncio.timeout(PROMPT_SECONDS):
        await waiting
