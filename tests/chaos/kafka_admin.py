"""Ask a cluster of Apache Kafka, and change it, while a scenario runs."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiokafka.admin import AIOKafkaAdminClient

from schemas.topics import TOPICS
from tests.chaos.run import Run


@asynccontextmanager
async def admin(run: Run) -> AsyncIterator[AIOKafkaAdminClient]:
    """Open an admin client of the run's broker."""
    client = AIOKafkaAdminClient(bootstrap_servers=run.deployment.addresses.kafka)
    await client.start()
    try:
        yield client
    finally:
        await client.close()


async def leaders(run: Run) -> dict[tuple[str, int], int]:
    """Return the leader by topic and partition."""
    return {place: partition["leader"] for place, partition in (await _partitions(run)).items()}


async def replicas_in_sync(run: Run) -> int:
    """Return the smallest number of replicas in sync over all partitions."""
    return min(len(partition["isr"]) for partition in (await _partitions(run)).values())


async def coordinator(run: Run, group: str) -> int:
    """Return the number of the node that coordinates a group."""
    async with admin(run) as client:
        return int(await client.find_coordinator(group))


async def _partitions(run: Run) -> dict[tuple[str, int], dict[str, Any]]:
    async with admin(run) as client:
        found = await client.describe_topics([run.deployment.settings.topic_name(topic.name) for topic in TOPICS])
    return {(topic["topic"], partition["partition"]): partition for topic in found for partition in topic["partitions"]}
