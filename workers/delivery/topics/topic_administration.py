"""Create and check the registry's topics at the broker."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import GroupAuthorizationFailedError, KafkaError, for_code
from aiokafka.protocol.metadata import MetadataRequest

from schemas.topics import ANSWERS_GENERATED, SHADOW, SHADOWED, TOPICS, Topic, shadow
from workers.delivery.connections import connection_arguments
from workers.delivery.topics.missing_rights import REMEDY
from workers.delivery.topics.topic_findings import TopicFinding, TopicState, find_topic, topic_configuration
from workers.delivery.topics.topic_rights import TopicRightsRequest, granted_operations
from workers.errors import BrokerUnavailable, TouchstoneError
from workers.observability.logs import get_logger
from workers.settings import Settings

UNKNOWN_TOPIC = 3
TOPIC_AUTHORIZATION_FAILED = 29
TOPIC_ALREADY_EXISTS = 36

LEADER_SECONDS = 60.0
"""Maximum wait until every broker knows a leader of every partition of created topics."""

POLL_SECONDS = 0.2

log = get_logger(__name__)


class TopicsNotReady(TouchstoneError):
    """Topics are missing or do not match the registry; the message names the remedy."""


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
                f"no Kafka broker responds at {self._bootstrap_servers} ({type(error).__name__}); start one, or "
                "set KAFKA_BOOTSTRAP_SERVERS"
            ) from error
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.close()

    async def create(self, progress: Callable[[int], None] | None = None) -> list[str]:
        """Create the topics that are missing, and wait until every broker knows a leader of each partition.

        Args:
            progress: called with the number of partitions without a leader, when it changes.

        Returns:
            Names of the created topics.

        Raises:
            TopicsNotReady: the broker refuses to create a topic, or partitions have no leader.
        """
        names = {topic: self._settings.topic_name(topic.name) for topic in TOPICS}
        expected = self._settings.kafka.partitions
        # Joined topics need as many partitions as the answers have; the gateway may have created that topic just now.
        answers = names[ANSWERS_GENERATED]
        created = (
            [] if answers in await self._describe([answers]) else await self._create([(ANSWERS_GENERATED, expected)])
        )
        await self._wait_for_leaders([answers], progress)
        found = await self._describe(list(names.values()))
        joined = len(found[answers]["partitions"])
        missing = [topic for topic, name in names.items() if name not in found]
        created += await self._create([(topic, joined if topic.joined else expected) for topic in missing])
        await self._wait_for_leaders(list(names.values()), progress)
        return created

    async def create_beside(self, topics: Mapping[Topic, Topic]) -> None:
        """Create missing copies of topics, each with as many partitions as its original.

        Args:
            topics: copy by original.

        Raises:
            TopicsNotReady: the broker refuses to create a topic, or partitions have no leader.
        """
        copies = [self._settings.topic_name(topic.name) for topic in topics.values()]
        found = await self._describe([*(self._settings.topic_name(topic.name) for topic in topics), *copies])
        partitions = {name: len(entry["partitions"]) for name, entry in found.items()}
        await self._create(
            (beside, partitions.get(self._settings.topic_name(topic.name)) or self._settings.kafka.partitions)
            for topic, beside in topics.items()
            if self._settings.topic_name(beside.name) not in partitions
        )
        await self._wait_for_leaders(copies, None)

    async def shadows(self) -> dict[str, timedelta | None]:
        """Return the retention of the topics of replays that exist, by name without prefix; ``None`` keeps records.

        The broker's retention counts, since settings may have changed; the settings where the broker returns none.
        """
        starts = {topic: self._settings.topic_name(topic.name + SHADOW) for topic in SHADOWED}
        present = await self._describe(None)
        found = {
            name: shadow(topic, name.removeprefix(start))
            for topic, start in starts.items()
            for name in sorted(present)
            if name.startswith(start)
        }
        configurations = await self._configurations(list(found))
        kept = {name: configurations.get(name, {}).get("retention.ms") for name in found}
        return {topic.name: self._kept(topic, kept[name]) for name, topic in found.items()}

    def _kept(self, topic: Topic, milliseconds: str | None) -> timedelta | None:
        if milliseconds is None:
            return self._settings.kafka.retention_of(topic)
        return None if int(milliseconds) < 0 else timedelta(milliseconds=int(milliseconds))

    async def create_foreign(self, topics: Iterable[Topic]) -> list[str]:
        """Create missing topics of gateways, for local mode, where no gateway creates them.

        Returns:
            Names of the created topics.

        Raises:
            TopicsNotReady: the broker refuses to create a topic, or partitions have no leader.
        """
        wanted = {topic.name: topic for topic in topics}
        found = await self._describe(list(wanted)) if wanted else {}
        partitions = self._settings.kafka.partitions
        created = await self._create([(topic, partitions) for name, topic in wanted.items() if name not in found])
        await self._wait_for_leaders(created, None)
        return created

    async def delete(self, topics: Iterable[Topic]) -> list[str]:
        """Delete the topics that exist, and return their names.

        Raises:
            BrokerUnavailable: the broker does not respond, or this user may not delete topics.
        """
        names = list(await self._describe([self._settings.topic_name(topic.name) for topic in topics]))
        if names:
            await self._ask(self._client.delete_topics(names))
        return names

    async def check(self) -> list[TopicFinding]:
        """Compare the broker's topics with the registry."""
        names = {topic: self._settings.topic_name(topic.name) for topic in TOPICS}
        found = await self._describe(list(names.values()))
        configurations = await self._configurations(list(found))
        states = {name: _state(entry, configurations.get(name, {})) for name, entry in found.items()}
        answers = states.get(names[ANSWERS_GENERATED])
        kafka = self._settings.kafka
        expected = kafka.partitions if answers is None else answers.partitions
        return [find_topic(topic, name, states.get(name), expected, kafka) for topic, name in names.items()]

    async def require(self, foreign: Iterable[Topic] = (), wait_seconds: float = 0.0) -> None:
        """Check that all topics exist and match the registry.

        Args:
            foreign: topics of other programs that the worker reads; they must exist.
            wait_seconds: wait for topics that are missing or have no leader yet.

        Raises:
            TopicsNotReady: a topic is missing or does not match; the message names each topic and the remedy.
        """
        loop = asyncio.get_running_loop()
        until = loop.time() + wait_seconds
        names, told = [topic.name for topic in foreign], False
        while True:
            findings = await self.check()
            present = await self._describe(names) if names else {}
            missing = [finding.name for finding in findings if finding.partitions is None or finding.leaderless]
            missing += [name for name in names if name not in present]
            if not missing or loop.time() >= until or any(f.problems and f.partitions for f in findings):
                break
            if not told:
                log.info("topics_awaited", topics=len(missing), wait_seconds=wait_seconds)
                told = True
            await asyncio.sleep(POLL_SECONDS)
        problems = [f"{finding.name}: {problem}" for finding in findings for problem in finding.problems]
        problems += [
            f"{name}: is missing; create it, let its gateway create it, or correct gateways.topics"
            for name in names
            if name not in present
        ]
        if problems:
            raise TopicsNotReady("topics are not ready:\n  " + "\n  ".join(problems))

    async def present(self, names: Sequence[str]) -> set[str]:
        """Return the names of the topics that exist.

        Raises:
            TopicsNotReady: this user may not describe a topic.
        """
        return set(await self._describe(names))

    async def granted(self, names: Sequence[str]) -> dict[str, frozenset[str]]:
        """Return the operations that this user may do on existing topics, by topic.

        Topics are left out where the broker does not say, or where the user may not see them.
        """
        try:
            response = await self._ask(self._client._send_request(TopicRightsRequest(names)))
        except NotImplementedError:  # the broker is older
            return {}
        return granted_operations(response)

    async def refused_groups(self, groups: Iterable[str]) -> list[str]:
        """Return the consumer groups that this user may not join."""
        refused = []
        for group in groups:
            try:
                await self._client.find_coordinator(group)
            except GroupAuthorizationFailedError:
                refused.append(group)
            except KafkaError:
                continue  # a broker without groups makes their topic first
        return refused

    async def protocol_versions(self) -> dict[int, tuple[int, int]]:
        """Return the oldest and the newest version of each request that a broker supports, by key of the request."""
        cluster = self._client._client
        connection = await self._ask(cluster._get_conn(cluster.get_random_node()))
        return dict(connection._versions)

    async def _create(self, topics: Iterable[tuple[Topic, int]]) -> list[str]:
        """Create topics with so many partitions; return the names without those that exist already."""
        kafka = self._settings.kafka
        new = [
            NewTopic(
                name=self._settings.broker_name(topic),
                num_partitions=partitions,
                replication_factor=kafka.replication,
                topic_configs=topic_configuration(topic, kafka),
            )
            for topic, partitions in topics
        ]
        if not new:
            return []
        response = await self._ask(self._client.create_topics(new))
        for error in response.topic_errors:
            if error[1] not in (0, TOPIC_ALREADY_EXISTS):
                raise TopicsNotReady(f"the broker refused topic {error[0]}: {for_code(error[1]).__name__}")
        return [error[0] for error in response.topic_errors if error[1] == 0]

    async def _wait_for_leaders(self, names: Sequence[str], progress: Callable[[int], None] | None) -> None:
        """Wait until every broker knows a leader of each partition.

        The controller confirms a topic before the brokers know it. A client that asks another broker meanwhile
        finds no topic.
        """
        # The first look has the limit of its requests alone, so that the error below always has a count.
        without = await self._without_leader(names)
        told = None
        try:
            async with asyncio.timeout(LEADER_SECONDS):
                while without:
                    count = sum(without.values())
                    if progress is not None and count != told:
                        progress(count)
                    told = count
                    await asyncio.sleep(POLL_SECONDS)
                    without = await self._without_leader(names)
        except TimeoutError:
            raise TopicsNotReady(
                f"{sum(without.values())} partitions have no leader after {LEADER_SECONDS:g} s ({', '.join(sorted(without))}); check "
                "the brokers and kafka.replication, then run `touchstone topics create` again"
            ) from None

    async def _without_leader(self, names: Sequence[str]) -> dict[str, int]:
        """Return the number of partitions without a leader by topic, as the broker that knows least sees it."""
        await self._ask(self._client._client.force_metadata_update())
        without: dict[str, int] = {}
        for broker in self._client._client.cluster.brokers():
            try:
                found = await self._describe(names, broker.nodeId)
            except BrokerUnavailable:
                continue  # clients do not ask it either
            for name in names:
                count = _leaderless(found[name]) if name in found else self._settings.kafka.partitions
                without[name] = max(count, without.get(name, 0))
        return {name: count for name, count in without.items() if count}

    async def _describe(self, names: Sequence[str] | None, node: int | None = None) -> dict[str, dict[str, Any]]:
        """Return the broker's entries of the topics that exist, by name; of all topics for ``None``."""
        request = MetadataRequest(None if names is None else list(names), allow_auto_topic_creation=False)
        response = await self._ask(self._client._send_request(request, node))
        entries = response.to_object()["topics"]
        if denied := [entry["topic"] for entry in entries if entry.get("error_code") == TOPIC_AUTHORIZATION_FAILED]:
            raise TopicsNotReady(f"this user may not describe {', '.join(denied)}; {REMEDY}")
        return {entry["topic"]: entry for entry in entries if entry.get("error_code", 0) != UNKNOWN_TOPIC}

    async def _ask(self, request: Awaitable[Any]) -> Any:
        try:
            return await request
        except (KafkaError, OSError) as error:
            raise BrokerUnavailable(
                f"the broker at {self._bootstrap_servers} did not respond to a topic request "
                f"({type(error).__name__}); check that this user may describe and create topics"
            ) from error

    async def _configurations(self, names: Sequence[str]) -> dict[str, dict[str, str]]:
        """Return the configurations that the broker returns, by topic; some brokers return none."""
        # Request all values: a request for one value by name makes the light broker close the connection.
        resources = [ConfigResource(ConfigResourceType.TOPIC, name, configs=None) for name in names]
        if not resources:
            return {}
        try:
            responses = await self._client.describe_configs(resources)
        except (KafkaError, NotImplementedError, ValueError, AttributeError):
            return {}
        found = [resource for response in responses for resource in response.resources if resource[0] == 0]
        return {entry[3]: {value[0]: value[1] for value in entry[4] if value[1]} for entry in found}


def _leaderless(entry: Mapping[str, Any]) -> int:
    """Return the number of partitions without a leader. A topic without partitions is not ready either."""
    if not entry["partitions"]:
        return 1
    return sum(partition["leader"] < 0 for partition in entry["partitions"])


def _state(entry: Mapping[str, Any], configuration: Mapping[str, str]) -> TopicState:
    replicas = (len(partition["replicas"]) for partition in entry["partitions"])
    return TopicState(len(entry["partitions"]), _leaderless(entry), min(replicas, default=0), configuration)
