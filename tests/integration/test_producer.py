"""What the producer writes, on a real broker."""

from typing import get_args

import pytest
from aiokafka import AIOKafkaConsumer

from schemas.topics import ANSWERS_GENERATED
from workers.addresses import Addresses
from workers.delivery.producer import ConfirmedProducer
from workers.delivery.records import Output
from workers.settings import KafkaSettings, Settings

COMPRESSIONS = get_args(KafkaSettings.model_fields["compression"].annotation)


@pytest.mark.parametrize("compression", COMPRESSIONS)
async def test_records_come_back_as_they_were_in_every_compression(
    settings: Settings, addresses: Addresses, topics: None, compression: str
) -> None:
    values = [b"%d " % number * 500 for number in range(40)]
    kafka = settings.kafka.model_copy(update={"compression": compression})
    producer = ConfirmedProducer(settings.model_copy(update={"kafka": kafka}), addresses.kafka)
    await producer.start()
    try:
        await producer.send([Output(ANSWERS_GENERATED, b"key", value) for value in values], agent="probe")
    finally:
        await producer.stop()
    topic = settings.topic_name(ANSWERS_GENERATED.name)
    consumer = AIOKafkaConsumer(topic, bootstrap_servers=addresses.kafka, auto_offset_reset="earliest")
    await consumer.start()
    try:
        read = [(await consumer.getone()).value for _ in values]
    finally:
        await consumer.stop()
    assert read == values
