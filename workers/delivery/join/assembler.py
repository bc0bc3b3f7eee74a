"""Feed the join with records, hand joined answers to the processor, and acknowledge reports.

The join is bounded by partition, in number and in bytes. At the limit of waiting answers, the answers' partition is
paused. At the limit of early reports, the partition of that report topic is paused. Receiving a record never waits,
because a wait for one topic would stop the delivery of the others.
"""

import asyncio
import itertools
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from schemas.answers import GeneratedAnswer
from schemas.base import UnreadableEvent
from schemas.reports import Report
from schemas.topics import ANSWERS_EVALUATIONS, ANSWERS_GENERATED, JOINED_REPORTS, REPORT_TOPICS, Topic
from workers.delivery.application import AgentApplication
from workers.delivery.consumption.ledger import Partition
from workers.delivery.followers.erasure_follower import ErasureRegister
from workers.delivery.join.pending_answers import AnswerJoin, Joined, Place
from workers.delivery.join.running_clock import RunningClock
from workers.delivery.processing import BatchProcessor
from workers.delivery.records import Record, WorkItem
from workers.errors import PoisonError
from workers.observability import metrics
from workers.process.background import start_background
from workers.settings import DeliverySettings, Settings

TICK_SECONDS = 0.25
"""Time between two checks of deadlines and bounds."""

UNCOMMITTED_FACTOR = 4
"""Maximum distance between the oldest answer in progress and the newest one read, as a multiple of the limit."""


@dataclass(frozen=True, slots=True)
class ExpectedEvaluators:
    """Evaluator plug-ins whose reports are joined.

    Attributes:
        required: evaluators in the decision policy; an answer waits for them as for the built-in ones.
        optional: other evaluators.
        wait_seconds: maximum wait for optional evaluators after the other reports have arrived.
    """

    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    wait_seconds: float = 0.0

    @classmethod
    def of_settings(cls, settings: Settings) -> "ExpectedEvaluators":
        """Return the evaluators that the settings enable."""
        enabled, named = settings.evaluators.enabled, settings.decision.named_evaluators
        return cls(
            tuple(name for name in enabled if name in named),
            tuple(name for name in enabled if name not in named),
            settings.evaluators.wait_seconds,
        )


class Assembler:
    """Feeds the join and hands complete and late answers to the processor.

    Args:
        application: the app that reads answers and reports.
        processor: settles joined answers.
        delivery: deadline and limit.
        read_answer: parses an answer's record; raises if the record cannot be parsed.
        erasures: register of erased persons, whose answers are not joined, because no agent reports on them.
        evaluators: evaluator plug-ins that report, and the waiting time for them.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        application: AgentApplication,
        processor: BatchProcessor,
        delivery: DeliverySettings,
        read_answer: Callable[[Record], GeneratedAnswer],
        erasures: ErasureRegister,
        evaluators: ExpectedEvaluators = ExpectedEvaluators(),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._application = application
        self._processor = processor
        self._delivery = delivery
        self._read_answer = read_answer
        self._erasures = erasures
        self._clock = RunningClock(clock)
        # Several evaluator plug-ins report on one topic.
        self._agents: dict[str, tuple[str, ...]] = {topic.name: (agent,) for agent, topic in REPORT_TOPICS.items()}
        self._agents[ANSWERS_EVALUATIONS.name] = (*evaluators.required, *evaluators.optional)
        self._join = AnswerJoin(
            (*REPORT_TOPICS, *evaluators.required),
            delivery.join_deadline_seconds,
            delivery.join_patience_seconds,
            optional=evaluators.optional,
            optional_seconds=evaluators.wait_seconds,
        )
        # The ledger's position is that of delivery: answers between it and this one still wait in Faust's queue.
        self._next_answers: dict[int, int] = {}
        self._paused: set[Partition] = set()
        self._limit = delivery.join_limit
        self._limit_bytes = delivery.join_bytes
        self._ticker: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start to check deadlines; call before the application starts."""
        self._application.consumer.listen(on_epoch=self._forget, on_commit=self._committed)
        self._ticker = start_background(self._tick(), "assembly-deadlines", self._application.failure)

    async def stop(self) -> None:
        """Stop; waiting records are not acknowledged, so Kafka delivers them again."""
        if self._ticker is not None:
            self._ticker.cancel()
            await asyncio.gather(self._ticker, return_exceptions=True)

    async def receive(self, record: Record) -> None:
        """Add an answer or a report to the join."""
        if not self._application.is_current(record.epoch):
            return
        if record.topic == ANSWERS_GENERATED.name:
            self._receive_answer(record)
        else:
            self._receive_report(record)
        self._bound(record)

    def _receive_answer(self, record: Record) -> None:
        self._next_answers[record.partition] = record.offset + 1
        if self._erasures.covers(record):
            # The processor drops the answer; no report comes, so a join would wait until the deadline.
            self._processor.submit_now(WorkItem(record))
            return
        try:
            answer = self._read_answer(record)
        except (UnreadableEvent, PoisonError):
            # The processor reads it again, fails the same way and dead-letters it.
            self._processor.submit_now(WorkItem(record))
            return
        self._hand_on(self._join.add_answer(record, answer, self._clock()))

    def _receive_report(self, record: Record) -> None:
        topic = next(topic for topic in JOINED_REPORTS if topic.name == record.topic)
        try:
            report = topic.model.from_bytes(record.value)
        except UnreadableEvent:
            self._processor.submit_now(WorkItem(record))
            return
        assert isinstance(report, Report)
        of_plugin = topic is ANSWERS_EVALUATIONS
        agent = report.agent if of_plugin else self._agents[record.topic][0]
        if agent not in self._agents[record.topic]:
            # The evaluator is not enabled here, so no answer waits for it: its scores are stored separately.
            self._processor.submit_now(WorkItem(record))
            return
        ledger = self._application.consumer.ledger
        answers = self._application.partition(ANSWERS_GENERATED, record.partition)
        arrival = self._join.add_report(
            agent,
            report,
            record,
            now=self._clock(),
            committed=ledger.committed(answers),
            position=self._next_answers.get(record.partition),
            store_late=of_plugin,
        )
        if arrival.late:
            self._processor.submit_now(WorkItem(record))
        for place in arrival.places:
            self._acknowledge(place)
        self._hand_on(arrival.joined)

    def _hand_on(self, joined: Joined | None) -> None:
        if joined is not None:
            parts = (joined.answer, *joined.reports.values())
            self._processor.submit_now(WorkItem(joined.record, parts, joined.report_bytes))

    def _forget(self) -> None:
        self._join.clear()
        self._next_answers.clear()
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
            for agent in itertools.chain.from_iterable(self._agents.values()):
                metrics.JOIN_PENDING.labels(f"{agent}_reports").set(self._join.early_reports(agent))

    def _bound(self, record: Record) -> None:
        topic = next(topic for topic in self._application.topics if topic.name == record.topic)
        if self._load(topic, record.partition) >= 1.0:
            # Pause again for every record: Faust resumes a partition by itself when its buffer drains.
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
        """Return one partition's part of a limit; with a common limit, partitions would block each other."""
        partitions = len(self._application.assigned()) // len(self._application.topics)
        return max(1, limit // max(1, partitions))

    def _load(self, topic: Topic, number: int) -> float:
        """Return the used share of a partition's bound; at 1 or more the partition must be paused."""
        limit = self._limit
        if topic is not ANSWERS_GENERATED:
            agents = self._agents[topic.name]
            early = max((self._join.early_reports(agent, number) for agent in agents), default=0)
            size = sum(self._join.early_bytes(agent, number) for agent in agents)
            load = max(early / limit, size / self._limit_bytes)
            if topic is not ANSWERS_EVALUATIONS:
                return load
            # Late reports go to the processor one by one.
            return max(load, self._processor.in_flight / max(self._delivery.in_flight, limit))
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
