"""Topics at a real broker: created from the registry, checked against it, and a worker that will not start without."""

import asyncio
from collections.abc import AsyncIterator
from unittest.mock import AsyncMock

import pytest
import structlog
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

import workers.runtime.worker
from schemas.topics import (
    ALERTS_RAISED,
    ANSWERS_GROUNDING,
    ANSWERS_RELEASED,
    PRIVACY_ERASURES,
    REPORT_TOPICS,
    TOPICS,
    Topic,
)
from workers.delivery.topics import topic_administration
from workers.delivery.topics.topic_administration import TopicAdministration, TopicsNotReady
from workers.delivery.topics.topic_findings import TopicFinding, TopicState, find_topic, topic_configuration
from workers.errors import BrokerUnavailable
from workers.runtime.worker import Worker
from workers.settings import Settings
from workers.settings.addresses import Addresses

pytestmark = pytest.mark.both_brokers

SECONDS = 60.0


@pytest.fixture
async def administration(settings: Settings, addresses: Addresses) -> AsyncIterator[TopicAdministration]:
    async with TopicAdministration(settings, addresses.kafka) as opened:
        yield opened
        await opened.delete(TOPICS)


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
    assert [finding.problems + finding.differences for finding in await administration.check()] == [()] * len(TOPICS)
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
    settings: Settings, addresses: Addresses, agents: list[str] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers.runtime.worker, "TOPIC_SECONDS", 0.5)
    worker = Worker(settings, addresses, agents)
    with pytest.raises(TopicsNotReady) as caught:
        await worker.start()
    assert settings.topic_name("answers.generated") in str(caught.value)
    assert "touchstone topics create" in str(caught.value)
    await worker.stop()


async def test_a_worker_that_starts_before_the_topics_waits_for_them(
    administration: TopicAdministration, settings: Settings, addresses: Addresses
) -> None:
    async def require() -> None:
        async with TopicAdministration(settings, addresses.kafka) as of_worker:
            await of_worker.require(wait_seconds=SECONDS)

    with structlog.testing.capture_logs() as logs:
        waiting = asyncio.create_task(require())
        async with asyncio.timeout(SECONDS):
            while not logs:
                await asyncio.sleep(0.01)
        await administration.create()
        await asyncio.wait_for(waiting, SECONDS)
    assert [(line["event"], line["topics"]) for line in logs] == [("topics_awaited", len(TOPICS))]


async def test_what_does_not_fit_at_all_is_not_waited_for(
    administration: TopicAdministration, broker: AIOKafkaAdminClient, settings: Settings
) -> None:
    await make(broker, settings.topic_name("answers.generated"), 4)
    await make(broker, settings.topic_name("answers.citations"), 3)
    with pytest.raises(TopicsNotReady, match="has 3 partitions"):
        await asyncio.wait_for(administration.require(wait_seconds=10 * SECONDS), SECONDS)


async def test_partitions_that_get_no_leader_are_told_with_their_topics(
    administration: TopicAdministration, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process deletes what was created."""
    await administration.create()
    name = settings.topic_name(ANSWERS_GROUNDING.name)
    await administration.delete([ANSWERS_GROUNDING])
    async with asyncio.timeout(SECONDS):
        while (await partitions_of(administration))[ANSWERS_GROUNDING.name] is not None:
            await asyncio.sleep(0.01)
    monkeypatch.setattr(topic_administration, "LEADER_SECONDS", 0.5)
    monkeypatch.setattr(administration, "_create", AsyncMock(return_value=[]))
    left: list[int] = []
    with pytest.raises(TopicsNotReady) as caught:
        await administration.create(left.append)
    assert str(caught.value).startswith(f"4 partitions have no leader after 0.5 s ({name}); check the brokers")
    assert left == [4]


@pytest.mark.parametrize(
    ("configuration", "partitions", "told"),
    [
        ({"retention.ms": "3600000"}, 4, "has retention.ms 3600000 and `touchstone topics create` sets 2592000000"),
        ({"min.insync.replicas": "2"}, 4, "has min.insync.replicas 2 and `touchstone topics create` sets 1"),
        (
            {"max.message.bytes": "2000000"},
            4,
            "has max.message.bytes 2000000 and `touchstone topics create` sets 1048588",
        ),
        ({"compression.type": "gzip"}, 4, "has compression.type gzip and `touchstone topics create` sets producer"),
        ({}, 2, "has 2 partitions and kafka.partitions is 4"),
    ],
)
async def test_every_setting_of_a_created_topic_is_compared_and_a_difference_stops_no_worker(
    administration: TopicAdministration,
    broker: AIOKafkaAdminClient,
    settings: Settings,
    configuration: dict[str, str],
    partitions: int,
    told: str,
) -> None:
    name = settings.topic_name(ALERTS_RAISED.name)
    configuration = topic_configuration(ALERTS_RAISED, settings.kafka) | configuration
    await broker.create_topics([NewTopic(name, partitions, 1, topic_configs=configuration)])
    await administration.create()
    [finding] = [finding for finding in await administration.check() if finding.topic is ALERTS_RAISED]
    assert finding.problems == ()
    assert len(finding.differences) == 1
    assert finding.differences[0].startswith(told)
    await administration.require()


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


def policies(settings: Settings, topic: Topic, policy: str) -> TopicFinding:
    """Return the differences of a topic that is as it was created, except for its policy."""
    kafka = settings.kafka
    configuration = topic_configuration(topic, kafka) | {"cleanup.policy": policy}
    state = TopicState(kafka.partitions, 0, kafka.replication, configuration)
    return find_topic(topic, topic.name, state, kafka.partitions, kafka)


async def test_texts_of_a_compacted_topic_go_where_the_settings_say_when(
    settings: Settings, addresses: Addresses, broker: AIOKafkaAdminClient
) -> None:
    settings.kafka.retention_days = {"answers.released": 90}
    name = settings.topic_name(ANSWERS_RELEASED.name)
    async with TopicAdministration(settings, addresses.kafka) as administration:
        await administration.create()
        (found,) = [each for each in await administration.check() if each.topic == ANSWERS_RELEASED]
        assert found.problems + found.differences == ()
        described = await broker.describe_configs([ConfigResource(ConfigResourceType.TOPIC, name)])
        configuration = {entry[0]: entry[1] for entry in described[0].resources[0][4]}
        assert set(configuration["cleanup.policy"].split(",")) == {"compact", "delete"}
        assert configuration["retention.ms"] == str(90 * 86_400_000)
        await administration.require()


def test_a_topic_that_only_compacts_still_works_and_is_told(settings: Settings) -> None:
    settings.kafka.retention_days = {"answers.released": 90}
    found = policies(settings, ANSWERS_RELEASED, "compact")
    assert found.problems == ()
    assert "has cleanup.policy compact and `touchstone topics create` sets compact,delete" in found.differences[0]
    for policy in ("compact,delete", "delete,compact", "delete, compact"):
        found = policies(settings, ANSWERS_RELEASED, policy)
        assert found.problems + found.differences == ()
    assert "needs compact,delete" in policies(settings, ANSWERS_RELEASED, "delete").problems[0]


def test_a_register_of_erasures_that_deletes_by_age_is_a_problem(settings: Settings) -> None:
    for policy in ("compact,delete", "delete"):
        found = policies(settings, PRIVACY_ERASURES, policy)
        assert f"has cleanup.policy {policy} and needs compact;" in found.problems[0]
        assert found.differences == ()
