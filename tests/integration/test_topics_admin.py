"""Topics at a real broker: created from the registry, checked against it, and a worker that will not start without."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from schemas.topics import ANSWERS_GROUNDING, REPORT_TOPICS, TOPICS
from workers.addresses import Addresses
from workers.app import Worker
from workers.delivery.errors import BrokerUnavailable
from workers.settings import Settings
from workers.topics import TopicAdministration, TopicsNotReady


@pytest.fixture
async def administration(settings: Settings, addresses: Addresses) -> AsyncIterator[TopicAdministration]:
    async with TopicAdministration(settings, addresses.kafka) as opened:
        yield opened


@pytest.fixture
async def broker(addresses: Addresses) -> AsyncIterator[AIOKafkaAdminClient]:
    client = AIOKafkaAdminClient(bootstrap_servers=addresses.kafka)
    await client.start()
    yield client
    await client.close()


async def make(broker: AIOKafkaAdminClient, name: str, partitions: int) -> None:
    await broker.create_topics([NewTopic(name=name, num_partitions=partitions, replication_factor=1)])


async def partitions_of(administration: TopicAdministration) -> dict[str, int | None]:
    return {finding.topic.name: finding.partitions for finding in await administration.check()}


async def test_all_are_missing_at_first_and_the_remedy_is_told(administration: TopicAdministration) -> None:
    findings = await administration.check()
    assert [finding.topic for finding in findings] == list(TOPICS)
    assert all(finding.partitions is None for finding in findings)
    assert all("touchstone topics create" in finding.problems[0] for finding in findings)


async def test_created_once_and_never_again(administration: TopicAdministration, settings: Settings) -> None:
    assert await administration.create() == [settings.topic_name(topic.name) for topic in TOPICS]
    assert await administration.create() == []
    assert [finding.problems for finding in await administration.check()] == [()] * len(TOPICS)
    assert set((await partitions_of(administration)).values()) == {settings.kafka.partitions}
    await administration.require()


async def test_two_that_create_at_once_both_succeed(settings: Settings, addresses: Addresses) -> None:
    async def create() -> None:
        async with TopicAdministration(settings, addresses.kafka) as administration:
            await administration.create()
            await administration.require()

    await asyncio.gather(*(create() for _ in range(4)))


async def test_only_what_is_missing_is_created(
    administration: TopicAdministration, broker: AIOKafkaAdminClient, settings: Settings
) -> None:
    await make(broker, settings.topic_name("feedback.events"), 4)
    created = await administration.create()
    assert settings.topic_name("feedback.events") not in created
    assert len(created) == len(TOPICS) - 1


async def test_joined_topics_follow_the_answers_that_are_there(
    administration: TopicAdministration, broker: AIOKafkaAdminClient, settings: Settings
) -> None:
    """A gateway's team has made its topic with six partitions; the setting still says four."""
    await make(broker, settings.topic_name("answers.generated"), 6)
    await administration.create()
    found = await partitions_of(administration)
    assert {found[topic.name] for topic in REPORT_TOPICS.values()} == {6}
    assert found["memory.turns"] == settings.kafka.partitions
    await administration.require()


async def test_a_joined_topic_with_another_count_is_told_with_its_remedy(
    administration: TopicAdministration, broker: AIOKafkaAdminClient, settings: Settings
) -> None:
    await make(broker, settings.topic_name(ANSWERS_GROUNDING.name), 3)
    await administration.create()
    with pytest.raises(TopicsNotReady) as caught:
        await administration.require()
    message = str(caught.value)
    assert settings.topic_name(ANSWERS_GROUNDING.name) in message
    assert "has 3 partitions and answers.generated has 4" in message
    assert "delete it and run `touchstone topics create`, or add partitions" in message
    assert message.count("partitions") >= 2
    assert "memory.turns" not in message


async def test_another_count_is_no_problem_for_what_is_not_joined(
    administration: TopicAdministration, broker: AIOKafkaAdminClient, settings: Settings
) -> None:
    await make(broker, settings.topic_name("alerts.raised"), 1)
    await administration.create()
    await administration.require()


@pytest.mark.parametrize("agents", [["grounding"], ["analytics"], None])
async def test_a_worker_refuses_to_start_on_missing_topics(
    settings: Settings, addresses: Addresses, agents: list[str] | None
) -> None:
    worker = Worker(settings, addresses, agents)
    with pytest.raises(TopicsNotReady) as caught:
        await worker.start()
    assert settings.topic_name("answers.generated") in str(caught.value)
    assert "touchstone topics create" in str(caught.value)
    await worker.stop()


async def test_a_prefix_sees_only_its_own(
    administration: TopicAdministration, settings: Settings, addresses: Addresses
) -> None:
    await administration.create()
    other = settings.model_copy(
        update={"kafka": settings.kafka.model_copy(update={"topic_prefix": settings.kafka.topic_prefix + "other."})}
    )
    async with TopicAdministration(other, addresses.kafka) as second:
        assert all(finding.partitions is None for finding in await second.check())


async def test_no_broker_is_told_with_its_address(settings: Settings) -> None:
    with pytest.raises(BrokerUnavailable, match=r"127\.0\.0\.1:1.*KAFKA_BOOTSTRAP_SERVERS"):
        async with TopicAdministration(settings, "127.0.0.1:1"):
            pass


async def test_another_cleanup_policy_is_told(
    administration: TopicAdministration, broker: AIOKafkaAdminClient, settings: Settings
) -> None:
    """A compacted topic would forget all but the newest event of an answer."""
    name = settings.topic_name("answers.generated")
    await broker.create_topics([NewTopic(name, 4, 1, topic_configs={"cleanup.policy": "compact"})])
    await administration.create()
    with pytest.raises(TopicsNotReady, match=r"cleanup\.policy compact and needs delete"):
        await administration.require()
