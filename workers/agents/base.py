"""Define the parts of an agent, and the resources that it gets when it is opened."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from schemas.answers import GeneratedAnswer, TraceReference
from schemas.base import Event, UnreadableEvent
from schemas.headers import TRACEPARENT, event_headers, header
from schemas.topics import ANSWERS_GENERATED, Topic
from workers.delivery.application import AgentApplication
from workers.delivery.failures.handler_calls import Handler as Handler
from workers.delivery.followers.erasure_follower import ErasureRegister
from workers.delivery.limits import BatchLimits
from workers.delivery.processing import BatchProcessor
from workers.delivery.producer import ConfirmedProducer
from workers.delivery.records import CountedOutputs, Output, Record, WorkItem
from workers.errors import OversizeBatch, OversizeRecord, UnreadableRecord
from workers.observability import metrics
from workers.services.shared_services import SharedServices
from workers.settings import Settings
from workers.settings.addresses import Addresses

OwnedPartitions = Callable[[], set[int]]
"""Function that returns the partition numbers of an agent's first topic that this worker owns."""

Store = Literal["clickhouse", "memory"]
"""Store that an agent opens when it starts."""

BackgroundTask = Callable[[OwnedPartitions], Coroutine[None, None, None]]

LONG_BATCH = 65_536
"""Maximum bytes of the records of a batch of an agent that evaluates answers: long ones are evaluated one by one, because the
join would treat the agent as silent while it evaluates eight of them."""

CHECK_SECONDS = 5.0
"""Interval between two checks of a required service."""


class RequiredService:
    """Check a service that an agent requires, because an agent without records would not notice an outage.

    Args:
        check: returns the problem of the service, or ``None``.
    """

    def __init__(self, check: Callable[[], Awaitable[str | None]]) -> None:
        self._check = check
        self.problem: str | None = None

    async def run(self, _: OwnedPartitions) -> None:
        """Check until cancelled."""
        while True:
            self.problem = await self._check()
            await asyncio.sleep(CHECK_SECONDS)


@dataclass(slots=True)
class AgentContext:
    """Hold what an agent gets when it is opened.

    Attributes:
        settings: all settings.
        addresses: addresses of broker and stores.
        pipeline_version: version of this process.
        services: stores, models and clients that agents share.
        producer: sends events; started after all agents are opened.
        erasures: register of erased persons.
        steps_pool: threads for work that would block the event loop.
        now: the clock.
        tasks: background tasks by name, started after the agent has joined its group; see :meth:`run_beside`.
        required: services without which the agent is not ready; see :meth:`require`.
    """

    settings: Settings
    addresses: Addresses
    pipeline_version: str
    services: SharedServices
    producer: ConfirmedProducer
    erasures: ErasureRegister
    steps_pool: ThreadPoolExecutor
    now: Callable[[], datetime]
    tasks: dict[str, BackgroundTask] = field(default_factory=dict)
    required: list[RequiredService] = field(default_factory=list)

    def run_beside(self, name: str, task: BackgroundTask) -> None:
        """Run a background task with the agent; its failure ends the worker."""
        self.tasks[name] = task

    def require(self, name: str, check: Callable[[], Awaitable[str | None]]) -> None:
        """Make the agent unready while a service has a problem.

        Args:
            name: name of the background task that checks the service.
            check: returns the problem, or ``None``.
        """
        service = RequiredService(check)
        self.required.append(service)
        self.run_beside(name, service.run)


class Receiver(Protocol):
    """Receive the records of an agent, and submit them to the processor."""

    def start(self) -> None:
        """Start, before the first record is delivered."""

    async def stop(self) -> None:
        """Stop; records that are not submitted are delivered again."""

    async def receive(self, record: Record) -> None:
        """Receive a record; the next record is delivered when this returns."""


class EachRecord:
    """Submit each record on delivery.

    Args:
        processor: handles the records.
    """

    def __init__(self, processor: BatchProcessor) -> None:
        self._processor = processor

    def start(self) -> None:
        """Do nothing."""

    async def stop(self) -> None:
        """Do nothing."""

    async def receive(self, record: Record) -> None:
        """Submit the record; wait while too many are in progress."""
        await self._processor.submit(WorkItem(record))


def each_record(_: AgentContext, __: AgentApplication, processor: BatchProcessor) -> Receiver:
    """Return the receiver of an agent that handles each record separately."""
    return EachRecord(processor)


@dataclass(frozen=True, slots=True)
class AgentDefinition:
    """Define one agent: its topics, resources and properties.

    Attributes:
        name: name of the agent, also the end of its consumer group.
        reads: topics that it reads.
        open: opens the agent's resources on the stack, which closes them, and returns the handler.
        sink: True if it writes to a store, in larger batches.
        embeds: True if it embeds texts, in more batches at once; no effect on a sink.
        ordered: True if the order of the log matters; then one batch at a time is in progress.
        stores: stores that it opens at its start; without one of them the worker does not start.
        switched_on: returns whether the settings name its export target; ``None`` for agents that always run.
        kind: "exporter" for agents that the registry of exporters opens, otherwise "agent"; a label of waits.
        receiver: creates the receiver between delivery and processing; by default each record is handled separately.
    """

    name: str
    reads: tuple[Topic, ...]
    open: Callable[[AgentContext, AsyncExitStack], Awaitable[Handler]]
    sink: bool = False
    embeds: bool = False
    ordered: bool = False
    stores: frozenset[Store] = frozenset()
    switched_on: Callable[[Settings], bool] | None = None
    kind: str = "agent"
    receiver: Callable[[AgentContext, AgentApplication, BatchProcessor], Receiver] = each_record

    def limits(self, settings: Settings) -> BatchLimits:
        """Return the limits of its batches."""
        delivery = settings.delivery
        if self.sink:
            # One insert at a time keeps the order of revisions and the number of parts small.
            return BatchLimits(
                delivery.sink_batch_records,
                delivery.sink_batch_wait_seconds,
                in_flight=2 * delivery.sink_batch_records,
                concurrent=1,
                timeout_seconds=delivery.handle_timeout_seconds,
                batch_bytes=delivery.sink_batch_bytes,
                in_flight_bytes=delivery.in_flight_bytes,
            )
        # Few batches in progress: more would not be faster, but would delay the drain on SIGTERM and increase the
        # distance between partitions. Concurrent batches share the batches of the model.
        concurrent = 1 if self.ordered else 4 if self.embeds else 2
        # These agents evaluate each answer for itself, so that the order of tenants does not matter. Their batches are
        # small, because the join would treat an agent without reports for 32 answers as silent.
        evaluates = self.reads == (ANSWERS_GENERATED,) and not self.ordered
        records = delivery.model_batch_records if evaluates else delivery.batch_records
        return BatchLimits(
            records,
            delivery.batch_wait_seconds,
            in_flight=max((concurrent + 1) * records, delivery.fair_records if evaluates else 0),
            concurrent=concurrent,
            batch_bytes=min(delivery.batch_bytes, LONG_BATCH) if evaluates else delivery.batch_bytes,
            in_flight_bytes=delivery.in_flight_bytes,
            ordered=self.ordered,
            by_tenant=evaluates,
        )


def read_answer(record: Record, max_bytes: int) -> GeneratedAnswer:
    """Read an input record; its size is checked before it is parsed.

    Raises:
        UnreadableRecord: a header has a name that other clients cannot read.
        OversizeBatch: the batch of the record was not decompressed.
        OversizeRecord: the record is larger than ``max_bytes``.
        UnreadableEvent: the record is not an answer of a supported version.
    """
    if record.refusal is not None:
        raise OversizeBatch(record.refusal)
    if record.foreign_names:
        raise UnreadableRecord(
            "the name of a header is not valid UTF-8; the dead letter contains it with those bytes escaped; "
            "requeue it to process the answer"
        )
    size = len(record.value or b"")
    if size > max_bytes:
        raise OversizeRecord(
            f"the record has {size} bytes; at most {max_bytes} are accepted (a third of the broker's maximum); "
            "send fewer or shorter contexts"
        )
    answer = GeneratedAnswer.from_bytes(record.value)
    context = header(record.headers, "traceparent")
    if answer.trace is None and context is not None and TRACEPARENT.fullmatch(context):
        answer.trace = TraceReference(traceparent=context)
    return answer


def read_or_skip(record: Record, agent: str, max_bytes: int) -> GeneratedAnswer | CountedOutputs:
    """Read an input record; return the result of a skipped record where assembly will dead-letter it."""
    try:
        return read_answer(record, max_bytes)
    except UnreadableEvent as error:
        return skipped(agent, error.code)
    except OversizeRecord:
        return skipped(agent, "oversize")
    except UnreadableRecord:
        return skipped(agent, "header")


def skipped(agent: str, reason: str) -> CountedOutputs:
    """Return the result of a record that an agent skips; it is counted when the record is acknowledged."""
    return CountedOutputs([], metrics.RECORDS_SKIPPED.labels(agent, reason).inc)


def event_output(
    topic: Topic,
    event: Event,
    *,
    key: str,
    event_id: str,
    agent: str,
    time: datetime,
    pipeline_version: str,
    traceparent: str | None = None,
    partition: int | None = None,
    value: bytes | None = None,
    all_fields: bool = True,
) -> Output:
    """Build the record of an event with CloudEvents headers.

    Args:
        topic: target topic.
        event: the event.
        key: key of the record.
        event_id: deterministic identifier.
        agent: agent that writes the event.
        time: time of the event.
        pipeline_version: version of this worker.
        traceparent: trace context to pass on.
        partition: fixed partition, or ``None``.
        value: bytes of the event, if known already.
        all_fields: False leaves out fields that have their default value.
    """
    headers = event_headers(
        event_id=event_id,
        event_type=type(event).__name__,
        time=time,
        pipeline_version=pipeline_version,
        traceparent=traceparent,
        agent=agent,
    )
    return Output(
        topic, key.encode(), event.to_bytes(all_fields=all_fields) if value is None else value, headers, partition
    )


def traceparent(answer: GeneratedAnswer) -> str | None:
    """Return the trace context of an answer."""
    return answer.trace.traceparent if answer.trace else None
