"""Agents that read from replicas of their own rack, on two brokers in two racks."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from schemas.topics import ANSWERS_ENRICHED
from tests.harness.deployment import session_seconds
from tests.harness.kafka_cluster import KafkaCluster, KafkaMissing
from workers.delivery.producer import ConfirmedProducer
from workers.delivery.records import Output
from workers.delivery.topics.topic_administration import TopicAdministration
from workers.runtime.worker import Worker
from workers.settings import Settings
from workers.settings.addresses import Addresses
from workers.settings.sections.kafka import RECORD_OVERHEAD_BYTES

SECONDS = 120.0
PROPERTIES = {
    "broker.rack": "rack-{number}",
    "replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector",
}


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[KafkaCluster]:
    try:
        opened = await KafkaCluster.start(tmp_path / "kafka", 2, properties=PROPERTIES)
    except KafkaMissing as reason:
        pytest.skip(f"no Apache Kafka: {reason}")
    yield opened
    await opened.kill()


async def test_agents_read_from_the_replicas_of_their_rack_and_records_above_the_default_size_fit(
    settings: Settings, kafka_addresses: Addresses, cluster: KafkaCluster
) -> None:
    settings.kafka.client_rack, settings.kafka.replication, settings.kafka.min_insync_replicas = "rack-2", 2, 2
    settings.kafka.max_record_bytes = 3_000_000
    addresses = replace(kafka_addresses, kafka=cluster.addresses)
    settings.kafka.session_timeout_seconds = session_seconds(addresses)
    async with TopicAdministration(settings, addresses.kafka) as administration:
        await administration.create()
        assert not [each for each in await administration.check() if each.problems or each.differences]
        name = settings.topic_name(ANSWERS_ENRICHED.name)
        entry = (await administration._describe([name]))[name]
    led_elsewhere = {each["partition"] for each in entry["partitions"] if each["leader"] == 1}
    assert led_elsewhere, "some leader is in the other rack"
    producer = ConfirmedProducer(settings, addresses.kafka)
    await producer.start()
    worker = Worker(settings, addresses, ["release"])
    # The worker's dead letter of such a record fits as well.
    large = b"x" * (settings.kafka.max_record_bytes - RECORD_OVERHEAD_BYTES)
    try:
        await asyncio.wait_for(worker.start(), SECONDS)
        application = worker._running[0].application
        fetcher = application.consumer._thread._consumer._fetcher
        async with asyncio.timeout(SECONDS):
            while {tp.partition for tp in fetcher._preferred_read_replica if tp.topic == name} != led_elsewhere:
                await asyncio.sleep(0.1)
        commits = application.consumer.commits
        await producer.send(
            [Output(ANSWERS_ENRICHED, b"k", large, partition=number) for number in led_elsewhere], agent="probe"
        )
        async with asyncio.timeout(SECONDS):
            while not (worker.caught_up() and application.consumer.commits > commits):
                await asyncio.sleep(0.1)
        assert {node for node, _ in fetcher._preferred_read_replica.values()} == {2}
    finally:
        await worker.stop()
        await producer.stop()
