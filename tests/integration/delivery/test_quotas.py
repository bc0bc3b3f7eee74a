"""Quotas of Apache Kafka: a client over its quota waits, and nothing fails."""

import time
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
from aiokafka.conn import AIOKafkaConnection, CloseReason
from structlog.testing import capture_logs

from schemas.topics import ANSWERS_GENERATED
from tests.harness.quotas import quota
from tests.integration.delivery.test_consumer import Agent, agents, until
from tests.integration.delivery.test_producer_on_kafka import replaced, stored
from workers.delivery.producer import ConfirmedProducer
from workers.delivery.records import Output, Result, WorkItem
from workers.observability import metrics
from workers.settings import Settings
from workers.settings.addresses import Addresses

__all__ = ["agents"]

TIMEOUT_SECONDS = 2.0
"""Timeout of a request, shorter than the waits that the quotas demand."""


@pytest.fixture
def addresses(kafka_addresses: Addresses) -> Addresses:
    return kafka_addresses


@pytest.fixture
async def producer(settings: Settings, addresses: Addresses, topics: None) -> AsyncIterator[ConfirmedProducer]:
    settings.kafka.request_timeout_seconds = TIMEOUT_SECONDS
    settings.kafka.compression = "none"
    opened = ConfirmedProducer(settings, addresses.kafka)
    await opened.start()
    yield opened
    await opened.stop()


@pytest.fixture
def timed_out(monkeypatch: pytest.MonkeyPatch) -> list[AIOKafkaConnection]:
    """Return the connections that a request without an answer has closed, as the test goes on."""
    closed: list[AIOKafkaConnection] = []
    close = AIOKafkaConnection.close

    def noted(connection: AIOKafkaConnection, reason: Any = None, exc: Any = None) -> Any:
        if reason is CloseReason.CONNECTION_TIMEOUT:
            closed.append(connection)
        return close(connection, reason, exc)

    monkeypatch.setattr(AIOKafkaConnection, "close", noted)
    return closed


def records(first: int, count: int, size: int) -> list[Output]:
    return [Output(ANSWERS_GENERATED, b"k", b"%0*d" % (size, n), partition=0) for n in range(first, first + count)]


def number(value: bytes | None) -> int:
    return int((value or b"")[-6:])


def throttled(request: str) -> float:
    return float(metrics.BROKER_THROTTLED.labels(request)._value.get())


async def test_a_producer_over_its_quota_waits_and_no_send_fails(
    producer: ConfirmedProducer, settings: Settings, addresses: Addresses, timed_out: list[AIOKafkaConnection]
) -> None:
    """Kafka measures over eleven seconds: what is more than eleven seconds' worth has to be waited for."""
    before, waited, sent = replaced(), throttled("Produce"), 0
    async with quota(addresses.kafka, "touchstone", producer_byte_rate=10_000):
        # The broker applies a new quota a moment later.
        while throttled("Produce") < waited + TIMEOUT_SECONDS:
            await producer.send(records(sent, 1, 60_000), agent="probe")
            sent += 1
        began = time.monotonic()
        assert await producer.problem() is None, "a broker that throttles is there"
        await producer.send(records(sent, 1, 100), agent="probe")
        assert time.monotonic() - began > TIMEOUT_SECONDS
    assert timed_out == []
    assert replaced() == before
    values = await stored(settings, addresses, sent + 1)
    assert [number(value) for value in values] == list(range(sent + 1)), "each record once"


async def test_an_agent_over_its_quota_reads_everything_over_one_connection(
    settings: Settings, addresses: Addresses, topics: None, agents: list[Agent], producer: ConfirmedProducer,
    timed_out: list[AIOKafkaConnection],
) -> None:  # fmt: skip
    seen: list[int] = []
    group = settings.group_name("probe")

    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        seen.extend(number(work.record.value) for work in works)
        return [[] for _ in works]

    waited, sent = throttled("Fetch"), 0
    with capture_logs() as logs:
        async with quota(addresses.kafka, group, consumer_byte_rate=100_000):
            agents.append(await Agent(settings, addresses, handle).start())
            # The broker applies a new quota a moment later: what the agent reads before is not throttled.
            while throttled("Fetch") == waited:
                await producer.send(records(sent, 50, 10_000), agent="probe")
                sent += 50
                await until(lambda count=sent: len(seen) >= count)
            await until(lambda: agents[0].application.consumer.ledger.unfinished() is False)
    said = [(entry["client"], entry["kind"]) for entry in logs if entry["event"] == "broker_throttled"]
    assert said == [(group, "Fetch")], "once a minute, with the client that the quota is for"
    assert sorted(seen) == list(range(sent))
    assert timed_out == []
