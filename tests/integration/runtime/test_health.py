"""/healthz, /readyz and /metrics of a worker, on real servers that come and go."""

import asyncio
import dataclasses
import re
import socket
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import pytest
from aiokafka import AIOKafkaProducer
from prometheus_client.metrics import MetricWrapperBase
from prometheus_client.parser import text_string_to_metric_families

from schemas.topics import ANSWERS_GENERATED
from tests.chaos.broker import ProxiedBroker
from tests.harness.addresses import with_port
from tests.harness.deployment import Deployment, until
from tests.harness.tcp_servers import TcpServer, forward
from workers.agents import base
from workers.delivery.failures.dead_letter_sender import DeadLetterSender
from workers.delivery.producer import ConfirmedProducer
from workers.delivery.records import Record
from workers.delivery.topics.topic_administration import TopicAdministration
from workers.errors import PoisonError, TouchstoneError
from workers.observability import metrics
from workers.runtime import worker as app
from workers.runtime.worker import Worker
from workers.settings import Settings
from workers.settings.addresses import Addresses

SECONDS = 240.0


class Forwarder(TcpServer):
    """A TCP port before another one, which holds what comes until ``flowing`` is set."""

    def __init__(self, host: str, port: int) -> None:
        super().__init__(self._forward)
        self._target = (host, port)
        self.flowing = asyncio.Event()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self.flowing.wait()
        await forward(reader, writer, *self._target)


@pytest.fixture
async def forwarder(addresses: Addresses) -> AsyncIterator[Forwarder]:
    """Before ClickHouse; closed to traffic until ``flowing`` is set."""
    parts = urlsplit(addresses.clickhouse)
    async with Forwarder(parts.hostname or "", parts.port or 8123) as forwarder:
        yield forwarder


Start = Callable[..., Worker]


@pytest.fixture
async def make(settings: Settings, addresses: Addresses, topics: None) -> AsyncIterator[Start]:
    """Makes workers that are stopped at the end."""
    workers: list[Worker] = []

    def worker(*agents: str, clickhouse: str | None = None, **groups: dict[str, Any]) -> Worker:
        updates = {"delivery": {"shutdown_grace_seconds": 3.0}} | groups
        changed = {name: getattr(settings, name).model_copy(update=update) for name, update in updates.items()}
        there = Addresses(addresses.kafka, addresses.redis, clickhouse or addresses.clickhouse, addresses.local)
        workers.append(Worker(settings.model_copy(update=changed), there, agents))
        return workers[-1]

    yield worker
    for running in workers:
        await running.stop()


async def get(worker: Worker, path: str) -> tuple[int, Any]:
    url = f"http://127.0.0.1:{worker.metrics_port}{path}"
    async with aiohttp.ClientSession() as session, session.get(url) as response:
        is_json = response.content_type == "application/json"
        return response.status, await (response.json() if is_json else response.text())


async def until_ready(worker: Worker, status: int) -> dict[str, str]:
    """The checks, once /readyz answers with this status."""
    checks: dict[str, str] = {}

    async def answers() -> bool:
        found, body = await get(worker, "/readyz")
        checks.update(body["checks"])
        assert body["ready"] is (found == 200)
        return bool(found == status)

    await until(answers, f"/readyz {status}", SECONDS)
    return checks


async def lag(worker: Worker, agent: str) -> float | None:
    """Lag as /metrics tells it; None as long as it tells nothing."""
    text = (await get(worker, "/metrics"))[1]
    samples = [
        sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == "touchstone_consumer_lag_records" and sample.labels["agent"] == agent
    ]
    return sum(samples) if samples else None


async def test_a_worker_is_alive_at_once_and_ready_when_its_stores_answer_and_its_partitions_are_there(
    make: Start, forwarder: Forwarder, addresses: Addresses
) -> None:
    worker = make("analytics", "assembly", clickhouse=with_port(addresses.clickhouse, forwarder.port))
    start = asyncio.create_task(worker.start())

    async def listens() -> bool:
        return worker.metrics_port is not None

    await until(listens, "listening", SECONDS)
    assert await get(worker, "/healthz") == (200, {"alive": True})
    # ClickHouse accepts the connection and says nothing.
    assert await get(worker, "/readyz") == (503, {"ready": False, "checks": {"worker": "starting"}})
    forwarder.flowing.set()
    await asyncio.wait_for(start, SECONDS)
    await until_ready(worker, 200)
    _, body = await get(worker, "/readyz")
    assert body == {"ready": True, "checks": {"analytics": "ok", "assembly": "ok"}}


async def test_a_signal_ends_a_worker_that_is_still_starting(
    forwarder: Forwarder, addresses: Addresses, tmp_path: Path
) -> None:
    """ClickHouse accepts the connection and says nothing: the start waits for it, SIGTERM does not."""
    deployment = Deployment(addresses, tmp_path)
    async with TopicAdministration(deployment.settings, addresses.kafka) as administration:
        await administration.create()
    environment = {"CLICKHOUSE_URL": with_port(addresses.clickhouse, forwarder.port)}
    worker = await deployment.start_worker(["analytics"], ready=False, environment=environment)

    async def waits() -> bool:
        return forwarder.accepted > 0

    await until(waits, "a connection to ClickHouse", SECONDS)
    assert await worker.terminate(SECONDS) == 0, worker.tail()
    assert "Unclosed" not in worker.tail()


async def test_readiness_names_the_store_that_is_away_and_recovers_with_it(
    make: Start, forwarder: Forwarder, settings: Settings, addresses: Addresses, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "LAG_SECONDS", 0.05)
    monkeypatch.setattr(base, "CHECK_SECONDS", 0.05)
    forwarder.flowing.set()
    worker = make("analytics", "assembly", clickhouse=with_port(addresses.clickhouse, forwarder.port))
    versions = metrics.SINK_ROWS.labels("clickhouse", "versions")
    before = versions._value.get()
    await worker.start()
    await until_ready(worker, 200)

    async def told_its_version() -> bool:
        return versions._value.get() > before and worker.caught_up()

    await until(told_its_version, "the row that every worker writes at its start", SECONDS)
    await forwarder.stop()
    checks = await until_ready(worker, 503)
    assert checks["analytics"].startswith("ClickHouse does not respond"), "told before there is a row to insert"
    producer = ConfirmedProducer(settings, addresses.kafka)
    await producer.start()
    try:
        record = Record(ANSWERS_GENERATED.name, 0, 0, b"k", b"v")
        await DeadLetterSender(producer, "test").send(record, agent="probe", error=PoisonError("p"), attempts=1)
    finally:
        await producer.stop()

    async def insert_waits() -> bool:
        return (worker.readiness()["analytics"] or "").startswith(
            "ClickHouse did not acknowledge an insert into dead_letters"
        )

    await until(insert_waits, "the insert that waits", SECONDS)
    checks = await until_ready(worker, 503)
    assert checks["assembly"] == "ok"
    assert (await get(worker, "/healthz"))[0] == 200

    async def behind() -> bool:
        return await lag(worker, "analytics") == 1

    await until(behind, "lag of one record", SECONDS)
    await forwarder.start()
    await until_ready(worker, 200)

    async def caught_up() -> bool:
        return await lag(worker, "analytics") == 0 and worker.caught_up()

    await until(caught_up, "no lag", SECONDS)


@pytest.mark.parametrize("trouble", ["cut", "stall"])
async def test_an_idle_agent_tells_that_the_broker_is_away_and_when_it_is_back(
    trouble: str, settings: Settings, addresses: Addresses
) -> None:
    """Nothing is consumed and nothing sent: only the heartbeats of the group can notice."""
    broker = await ProxiedBroker.start()
    settings.kafka.request_timeout_seconds = settings.kafka.session_timeout_seconds
    settings.kafka.idempotent_producer = False
    worker = Worker(settings, dataclasses.replace(addresses, kafka=broker.address), ["release"])
    try:
        async with TopicAdministration(settings, broker.address) as topics:
            await topics.create()
        await worker.start()
        await until_ready(worker, 200)
        getattr(broker.proxy, trouble)()
        assert await until_ready(worker, 503) == {"release": "the broker does not respond"}
        assert (await get(worker, "/healthz"))[0] == 200
        broker.proxy.mend()
        await until_ready(worker, 200)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(worker.wait_failed(), 2)  # who waits for the broker has not failed
    finally:
        await worker.stop()
        await broker.stop()


async def test_an_open_breaker_is_told_by_readiness_and_leaves_the_process_and_other_agents_up(
    make: Start, settings: Settings, addresses: Addresses
) -> None:
    worker = make("assembly", "release", breaker={"least": 10})
    await worker.start()
    await until_ready(worker, 200)
    producer = AIOKafkaProducer(bootstrap_servers=addresses.kafka)
    await producer.start()
    try:
        topic = settings.topic_name(ANSWERS_GENERATED.name)
        await asyncio.gather(*[await producer.send(topic, value=b"\xff poison", key=b"k") for _ in range(20)])
    finally:
        await producer.stop()
    checks = await until_ready(worker, 503)
    assert re.match(
        r"the circuit breaker is open: assembly dead-lettered 1\d of 1\d records within 60 s; .*dlq list",
        checks["assembly"],
    )
    assert checks["release"] == "ok"
    assert (await get(worker, "/healthz"))[0] == 200
    text = (await get(worker, "/metrics"))[1]
    assert 'touchstone_breaker_open{agent="assembly"} 1.0' in text
    assert 'touchstone_breaker_open{agent="release"} 0.0' in text


async def test_metrics_have_our_prefix_base_units_and_no_identifiers(make: Start) -> None:
    worker = make("assembly")
    await worker.start()
    status, text = await get(worker, "/metrics")
    assert status == 200
    families = [f for f in text_string_to_metric_families(text) if not f.name.startswith(("python_", "process_"))]
    ours = [family for family in families if family.name.startswith("touchstone_")]
    assert families == ours
    assert {"touchstone_records_consumed", "touchstone_consumer_lag_records", "touchstone_end_to_end_seconds"} <= {
        family.name for family in ours
    }
    # Other tests of this process may have counted anything, so that every metric is looked at as it is declared.
    declared = {name: each._labelnames for name, each in vars(metrics).items() if isinstance(each, MetricWrapperBase)}
    assert [name for name, labels in declared.items() if "tenant" in labels] == ["QUOTA_REFUSED"]  # or "other"
    assert len(declared) > 40
    assert set().union(*declared.values()) <= {
        "agent", "topic", "partition", "stage", "reason", "error", "status", "state", "kind", "missing", "result", "sink", "table",
        "risk_level", "action", "ruling", "held", "verdict", "evaluator", "tenant",
    }  # fmt: skip
    for family in ours:
        assert family.documentation, family.name
        assert not re.search(r"_(ms|us|ns|millis\w*|minutes|hours|kb|mb|kib|mib|percent)(_|$)", family.name)
        if family.type == "histogram":
            assert re.search(r"_(seconds|bytes|records|texts|pairs|score)$", family.name), family.name


async def test_a_port_that_is_taken_is_told_with_the_setting_that_changes_it(make: Start) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        worker = make("assembly", http={"metrics_port": port})
        with pytest.raises(
            TouchstoneError, match=rf"port {port} on 127.0.0.1 cannot be used .*change http.metrics_port"
        ):
            await worker.start()
