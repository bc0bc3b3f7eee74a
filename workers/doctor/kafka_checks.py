"""Examine the broker: reach, versions, topics, rights."""

import asyncio
from collections.abc import Sequence

from schemas.topics import Topic
from workers.delivery.topics.access_rights import CONSOLE_WRITES
from workers.delivery.topics.missing_rights import REMEDY
from workers.delivery.topics.topic_administration import TopicAdministration, TopicsNotReady
from workers.doctor.findings import Finding, Status, failure, of_message, ok, warning
from workers.doctor.scope import Scope
from workers.doctor.supported_versions import FETCH, FETCH_OF_KAFKA_3_9, INIT_PRODUCER_ID
from workers.errors import BrokerUnavailable
from workers.settings import Settings

TIMEOUT_SECONDS = 20.0


async def examine_kafka(settings: Settings, address: str, scope: Scope) -> list[Finding]:
    """Examine the broker and its topics.

    Args:
        settings: names, credentials, expected topics.
        address: host:port, comma separated.
        scope: what to examine.
    """
    try:
        # A broker that speaks another protocol may never answer.
        async with asyncio.timeout(TIMEOUT_SECONDS), TopicAdministration(settings, address) as administration:
            findings = [ok("kafka", f"responds at {address}")]
            findings += _versions(settings, await administration.protocol_versions())
            findings += await (_topics(administration) if scope.agents else _console_topics(administration, settings))
            findings += await _foreign(administration, scope.foreign_topics)
            findings += await _rights(administration, settings, scope)
            return findings
    except TopicsNotReady as error:
        return [ok("kafka", f"responds at {address}"), of_message("kafka topics", str(error))]
    except (BrokerUnavailable, TimeoutError):
        return [await _unreachable(address, settings)]


async def _unreachable(address: str, settings: Settings) -> Finding:
    """Tell a broker that is away from one that refuses the login or speaks another protocol."""
    for server in address.split(","):
        host, _, port = server.strip().rpartition(":")
        try:
            async with asyncio.timeout(5):
                _, writer = await asyncio.open_connection(host, int(port))
        except (OSError, ValueError, TimeoutError):
            continue
        writer.close()
        return failure(
            "kafka",
            f"{server} accepts connections, but no request with {settings.kafka.security_protocol}",
            "correct TOUCHSTONE_KAFKA__SECURITY_PROTOCOL, TOUCHSTONE_KAFKA__SASL_MECHANISM, user, password, "
            "access token or certificates",
        )
    return failure("kafka", f"no broker responds at {address}", "start one, or correct KAFKA_BOOTSTRAP_SERVERS")


def _versions(settings: Settings, versions: dict[int, tuple[int, int]]) -> list[Finding]:
    if settings.kafka.idempotent_producer and INIT_PRODUCER_ID not in versions:
        return [
            failure(
                "kafka version",
                "the broker has no idempotent producers",
                "set TOUCHSTONE_KAFKA__IDEMPOTENT_PRODUCER=false",
            )
        ]
    if versions.get(FETCH, (0, 0))[1] < FETCH_OF_KAFKA_3_9:
        text = "the broker is older than Kafka 3.9, the oldest version that is tested"
        return [warning("kafka version", text, "upgrade the brokers")]
    return [ok("kafka version", "the broker supports the requests of Kafka 3.9 or newer")]


async def _topics(administration: TopicAdministration) -> list[Finding]:
    checked = await administration.check()
    alike: dict[tuple[Status, str], list[str]] = {}
    for each in checked:
        for line in each.problems:
            alike.setdefault(("failure", line), []).append(each.name)
        for line in each.differences:
            alike.setdefault(("warning", line), []).append(each.name)
    findings = []
    for (status, line), names in alike.items():
        text, _, remedy = line.partition("; ")
        findings.append(Finding("kafka topics", status, f"{text}: {', '.join(names)}", remedy))
    return findings or [ok("kafka topics", f"all {len(checked)} topics fit")]


async def _console_topics(administration: TopicAdministration, settings: Settings) -> list[Finding]:
    """Find the topics that the console writes; its user need not see the others."""
    names = [settings.broker_name(topic) for topic in CONSOLE_WRITES]
    present = await administration.present(names)
    missing = [name for name in names if name not in present]
    if missing:
        return [failure("kafka topics", f"is missing: {', '.join(missing)}", "run `touchstone topics create`")]
    return [ok("kafka topics", f"all {len(names)} topics of the console are there")]


async def _foreign(administration: TopicAdministration, topics: Sequence[Topic]) -> list[Finding]:
    present = await administration.present([topic.name for topic in topics]) if topics else set()
    return [
        failure(
            "gateway topics",
            f"{topic.name} is missing, or this user may not see it",
            "create it, let its gateway create it, or correct TOUCHSTONE_GATEWAYS__TOPICS",
        )
        if topic.name not in present
        else ok("gateway topics", f"{topic.name} is there")
        for topic in topics
    ]


async def _rights(administration: TopicAdministration, settings: Settings, scope: Scope) -> list[Finding]:
    wanted: dict[str, set[str]] = {}
    for right in scope.rights(settings):
        if right.resource == "topic":
            for name in right.names:
                wanted.setdefault(name, set()).update(right.operations)
    granted = await administration.granted(list(wanted))
    findings = []
    for name, allowed in granted.items():
        lacking = sorted(wanted[name] - allowed)
        if lacking:
            # A worker starts without the configurations of topics; it then compares less.
            make = warning if lacking == ["DescribeConfigs"] else failure
            findings.append(make("kafka rights", f"this user lacks {', '.join(lacking)} on {name}", REMEDY))
    refused = await administration.refused_groups(scope.groups(settings))
    findings += [failure("kafka rights", f"this user may not join the group {name}", REMEDY) for name in refused]
    if findings:
        return findings
    if not granted:
        text = "the broker does not tell the rights to topics"
        if not settings.kafka.security_protocol.startswith("SASL"):
            return [ok("kafka rights", text)]
        return [warning("kafka rights", text, "compare them with what `touchstone topics acls` prints")]
    return [ok("kafka rights", f"this user has the rights to {len(granted)} topics")]
