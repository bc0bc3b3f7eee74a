"""Batches that aiokafka cannot read, on a real broker: one bad record must not stop its partition."""

import asyncio
import struct
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, nullcontext
from types import SimpleNamespace
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer
from aiokafka.errors import KafkaConnectionError
from aiokafka.protocol.fetch import FetchRequest
from aiokafka.record.util import calc_crc32c
from aiokafka.structs import ConsumerRecord
from structlog.testing import capture_logs

from schemas.dead_letters import read_dead_letter
from schemas.topics import ANSWERS_GENERATED, DEAD_LETTERS, MEMORY_TURNS
from tests.harness.answers import answer
from tests.harness.raw_records import CODECS, batch, send_batch
from tests.integration.delivery.test_consumer import Agent, agents, committed, until
from workers.agents.base import read_answer
from workers.delivery.consumption import fetching
from workers.delivery.consumption.fetching import UnreadablePartition, readable_name
from workers.delivery.records import Record, Result, WorkItem
from workers.delivery.topics.topic_reading import BoundedReader
from workers.errors import OversizeBatch, UnreadableRecord
from workers.runtime.agent_choice import AGENTS
from workers.runtime.running_agent import without_refused
from workers.settings import Settings
from workers.settings.addresses import Addresses

__all__ = ["agents"]

FOREIGN = b"\xff\xfe caf\xc3\xa9"


async def letters(settings: Settings, addresses: Addresses, count: int) -> list[ConsumerRecord]:
    consumer = AIOKafkaConsumer(
        settings.topic_name(DEAD_LETTERS.name), bootstrap_servers=addresses.kafka, auto_offset_reset="earliest"
    )
    await consumer.start()
    try:
        return [await asyncio.wait_for(consumer.getone(), 120) for _ in range(count)]
    finally:
        await consumer.stop()


class Reader:
    """An agent's handler that reads answers and keeps what it has seen."""

    def __init__(self) -> None:
        self.seen: list[Record] = []

    async def __call__(self, works: Sequence[WorkItem]) -> Sequence[Result]:
        results: list[Result] = []
        for work in works:
            try:
                read_answer(work.record, 1_000_000)
                self.seen.append(work.record)
                results.append([])
            except Exception as error:
                results.append(error)
        return results


@pytest.mark.parametrize("codec", CODECS)
async def test_a_header_name_that_is_no_utf8_makes_a_dead_letter_and_the_partition_goes_on(
    codec: str, settings: Settings, addresses: Addresses, topics: None, agents: list[Agent]
) -> None:
    topic = settings.topic_name(ANSWERS_GENERATED.name)
    good = [("kept", b"1"), ("without", None)]
    content = batch(
        [
            (answer(0), [(name.encode(), value) for name, value in good]),
            (answer(1), [(b"before", b"x"), (FOREIGN, b"\x00\xff"), (FOREIGN, None)]),
            (answer(2), [("größe".encode(), b"2")]),
        ],
        codec,
    )
    await send_batch(addresses, topic, 0, content, 3)
    await send_batch(addresses, topic, 0, batch([(answer(3), [])], codec), 1)
    reader = Reader()
    agent = await Agent(settings, addresses, reader).start()
    agents.append(agent)
    ledger = agent.application.consumer.ledger
    await until(lambda: len(reader.seen) == 3 and ledger.outstanding() == 0)
    assert [record.offset for record in reader.seen] == [0, 2, 3]
    assert [record.value for record in reader.seen] == [answer(0), answer(2), answer(3)]
    assert [record.headers for record in reader.seen] == [good, [("größe", b"2")], []]
    await agents.pop().stop()
    assert await committed(settings, addresses, "probe") == 4
    [letter] = [read_dead_letter(r.key, r.value, r.headers) for r in await letters(settings, addresses, 1)]
    assert (letter.partition, letter.offset, letter.error_class) == (0, 1, "UnreadableRecord")
    assert (letter.key, letter.value) == (b"key-1", answer(1))
    escaped = "\\xff\\xfe café"
    assert letter.headers == [("before", b"x"), (escaped, b"\x00\xff"), (escaped, None)]


@pytest.mark.parametrize("codec", [codec for codec in CODECS if codec != "none"])
async def test_a_batch_that_is_too_large_after_decompression_makes_a_dead_letter_and_the_partition_goes_on(
    codec: str, settings: Settings, addresses: Addresses, topics: None, agents: list[Agent]
) -> None:
    settings = settings.model_copy(update={"kafka": settings.kafka.model_copy(update={"max_batch_bytes": 1_000_000})})
    topic = settings.topic_name(ANSWERS_GENERATED.name)
    await send_batch(addresses, topic, 0, batch([(answer(0), []), (answer(1), [])], codec), 2)
    bomb = batch([(answer(2), []), (bytes(8_000_000), []), (answer(4), [])], codec)
    await send_batch(addresses, topic, 0, bomb, 3)
    await send_batch(addresses, topic, 0, batch([(answer(5), [])], codec), 1)
    reader = Reader()
    agent = await Agent(settings, addresses, reader).start()
    agents.append(agent)
    ledger = agent.application.consumer.ledger
    await until(lambda: len(reader.seen) == 3 and ledger.outstanding() == 0)
    assert [record.value for record in reader.seen] == [answer(0), answer(1), answer(5)], "nothing else is lost"
    await agents.pop().stop()
    assert await committed(settings, addresses, "probe") == 6
    [letter] = [read_dead_letter(r.key, r.value, r.headers) for r in await letters(settings, addresses, 1)]
    assert (letter.partition, letter.offset, letter.error_class) == (0, 4, "OversizeBatch")
    assert (letter.key, letter.value, letter.headers) == (None, None, [])
    assert f"the batch of offsets 2 to 4 has {len(bomb)} bytes and more than 1000000" in letter.error


async def test_a_reader_of_whole_topics_passes_a_batch_that_is_refused(
    settings: Settings, addresses: Addresses, topics: None
) -> None:
    settings = settings.model_copy(update={"kafka": settings.kafka.model_copy(update={"max_batch_bytes": 1_000_000})})
    topic = settings.topic_name(ANSWERS_GENERATED.name)
    await send_batch(addresses, topic, 0, batch([(answer(0), [])]), 1)
    await send_batch(addresses, topic, 0, batch([(bytes(8_000_000), [])], "zstd"), 1)
    await send_batch(addresses, topic, 0, batch([(answer(2), [])]), 1)
    reader = BoundedReader(settings, addresses.kafka, [ANSWERS_GENERATED])
    with capture_logs() as logs:
        found = [record async for records in reader.batches() for record in records]
    assert [record.value for record in found] == [answer(0), answer(2)]
    assert reader.done == reader.total == 3
    assert [(line["event"], line["partition"]) for line in logs] == [("batch_refused", 0)]


async def test_records_that_wait_for_an_agent_are_bounded_in_bytes_and_all_are_handled(
    settings: Settings, addresses: Addresses, topics: None, agents: list[Agent]
) -> None:
    limit = 20_000
    delivery = settings.delivery.model_copy(update={"in_flight_bytes": limit})
    settings = settings.model_copy(update={"delivery": delivery})
    values = [bytes(5_000)] * 60
    await send_batch(
        addresses, settings.topic_name(ANSWERS_GENERATED.name), 0, batch([(value, []) for value in values]), len(values)
    )
    free, seen = asyncio.Event(), list[bytes | None]()

    async def receive(record: Record) -> None:
        await free.wait()
        seen.append(record.value)
        agent.application.acknowledge(record.topic, record.partition, record.offset, record.epoch)

    agent = Agent(settings, addresses, Reader())
    agents.append(agent)
    await agent.producer.start()
    await agent.application.start(receive)
    consumer = agent.application.consumer
    await until(lambda: consumer._buffered_bytes > limit)
    assert consumer.ledger.outstanding() <= 1 + limit // 5_000 + 1, "one in hand, the rest waits in the queue"
    free.set()
    await until(lambda: len(seen) == len(values) and consumer.ledger.outstanding() == 0)
    assert consumer._buffered_bytes == 0


async def test_handlers_never_see_the_record_of_a_batch_that_was_refused() -> None:
    """A record without a value would be a tombstone to them."""
    seen: list[WorkItem] = []

    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        seen.extend(works)
        return [[] for _ in works]

    good = WorkItem(Record(MEMORY_TURNS.name, 0, 1, b"k", b"{}"))
    refused = WorkItem(Record(MEMORY_TURNS.name, 0, 2, None, None, refusal="too large"))
    results = await without_refused(handle)([refused, good, refused])
    assert seen == [good]
    assert [type(result) for result in results] == [OversizeBatch, list, OversizeBatch]


@pytest.mark.usefixtures("only_light")
async def test_a_batch_whose_checksum_does_not_fit_stops_the_agent_and_names_the_place(
    settings: Settings, addresses: Addresses, topics: None, agents: list[Agent]
) -> None:
    topic = settings.topic_name(ANSWERS_GENERATED.name)
    await send_batch(addresses, topic, 0, batch([(answer(0), [])]), 1)
    broken = bytearray(batch([(answer(1), []), (answer(2), [])]))
    broken[-5] ^= 0x55
    await send_batch(addresses, topic, 0, bytes(broken), 2)
    reader = Reader()
    agent = await Agent(settings, addresses, reader).start()
    agents.append(agent)
    error = await asyncio.wait_for(agent.application.wait_crashed(), 120)
    assert isinstance(error, UnreadablePartition)
    assert str(error).startswith(f"{topic}[0] cannot be read at offset 1 ")
    assert "docs/operations/dead-letters.md" in str(error)
    assert "Invalid CRC" in str(error)
    await agents.pop().stop()
    assert [record.offset for record in reader.seen] == [0], "what stands before it is not held up"
    assert await committed(settings, addresses, "probe") == 1


@pytest.mark.usefixtures("only_light")
async def test_a_record_without_structure_stops_the_agent_and_names_the_place(
    settings: Settings, addresses: Addresses, topics: None, agents: list[Agent]
) -> None:
    """The bytes are as the producer wrote them, checksum and all; only their meaning is broken."""
    topic = settings.topic_name(ANSWERS_GENERATED.name)
    await send_batch(addresses, topic, 0, batch([(answer(0), []), (answer(1), [(FOREIGN, b"")])]), 2)
    await send_batch(addresses, topic, 0, with_minus_one_headers(batch([(answer(2), []), (answer(3), [])])), 2)
    reader = Reader()
    agent = await Agent(settings, addresses, reader).start()
    agents.append(agent)
    error = await asyncio.wait_for(agent.application.wait_crashed(), 120)
    assert isinstance(error, UnreadablePartition)
    assert str(error).startswith(f"{topic}[0] cannot be read at offset 3 ")
    await agents.pop().stop()
    assert [record.offset for record in reader.seen] == [0, 2]
    assert await committed(settings, addresses, "probe") == 3


def with_minus_one_headers(content: bytes) -> bytes:
    """The same batch, the last record of which has a count of headers that is none; the checksum fits."""
    changed = bytearray(content)
    assert changed[-1] == 0, "no headers"
    changed[-1] = 1
    struct.pack_into(">I", changed, 17, calc_crc32c(bytes(changed[21:])))
    return bytes(changed)


@pytest.mark.parametrize(
    ("name", "readable"),
    [("plain", "plain"), ("größe", "größe"), ("a\udcffb", "a\\xffb"), ("\\xff", "\\xff"), ("", "")],
)
def test_a_header_name_is_escaped_only_where_it_is_no_utf8(name: str, readable: str) -> None:
    assert readable_name(name) == readable


@pytest.mark.parametrize("agent", ["citations", "grounding", "quality"])
async def test_a_judging_agent_leaves_a_record_with_a_foreign_header_to_assembly(agent: str) -> None:
    """One dead letter for it, and not four."""
    record = Record(ANSWERS_GENERATED.name, 0, 0, b"k", answer(0), [("\\xff", b"")], foreign_names=True)
    with ThreadPoolExecutor() as pool:
        services = SimpleNamespace(embedder=nullcontext, verifier=nullcontext, memory=nullcontext)
        context: Any = SimpleNamespace(settings=Settings(_env_file=None), steps_pool=pool, services=services)
        handle = await AGENTS[agent].open(context, AsyncExitStack())
        assert await handle([WorkItem(record)]) == [[]]
    assembly = AGENTS["assembly"]
    with ThreadPoolExecutor() as pool:
        context.steps_pool = pool
        handle = await assembly.open(context, AsyncExitStack())
        [result] = await handle([WorkItem(record)])
    assert isinstance(result, UnreadableRecord)


async def test_a_consumer_stops_while_a_failed_fetch_waits_for_its_retry(
    settings: Settings, addresses: Addresses, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetching.install(settings.kafka.max_batch_bytes)
    consumer = AIOKafkaConsumer(
        settings.topic_name(DEAD_LETTERS.name), bootstrap_servers=addresses.kafka, retry_backoff_ms=600_000
    )
    await consumer.start()
    refused, send = asyncio.Event(), consumer._client.send

    async def refuse(node_id: int, request: Any, **options: Any) -> Any:
        if not isinstance(request, FetchRequest):
            return await send(node_id, request, **options)
        refused.set()
        raise KafkaConnectionError("closed")

    monkeypatch.setattr(consumer._client, "send", refuse)
    await asyncio.wait_for(refused.wait(), 120)
    await consumer.stop()
    assert not any(connection.connected() for connection in consumer._client._conns.values())
