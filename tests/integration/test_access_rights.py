"""The rights that `touchstone topics acls` prints, on Apache Kafka with an authorizer that denies by default."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from aiokafka import AIOKafkaConsumer
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import TopicAuthorizationFailedError
from aiokafka.protocol.admin import CreateAclsRequest
from pydantic import SecretStr

from schemas.topics import ANSWERS_ENRICHED, ANSWERS_GENERATED, ANSWERS_RELEASED, TOPICS, Topic
from tests.harness.kafka_cluster import KafkaCluster, KafkaMissing
from workers.delivery.access_rights import CONSOLE_WRITES, GATEWAY_READS, GATEWAY_WRITES, Right, access_rights
from workers.delivery.connections import connection_arguments
from workers.delivery.producer import ConfirmedProducer
from workers.delivery.records import Output
from workers.delivery.topic_administration import TopicAdministration, TopicsNotReady
from workers.doctor import kafka_checks
from workers.doctor.findings import Finding
from workers.doctor.kafka_checks import examine_kafka
from workers.doctor.scope import Scope
from workers.errors import BrokerUnavailable
from workers.runtime.agent_choice import chosen_agents
from workers.runtime.worker import Worker
from workers.settings import Settings
from workers.settings.addresses import Addresses

SECONDS = 120.0
USERS = ("admin", "worker", "console", "gateway", "operator", "stranger")
LOGIN = 'org.apache.kafka.common.security.scram.ScramLoginModule required username="admin" password="admin";'
PROPERTIES = {
    "listener.security.protocol.map": "PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT",
    "sasl.enabled.mechanisms": "SCRAM-SHA-512",
    "sasl.mechanism.inter.broker.protocol": "SCRAM-SHA-512",
    "listener.name.plaintext.scram-sha-512.sasl.jaas.config": LOGIN,
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    # The node's own connection to its controller has no user.
    "super.users": "User:admin;User:ANONYMOUS",
    "allow.everyone.if.no.acl.found": "false",
}
OPERATIONS = {
    "Read": 3, "Write": 4, "Create": 5, "Delete": 6, "Alter": 7, "Describe": 8, "DescribeConfigs": 10,
    "AlterConfigs": 11,
}  # fmt: skip
RESOURCES = {"topic": 2, "group": 3}


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a node with users, each of whom has their name as password."""
    users = [part for name in USERS for part in ("--add-scram", f"SCRAM-SHA-512=[name={name},password={name}]")]
    with asyncio.Runner() as runner:
        try:
            cluster = runner.run(
                KafkaCluster.start(tmp_path_factory.mktemp("secured"), properties=PROPERTIES, format_arguments=users)
            )
        except KafkaMissing as reason:
            pytest.skip(f"no Apache Kafka: {reason}")
        yield cluster.addresses
        runner.run(cluster.stop())


@pytest.fixture
def addresses(kafka_addresses: Addresses, secured: str) -> Addresses:
    return replace(kafka_addresses, kafka=secured)


def of_user(settings: Settings, user: str) -> Settings:
    login = {
        "security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "SCRAM-SHA-512", "sasl_username": user,
        "sasl_password": SecretStr(user), "request_timeout_seconds": 10.0,
    }  # fmt: skip
    return settings.model_copy(update={"kafka": settings.kafka.model_copy(update=login)})


@pytest.fixture
async def granted(settings: Settings, addresses: Addresses) -> list[Right]:
    """Grant the rights as an administrator, and create the topics as the operator."""
    reads = [topic for agent in chosen_agents(None, settings) for topic in agent.reads]
    rights = access_rights(settings, reads, worker="worker", console="console", gateway="gateway", operator="operator")
    admin = AIOKafkaAdminClient(**connection_arguments(of_user(settings, "admin").kafka, addresses.kafka))
    await admin.start()
    try:
        await asyncio.gather(*(grant(admin, right) for right in rights))
    finally:
        await admin.close()
    async with TopicAdministration(of_user(settings, "operator"), addresses.kafka) as administration:
        await administration.create()
        assert not [finding for finding in await administration.check() if finding.problems or finding.differences]
    return rights


async def grant(admin: AIOKafkaAdminClient, right: Right) -> None:
    for name in right.names:
        for operation in right.operations:
            request = CreateAclsRequest(
                RESOURCES[right.resource], name, 4 if right.prefixed else 3, f"User:{right.principal}", "*",
                OPERATIONS[operation], 3,
            )  # fmt: skip
            response = await admin._send_to_controller(request)
            assert [code for code, _ in response.creation_responses] == [0]


async def examined(settings: Settings, addresses: Addresses, user: str, **scope: bool) -> list[Finding]:
    agents = () if scope.get("console") else tuple(chosen_agents(None, settings))
    return await examine_kafka(of_user(settings, user), addresses.kafka, Scope(agents, console=not agents))


async def test_the_doctor_finds_every_right_of_worker_and_console(
    settings: Settings, addresses: Addresses, granted: list[Right]
) -> None:
    assert {each.status for each in await examined(settings, addresses, "worker")} == {"ok"}
    # The user of the console does not see all topics.
    assert {each.status for each in await examined(settings, addresses, "console", console=True)} == {"ok"}


async def test_the_doctor_names_a_missing_right_and_a_refused_login(
    settings: Settings, addresses: Addresses, granted: list[Right], monkeypatch: pytest.MonkeyPatch
) -> None:
    readers = [right for right in granted if right.principal == "worker" and "Write" not in right.operations]
    admin = AIOKafkaAdminClient(**connection_arguments(of_user(settings, "admin").kafka, addresses.kafka))
    await admin.start()
    try:
        for right in readers:
            await grant(admin, replace(right, principal="stranger"))
        described = next(right for right in granted if right.operations == ("Write",))
        await grant(admin, replace(described, principal="stranger", operations=("Describe",)))
    finally:
        await admin.close()
    found = [each for each in await examined(settings, addresses, "stranger") if each.status != "ok"]
    assert {(each.check, each.status) for each in found} == {("kafka rights", "failure")}
    assert all("this user lacks Write on " in each.text for each in found)
    assert {each.text.rpartition(" ")[2] for each in found} == set(described.names)
    assert all("touchstone topics acls" in each.remedy for each in found)
    monkeypatch.setattr(kafka_checks, "TIMEOUT_SECONDS", 5.0)
    wrong = of_user(settings, "worker")
    wrong.kafka.sasl_password = SecretStr("wrong")
    (refused,) = await examine_kafka(wrong, addresses.kafka, Scope(tuple(chosen_agents(None, settings)), False))
    assert (refused.check, refused.status) == ("kafka", "failure")
    assert "accepts connections, but no request with SASL_PLAINTEXT" in refused.text
    assert "wrong" not in refused.text + refused.remedy


async def write(settings: Settings, addresses: Addresses, user: str, topics: Sequence[Topic]) -> None:
    producer = ConfirmedProducer(of_user(settings, user), addresses.kafka)
    await producer.start()
    try:
        for topic in topics:
            await asyncio.wait_for(producer.send([Output(topic, b"k", b"v")], agent="probe"), SECONDS)
    finally:
        await producer.stop()


async def test_each_user_may_do_its_work_and_no_more(
    settings: Settings, addresses: Addresses, granted: list[Right]
) -> None:
    await write(settings, addresses, "worker", [topic for topic in TOPICS if topic is not ANSWERS_GENERATED])
    await write(settings, addresses, "console", CONSOLE_WRITES)
    await write(settings, addresses, "gateway", GATEWAY_WRITES)
    await write(settings, addresses, "operator", TOPICS)
    for user, topic in (("worker", ANSWERS_GENERATED), ("console", ANSWERS_ENRICHED), ("gateway", ANSWERS_RELEASED)):
        name = settings.topic_name(topic.name)
        with pytest.raises(BrokerUnavailable, match=rf"this user may not write to .*{name}.*`touchstone topics acls`"):
            await write(settings, addresses, user, [topic])


async def test_a_gateway_reads_releases_in_groups_of_its_own_alone(
    settings: Settings, addresses: Addresses, granted: list[Right]
) -> None:
    await write(settings, addresses, "operator", GATEWAY_READS)
    connection = connection_arguments(of_user(settings, "gateway").kafka, addresses.kafka)
    for topic in GATEWAY_READS:
        consumer = AIOKafkaConsumer(
            settings.topic_name(topic.name), **connection, group_id="gateway-releases", auto_offset_reset="earliest"
        )
        await consumer.start()
        try:
            assert (await asyncio.wait_for(consumer.getone(), SECONDS)).value == b"v"
        finally:
            await consumer.stop()
    foreign = AIOKafkaConsumer(settings.topic_name(ANSWERS_ENRICHED.name), **connection)
    try:
        with pytest.raises(TopicAuthorizationFailedError):
            await asyncio.wait_for(foreign.start(), SECONDS)
    finally:
        await foreign.stop()


async def test_workers_start_and_commit_with_their_rights(
    settings: Settings, addresses: Addresses, granted: list[Right]
) -> None:
    await write(settings, addresses, "operator", [ANSWERS_ENRICHED])
    worker = Worker(of_user(settings, "worker"), addresses, ["release", "decisions"])
    try:
        await asyncio.wait_for(worker.start(), SECONDS)
        async with asyncio.timeout(SECONDS):
            # The record is no answer: it becomes a dead letter, and its offset is committed.
            while not (worker.caught_up() and worker._running[0].application.consumer.commits):
                await asyncio.sleep(0.1)
    finally:
        await worker.stop()


async def test_a_user_without_rights_is_told_which_and_where_to_get_them(
    settings: Settings, addresses: Addresses, granted: list[Right]
) -> None:
    async with TopicAdministration(of_user(settings, "stranger"), addresses.kafka) as administration:
        with pytest.raises(TopicsNotReady, match=r"may not describe .*answers\.generated.*`touchstone topics acls`"):
            await administration.check()
