"""Creating and checking topics at the broker, from the registry."""

from collections.abc import Awaitable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import KafkaError, for_code

from schemas.topics import ANSWERS_GENERATED, TOPICS, Topic
from workers.delivery.errors import BrokerUnavailable, TouchstoneError
from workers.kafka import connection_arguments
from workers.settings import Settings

TOPIC_ALREADY_EXISTS = 36


class TopicsNotReady(TouchstoneError):
    """Topics are missing or do not fit; the message says how to mend it."""


@dataclass(frozen=True, slots=True)
class TopicFinding:
    """What the check found about one topic.

    Attributes:
        topic: the registry's entry.
        name: its name at the broker.
        partitions: how many it has, ``None`` if it is missing.
        problems: what is wrong and the remedy; empty if nothing.
    """

    topic: Topic
    name: str
    partitions: int | None
    problems: tuple[str, ...]


def topic_configuration(topic: Topic) -> dict[str, str]:
    """Broker configuration of a topic."""
    retention = -1 if topic.retention is None else int(topic.retention.total_seconds() * 1000)
    return {"cleanup.policy": topic.cleanup, "retention.ms": str(retention)}


class TopicAdministration:
    """The registry's topics at one broker.

    Args:
        settings: prefix, partitions, replication, credentials.
        bootstrap_servers: host:port, comma separated.
    """

    def __init__(self, settings: Settings, bootstrap_servers: str) -> None:
        self._settings = settings
        self._bootstrap_servers = bootstrap_servers
        self._client = AIOKafkaAdminClient(**connection_arguments(settings.kafka, bootstrap_servers))

    async def __aenter__(self) -> "TopicAdministration":
        try:
            await self._client.start()
        except (KafkaError, OSError) as error:
            await self._client.close()
            raise BrokerUnavailable(
                f"no Kafka broker answers at {self._bootstrap_servers} ({type(error).__name__}); "
                "start one, or set KAFKA_BOOTSTRAP_SERVERS"
            ) from error
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.close()

    async def create(self) -> list[str]:
        """Create the topics that are missing.

        Returns:
            Names of those created.

        Raises:
            TopicsNotReady: the broker refuses one.
        """
        findings = await self.check()
        missing = [finding.topic for finding in findings if finding.partitions is None]
        if not missing:
            return []
        answers = next(finding.partitions for finding in findings if finding.topic is ANSWERS_GENERATED)
        # What is joined follows the answers, whatever the setting says by now.
        expected = self._settings.kafka.partitions
        await self._create((topic, (answers if topic.joined else None) or expected) for topic in missing)
        return [self._settings.topic_name(topic.name) for topic in missing]

    async def create_beside(self, topics: Mapping[Topic, Topic]) -> None:
        """Create topics that are like others, with as many partitions, where they are missing.

        Args:
            topics: the one that is there → the one beside it.

        Raises:
            TopicsNotReady: the broker refuses one.
        """
        metadata = {entry["topic"]: entry for entry in await self._ask(self._client.describe_topics())}
        partitions = {name: len(entry["partitions"]) for name, entry in metadata.items() if not entry.get("error_code")}
        await self._create(
            (beside, partitions.get(self._settings.topic_name(topic.name)) or self._settings.kafka.partitions)
            for topic, beside in topics.items()
            if self._settings.topic_name(beside.name) not in partitions
        )

    async def delete(self, topics: Iterable[Topic]) -> list[str]:
        """Delete topics, those of them that there are; returns their names.

        Raises:
            BrokerUnavailable: the broker does not answer, or this user may not delete.
        """
        present = {entry["topic"] for entry in await self._ask(self._client.describe_topics())}
        names = [name for topic in topics if (name := self._settings.topic_name(topic.name)) in present]
        if names:
            await self._ask(self._client.delete_topics(names))
        return names

    async def check(self) -> list[TopicFinding]:
        """Compare the broker's topics with the registry."""
        metadata = {entry["topic"]: entry for entry in await self._ask(self._client.describe_topics())}
        present = {
            name: len(entry["partitions"]) for name, entry in metadata.items() if entry.get("error_code", 0) == 0
        }
        expected = present.get(self._settings.topic_name(ANSWERS_GENERATED.name), self._settings.kafka.partitions)
        names = [self._settings.topic_name(topic.name) for topic in TOPICS]
        policies = await self._policies([name for name in names if name in present])
        return [self._finding(topic, present, expected, policies) for topic in TOPICS]

    async def require(self, foreign: Iterable[Topic] = ()) -> None:
        """Refuse to go on with missing or mismatched topics.

        Args:
            foreign: topics of others that are read as well.

        Raises:
            TopicsNotReady: naming each topic and the remedy.
        """
        problems = [f"{finding.name}: {problem}" for finding in await self.check() for problem in finding.problems]
        names = [topic.name for topic in foreign]
        present = {entry["topic"] for entry in await self._ask(self._client.describe_topics())} if names else set()
        problems += [
            f"{name}: is missing; its gateway or you create it, or gateways.topics names another"
            for name in names
            if name not in present
        ]
        if problems:
            raise TopicsNotReady("topics are not ready:\n  " + "\n  ".join(problems))

    async def _create(self, topics: Iterable[tuple[Topic, int]]) -> None:
        new = [
            NewTopic(
                name=self._settings.topic_name(topic.name),
                num_partitions=partitions,
                replication_factor=self._settings.kafka.replication,
                topic_configs=topic_configuration(topic),
            )
            for topic, partitions in topics
        ]
        if not new:
            return
        response = await self._ask(self._client.create_topics(new))
        for error in response.topic_errors:
            if error[1] not in (0, TOPIC_ALREADY_EXISTS):
                raise TopicsNotReady(f"the broker refuses topic {error[0]}: {for_code(error[1]).__name__}")

    async def _ask(self, request: Awaitable[Any]) -> Any:
        try:
            return await request
        except (KafkaError, OSError) as error:
            raise BrokerUnavailable(
                f"the broker at {self._bootstrap_servers} did not answer a question about topics "
                f"({type(error).__name__}); may this user see and create topics?"
            ) from error

    def _finding(self, topic: Topic, present: dict[str, int], expected: int, policies: dict[str, str]) -> TopicFinding:
        name = self._settings.topic_name(topic.name)
        partitions = present.get(name)
        problems = []
        if partitions is None:
            problems.append("is missing; run `touchstone topics create`")
        elif topic.joined and partitions != expected:
            problems.append(
                f"has {partitions} partitions and answers.generated has {expected}, but they are joined by "
                "partition number; delete it and run `touchstone topics create`, or add partitions to match"
            )
        policy = policies.get(name)
        if policy is not None and policy != topic.cleanup:
            problems.append(
                f"has cleanup.policy {policy} and needs {topic.cleanup}; change it with your broker's tools"
            )
        return TopicFinding(topic, name, partitions, tuple(problems))

    async def _policies(self, names: list[str]) -> dict[str, str]:
        """Cleanup policies as far as the broker tells them; some brokers do not."""
        # All values: asking for one by name makes the embedded broker close the connection.
        resources = [ConfigResource(ConfigResourceType.TOPIC, name, configs=None) for name in names]
        policies: dict[str, str] = {}
        if not resources:
            return policies
        try:
            responses = await self._client.describe_configs(resources)
        except (KafkaError, NotImplementedError, ValueError, AttributeError):
            return policies
        for response in responses:
            for resource in response.resources:
                values = {entry[0]: entry[1] for entry in resource[4]}
                if resource[0] == 0 and values.get("cleanup.policy"):
                    policies[resource[3]] = values["cleanup.policy"]
        return policies
