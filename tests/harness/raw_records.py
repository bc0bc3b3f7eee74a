"""Record batches as no well-behaved client writes them, sent as they are."""

from collections.abc import Sequence

from aiokafka import AIOKafkaProducer
from aiokafka.record.default_records import _DefaultRecordBatchBuilderPy

from workers.settings.addresses import Addresses

Header = tuple[bytes, bytes | None]

CODECS = {"none": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}


class _RawName(str):
    """A header name that goes over the wire as these bytes, whatever encoding is asked for."""

    raw: bytes

    def __new__(cls, raw: bytes) -> "_RawName":
        name = super().__new__(cls, raw.decode("latin-1"))
        name.raw = raw
        return name

    def encode(self, *_: object) -> bytes:
        return self.raw


class _ReadyBatch:
    """Stands in for the client's builder: it is built already."""

    def __init__(self, content: bytes, records: int) -> None:
        self._content = content
        self._records = records

    def build(self) -> bytes:
        return self._content

    def size(self) -> int:
        return len(self._content)

    def set_producer_state(self, *_: int) -> None:
        raise AssertionError("the batch is sent by a producer without idempotence")


def batch(records: Sequence[tuple[bytes, Sequence[Header]]], codec: str = "none") -> bytes:
    """A record batch of values and headers whose names are bytes."""
    builder = _DefaultRecordBatchBuilderPy(2, CODECS[codec], 0, -1, -1, 0, 1_000_000_000)
    for number, (value, headers) in enumerate(records):
        pairs = [(_RawName(name), content) for name, content in headers]
        assert builder.append(number, 1_767_225_600_000, b"key-%d" % number, value, pairs) is not None
    return bytes(builder.build())


async def send_batch(addresses: Addresses, topic: str, partition: int, content: bytes, records: int) -> int:
    """Send a batch as it is.

    Returns:
        The offset of its first record.
    """
    producer = AIOKafkaProducer(bootstrap_servers=addresses.kafka, enable_idempotence=False)
    await producer.start()
    try:
        builder = producer.create_batch()
        for _ in range(records):
            builder.append(timestamp=None, key=None, value=b"placeholder")
        builder.close()
        builder._builder = _ReadyBatch(content, records)
        future = await producer.send_batch(builder, topic, partition=partition)
        return int((await future).offset)
    finally:
        await producer.stop()
