"""Reading topics from given offsets up to where they end now; no group decides who reads what."""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from datetime import datetime

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError, UnsupportedVersionError
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
        ends: offsets behind the last ones, where reading ends before the high-water mark; a
            partition that is not named is not read then.
        since: nothing before that time is asked of a broker that can look up times; of one that
            cannot, all is read, so whoever asks looks at the records' times anyway.
        only: the partitions that are read; all if absent.
        group: a consumer group that commits are made for; without it there is none.
    """

    def __init__(
        self, settings: Settings, bootstrap_servers: str, topics: Sequence[Topic], starts: Places | None = None, *,
        ends: Places | None = None, since: datetime | None = None, only: Collection[tuple[str, int]] | None = None,
        group: str | None = None,
    ) -> None:  # fmt: skip
        fetching.install()
        self._settings = settings
        self._bootstrap_servers = bootstrap_servers
        self._names = {settings.topic_name(topic.name): topic.name for topic in topics}
        self._starts = starts or {}
        self._ends = ends
        self._since = since
        self._only = only
        self._group = group
        self._consumer: AIOKafkaConsumer | None = None
        self._patience = settings.kafka.request_timeout_seconds
        self._first: dict[TopicPartition, int] = {}
        self._marks: dict[TopicPartition, int] = {}
        self._done = 0
        self._gone = 0

    @property
    def total(self) -> int | None:
        """Offsets to be read, once every partition's mark is known."""
        if not self._first or len(self._marks) < len(self._first):
            return None
        return sum(max(0, mark - self._first[partition]) for partition, mark in self._marks.items())

    @property
    def bounds(self) -> dict[tuple[str, int], int]:
        """The offset behind the last one, of every partition whose mark is known."""
        return {(self._names[each.topic], each.partition): mark for each, mark in self._marks.items()}

    @property
    def done(self) -> int:
        """Records read so far."""
        return self._done

    @property
    def gone(self) -> int:
        """Offsets that were asked for and that retention has removed."""
        return self._gone

    async def commit(self, places: Places) -> None:
        """Tell the group how far its reader is, for whoever looks at lags; nothing is read from there.

        Raises:
            BrokerUnavailable: the broker does not confirm.
        """
        if self._group is None or self._consumer is None:
            return
        found = {self._partition(place): offset for place, offset in places.items()}
        wanted = {partition: offset for partition, offset in found.items() if partition in self._first}
        try:
            if wanted:
                await asyncio.wait_for(self._consumer.commit(wanted), self._patience)
        except (KafkaError, OSError, TimeoutError) as error:
            raise BrokerUnavailable(f"the broker does not take a commit ({type(error).__name__})") from error

    async def close(self) -> None:
        """Disconnect; needed by who has a group, and commits after the last record."""
        if self._consumer is not None:
            consumer, self._consumer = self._consumer, None
            await consumer.stop()

    def _partition(self, place: tuple[str, int]) -> TopicPartition:
        return TopicPartition(self._settings.topic_name(place[0]), place[1])

    async def batches(self) -> AsyncIterator[list[Record]]:
        """Records of one partition at a time, in their order; each batch holds at least one.

        Raises:
            BrokerUnavailable: the broker does not answer.
            UnreadablePartition: a batch at the broker cannot be read.
        """
        consumer = AIOKafkaConsumer(
            **connection_arguments(self._settings.kafka, self._bootstrap_servers),
            auto_offset_reset="earliest",
            group_id=self._group,
            enable_auto_commit=False,
            max_partition_fetch_bytes=FETCH_BYTES,
        )
        self._consumer = consumer
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
            if self._group is None:
                await self.close()

    async def _seek(self, consumer: AIOKafkaConsumer) -> None:
        known = await asyncio.wait_for(consumer._client.fetch_all_metadata(), self._patience)
        partitions = [
            TopicPartition(name, number)
            for name in self._names
            for number in known.partitions_for_topic(name) or ()
            if self._is_wanted((self._names[name], number))
        ]
        consumer.assign(partitions)
        beginnings = await asyncio.wait_for(consumer.beginning_offsets(partitions), self._patience)
        times = await self._first_of_time(consumer, partitions)
        for partition in partitions:
            wanted = self._starts.get((self._names[partition.topic], partition.partition), 0)
            first = max(wanted, times.get(partition, 0))
            beginning = beginnings.get(partition, 0)
            if (self._names[partition.topic], partition.partition) in self._starts:
                self._gone += max(0, beginning - first)
            self._first[partition] = max(first, beginning)
            consumer.seek(partition, self._first[partition])

    def _is_wanted(self, place: tuple[str, int]) -> bool:
        return (self._ends is None or place in self._ends) and (self._only is None or place in self._only)

    async def _first_of_time(
        self, consumer: AIOKafkaConsumer, partitions: Sequence[TopicPartition]
    ) -> dict[TopicPartition, int]:
        if self._since is None or not partitions:
            return {}
        asked = dict.fromkeys(partitions, round(self._since.timestamp() * 1000))
        try:
            found = await asyncio.wait_for(consumer.offsets_for_times(asked), self._patience)
        except UnsupportedVersionError:
            return {}
        ends = await asyncio.wait_for(consumer.end_offsets(partitions), self._patience)
        # Where nothing is as late, nothing is read.
        return {partition: ends[partition] if place is None else place.offset for partition, place in found.items()}

    def _bound(self, partition: TopicPartition, mark: int) -> int:
        if self._ends is None:
            return mark
        return min(mark, self._ends[self._names[partition.topic], partition.partition])

    async def _read(self, consumer: AIOKafkaConsumer) -> AsyncIterator[list[Record]]:
        # All marks before the first record: whoever goes on later must know where everything ends.
        held = await self._learn_marks(consumer)
        open_partitions = set(self._first)
        empty = 0
        while open_partitions:
            found = held or await consumer.getmany(*open_partitions, timeout_ms=POLL_MILLISECONDS)
            held = {}
            # By looks and not by the clock: between two of them the records may have been worked on for hours.
            empty = 0 if found else empty + 1
            if empty * POLL_MILLISECONDS > self._patience * 1000:
                raise TimeoutError
            for partition in list(open_partitions):
                mark = self._marks[partition]
                records = [record for record in found.get(partition, ()) if record.offset < mark]
                if records:
                    self._done += len(records)
                    yield [self._record(record) for record in records]
                if await consumer.position(partition) >= mark:
                    open_partitions.discard(partition)

    async def _learn_marks(self, consumer: AIOKafkaConsumer) -> dict[TopicPartition, list[ConsumerRecord]]:
        """Every partition's mark; returns what was read on the way."""
        held: dict[TopicPartition, list[ConsumerRecord]] = {}
        loop = asyncio.get_running_loop()
        until = loop.time() + self._patience
        while unknown := [partition for partition in self._first if partition not in self._marks]:
            if loop.time() > until:
                raise TimeoutError
            found = await consumer.getmany(*unknown, timeout_ms=POLL_MILLISECONDS)
            for partition in unknown:
                mark = consumer.highwater(partition)
                if mark is not None:
                    self._marks[partition] = self._bound(partition, mark)
            for partition, records in found.items():
                held.setdefault(partition, []).extend(records)
        return held

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
