"""The rights that `touchstone topics acls` prints, on Apache Kafka with an authorizer that denies by default."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import replace

import pytest
from aiokafka import AIOKafkaConsumer
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import TopicAuthorizationFailedError
from aiokafka.protocol.admin import CreateAclsRequest
from pydantic import SecretStr

from schemas.topics import ANSWERS_ENRICHED, ANSWERS_GENERATED, ANSWERS_RELEASED, TOPICS, Topic
from tests.harness.kafka_cluster import KafkaMissing
from tests.harness.secured_kafka import LOGINS, Login, SecuredKafka
from tests.harness.variants import variants
from workers.delivery.connections import connection_arguments
from workers.delivery.producer import ConfirmedProducer
from workers.delivery.records import Output
from workers.delivery.topics.access_rights import CONSOLE_WRITES, GATEWAY_READS, GATEWAY_WRITES, Right, access_rights
from workers.delivery.topics.topic_administration import TopicAdministration, TopicsNotReady
from workers.doctor import kafka_checks
from workers.doctor.findings import Finding
from workers.doctor.kafka_checks import examine_kafka
from workers.doctor.scope import Scope
from workers.errors import BrokerUnavailable, TouchstoneError
from workers.runtime.agent_choice import chosen_agents
from workers.runtime.worker import Worker
from workers.settings import Settings
from workers.settings.addresses import Addresses

SECONDS = 120.0
USERS = ("admin", "worker", "console", "gateway", "operator", "stranger", "limited")
OPERATIONS = {
    "Read": 3, "Write": 4, "Create": 5, "Delete": 6, "Alter": 7, "Describe": 8, "DescribeConfigs": 10,
    "AlterConfigs": 11,
}  # fmt: skip
RESOURCES = {"topic": 2, "group": 3}
IN_EVERY_RUN: tuple[Login, ...] = ("scram", "certificate")
"""Log-ins of which one has a password and one none; another test of every run has a worker with tokens."""


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredKafka]:
    """A node with users, each of whom has their name as password."""
    with asyncio.Runner() as runner:
        try:
            node = runner.run(SecuredKafka.start(tmp_path_factory.mktemp("secured"), USERS))
        except KafkaMissing as reason:
            pytest.skip(f"no Apache Kafka: {reason}")
        yield node
        runner.run(node.cluster.stop())


@pytest.fixture
def addresses(kafka_addresses: Addresses, secured: SecuredKafka) -> Addresses:
    return replace(kafka_addresses, kafka=secured.users)


@pytest.fixture
async def admin(settings: Settings, secured: SecuredKafka) -> AsyncIterator[AIOKafkaAdminClient]:
    client = AIOKafkaAdminClient(**connection_arguments(secured.of_user(settings, "admin").kafka, secured.users))
    await client.start()
    yield client
    await client.close()


@pytest.fixture
async def granted(settings: Settings, secured: SecuredKafka, admin: AIOKafkaAdminClient) -> list[Right]:
    """Grant the rights as an administrator, and create the topics as the operator."""
    reads = [topic for agent in chosen_agents(None, settings) for topic in agent.reads]
    rights = access_rights(settings, reads, worker="worker", console="console", gateway="gateway", operator="operator")
    await asyncio.gather(*(grant(admin, right) for right in rights))
    async with TopicAdministration(secured.of_user(settings, "operator"), secured.users) as administration:
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


async def examined(settings: Settings, addresses: Addresses, **scope: bool) -> list[Finding]:
    agents = () if scope.get("console") else tuple(chosen_agents(None, settings))
    return await examine_kafka(settings, addresses.kafka, Scope(agents, console=not agents))


async def test_the_doctor_finds_every_right_of_worker_and_console(
    settings: Settings, addresses: Addresses, secured: SecuredKafka, granted: list[Right]
) -> None:
    assert {each.status for each in await examined(secured.of_user(settings, "worker"), addresses)} == {"ok"}
    # The user of the console does not see all topics.
    console = secured.of_user(settings, "console")
    assert {each.status for each in await examined(console, addresses, console=True)} == {"ok"}


async def test_the_doctor_names_a_missing_right_and_a_refused_login(
    settings: Settings,
    addresses: Addresses,
    secured: SecuredKafka,
    admin: AIOKafkaAdminClient,
    granted: list[Right],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    readers = [right for right in granted if right.principal == "worker" and "Write" not in right.operations]
    for right in readers:
        await grant(admin, replace(right, principal="stranger"))
    described = next(right for right in granted if right.operations == ("Write",))
    await grant(admin, replace(described, principal="stranger", operations=("Describe",)))
    found = [each for each in await examined(secured.of_user(settings, "stranger"), addresses) if each.status != "ok"]
    assert {(each.check, each.status) for each in found} == {("kafka rights", "failure")}
    assert all("this user lacks Write on " in each.text for each in found)
    assert {each.text.rpartition(" ")[2] for each in found} == set(described.names)
    assert all("touchstone topics acls" in each.remedy for each in found)
    monkeypatch.setattr(kafka_checks, "TIMEOUT_SECONDS", 5.0)
    wrong = secured.of_user(settings, "worker")
    wrong.kafka.sasl_password = SecretStr("wrong")
    (refused,) = await examine_kafka(wrong, addresses.kafka, Scope(tuple(chosen_agents(None, settings)), False))
    assert (refused.check, refused.status) == ("kafka", "failure")
    assert "accepts connections, but no request with SASL_SSL" in refused.text
    assert "wrong" not in refused.text + refused.remedy


async def write(settings: Settings, address: str, topics: Sequence[Topic]) -> None:
    producer = ConfirmedProducer(settings, address)
    await producer.start()
    try:
        for topic in topics:
            await asyncio.wait_for(producer.send([Output(topic, b"k", b"v")], agent="probe"), SECONDS)
    finally:
        await producer.stop()


@pytest.mark.parametrize("login", variants(LOGINS, in_every_run=IN_EVERY_RUN))
async def test_each_user_may_do_its_work_and_no_more(
    settings: Settings, secured: SecuredKafka, granted: list[Right], login: Login
) -> None:
    async def write_as(user: str, topics: Sequence[Topic]) -> None:
        await write(secured.of_user(settings, user, login), secured.address(login), topics)

    await write_as("worker", [topic for topic in TOPICS if topic is not ANSWERS_GENERATED])
    await write_as("console", CONSOLE_WRITES)
    await write_as("gateway", GATEWAY_WRITES)
    await write_as("operator", TOPICS)
    for user, topic in (("worker", ANSWERS_GENERATED), ("console", ANSWERS_ENRICHED), ("gateway", ANSWERS_RELEASED)):
        name = settings.topic_name(topic.name)
        with pytest.raises(BrokerUnavailable, match=rf"this user may not write to .*{name}.*`touchstone topics acls`"):
            await write_as(user, [topic])


async def test_a_gateway_reads_releases_in_groups_of_its_own_alone(
    settings: Settings, secured: SecuredKafka, granted: list[Right]
) -> None:
    await write(secured.of_user(settings, "operator"), secured.users, GATEWAY_READS)
    connection = connection_arguments(secured.of_user(settings, "gateway").kafka, secured.users)
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


def commits(worker: Worker) -> int:
    """Return the number of commits of the first agent."""
    return worker._running[0].application.consumer.commits


async def until_committed(worker: Worker, more_than: int) -> None:
    async with asyncio.timeout(SECONDS):
        # The record is no answer: it becomes a dead letter, and its offset is committed.
        while not (worker.caught_up() and commits(worker) > more_than):
            await asyncio.sleep(0.1)


@pytest.mark.parametrize("login", variants(LOGINS, in_every_run=IN_EVERY_RUN))
async def test_workers_start_and_commit_with_their_rights(
    settings: Settings, addresses: Addresses, secured: SecuredKafka, granted: list[Right], login: Login
) -> None:
    await write(secured.of_user(settings, "operator"), secured.users, [ANSWERS_ENRICHED])
    there = replace(addresses, kafka=secured.address(login))
    worker = Worker(secured.of_user(settings, "worker", login), there, ["release", "decisions"])
    try:
        await asyncio.wait_for(worker.start(), SECONDS)
        await until_committed(worker, 0)
    finally:
        await worker.stop()


async def test_a_worker_outlives_its_tokens_and_its_sessions(
    settings: Settings, addresses: Addresses, secured: SecuredKafka, granted: list[Right]
) -> None:
    calls = secured.folder / "worker.py.calls"
    operator = secured.of_user(settings, "operator")
    worker = Worker(secured.of_user(settings, "worker", "token_command"), addresses, ["release"])
    calls.unlink(missing_ok=True)
    try:
        await asyncio.wait_for(worker.start(), SECONDS)
        for tokens in (2, 4):
            async with asyncio.timeout(SECONDS):
                while calls.stat().st_size < tokens:
                    await asyncio.sleep(0.1)
            before = commits(worker)
            await write(operator, secured.users, [ANSWERS_ENRICHED])
            await until_committed(worker, before)
    finally:
        await worker.stop()
    assert not worker._failure.done()


async def test_a_user_without_rights_is_told_which_and_where_to_get_them(
    settings: Settings, secured: SecuredKafka, granted: list[Right]
) -> None:
    async with TopicAdministration(secured.of_user(settings, "stranger"), secured.users) as administration:
        with pytest.raises(TopicsNotReady, match=r"may not describe .*answers\.generated.*`touchstone topics acls`"):
            await administration.check()


async def without(
    admin: AIOKafkaAdminClient, granted: list[Right], user: str, withheld: Callable[[Right, str], bool]
) -> None:
    """Grant a user the rights of a worker without some. Topics stay visible."""
    for right in granted:
        if right.principal == "worker":
            names = tuple(name for name in right.names if not ("Read" in right.operations and withheld(right, name)))
            await grant(admin, replace(right, principal=user, names=names))
            if right.resource == "topic":
                await grant(admin, replace(right, principal=user, operations=("Describe",)))


@pytest.mark.parametrize(
    ("resource", "name", "told"),
    [
        ("topic", "answers.enriched", r"may not read \S+answers\.enriched; .*`touchstone topics acls`"),
        ("topic", "privacy.erasures", r"erasures cannot be read .*may not read \S+; .*`touchstone topics acls`"),
        ("group", "", r"may not join the group \S+-release; .*`touchstone topics acls`"),
    ],
)
async def test_a_worker_that_may_not_read_says_so_and_ends(
    settings: Settings,
    addresses: Addresses,
    secured: SecuredKafka,
    admin: AIOKafkaAdminClient,
    granted: list[Right],
    resource: str,
    name: str,
    told: str,
) -> None:
    await without(admin, granted, "limited", lambda right, each: right.resource == resource and each.endswith(name))
    worker = Worker(secured.of_user(settings, "limited"), addresses, ["release"])
    try:
        with pytest.raises(TouchstoneError, match=told):
            await asyncio.wait_for(worker.start(), SECONDS)
            raise await asyncio.wait_for(worker.wait_failed(), SECONDS)
    finally:
        await worker.stop()
