"""Reading topics from given offsets up to where they end now, without any consumer group."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError
from aiokafka.structs import ConsumerRecord

from schemas.topics import Topic
from workers.delivery import fetching
from workers.delivery.errors import BrokerUnavailable
from workers.delivery.records import Record
from workers.kafka import connection_arguments
from workers.settings import Settings

Places = Mapping[tuple[str, int], int]
"""Offsets by topic (without prefix) and partition."""

POLL_MILLISECONDS = 500
FETCH_BYTES = 4_000_000


class BoundedReader:
    """Reads every partition up to the high-water mark that its first fetch tells.

    What is written meanwhile is left for the next time, so reading comes to an end also on a
    busy topic. The mark of the fetches counts: asked for by itself, the embedded broker names
    an old one.

    Args:
        settings: names and credentials.
        bootstrap_servers: host:port, comma separated.
        topics: what is read.
        starts: first offsets; the beginning where none is given.
    """

    def __init__(
        self, settings: Settings, bootstrap_servers: str, topics: Sequence[Topic], starts: Places | None = None
    ) -> None:
        fetching.install()
        self._settings = settings
        self._bootstrap_servers = bootstrap_servers
        self._names = {settings.topic_name(topic.name): topic.name for topic in topics}
        self._starts = starts or {}
        self._patience = settings.kafka.request_timeout_seconds
        self._first: dict[TopicPartition, int] = {}
        self._marks: dict[TopicPartition, int] = {}
        self._done = 0

    @property
    def total(self) -> int | None:
        """Offsets to be read, once every partition's mark is known."""
        if not self._first or len(self._marks) < len(self._first):
            return None
        return sum(max(0, mark - self._first[partition]) for partition, mark in self._marks.items())

    @property
    def done(self) -> int:
        """Records read so far."""
        return self._done

    async def batches(self) -> AsyncIterator[list[Record]]:
        """Records of one partition at a time, in their order; each batch holds at least one.

        Raises:
            BrokerUnavailable: the broker does not answer.
            UnreadablePartition: a batch at the broker cannot be read.
        """
        consumer = AIOKafkaConsumer(
            **connection_arguments(self._settings.kafka, self._bootstrap_servers),
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            max_partition_fetch_bytes=FETCH_BYTES,
        )
        try:
            await asyncio.wait_for(consumer.start(), self._patience)
            await self._seek(consumer)
            async for batch in self._read(consumer):
                yield batch
        except (KafkaError, OSError, TimeoutError) as error:
            raise BrokerUnavailable(
                f"topics cannot be read from {self._bootstrap_servers} ({type(error).__name__}); is the broker there, "
                "are the topics, and may this user read them?"
            ) from error
        finally:
            await consumer.stop()

    async def _seek(self, consumer: AIOKafkaConsumer) -> None:
        known = await asyncio.wait_for(consumer._client.fetch_all_metadata(), self._patience)
        partitions = [
            TopicPartition(name, number) for name in self._names for number in known.partitions_for_topic(name) or ()
        ]
        consumer.assign(partitions)
        beginnings = await asyncio.wait_for(consumer.beginning_offsets(partitions), self._patience)
        for partition in partitions:
            wanted = self._starts.get((self._names[partition.topic], partition.partition), 0)
            # What retention has removed since is gone.
            self._first[partition] = max(wanted, beginnings.get(partition, 0))
            consumer.seek(partition, self._first[partition])

    async def _read(self, consumer: AIOKafkaConsumer) -> AsyncIterator[list[Record]]:
        loop = asyncio.get_running_loop()
        open_partitions, until = set(self._first), loop.time() + self._patience
        while open_partitions:
            found = await consumer.getmany(*open_partitions, timeout_ms=POLL_MILLISECONDS)
            if found:
                until = loop.time() + self._patience
            elif loop.time() > until:
                raise TimeoutError
            for partition in list(open_partitions):
                if partition not in self._marks and (mark := consumer.highwater(partition)) is not None:
                    self._marks[partition] = mark
                mark = self._marks.get(partition)
                records = [record for record in found.get(partition, ()) if mark is None or record.offset < mark]
                if records:
                    self._done += len(records)
                    yield [self._record(record) for record in records]
                if mark is not None and await consumer.position(partition) >= mark:
                    open_partitions.discard(partition)

    def _record(self, record: ConsumerRecord) -> Record:
        return Record(
            topic=self._names[record.topic],
            partition=record.partition,
            offset=record.offset,
            key=record.key,
            value=record.value,
            headers=list(record.headers),
            timestamp=max(0, record.timestamp) / 1000,
        )
