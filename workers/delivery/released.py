"""What ``answers.released`` says already: the memory of the agent that makes answers final.

The topic itself is read, not a table beside it: what a decision released is confirmed before
the decision is acknowledged, so whoever owns the decision's partition next finds it there. Of
each partition it is read from some weeks back, and from then on what is new; before every
batch of decisions up to the end, with a fetch that begins after the batch was delivered.

Kept are, for answers that a decision made final, what it said and where; of those that the
pipeline made final only a digest, 8 bytes. Whatever is not final need not be known.
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

from schemas.release import ReleasedAnswer
from schemas.topics import ANSWERS_RELEASED
from workers import metrics
from workers.delivery.errors import BrokerUnavailable
from workers.delivery.records import Output
from workers.kafka import connection_arguments
from workers.settings import Settings
from workers.steps.finality import Standing, later_standing, standing_of

FETCH_WAIT_MS = 50
"""How long the broker waits with an empty answer; each look at an idle partition takes this long."""
MAX_POLL = 100
"""Records that are looked at before others get their turn in the loop."""
MERGE_AT = 65_536
"""Digests that are kept as Python integers before they join the array."""

PIPELINE = Standing(revision=1, final=True, decision_id=None, digest="")
"""Stands for any final word of the pipeline: nothing more is known of it here, nor needed."""


class DigestSet:
    """A set of 64-bit numbers, 8 bytes each."""

    def __init__(self) -> None:
        self._recent: set[int] = set()
        self._sorted: NDArray[np.uint64] = np.empty(0, dtype=np.uint64)

    def add(self, number: int) -> None:
        """Add one."""
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
    """What a decision has released: how it stands, and the offset where it says so."""

    standing: Standing
    offset: int


@dataclass(slots=True)
class _Partition:
    """What one partition of the topic says.

    Attributes:
        position: the next offset to read; ``None`` before the first time.
        decided: by digest of the answer.
        final: digests of answers that the pipeline made final.
        covered: offsets of final records behind which an older word was repeated.
    """

    position: int | None = None
    decided: dict[int, _Decided] = field(default_factory=dict)
    final: DigestSet = field(default_factory=DigestSet)
    covered: set[int] = field(default_factory=set)

    def erase(self, key: bytes | None) -> None:
        """Forget an answer whose person is forgotten: it must never be sent once more."""
        known = self.decided.pop(_number((key or b"").decode("utf-8", "replace")), None)
        if known is not None:
            self.covered.discard(known.offset)

    def note(self, offset: int, answer_id: str, standing: Standing) -> None:
        """Take one record in, in the order of the log."""
        number = _number(answer_id)
        known = self.decided.get(number)
        if known is not None:
            together = later_standing(known.standing, standing)
            if together == standing:
                # The same once more: it stands there anew, behind whatever had covered it.
                self.covered.discard(known.offset)
                self.decided[number] = _Decided(standing, offset)
            else:
                self.covered.add(known.offset)
        elif standing.decision_id is not None:
            self.decided[number] = _Decided(standing, offset)
        elif standing.final:
            self.final.add(number)


class ReleasedAnswers:
    """Reads the partitions of ``answers.released``, without a group.

    Args:
        settings: names, credentials, and how far back.
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
            BrokerUnavailable: no broker answers, or the topic is not there.
        """
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
            consumer.assign([TopicPartition(self._topic, 0)])  # or the client asks about no topic at all
            await consumer._client.force_metadata_update()
        except KafkaError as error:
            raise BrokerUnavailable(f"{self._topic} cannot be read ({type(error).__name__})") from error
        partitions = consumer.partitions_for_topic(self._topic)
        if not partitions:
            raise BrokerUnavailable(f"the broker does not tell the partitions of {self._topic}")
        self._count = len(partitions)

    async def stop(self) -> None:
        """Disconnect."""
        if self._consumer is not None:
            await self._consumer.stop()

    def partition_of(self, answer_id: str) -> int:
        """The partition on which everything about an answer stands that is keyed by it."""
        everything = list(range(self._count))
        return int(self._partitioner(answer_id.encode(), everything, everything))

    def standing(self, answer_id: str) -> Standing | None:
        """How an answer stands, if it is final; as of the last :meth:`refresh` of its partition."""
        partition = self._partitions.get(self.partition_of(answer_id))
        if partition is None:
            return None
        number = _number(answer_id)
        decided = partition.decided.get(number)
        if decided is not None:
            return decided.standing
        return PIPELINE if number in partition.final else None

    async def refresh(self, numbers: Iterable[int], now: datetime) -> None:
        """Read partitions up to what is there now.

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
        """Final records behind which an older word stands, to be sent once more.

        A redelivery can repeat "held" after "released". Readers are not deceived; but
        compaction keeps the last record of a key, so the final one is repeated behind it.

        Raises:
            BrokerUnavailable: the broker does not answer.
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
        # Assigned anew: only answers to fetches that begin now say where the end is.
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
        """Where to begin with partitions that were never read."""
        new = {number: place for number, place in places.items() if self._known(number).position is None}
        if not new:
            return
        since = now - timedelta(days=self._settings.review.finality_days)
        found = await self._connected().offsets_for_times(dict.fromkeys(new.values(), int(since.timestamp() * 1000)))
        ends = await self._connected().end_offsets(list(new.values()))
        for number, place in new.items():
            offset = found.get(place)
            # Nothing is younger: from the end, which may run behind, but never ahead.
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
                partition.note(record.offset, content["answer_id"], _standing(content))
            except (ValueError, KeyError, TypeError):
                # Somebody else has written here; it is no word of ours.
                metrics.RECORDS_SKIPPED.labels("decisions", "unreadable").inc()

    async def _copy(self, number: int, offset: int) -> list[Output]:
        """The record at an offset, as it can be sent once more; none where it is compacted away."""
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


def _number(answer_id: str) -> int:
    return int.from_bytes(blake2b(answer_id.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def _standing(content: dict[str, Any]) -> Standing:
    if content.get("decision_id") is not None:
        return standing_of(ReleasedAnswer.model_validate(content))
    return Standing(int(content["revision"]), bool(content["final"]), None, "")
