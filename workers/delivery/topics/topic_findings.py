"""Compare the broker's topics with the registry and the settings: pure functions."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from schemas.topics import Topic
from workers.settings import KafkaSettings


@dataclass(frozen=True, slots=True)
class TopicState:
    """Describe a topic as the broker returns it.

    Attributes:
        partitions: number of partitions.
        leaderless: number of partitions that no broker leads now.
        replicas: smallest number of replicas of a partition.
        configuration: values by name; empty where the broker returns none.
    """

    partitions: int
    leaderless: int
    replicas: int
    configuration: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TopicFinding:
    """Result of the check of one topic.

    Attributes:
        topic: the registry's entry.
        name: name of the topic at the broker.
        partitions: number of partitions, ``None`` if the topic is missing.
        leaderless: number of partitions that no broker leads now.
        problems: reasons why no worker may start, each with its remedy.
        differences: other differences from what ``touchstone topics create`` sets, each with its remedy.
    """

    topic: Topic
    name: str
    partitions: int | None
    leaderless: int
    problems: tuple[str, ...]
    differences: tuple[str, ...] = ()


def topic_configuration(topic: Topic, kafka: KafkaSettings) -> dict[str, str]:
    """Return the configuration that a topic is created with."""
    kept = kafka.retention_of(topic)
    retention = -1 if kept is None else int(kept.total_seconds() * 1000)
    return {
        "cleanup.policy": kafka.cleanup_of(topic),
        "retention.ms": str(retention),
        "min.insync.replicas": str(kafka.in_sync_replicas),
        "max.message.bytes": str(kafka.max_message_bytes),
        # Brokers keep what producers have compressed, whatever the cluster's default is.
        "compression.type": "producer",
    }


def find_topic(
    topic: Topic, name: str, state: TopicState | None, answer_partitions: int, kafka: KafkaSettings
) -> TopicFinding:
    """Compare one topic with the registry and the settings.

    Args:
        topic: the registry's entry.
        name: name of the topic at the broker.
        state: the broker's description, ``None`` if the topic is missing.
        answer_partitions: number of partitions of answers.generated.
        kafka: settings of created topics.
    """
    if state is None:
        return TopicFinding(topic, name, None, 0, ("is missing; run `touchstone topics create`",))
    wanted = topic_configuration(topic, kafka)
    problems = []
    if topic.joined and state.partitions != answer_partitions:
        problems.append(
            f"has {state.partitions} partitions and answers.generated has {answer_partitions}, but they are joined by "
            "partition number; delete it and run `touchstone topics create`, or add partitions until the "
            "numbers are equal"
        )
    policy = state.configuration.get("cleanup.policy", wanted["cleanup.policy"])
    if _policies(policy) not in (_policies(wanted["cleanup.policy"]), {topic.cleanup}):
        problems.append(
            f"has cleanup.policy {policy} and needs {wanted['cleanup.policy']}; change it with the tools of your broker"
        )
    return TopicFinding(
        topic, name, state.partitions, state.leaderless, tuple(problems), _differences(topic, state, wanted, kafka)
    )


def _differences(topic: Topic, state: TopicState, wanted: Mapping[str, str], kafka: KafkaSettings) -> tuple[str, ...]:
    differences = []
    if state.leaderless:
        differences.append(f"has {state.leaderless} partitions without a leader; check the brokers that hold them")
    if not topic.joined and state.partitions != kafka.partitions:
        differences.append(f"has {state.partitions} partitions and kafka.partitions is {kafka.partitions}")
    if state.replicas < kafka.replication:
        differences.append(
            f"has {state.replicas} replicas and kafka.replication is {kafka.replication}; reassign its partitions "
            "with the tools of your broker"
        )
    for name in wanted:
        found = state.configuration.get(name, wanted[name])
        # Agents work with a topic that only compacts, but its texts stay. Any other policy is a problem.
        if found != wanted[name] and (name != "cleanup.policy" or found == topic.cleanup):
            differences.append(
                f"has {name} {found} and `touchstone topics create` sets {wanted[name]}; change it with the tools of "
                "your broker"
            )
    return tuple(differences)


def _policies(value: str) -> set[str]:
    return {policy.strip() for policy in value.split(",")}
