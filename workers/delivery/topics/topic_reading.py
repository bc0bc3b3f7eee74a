"""Read topics from given offsets to their current end, without a consumer group's assignment."""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from datetime import datetime

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError, UnsupportedVersionError
from aiokafka.structs import ConsumerRecord

from schemas.topics import Topic
from workers.delivery.connections import connection_arguments
from workers.delivery.consumption import fetching
from workers.delivery.records import Record
from workers.delivery.topics.missing_rights import refused_reading
from workers.errors import BrokerUnavailable
from workers.observability.logs import get_logger
from workers.settings import Settings

Places = Mapping[tuple[str, int], int]
"""Offsets by topic (without prefix) and partition."""

POLL_MILLISECONDS = 500
FETCH_BYTES = 4_000_000
POLL_RECORDS = 1_000
"""Maximum number of records that are in memory at once."""

log = get_logger(__name__)


class BoundedReader:
    """Reads every partition up to the high-water mark of its first fetch.

    Records written during the reading are not read, so the reading ends even on a busy topic. The
    mark is taken from a fetch, since the embedded broker answers a separate request with an old
    mark.

    Args:
        settings: names and credentials.
        bootstrap_servers: host:port, comma separated.
        topics: the topics to read.
        starts: first offsets; a partition without one is read from its beginning.
        ends: offsets after the last ones to read, if reading ends before the high-water mark;
            partitions without an entry are then not read.
        since: time of the first records to read. A broker that cannot look up times delivers older
            records too, so the caller must check the time of each record.
        only: the partitions to read; all if absent.
        group: consumer group for commits; without it nothing is committed.
    """

    def __init__(
        self, settings: Settings, bootstrap_servers: str, topics: Sequence[Topic], starts: Places | None = None, *,
        ends: Places | None = None, since: datetime | None = None, only: Collection[tuple[str, int]] | None = None,
        group: str | None = None,
    ) -> None:  # fmt: skip
        fetching.install(settings.kafka.max_batch_bytes)
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
        """Return the number of offsets to read, ``None`` until the mark of every partition is known."""
        if not self._first or len(self._marks) < len(self._first):
            return None
        return sum(max(0, mark - self._first[partition]) for partition, mark in self._marks.items())

    @property
    def bounds(self) -> dict[tuple[str, int], int]:
        """Return the offset after the last one to read, for every partition whose mark is known."""
        return {(self._names[each.topic], each.partition): mark for each, mark in self._marks.items()}

    @property
    def done(self) -> int:
        """Return the number of records read so far."""
        return self._done

    @property
    def gone(self) -> int:
        """Return the number of requested offsets that retention has removed."""
        return self._gone

    async def commit(self, places: Places) -> None:
        """Commit offsets for the group, so that its lag is visible; reading never starts at these offsets.

        Raises:
            BrokerUnavailable: the broker does not acknowledge the commit.
        """
        if self._group is None or self._consumer is None:
            return
        found = {self._partition(place): offset for place, offset in places.items()}
        wanted = {partition: offset for partition, offset in found.items() if partition in self._first}
        try:
            if wanted:
                async with asyncio.timeout(self._patience):
                    await self._consumer.commit(wanted)
        except (KafkaError, OSError, TimeoutError) as error:
            raise BrokerUnavailable(f"the broker did not acknowledge a commit ({type(error).__name__})") from error

    async def close(self) -> None:
        """Disconnect; a caller with a group must call this after its last commit."""
        if self._consumer is not None:
            consumer, self._consumer = self._consumer, None
            await consumer.stop()

    def _partition(self, place: tuple[str, int]) -> TopicPartition:
        return TopicPartition(self._settings.topic_name(place[0]), place[1])

    async def batches(self) -> AsyncIterator[list[Record]]:
        """Yield batches of at least one record, each of one partition, in the order of the offsets.

        Raises:
            BrokerUnavailable: the broker does not respond.
            UnreadablePartition: a batch at the broker cannot be read.
        """
        consumer = AIOKafkaConsumer(
            **connection_arguments(self._settings.kafka, self._bootstrap_servers),
            auto_offset_reset="earliest",
            group_id=self._group,
            enable_auto_commit=False,
            max_partition_fetch_bytes=FETCH_BYTES,
            max_poll_records=POLL_RECORDS,
        )
        self._consumer = consumer
        try:
            async with asyncio.timeout(self._patience):
                await consumer.start()
            await self._seek(consumer)
            async for batch in self._read(consumer):
                yield batch
        except (KafkaError, OSError, TimeoutError) as error:
            cause = refused_reading(error) or "check that the broker is available and that the topics exist"
            raise BrokerUnavailable(
                f"topics cannot be read from {self._bootstrap_servers} ({type(error).__name__}); {cause}"
            ) from error
        finally:
            if self._group is None:
                await self.close()

    async def _seek(self, consumer: AIOKafkaConsumer) -> None:
        async with asyncio.timeout(self._patience):
            known = await consumer._client.fetch_all_metadata()
        partitions = [
            TopicPartition(name, number)
            for name in self._names
            for number in known.partitions_for_topic(name) or ()
            if self._is_wanted((self._names[name], number))
        ]
        consumer.assign(partitions)
        async with asyncio.timeout(self._patience):
            beginnings = await consumer.beginning_offsets(partitions)
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
            async with asyncio.timeout(self._patience):
                found = await consumer.offsets_for_times(asked)
        except UnsupportedVersionError:
            return {}
        async with asyncio.timeout(self._patience):
            ends = await consumer.end_offsets(partitions)
        # A partition without a record of that time or later is not read.
        return {partition: ends[partition] if place is None else place.offset for partition, place in found.items()}

    def _bound(self, partition: TopicPartition, mark: int) -> int:
        if self._ends is None:
            return mark
        return min(mark, self._ends[self._names[partition.topic], partition.partition])

    async def _read(self, consumer: AIOKafkaConsumer) -> AsyncIterator[list[Record]]:
        # Learn all marks before the first record: a caller that resumes later needs the end of every partition.
        held = await self._learn_marks(consumer)
        open_partitions = set(self._first)
        empty = 0
        while open_partitions:
            found = held or await consumer.getmany(*open_partitions, timeout_ms=POLL_MILLISECONDS)
            held = {}
            # Count polls, not time: the caller may work on the records for hours between two polls.
            empty = 0 if found else empty + 1
            if empty * POLL_MILLISECONDS > self._patience * 1000:
                raise TimeoutError
            for partition in list(open_partitions):
                mark = self._marks[partition]
                records = [record for record in found.get(partition, ()) if record.offset < mark]
                self._done += len(records)
                if readable := [record for record in records if not self._is_refused(record)]:
                    yield [self._record(record) for record in readable]
                if await consumer.position(partition) >= mark:
                    open_partitions.discard(partition)

    async def _learn_marks(self, consumer: AIOKafkaConsumer) -> dict[TopicPartition, list[ConsumerRecord]]:
        """Fetch until the mark of every partition is known; return the records fetched meanwhile."""
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

    def _is_refused(self, record: ConsumerRecord) -> bool:
        refusal = fetching.refusal_of(record.headers)
        if refusal is not None:
            log.warning("batch_refused", topic=self._names[record.topic], partition=record.partition, error=refusal)
        return refusal is not None

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
