"""Records that retention deletes before an agent has read them, on Apache Kafka: reported as loss with numbers."""

from collections.abc import Sequence

import pytest
from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, RecordsToDelete
from faust.types import TP
from structlog.testing import capture_logs

from schemas.topics import ANSWERS_GENERATED
from tests.integration.delivery.test_consumer import Agent, agents, committed, produce, until
from workers.delivery.records import Result, WorkItem
from workers.observability import metrics
from workers.settings import Settings
from workers.settings.addresses import Addresses

__all__ = ["agents"]


@pytest.fixture
def addresses(kafka_addresses: Addresses) -> Addresses:
    return kafka_addresses


async def delete_before(settings: Settings, addresses: Addresses, offsets: dict[int, int]) -> None:
    """Delete records as retention does."""
    admin = AIOKafkaAdminClient(bootstrap_servers=addresses.kafka)
    await admin.start()
    try:
        name = settings.topic_name(ANSWERS_GENERATED.name)
        wanted = {TopicPartition(name, number): RecordsToDelete(offset) for number, offset in offsets.items()}
        await admin.delete_records(wanted)
    finally:
        await admin.close()


async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
    return [[] for _ in works]


def lost() -> float:
    return metrics.RECORDS_LOST.labels("probe", ANSWERS_GENERATED.name)._value.get()


def done(agent: Agent) -> int:
    ledger = agent.application.consumer.ledger
    return sum(ledger.committed(partition) or 0 for partition in ledger.partitions())


async def read_all(settings: Settings, addresses: Addresses, agents: list[Agent]) -> dict[int, int]:
    """Read and commit everything; return the offsets by partition."""
    agent = await Agent(settings, addresses, handle).start()
    agents.append(agent)
    await until(lambda: done(agent) == 200)
    ledger = agent.application.consumer.ledger
    return {partition.partition: ledger.committed(partition) or 0 for partition in ledger.partitions()}


async def test_a_committed_offset_below_the_start_of_the_log_is_reported_once_as_loss(
    settings: Settings, addresses: Addresses, topics: None, agents: list[Agent]
) -> None:
    await produce(settings, addresses, 200)
    ends = await read_all(settings, addresses, agents)
    await agents.pop().stop()
    await produce(settings, addresses, 400, 200)
    # A few records of two partitions.
    gone = {0: 5, 1: 7}
    await delete_before(settings, addresses, {number: ends[number] + count for number, count in gone.items()})
    before = lost()
    with capture_logs() as lines:
        agents.append(await Agent(settings, addresses, handle).start())
        await until(lambda: done(agents[0]) == 600)
    found = [line for line in lines if line["event"] == "records_lost"]
    assert {(line["partition"], line["first"], line["next"], line["lost"]) for line in found} == {
        (number, ends[number], ends[number] + count, count) for number, count in gone.items()
    }
    assert {line["topic"] for line in found} == {settings.topic_name(ANSWERS_GENERATED.name)}
    assert lost() - before == 12


async def test_a_log_that_is_deleted_to_its_end_is_reported_once_also_over_restarts(
    settings: Settings, addresses: Addresses, topics: None, agents: list[Agent]
) -> None:
    await produce(settings, addresses, 200)
    await read_all(settings, addresses, agents)
    await agents.pop().stop()
    await produce(settings, addresses, 100, 200)
    await delete_before(settings, addresses, dict.fromkeys(range(settings.kafka.partitions), -1))
    before = lost()
    for _ in range(2):
        agents.append(await Agent(settings, addresses, handle).start())
        await until(lambda: done(agents[0]) == 300)
        await agents.pop().stop()
    assert lost() - before == 100
    assert await committed(settings, addresses, "probe") == 300


async def test_a_slow_agent_that_retention_overtakes_reports_the_loss_and_goes_on(
    settings: Settings, addresses: Addresses, topics: None, agents: list[Agent]
) -> None:
    await produce(settings, addresses, 200)
    await read_all(settings, addresses, agents)
    application = agents[0].application
    partitions = application.assigned()
    consumed = metrics.RECORDS_CONSUMED.labels("probe", ANSWERS_GENERATED.name)._value.get()
    # A paused agent may still hold a fetch; what it has fetched is not lost.
    application.pause(partitions)
    await produce(settings, addresses, 300, 200)
    await delete_before(settings, addresses, dict.fromkeys(range(settings.kafka.partitions), -1))
    before = lost()
    application.resume(partitions)
    await until(lambda: done(agents[0]) == 500)
    read = metrics.RECORDS_CONSUMED.labels("probe", ANSWERS_GENERATED.name)._value.get() - consumed
    assert lost() - before + read == 300
    await produce(settings, addresses, 40, 500)
    await until(lambda: done(agents[0]) == 540)
    assert application.consumer.defect() is None
    assert all(application.consumer.highwater(TP(*partition)) for partition in partitions)


async def test_an_agent_reads_on_where_a_log_has_lost_its_end(
    settings: Settings, addresses: Addresses, topics: None, agents: list[Agent]
) -> None:
    """An agent that ran ended at the first offset that came again, and went on after a restart only."""
    await produce(settings, addresses, 200)
    ends = await read_all(settings, addresses, agents)
    application = agents[0].application
    consumer = application.consumer._thread._consumer
    # The position of a consumer whose broker had more records before it was killed.
    topic = settings.topic_name(ANSWERS_GENERATED.name)
    with capture_logs() as lines:
        await application.consumer._thread.call_thread(_move_to, consumer, TopicPartition(topic, 0), ends[0] + 1_000)
        await produce(settings, addresses, 40, 200)
        await until(lambda: done(agents[0]) == 240)
    assert application.consumer.defect() is None
    assert [line["partition"] for line in lines if line["event"] == "log_truncated"] == [0], "once"


async def _move_to(consumer: AIOKafkaConsumer, place: TopicPartition, offset: int) -> None:
    consumer.seek(place, offset)
