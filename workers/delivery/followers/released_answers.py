"""Read the final answers of ``answers.released``, for the agent that makes answers final.

The topic itself is read, not a separate table. A release is acknowledged by the broker before its decision is, so the
next owner of the decision's partition finds the release on the topic. Before every batch of decisions the partition is
read to its end, with a fetch that begins after the batch was delivered.

Known states are kept in a file for each partition (:mod:`workers.delivery.followers.final_state_file`). A worker that
starts reads from the end of the file on. Without a file, or if the file belongs to another topic, it reads from some
weeks back.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError
from aiokafka.partitioner import DefaultPartitioner

from schemas.identifiers import DEFAULT_TENANT, record_key
from schemas.release import ReleasedAnswer
from schemas.topics import ANSWERS_RELEASED
from workers.decision.finality import Standing, standing_of
from workers.delivery.connections import connection_arguments
from workers.delivery.consumption import fetching
from workers.delivery.followers.final_state_file import (
    DamagedFile,
    FinalStateFile,
    LastRecord,
    NotedRecord,
    digest_number,
    record_checksum,
    remove_final_states,
)
from workers.delivery.followers.record_subjects import parse_record
from workers.delivery.records import Output
from workers.delivery.topics.missing_rights import refused_reading
from workers.errors import BrokerUnavailable, StoreUnavailable
from workers.observability import metrics
from workers.observability.logs import get_logger
from workers.settings import Settings

FETCH_WAIT_MS = 50
"""Maximum wait of the broker before an empty response; each read of an idle partition takes this long."""
MAX_POLL = 1_000
"""Number of records that are written to the file in one transaction."""
FOLDER = "final-states"
"""Folder of the files inside the state directory."""

log = get_logger(__name__)


@dataclass(slots=True)
class _Partition:
    """Final answers of one partition of the topic.

    Attributes:
        file: the states.
        position: the next offset to read.
        forgotten: start of the period of which states are kept.
        complete: True once the partition was read to its end.
        damage: description of the damage of the file; empty if there is none.
    """

    file: FinalStateFile
    position: int
    forgotten: datetime
    complete: bool = False
    damage: str = ""


class ReleasedAnswers:
    """Read the partitions of ``answers.released``, without a consumer group.

    Args:
        settings: names, credentials, folder of the files, and the age of the oldest record to read.
        bootstrap_servers: host:port, comma separated.

    Attributes:
        records_read: number of records read from the topic.
    """

    def __init__(self, settings: Settings, bootstrap_servers: str) -> None:
        self._settings = settings
        self._bootstrap_servers = bootstrap_servers
        self._topic = settings.topic_name(ANSWERS_RELEASED.name)
        self._folder = settings.state_dir / FOLDER
        self._partitions: dict[int, _Partition] = {}
        self._partitioner = DefaultPartitioner()
        self._count = 0
        self._count_doubted = False
        self._consumer: AIOKafkaConsumer | None = None
        self._turn = asyncio.Lock()
        self.records_read = 0

    async def start(self) -> None:
        """Connect.

        Raises:
            BrokerUnavailable: no broker answers, or the topic does not exist.
        """
        fetching.install(self._settings.kafka.max_batch_bytes)
        consumer = AIOKafkaConsumer(
            **connection_arguments(self._settings.kafka, self._bootstrap_servers),
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            fetch_max_wait_ms=FETCH_WAIT_MS,
            max_partition_fetch_bytes=2 * self._settings.kafka.max_record_bytes,
        )
        self._consumer = consumer
        try:
            await consumer.start()
            consumer.assign([TopicPartition(self._topic, 0)])  # without one the client requests no topic metadata
            await consumer._client.force_metadata_update()
        except KafkaError as error:
            raise self._unreadable(error) from error
        self._count_partitions(consumer)

    async def stop(self) -> None:
        """Disconnect."""
        if self._consumer is not None:
            await self._consumer.stop()
        for partition in self._partitions.values():
            await asyncio.to_thread(partition.file.close)
        self._partitions.clear()

    def _count_partitions(self, consumer: AIOKafkaConsumer) -> None:
        partitions = consumer.partitions_for_topic(self._topic)
        if not partitions:
            raise BrokerUnavailable(f"the broker returned no partitions of {self._topic}; check that the topic exists")
        self._count = len(partitions)

    def moved_to(self, answer_id: str, partition: int) -> int | None:
        """Return the partition of an answer if it is another than the given one, else ``None``.

        Either the producer of a record uses other partitions, or partitions were added: the next :meth:`refresh` looks.
        """
        wanted = self.partition_of(answer_id)
        if wanted == partition:
            return None
        self._count_doubted = True
        return wanted

    def partition_of(self, answer_id: str) -> int:
        """Return the partition of an answer; answers of one name share it over all tenants."""
        everything = list(range(self._count))
        return int(self._partitioner(answer_id.encode(), everything, everything))

    def standing(self, tenant: str, answer_id: str) -> Standing | None:
        """Return the standing of a final answer as of the last :meth:`refresh` of its partition, else ``None``.

        Call it in a thread: it reads a file.

        Raises:
            StoreUnavailable: the partition is not read yet, or its file cannot be read. The next :meth:`refresh`
                replaces a damaged file.
        """
        number = self.partition_of(answer_id)
        partition = self._partitions.get(number)
        if partition is None or not partition.complete:
            # A damaged file was discarded since the last refresh. Not to know a state must not look like having none.
            raise StoreUnavailable(f"the final states of partition {number} are not read yet")
        try:
            return partition.file.standing(digest_number(_key(tenant, answer_id)))
        except DamagedFile as error:
            raise self._damaged(error) from error

    async def refresh(self, numbers: Iterable[int], now: datetime) -> None:
        """Read partitions to their current end.

        Raises:
            BrokerUnavailable: the end was not reached in time.
            StoreUnavailable: a file of final states cannot be used.
        """
        wanted = sorted(set(numbers))
        if wanted:
            since = now - timedelta(days=self._settings.review.finality_days)
            await self._try(lambda: self._read(wanted, since))

    async def covered(self, numbers: Iterable[int]) -> list[Output]:
        """Return the final records that an older record follows, to be sent again.

        A redelivery can repeat "held" after "released". Readers take the later standing; but
        compaction keeps the last record of a key, so the final record must be sent again.

        Raises:
            BrokerUnavailable: the broker does not respond.
            StoreUnavailable: a file of final states cannot be used.
        """
        outputs: list[Output] = []

        async def collect() -> None:
            for number in sorted(set(numbers) & set(self._partitions)):
                for offset in await asyncio.to_thread(self._partitions[number].file.covered):
                    outputs.extend(await self._copy(number, offset))

        await self._try(collect)
        return outputs

    async def _try(self, operation: Callable[[], Awaitable[None]]) -> None:
        async with self._turn:
            try:
                await operation()
            except (KafkaError, TimeoutError) as error:
                raise self._unreadable(error) from error
            except DamagedFile as error:
                raise self._damaged(error) from error

    def _unreadable(self, error: Exception) -> BrokerUnavailable:
        cause = refused_reading(error) or "check that the broker is available"
        return BrokerUnavailable(f"{self._topic} cannot be read ({type(error).__name__}); {cause}")

    def _damaged(self, error: DamagedFile) -> StoreUnavailable:
        """Mark a partition, so that the next read begins with a new file."""
        for number, partition in self._partitions.items():
            if self._path(number) == error.path:
                partition.complete = False
                partition.damage = str(error)
        return StoreUnavailable(f"{error.path} is damaged ({error}); the topic is read again")

    async def _read(self, numbers: Sequence[int], since: datetime) -> None:
        consumer = self._connected()
        if self._count_doubted or max(numbers) >= self._count:
            await consumer._client.force_metadata_update()
            self._count_doubted = False
        self._count_partitions(consumer)
        places = {number: TopicPartition(self._topic, number) for number in numbers}
        for number, place in places.items():
            await self._open(number, place, since)
        # Assign again: only the responses to fetches that begin now hold the current end.
        consumer.assign(list(places.values()))
        for number, place in places.items():
            consumer.seek(place, self._partitions[number].position)
        waiting = set(numbers)
        loop = asyncio.get_running_loop()
        limit = self._settings.kafka.request_timeout_seconds
        until = loop.time() + limit
        while waiting:
            batches = await consumer.getmany(timeout_ms=FETCH_WAIT_MS, max_records=MAX_POLL)
            for place, records in batches.items():
                # In a thread: parsing and writing thousands of records would block the loop.
                await asyncio.to_thread(self._note, place.partition, records)
                until = loop.time() + limit
            for number in list(waiting):
                position, end = await consumer.position(places[number]), consumer.highwater(places[number])
                if end is not None and position >= end:
                    self._partitions[number].position = position
                    self._partitions[number].complete = True
                    waiting.discard(number)
            if waiting and loop.time() > until:
                raise TimeoutError

    async def _open(self, number: int, place: TopicPartition, since: datetime) -> None:
        """Open the file of a partition, and set the first offset to read."""
        known = self._partitions.get(number)
        if known is not None and known.damage:
            await asyncio.to_thread(self._remove, number, known.file, known.damage)
            known = None
        if known is None:
            file = await asyncio.to_thread(self._opened, number)
            try:
                if file.last is not None and not await self._same_topic(place, file.last):
                    await asyncio.to_thread(self._remove, number, file, "its last record is not on the topic")
                    file = await asyncio.to_thread(self._opened, number)
                position = max(await self._first_offset(place, since), file.last.offset + 1 if file.last else 0)
            except BaseException:
                file.close()
                raise
            known = self._partitions[number] = _Partition(file, position, forgotten=since - timedelta(days=1))
            log.info("final_states_opened", partition=number, offset=position)
        if since - known.forgotten >= timedelta(days=1):
            await asyncio.to_thread(known.file.forget_before, since)
            known.forgotten = since

    def _opened(self, number: int) -> FinalStateFile:
        memory = self._settings.review.finality_memory_mb * 2**20
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            try:
                return FinalStateFile(self._path(number), memory // self._count)
            except DamagedFile as error:
                self._remove(number, None, str(error))
                return FinalStateFile(self._path(number), memory // self._count)
        except OSError as error:
            raise StoreUnavailable(
                f"the folder {self._folder} cannot be used ({type(error).__name__}); free disk space, or make the folder of "
                "TOUCHSTONE_STATE_DIR writable"
            ) from error

    def _remove(self, number: int, file: FinalStateFile | None, reason: str) -> None:
        if file is not None:
            file.close()
        log.warning("final_states_discarded", partition=number, reason=reason)
        remove_final_states(self._path(number))

    def _path(self, number: int) -> Path:
        return self._folder / f"{self._topic}-{number}.sqlite"

    async def _same_topic(self, place: TopicPartition, last: LastRecord) -> bool:
        """Return True if the last record of the file is where the file says.

        A topic that was deleted and created again, or another cluster, has another record there. A record that
        compaction has removed cannot confirm the file either.
        """
        record = await self._record(place, last.offset)
        return record is not None and _last(record) == last

    async def _first_offset(self, place: TopicPartition, since: datetime) -> int:
        """Return the offset of the first record of the period, or the end if no record is that recent."""
        consumer = self._connected()
        found = (await consumer.offsets_for_times({place: int(since.timestamp() * 1000)}))[place]
        # The reported end may be too low, never too high.
        end = (await consumer.end_offsets([place]))[place]
        return int(found.offset if found is not None else end)

    def _note(self, number: int, records: Sequence[Any]) -> None:
        noted = [each for each in map(_noted, records) if each is not None]
        partition = self._partitions[number]
        partition.file.note(noted, _last(records[-1]))
        partition.position = records[-1].offset + 1
        self.records_read += len(records)

    async def _copy(self, number: int, offset: int) -> list[Output]:
        """Return the record at an offset, to be sent again; an empty list if it is compacted away."""
        record = await self._record(TopicPartition(self._topic, number), offset)
        if record is None or record.offset != offset:
            await asyncio.to_thread(self._partitions[number].file.uncover, offset)
            return []
        return [Output(ANSWERS_RELEASED, record.key, record.value, list(record.headers), number)]

    async def _record(self, place: TopicPartition, offset: int) -> Any:
        """Return the first record from an offset on, or from the beginning if the topic is shorter; ``None`` at its end.

        The end is that of the fetch: the one that the broker reports otherwise may be too low.
        """
        consumer = self._connected()
        consumer.assign([place])
        consumer.seek(place, offset)
        async with asyncio.timeout(self._settings.kafka.request_timeout_seconds):
            while True:
                batches = await consumer.getmany(timeout_ms=FETCH_WAIT_MS, max_records=1)
                for records in batches.values():
                    return records[0]
                position, end = await consumer.position(place), consumer.highwater(place)
                if end is not None and position >= end:
                    return None

    def _connected(self) -> AIOKafkaConsumer:
        if self._consumer is None:
            raise BrokerUnavailable("the reader of answers.released is not started")
        return self._consumer


def _noted(record: Any) -> NotedRecord | None:
    """Return what counts of a record; ``None`` for a record that another program wrote."""
    if record.value is None:
        return NotedRecord(record.offset, record.timestamp, record.key, digest_number(record.key or b""), None)
    try:
        content = parse_record(record.value)
        number = digest_number(_key(content.get("tenant", DEFAULT_TENANT), content["answer_id"]))
        return NotedRecord(record.offset, record.timestamp, record.key, number, _standing(content))
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        metrics.RECORDS_SKIPPED.labels("decisions", "unreadable").inc()
        return None


def _last(record: Any) -> LastRecord:
    return LastRecord(record.offset, record_checksum(record.timestamp, (record.key, record.value)))


def _key(tenant: str, answer_id: str) -> bytes:
    return record_key(tenant, answer_id).encode("utf-8", "surrogatepass")


def _standing(content: dict[str, Any]) -> Standing:
    if content.get("decision_id") is not None:
        return standing_of(ReleasedAnswer.model_validate(content))
    return Standing(int(content["revision"]), bool(content["final"]), None, "")
