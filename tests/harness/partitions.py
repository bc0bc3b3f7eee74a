"""Add partitions to topics of a running broker."""

from aiokafka.admin import AIOKafkaAdminClient, NewPartitions

from schemas.topics import Topic
from workers.settings import Settings
from workers.settings.addresses import Addresses


async def add_partitions(settings: Settings, addresses: Addresses, topic: Topic, count: int) -> None:
    """Give a topic so many partitions in all."""
    admin = AIOKafkaAdminClient(bootstrap_servers=addresses.kafka)
    await admin.start()
    try:
        await admin.create_partitions({settings.topic_name(topic.name): NewPartitions(count)})
    finally:
        await admin.close()
