"""Read the final answers of ``answers.released``, for the agent that makes answers final.

The topic itself is read, not a separate table. A release is acknowledged by the broker before its decision is, so the
next owner of the decision's partition finds the release on the topic. Each partition is first read from some weeks
back, and from then on only new records are read. Before every batch of decisions the partition is read to its end, with
a fetch that begins after the batch was delivered.

For an answer that a decision made final, the standing and the offset are kept. For an answer
that the pipeline made final, only a digest of 8 bytes is kept. Other answers are not kept.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Any

import numpy as np
import orjson
from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError
from aiokafka.partitioner import DefaultPartitioner
from numpy.typing import NDArray

from schemas.identifiers import DEFAULT_TENANT, record_key
from schemas.release import ReleasedAnswer
from schemas.topics import ANSWERS_RELEASED
from workers.decision.finality import Standing, later_standing, standing_of
from workers.delivery import fetching
from workers.delivery.connections import connection_arguments
from workers.delivery.records import Output
from workers.errors import BrokerUnavailable
from workers.observability import metrics
from workers.settings import Settings

FETCH_WAIT_MS = 50
"""Maximum wait of the broker before an empty response; each read of an idle partition takes this long."""
MAX_POLL = 100
"""Number of records handled before other tasks of the event loop run."""
MERGE_AT = 65_536
"""Number of digests kept as Python integers before they are merged into the array."""

PIPELINE = Standing(revision=1, final=True, decision_id=None, digest="")
"""Standing of every answer that the pipeline made final; its details are neither known nor needed."""


class DigestSet:
    """A set of 64-bit numbers, 8 bytes each."""

    def __init__(self) -> None:
        self._recent: set[int] = set()
        self._sorted: NDArray[np.uint64] = np.empty(0, dtype=np.uint64)

    def add(self, number: int) -> None:
        """Add a number."""
        self._recent.add(number)
        if len(self._recent) >= MERGE_AT:
            recent = np.fromiter(self._recent, dtype=np.uint64, count=len(self._recent))
            self._sorted = np.union1d(self._sorted, recent)
            self._recent.clear()

    def __contains__(self, number: int) -> bool:
        if number in self._recent:
            return True
        place = int(np.searchsorted(self._sorted, np.uint64(number)))
        return place < len(self._sorted) and int(self._sorted[place]) == number


@dataclass(slots=True)
class _Decided:
    """Standing of an answer that a decision released, and the offset and key of its record."""

    standing: Standing
    offset: int
    key: bytes | None


@dataclass(slots=True)
class _Partition:
    """Final answers of one partition of the topic.

    Attributes:
        position: the next offset to read; ``None`` before the first read.
        decided: standing and offset by digest of the answer.
        final: digests of answers that the pipeline made final.
        covered: offsets of final records that an older record of the same answer follows.
    """

    position: int | None = None
    decided: dict[int, _Decided] = field(default_factory=dict)
    final: DigestSet = field(default_factory=DigestSet)
    covered: set[int] = field(default_factory=set)

    def erase(self, key: bytes | None) -> None:
        """Remove an answer of an erased person, which must never be sent again."""
        for number in [number for number, known in self.decided.items() if known.key == key]:
            self.covered.discard(self.decided.pop(number).offset)

    def note(self, offset: int, key: bytes | None, number: int, standing: Standing) -> None:
        """Add a record; call in the order of the offsets."""
        known = self.decided.get(number)
        if known is not None:
            together = later_standing(known.standing, standing)
            if together == standing:
                # The final record was repeated and now follows the older record that covered it.
                self.covered.discard(known.offset)
                self.decided[number] = _Decided(standing, offset, key)
            else:
                self.covered.add(known.offset)
        elif standing.decision_id is not None:
            self.decided[number] = _Decided(standing, offset, key)
        elif standing.final:
            self.final.add(number)


class ReleasedAnswers:
    """Reads the partitions of ``answers.released``, without a consumer group.

    Args:
        settings: names, credentials, and the age of the oldest record to read.
        bootstrap_servers: host:port, comma separated.
    """

    def __init__(self, settings: Settings, bootstrap_servers: str) -> None:
        self._settings = settings
        self._bootstrap_servers = bootstrap_servers
        self._topic = settings.topic_name(ANSWERS_RELEASED.name)
        self._partitions: dict[int, _Partition] = {}
        self._partitioner = DefaultPartitioner()
        self._count = 0
        self._consumer: AIOKafkaConsumer | None = None
        self._turn = asyncio.Lock()

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
            raise BrokerUnavailable(f"{self._topic} cannot be read ({type(error).__name__})") from error
        partitions = consumer.partitions_for_topic(self._topic)
        if not partitions:
            raise BrokerUnavailable(f"the broker returned no partitions of {self._topic}; check that the topic exists")
        self._count = len(partitions)

    async def stop(self) -> None:
        """Disconnect."""
        if self._consumer is not None:
            await self._consumer.stop()

    def partition_of(self, answer_id: str) -> int:
        """Return the partition of an answer; answers of one name share it over all tenants."""
        everything = list(range(self._count))
        return int(self._partitioner(answer_id.encode(), everything, everything))

    def standing(self, tenant: str, answer_id: str) -> Standing | None:
        """Return the standing of a final answer as of the last :meth:`refresh` of its partition, else ``None``."""
        partition = self._partitions.get(self.partition_of(answer_id))
        if partition is None:
            return None
        number = _number(tenant, answer_id)
        decided = partition.decided.get(number)
        if decided is not None:
            return decided.standing
        return PIPELINE if number in partition.final else None

    async def refresh(self, numbers: Iterable[int], now: datetime) -> None:
        """Read partitions to their current end.

        Raises:
            BrokerUnavailable: the end was not reached in time.
        """
        wanted = sorted(set(numbers))
        if not wanted:
            return
        limit = self._settings.kafka.request_timeout_seconds
        async with self._turn:
            try:
                await self._read(wanted, now, limit)
            except (KafkaError, TimeoutError) as error:
                raise BrokerUnavailable(f"{self._topic} cannot be read ({type(error).__name__})") from error

    async def covered(self, numbers: Iterable[int]) -> list[Output]:
        """Return the final records that an older record follows, to be sent again.

        A redelivery can repeat "held" after "released". Readers take the later standing; but
        compaction keeps the last record of a key, so the final record must be sent again.

        Raises:
            BrokerUnavailable: the broker does not respond.
        """
        outputs = []
        async with self._turn:
            for number in sorted(set(numbers)):
                for offset in sorted(self._known(number).covered):
                    try:
                        outputs += await self._copy(number, offset)
                    except (KafkaError, TimeoutError) as error:
                        raise BrokerUnavailable(f"{self._topic} cannot be read ({type(error).__name__})") from error
        return outputs

    async def _read(self, numbers: Sequence[int], now: datetime, limit: float) -> None:
        consumer = self._connected()
        places = {number: TopicPartition(self._topic, number) for number in numbers}
        await self._begin(places, now)
        # Assign again: only the responses to fetches that begin now hold the current end.
        consumer.assign(list(places.values()))
        for number, place in places.items():
            consumer.seek(place, self._known(number).position)
        waiting = set(numbers)
        loop = asyncio.get_running_loop()
        until = loop.time() + limit
        while waiting:
            batches = await consumer.getmany(timeout_ms=FETCH_WAIT_MS, max_records=MAX_POLL)
            for place, records in batches.items():
                self._note(place.partition, records)
                until = loop.time() + limit
            for number in list(waiting):
                position, end = await consumer.position(places[number]), consumer.highwater(places[number])
                if end is not None and position >= end:
                    self._known(number).position = position
                    waiting.discard(number)
            if waiting and loop.time() > until:
                raise TimeoutError

    async def _begin(self, places: dict[int, TopicPartition], now: datetime) -> None:
        """Set the first offset of partitions that were never read."""
        new = {number: place for number, place in places.items() if self._known(number).position is None}
        if not new:
            return
        since = now - timedelta(days=self._settings.review.finality_days)
        found = await self._connected().offsets_for_times(dict.fromkeys(new.values(), int(since.timestamp() * 1000)))
        ends = await self._connected().end_offsets(list(new.values()))
        for number, place in new.items():
            offset = found.get(place)
            # No record is that recent: begin at the end. The reported end may be too low, never too high.
            self._known(number).position = offset.offset if offset is not None else ends[place]

    def _note(self, number: int, records: Iterable[Any]) -> None:
        partition = self._known(number)
        for record in records:
            partition.position = record.offset + 1
            if record.value is None:
                partition.erase(record.key)
                continue
            try:
                content = orjson.loads(record.value)
                number = _number(content.get("tenant", DEFAULT_TENANT), content["answer_id"])
                partition.note(record.offset, record.key, number, _standing(content))
            except (ValueError, KeyError, TypeError):
                # A record that another program wrote.
                metrics.RECORDS_SKIPPED.labels("decisions", "unreadable").inc()

    async def _copy(self, number: int, offset: int) -> list[Output]:
        """Return the record at an offset, to be sent again; an empty list if it is compacted away."""
        consumer, place = self._connected(), TopicPartition(self._topic, number)
        consumer.assign([place])
        consumer.seek(place, offset)
        async with asyncio.timeout(self._settings.kafka.request_timeout_seconds):
            record = await consumer.getone()
        if record.offset != offset:
            self._known(number).covered.discard(offset)
            return []
        return [Output(ANSWERS_RELEASED, record.key, record.value, list(record.headers), number)]

    def _known(self, number: int) -> _Partition:
        return self._partitions.setdefault(number, _Partition())

    def _connected(self) -> AIOKafkaConsumer:
        if self._consumer is None:
            raise BrokerUnavailable("the reader of answers.released is not started")
        return self._consumer


def _number(tenant: str, answer_id: str) -> int:
    name = record_key(tenant, answer_id).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(name, digest_size=8).digest(), "big")


def _standing(content: dict[str, Any]) -> Standing:
    if content.get("decision_id") is not None:
        return standing_of(ReleasedAnswer.model_validate(content))
    return Standing(int(content["revision"]), bool(content["final"]), None, "")
