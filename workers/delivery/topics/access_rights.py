"""List the least rights at a Kafka broker that denies by default, by principal: pure functions.

==========  ==================================================================================================
principal   may
==========  ==================================================================================================
worker      read what its agents read, write results, dead letters and erasures, join its consumer groups
console     write answers, feedback, review decisions and rows about accesses
gateway     write answers and feedback, read releases and posteriors with consumer groups named after itself
operator    create, describe, change, delete, read and write all topics, create and write those of gateways, and manage the
            worker's groups
==========  ==================================================================================================

An idempotent producer needs no right of its own from Kafka 2.8 on.
"""

import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from schemas.topics import (
    ANSWERS_GENERATED,
    ANSWERS_RELEASED,
    FEEDBACK_ANALYTICS,
    FEEDBACK_EVENTS,
    PRIVACY_ERASURES,
    REVIEW_DECISIONS,
    REVIEW_EVENTS,
    ROUTING_POSTERIORS,
    TOPICS,
    Topic,
    foreign_topic,
)
from workers.settings import Settings

Resource = Literal["topic", "group"]

CONSOLE_WRITES = (ANSWERS_GENERATED, FEEDBACK_EVENTS, REVIEW_DECISIONS, REVIEW_EVENTS, FEEDBACK_ANALYTICS)
GATEWAY_WRITES = (ANSWERS_GENERATED, FEEDBACK_EVENTS)
GATEWAY_READS = (ANSWERS_RELEASED, ROUTING_POSTERIORS)
ALL_OF_TOPICS = ("Create", "Describe", "DescribeConfigs", "AlterConfigs", "Alter", "Delete", "Read", "Write")


@dataclass(frozen=True, slots=True)
class Right:
    """Allow a principal some operations on some resources.

    Attributes:
        principal: name of the user.
        resource: kind of the resources.
        names: names of the resources.
        operations: operations as Kafka names them.
        prefixed: true if the names are prefixes of names.
    """

    principal: str
    resource: Resource
    names: tuple[str, ...]
    operations: tuple[str, ...]
    prefixed: bool = False

    def arguments(self) -> str:
        """Return the arguments of ``kafka-acls``."""
        parts = ["--add", "--allow-principal", f"User:{self.principal}"]
        for operation in self.operations:
            parts += ["--operation", operation]
        for name in self.names:
            parts += [f"--{self.resource}", name]
        return shlex.join([*parts, *(["--resource-pattern-type", "prefixed"] if self.prefixed else [])])


def access_rights(
    settings: Settings, reads: Iterable[Topic], *, worker: str, console: str, gateway: str, operator: str
) -> list[Right]:
    """Return the rights of all principals.

    Args:
        settings: names of topics and groups.
        reads: topics that the worker's agents read.
        worker: user of the workers.
        console: user of the console.
        gateway: user of the gateway.
        operator: user for `touchstone topics`, `replay`, `rebuild`, `dlq`, `archive` and `forget`.
    """

    def names(topics: Iterable[Topic]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(settings.broker_name(topic) for topic in topics))

    reads = (*reads, ANSWERS_RELEASED, PRIVACY_ERASURES)
    takes_in = any(topic.foreign for topic in reads)
    writes = [topic for topic in TOPICS if takes_in or topic is not ANSWERS_GENERATED]
    groups = (f"{settings.kafka.group_prefix}-",)
    # Dead letters of the intake are sent again to the topic of their gateway.
    foreign = names(foreign_topic(name) for name in settings.gateways.topics)
    of_gateways = [Right(operator, "topic", foreign, ("Create", "Describe", "Write"))] if foreign else []
    return [
        Right(worker, "topic", names(reads), ("Read",)),
        Right(worker, "topic", names(writes), ("Write",)),
        Right(worker, "topic", names(TOPICS), ("DescribeConfigs",)),
        Right(worker, "group", groups, ("Read",), prefixed=True),
        Right(console, "topic", names(CONSOLE_WRITES), ("Write",)),
        Right(console, "topic", names([PRIVACY_ERASURES]), ("Read",)),
        Right(gateway, "topic", names(GATEWAY_WRITES), ("Write",)),
        Right(gateway, "topic", names(GATEWAY_READS), ("Read",)),
        Right(gateway, "group", (gateway,), ("Read",), prefixed=True),
        # Replays create topics whose names begin with those of the registry.
        Right(operator, "topic", names(TOPICS), ALL_OF_TOPICS, prefixed=True),
        *of_gateways,
        Right(operator, "group", groups, ("Read", "Describe", "Delete"), prefixed=True),
    ]
