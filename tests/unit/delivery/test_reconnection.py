"""A client that cannot reach a broker tries again after growing pauses; the clock is the test's own."""

import asyncio
from collections.abc import AsyncIterator
from types import SimpleNamespace

import pytest
from aiokafka.client import AIOKafkaClient, ConnectionGroup
from aiokafka.conn import AIOKafkaConnection
from aiokafka.errors import KafkaConnectionError
from aiokafka.protocol.metadata import MetadataResponse_v0

from tests.harness.tcp_servers import TcpServer
from workers.delivery.connections import connection_arguments
from workers.delivery.consumption import reconnection
from workers.delivery.consumption.reconnection import MAX_SECONDS, ReconnectPauses
from workers.settings import KafkaSettings

MINUTE = 60.0
TICK = 0.05
"""Time between two attempts of a client's loops, in seconds."""


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    time = SimpleNamespace(now=1000.0)
    monkeypatch.setattr(reconnection, "monotonic", lambda: time.now)
    return time


@pytest.fixture
async def broken() -> AsyncIterator[TcpServer]:
    """Return a server that closes every connection before it answers."""

    async def close(_: asyncio.StreamReader, __: asyncio.StreamWriter) -> None:
        return None

    async with TcpServer(close) as server:
        yield server


def client_of(*ports: int) -> AIOKafkaClient:
    """Return a client that knows a broker on each port and is connected to none."""
    client = AIOKafkaClient(**connection_arguments(KafkaSettings(), f"127.0.0.1:{ports[0]}"))
    client.cluster.update_metadata(
        MetadataResponse_v0([(node, "127.0.0.1", port) for node, port in enumerate(ports)], [])
    )
    return client


def test_pauses_grow_to_a_second_and_not_further(clock: SimpleNamespace) -> None:
    pauses, waits = ReconnectPauses(), []
    for _ in range(2000):
        assert pauses.left("a", 1) == 0
        pauses.failed("a", 1)
        waits.append(pauses.left("a", 1))
        clock.now += waits[-1]
    assert waits[0] <= 0.05
    assert 0.5 < min(waits[10:]) < max(waits[10:]) <= MAX_SECONDS == 1.0
    assert len(set(waits[10:])) > 100, "clients that lost a broker together do not come back together"


def test_a_success_ends_the_pauses_of_one_broker(clock: SimpleNamespace) -> None:
    pauses = ReconnectPauses()
    for _ in range(8):
        pauses.failed("a", 1)
        pauses.failed("a", 2)
        clock.now += MAX_SECONDS
    pauses.failed("a", 2)
    pauses.succeeded("a", 1)
    assert pauses.left("a", 1) == 0 < pauses.left("a", 2)
    pauses.failed("a", 1)
    assert pauses.left("a", 1) <= 0.05, "the next outage begins with a short pause"


async def test_a_client_tries_a_broker_that_is_away_about_once_a_second(
    clock: SimpleNamespace, broken: TcpServer
) -> None:
    client, began = client_of(broken.port), clock.now
    while clock.now < began + MINUTE:
        for group in ConnectionGroup:  # requests to the coordinator have connections of their own
            assert not await client.ready(0, group=group)
        clock.now += TICK
    assert 50 < broken.accepted < 100
    await client.close()


async def test_pauses_are_those_of_one_client_and_one_broker(clock: SimpleNamespace, broken: TcpServer) -> None:
    """A client that starts during another one's pause finds a broker that has come back at once."""
    first, second = client_of(broken.port, broken.port + 1), client_of(broken.port)
    for _ in range(20):
        assert not await first.ready(0)
    assert broken.accepted == 1
    assert not await second.ready(0)
    assert broken.accepted == 2
    assert not await first.ready(1), "nothing listens there"
    assert reconnection.pauses_of(first).left("127.0.0.1", broken.port + 1) > 0
    await first.close()
    await second.close()


async def test_a_connection_ends_the_pauses(
    clock: SimpleNamespace, broken: TcpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def answered(_: AIOKafkaConnection) -> None:
        return None

    client = client_of(broken.port)
    for _ in range(8):
        assert not await client.ready(0)
        clock.now += MAX_SECONDS
    with monkeypatch.context() as patched:
        patched.setattr(AIOKafkaConnection, "_do_version_lookup", answered)
        assert await client.ready(0)
    client._conns[0, ConnectionGroup.DEFAULT].close()
    assert not await client.ready(0)
    assert 0 < reconnection.pauses_of(client).left("127.0.0.1", broken.port) <= 0.05
    await client.close()


async def test_a_refused_attempt_fails_at_once_as_one_without_a_pause(
    clock: SimpleNamespace, broken: TcpServer, caplog: pytest.LogCaptureFixture
) -> None:
    """Wait for nothing: requests to other brokers wait for the same lock."""
    client = client_of(broken.port)
    async with asyncio.timeout(5):
        for _ in range(50):
            assert not await client.ready(0)
    messages = {str(record.msg) for record in caplog.records if "Unable connect" in str(record.msg)}
    assert messages == {"Unable connect to node with id %s: %s"}, "one event, whose repetitions are counted"
    await client.close()


async def test_the_first_connection_of_a_client_never_waits(clock: SimpleNamespace, broken: TcpServer) -> None:
    """Its caller retries with pauses of its own, and a command that is started again has to find the broker."""
    for _ in range(3):
        client = AIOKafkaClient(**connection_arguments(KafkaSettings(), f"127.0.0.1:{broken.port}"))
        with pytest.raises(KafkaConnectionError, match="Unable to bootstrap"):
            await client.bootstrap()
    assert broken.accepted == 3
