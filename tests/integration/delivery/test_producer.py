"""What the producer writes, on a real broker."""

import asyncio
from typing import get_args

import pytest
from aiokafka import AIOKafkaConsumer
from aiokafka.producer.message_accumulator import BatchBuilder

from schemas.topics import ANSWERS_GENERATED
from tests.harness.raw_records import CODECS
from workers.delivery.producer import ConfirmedProducer
from workers.delivery.records import Output
from workers.settings import KafkaSettings, Settings
from workers.settings.addresses import Addresses

COMPRESSIONS = get_args(KafkaSettings.model_fields["compression"].annotation)


@pytest.mark.parametrize("compression", COMPRESSIONS)
async def test_records_go_out_compressed_as_set_and_come_back_as_they_were(
    settings: Settings, addresses: Addresses, topics: None, compression: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[bytes] = []
    build = BatchBuilder._build
    monkeypatch.setattr(BatchBuilder, "_build", lambda builder: sent.append(bytes(build(builder))) or build(builder))
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
        async with asyncio.timeout(60):
            read = [(await consumer.getone()).value for _ in values]
    finally:
        await consumer.stop()
    assert read == values
    # The lowest bits of a batch's attributes, which stand behind offset, length, epoch, magic and checksum. A broker may
    # keep batches otherwise than they were sent, as the embedded one does.
    assert {int.from_bytes(batch[21:23], "big") & 7 for batch in sent} == {CODECS[compression]}
