"""The join at work: records in, joined answers to the processor, reports acknowledged in time.

Bounds, by partition, in number and in bytes: at the limit of waiting answers the answers'
partition is paused, at the limit of early reports that report topic's partition; never is anything awaited here,
because an agent that waits for one of its topics starves the others.
"""

import asyncio
import time
from collections.abc import Callable, Mapping

from schemas.answers import GeneratedAnswer
from schemas.base import UnreadableEvent
from schemas.reports import Report
from schemas.topics import ANSWERS_GENERATED, REPORT_TOPICS, Topic
from workers import metrics
from workers.background import start_background
from workers.delivery.application import AgentApplication
from workers.delivery.erasures import ErasureRegister
from workers.delivery.errors import PoisonError
from workers.delivery.join import AnswerJoin, Joined, Place
from workers.delivery.ledger import Partition
from workers.delivery.processing import BatchProcessor
from workers.delivery.records import Record, Work
from workers.settings import DeliverySettings

TICK_SECONDS = 0.25
"""Time between two looks at deadlines and bounds."""

UNCOMMITTED_FACTOR = 4
"""How many times the limit may lie between the oldest answer in work and the newest read."""


class Assembler:
    """Feeds the join and hands on what is complete or late.

    Args:
        application: the app that reads answers and reports.
        processor: settles joined answers.
        delivery: deadline and limit.
        read_answer: record to answer; raises for records that nobody can read.
        erasures: whose answers are not joined; no agent reports on them.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        application: AgentApplication,
        processor: BatchProcessor,
        delivery: DeliverySettings,
        read_answer: Callable[[Record], GeneratedAnswer],
        erasures: ErasureRegister,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._application = application
        self._processor = processor
        self._delivery = delivery
        self._read_answer = read_answer
        self._erasures = erasures
        self._clock = clock
        self._agents = {topic.name: agent for agent, topic in REPORT_TOPICS.items()}
        self._join = AnswerJoin(tuple(REPORT_TOPICS), delivery.join_deadline_seconds, delivery.join_patience_seconds)
        self._paused: set[Partition] = set()
        self._limit = delivery.join_limit
        self._limit_bytes = delivery.join_bytes
        self._ticker: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to look at deadlines; call before the application starts."""
        self._application.consumer.listen(on_epoch=self._forget, on_commit=self._committed)
        self._ticker = start_background(self._tick(), "assembly-deadlines", self._application.failure)

    async def stop(self) -> None:
        """Stop; what waits was not acknowledged and comes again."""
        if self._ticker is not None:
            self._ticker.cancel()
            await asyncio.gather(self._ticker, return_exceptions=True)

    async def receive(self, record: Record) -> None:
        """Take a record of any of the four topics."""
        if not self._application.is_current(record.epoch):
            return
        if record.topic == ANSWERS_GENERATED.name:
            self._receive_answer(record)
        else:
            self._receive_report(record, self._agents[record.topic])
        self._bound(record)

    def _receive_answer(self, record: Record) -> None:
        if self._erasures.covers(record):
            # The processor drops it; waiting for reports would take until the deadline.
            self._processor.submit_now(Work(record))
            return
        try:
            answer = self._read_answer(record)
        except (UnreadableEvent, PoisonError):
            # The processor reads it again, fails the same way and dead-letters it.
            self._processor.submit_now(Work(record))
            return
        self._hand_on(self._join.add_answer(record, answer, self._clock()))

    def _receive_report(self, record: Record, agent: str) -> None:
        try:
            report = REPORT_TOPICS[agent].model.from_bytes(record.value)
        except UnreadableEvent:
            self._processor.submit_now(Work(record))
            return
        assert isinstance(report, Report)
        ledger = self._application.consumer.ledger
        answers = self._application.partition(ANSWERS_GENERATED, record.partition)
        joined, done = self._join.add_report(
            agent,
            report,
            record,
            now=self._clock(),
            committed=ledger.committed(answers),
            position=ledger.position(answers),
        )
        for place in done:
            self._acknowledge(place)
        self._hand_on(joined)

    def _hand_on(self, joined: Joined | None) -> None:
        if joined is not None:
            parts = (joined.answer, *joined.reports.values())
            self._processor.submit_now(Work(joined.record, parts, joined.report_bytes))

    def _forget(self) -> None:
        self._join.clear()
        self._paused.clear()

    def _committed(self, offsets: Mapping[Partition, int]) -> None:
        for partition, offset in offsets.items():
            if self._application.short_name(partition.topic) == ANSWERS_GENERATED.name:
                for place in self._join.committed(partition.partition, offset):
                    self._acknowledge(place)

    def _acknowledge(self, place: Place) -> None:
        self._application.acknowledge(place.topic, place.partition, place.offset, place.epoch)

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_SECONDS)
            for joined in self._join.expire(self._clock()):
                self._hand_on(joined)
            self._limit = self._share_of(self._delivery.join_limit)
            self._limit_bytes = self._share_of(self._delivery.join_bytes)
            self._release_paused()
            metrics.JOIN_PENDING.labels("answers").set(self._join.waiting_answers())
            for agent in REPORT_TOPICS:
                metrics.JOIN_PENDING.labels(f"{agent}_reports").set(self._join.early_reports(agent))

    def _bound(self, record: Record) -> None:
        topic = next(topic for topic in self._application.topics if topic.name == record.topic)
        if self._load(topic, record.partition) >= 1.0:
            # Said again for every record: Faust resumes a partition by itself when its buffer drains.
            partition = self._application.partition(topic, record.partition)
            self._paused.add(partition)
            self._application.pause([partition])

    def _release_paused(self) -> None:
        for topic in self._application.topics:
            for number in {p.partition for p in self._paused}:
                partition = self._application.partition(topic, number)
                if partition in self._paused and self._load(topic, number) <= 0.5:
                    self._paused.discard(partition)
                    self._application.resume([partition])

    def _share_of(self, limit: int) -> int:
        """Each partition's part of the limit: a common one would let partitions block each other."""
        partitions = len(self._application.assigned()) // len(self._application.topics)
        return max(1, limit // max(1, partitions))

    def _load(self, topic: Topic, number: int) -> float:
        """Share of the bound that is used, 1 and more meaning: pause."""
        limit = self._limit
        if topic is not ANSWERS_GENERATED:
            agent = self._agents[topic.name]
            early, size = self._join.early_reports(agent, number), self._join.early_bytes(agent, number)
            return max(early / limit, size / self._limit_bytes)
        ledger = self._application.consumer.ledger
        partition = self._application.partition(topic, number)
        read, oldest = ledger.position(partition), ledger.committable(partition) or ledger.committed(partition)
        span = read - oldest if read is not None and oldest is not None else 0
        return max(
            self._join.waiting_answers(number) / limit,
            self._join.waiting_bytes(number) / self._limit_bytes,
            self._processor.in_flight / max(self._delivery.in_flight, limit),
            self._processor.in_flight_bytes / self._delivery.join_bytes,
            span / (limit * UNCOMMITTED_FACTOR),
        )
