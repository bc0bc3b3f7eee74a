"""Process accepted records in bounded micro-batches, up to their acknowledgement.

The steps for every batch:

1. The handler converts work items to results, one for each item.
2. All outputs of the successful items are sent and acknowledged by the broker.
3. The successful items are acknowledged.
4. For every failed item the type of the error determines the action (``workers.errors``): the item waits with its
   batch, is retried alone, is dead-lettered and then acknowledged, or stops the process.

Between any two steps the partition assignment may change. The items are then dropped, because Kafka delivers their
records again to the new owner of the partition.
"""

import asyncio
import random
from collections.abc import Coroutine, Sequence
from typing import Any, Protocol

from schemas.topics import DEAD_LETTERS
from workers.delivery.failures.attempts import SUSPECTS_TOGETHER, AttemptJournal, ProcessKilled
from workers.delivery.failures.breaker import DeadLetterBreaker
from workers.delivery.failures.dead_letter_sender import DeadLetterSender
from workers.delivery.failures.error_action import ErrorAction, action_for
from workers.delivery.failures.handler_calls import Handler, HandlerCalls
from workers.delivery.failures.waits import Waits
from workers.delivery.followers.erasure_follower import ErasureRegister, erasure_output
from workers.delivery.limits import BatchLimits
from workers.delivery.producer import ConfirmedProducer
from workers.delivery.records import CountedOutputs, Output, Result, WorkItem
from workers.delivery.tracing import Tracing
from workers.delivery.work_queue import WorkQueue
from workers.errors import (
    DeadLetterFailed,
    FatalDeliveryError,
    UnavailableError,
    describe,
)
from workers.observability import metrics
from workers.observability.logs import get_logger
from workers.process.background import start_background
from workers.settings import DeliverySettings

log = get_logger(__name__)


class Acknowledger(Protocol):
    """Receive acknowledgements: a consumer with a ledger."""

    def is_current(self, epoch: int) -> bool:
        """Return whether records delivered in ``epoch`` may still be acknowledged."""

    def acknowledge(self, topic: str, partition: int, offset: int, epoch: int) -> bool:
        """Mark a record as done; return whether the acknowledgement counts."""


class BatchProcessor:
    """Accept work items one by one and process them in batches.

    Args:
        agent: name of the agent, for metrics and dead letters.
        handler: converts a batch to results.
        acknowledger: receives the place of every processed record.
        producer: sends outputs and waits for the acknowledgement.
        dead_letters: sends failed records to the dead-letter topic.
        delivery: attempts, pauses and bounds.
        limits: size of batches.
        journal: lists the records in progress, to find a record that kills the process.
        breaker: stops the agent when too many records are dead-lettered.
        erasures: register of erased persons, whose records are dropped.
        tracing: makes a span for each record; ``None`` makes none.
        kind: kind of agent, for the metric of waits.
    """

    def __init__(
        self,
        agent: str,
        handler: Handler,
        acknowledger: Acknowledger,
        producer: ConfirmedProducer,
        dead_letters: DeadLetterSender,
        delivery: DeliverySettings,
        limits: BatchLimits,
        journal: AttemptJournal,
        breaker: DeadLetterBreaker,
        erasures: ErasureRegister,
        tracing: Tracing | None = None,
        kind: str = "agent",
    ) -> None:
        self.agent = agent
        self._calls = HandlerCalls(agent, handler, journal, limits.timeout_seconds)
        self._acknowledger = acknowledger
        self._producer = producer
        self._dead_letters = dead_letters
        self._delivery = delivery
        self._limits = limits
        self._journal = journal
        self.breaker = breaker
        self._erasures = erasures
        self._tracing = tracing
        self._waits = Waits(agent, kind)
        self._batch_slots = asyncio.Semaphore(limits.concurrent)
        self._work = WorkQueue(agent, limits)
        self._tasks: set[asyncio.Task[None]] = set()
        self._collector: asyncio.Task[None] | None = None
        self.failure: asyncio.Future[Exception] = asyncio.get_running_loop().create_future()

    def start(self) -> None:
        """Start to collect batches."""
        self._collector = start_background(self._collect(), f"{self.agent}-collector", self.failure)

    async def submit(self, work: WorkItem) -> None:
        """Accept a work item; wait while too many are in flight, which makes the consumer wait too."""
        await self._work.room_for(work)
        self._work.add(work)

    def submit_now(self, work: WorkItem) -> None:
        """Accept a work item without waiting; the caller bounds the number (as the join does)."""
        self._work.add(work)

    async def drain(self, timeout: float) -> bool:
        """Wait until every accepted item is settled.

        Args:
            timeout: maximum wait in seconds.

        Returns:
            Whether every item is settled. With an open breaker nothing is processed, so the method does not wait.
        """
        if self.breaker.is_open:
            return self._work.count == 0
        return await self._work.wait_idle(timeout)

    async def stop(self) -> None:
        """Drop the items that are not settled; they are not acknowledged, so Kafka delivers them again."""
        tasks = [*self._tasks, *([self._collector] if self._collector else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    @property
    def in_flight(self) -> int:
        """Return the number of items accepted and not settled."""
        return self._work.count

    @property
    def in_flight_bytes(self) -> int:
        """Return the bytes of the values of the items in flight."""
        return self._work.size

    @property
    def waiting_for(self) -> str | None:
        """Return the description of a service that is waited for, or None."""
        return self._waits.description

    async def _collect(self) -> None:
        while True:
            works = await self._work.next_batch()
            if self.breaker.is_open:
                return  # queued records stay unacknowledged on their topic
            metrics.BATCH_SIZE.labels(self.agent).observe(len(works))
            await self._batch_slots.acquire()
            self._spawn(self._process_batch(works))

    async def _process_batch(self, works: list[WorkItem]) -> None:
        suspects = [work for work in works if self._journal.is_suspect(work.record)]
        try:
            if suspects and self._limits.ordered:
                failures, suspects = await self._attempt_in_order(works), []
            else:
                failures = await self._attempt([work for work in works if not self._journal.is_suspect(work.record)])
        finally:
            self._batch_slots.release()
        for group in self._groups(suspects):
            failures += await self._attempt_suspects(group)
        for work, error in failures:
            # Retry outside the batch's slot: a poison record must not delay other records.
            self._spawn(self._recover(work, error))

    async def _attempt_in_order(self, works: Sequence[WorkItem]) -> list[tuple[WorkItem, Exception]]:
        """Attempt items one after the other, for agents where the order of the log decides which of two counts."""
        failures = []
        for work in works:
            attempt = self._attempt_suspects if self._journal.is_suspect(work.record) else self._attempt
            failures += await attempt([work])
        return failures

    def _groups(self, suspects: Sequence[WorkItem]) -> list[Sequence[WorkItem]]:
        """Return suspects by groups; each record against which a crash counts is a group."""
        counted: list[Sequence[WorkItem]] = []
        others: list[WorkItem] = []
        for work in suspects:
            if self._journal.counted_deaths(work.record):
                counted.append([work])
            else:
                others.append(work)
        return counted + [others[at : at + SUSPECTS_TOGETHER] for at in range(0, len(others), SUSPECTS_TOGETHER)]

    async def _attempt_suspects(self, works: Sequence[WorkItem]) -> list[tuple[WorkItem, Exception]]:
        """Attempt records that were in progress when a process died."""
        refused: list[tuple[WorkItem, Exception]] = []
        kept: list[WorkItem] = []
        for work in works:
            try:
                if not self._erasures.covers(work.record):
                    self._journal.check(self.agent, work.record)
                kept.append(work)
            except ProcessKilled as error:
                # Keep the counted crashes: until its offset is committed, the record may be delivered again.
                refused.append((work, error))
        return refused + await self._attempt(kept, alone=True)

    async def _attempt(self, works: Sequence[WorkItem], *, alone: bool = False) -> list[tuple[WorkItem, Exception]]:
        """Run steps 1 to 3, and wait while a service is unavailable.

        Returns:
            The items that failed, with their errors.
        """
        current, results = await self._until_available(works, alone)
        if isinstance(results, Exception):
            if len(current) == 1:
                return [(current[0], results)]
            # Any item may be the cause. Halving the batch finds it in a few attempts, and the other items succeed.
            half = len(current) // 2
            failures = await self._attempt(current[:half], alone=alone)
            return failures + await self._attempt(current[half:], alone=alone)
        for result in results:
            if isinstance(result, CountedOutputs):
                result.raise_metrics()
        self._acknowledge([w for w, r in zip(current, results, strict=True) if not isinstance(r, Exception)])
        return [(w, r) for w, r in zip(current, results, strict=True) if isinstance(r, Exception)]

    async def _until_available(
        self, works: Sequence[WorkItem], alone: bool
    ) -> tuple[Sequence[WorkItem], Sequence[Result] | Exception]:
        """Run steps 1 and 2, and wait while a service is unavailable.

        Returns:
            The remaining items, and their results or the error of the whole batch.
        """
        pause, batch = self._delivery.retry_initial_seconds, object()
        try:
            while current := self._drop_stale(works):
                try:
                    # Check as late as possible: an erasure may arrive while the agent waits for a service.
                    current = await self._drop_erased(current)
                    if not current:
                        break
                    results = await self._traced(current, alone)
                    self._waits.end_all()
                    return current, results
                except UnavailableError as error:
                    await self._wait(batch, error, pause)
                    pause = min(pause * 2, self._delivery.retry_max_seconds)
                    works = current
                except Exception as error:
                    return current, error
            return [], []
        finally:
            # Also where nothing is left to wait: its items went to another worker, or are erased.
            self._waits.end(batch)

    async def _traced(self, works: Sequence[WorkItem], alone: bool) -> Sequence[Result]:
        """Run steps 1 and 2, within spans if tracing is on."""
        if self._tracing is None:
            results = await self._calls.results(works, alone)
            await self._send(works, results)
            return results
        spans = self._tracing.begin(self.agent, works)
        try:
            results = await self._calls.results(works, alone)
            await self._send(works, spans.stamped(results))
        except BaseException as error:
            spans.fail(error)
            raise
        spans.end(results)
        return results

    async def _send(self, works: Sequence[WorkItem], results: Sequence[Result]) -> None:
        if not all(self._acknowledger.is_current(work.record.epoch) for work in works):
            # The new owner of the partition will send these outputs; the next round drops the stale items.
            raise _AssignmentChanged(self.agent)
        outputs: list[Output] = [o for r in results if not isinstance(r, Exception) for o in r]
        await self._producer.send(outputs, agent=self.agent)

    async def _wait(self, batch: object, error: UnavailableError, pause: float) -> None:
        if isinstance(error, _AssignmentChanged):
            return
        self._waits.begin(batch, error)
        metrics.RECORDS_RETRIED.labels(self.agent, type(error).__name__).inc()
        log.warning("processing_paused", agent=self.agent, error=str(error), pause_seconds=round(pause, 2))
        await asyncio.sleep(_jittered(pause))

    async def _recover(self, work: WorkItem, error: Exception) -> None:
        """Run step 4 for one item: retry it alone until it succeeds or is dead-lettered."""
        attempts = 1
        pause = self._delivery.retry_initial_seconds
        while True:
            fate = action_for(error)
            if fate is ErrorAction.STOP:
                self._fail(error)
                return
            if fate is not ErrorAction.RETRY or attempts >= self._delivery.max_attempts:
                await self._give_up(work, error, attempts)
                return
            metrics.RECORDS_RETRIED.labels(self.agent, type(error).__name__).inc()
            log.warning("attempt_failed", agent=self.agent, attempts=attempts, **_place(work), exc_info=error)
            await asyncio.sleep(_jittered(pause))
            pause = min(pause * 2, self._delivery.retry_max_seconds)
            failures = await self._attempt([work])
            if not failures:
                return
            error = failures[0][1]
            attempts += 1

    async def _give_up(self, work: WorkItem, error: Exception, attempts: int) -> None:
        if not self._drop_stale([work]):
            return
        if action_for(error) is ErrorAction.RETRY:
            log.error("retries_exhausted", agent=self.agent, attempts=attempts, **_place(work), exc_info=error)
        if work.record.topic == DEAD_LETTERS.name:
            # The record is a dead letter itself; a dead letter about it would fail again without end.
            log.error("dead_letter_store_failed", agent=self.agent, error=describe(error), **_place(work))
            self._acknowledge([work])
            return
        try:
            await self._dead_letters.send(work.record, agent=self.agent, error=error, attempts=attempts)
        except DeadLetterFailed as failure:
            self._fail(failure)
            return
        self._acknowledge([work])
        self.breaker.dead_lettered()

    def _drop_stale(self, works: Sequence[WorkItem]) -> list[WorkItem]:
        stale = [work for work in works if not self._acknowledger.is_current(work.record.epoch)]
        if not stale:
            return list(works)
        metrics.RECORDS_STALE.labels(self.agent).inc(len(stale))
        self._work.settle(stale)
        return [work for work in works if self._acknowledger.is_current(work.record.epoch)]

    async def _drop_erased(self, works: Sequence[WorkItem]) -> list[WorkItem]:
        """Acknowledge records about erased persons without handling, and publish answers that the register lacks."""
        erased: list[WorkItem] = []
        kept: list[WorkItem] = []
        for work in works:
            (erased if self._erasures.covers(work.record) else kept).append(work)
        if not erased:
            return kept
        found = [self._erasures.unknown_answer(work.record) for work in erased]
        outputs = [erasure_output(erasure, self.agent) for erasure in found if erasure is not None]
        await self._producer.send(outputs, agent=self.agent)
        metrics.RECORDS_ERASED.labels(self.agent).inc(len(erased))
        self._acknowledge(erased)
        return kept

    def _acknowledge(self, works: Sequence[WorkItem]) -> None:
        for work in works:
            record = work.record
            self._acknowledger.acknowledge(record.topic, record.partition, record.offset, record.epoch)
        metrics.RECORDS_ACKNOWLEDGED.labels(self.agent).inc(len(works))
        self.breaker.settled(len(works))
        self._work.settle(works)

    def _fail(self, error: Exception) -> None:
        if not self.failure.done():
            self.failure.set_result(error)

    def _spawn(self, coroutine: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            # A bug in this file would otherwise leave items in flight forever.
            self._fail(error if isinstance(error, Exception) else FatalDeliveryError(repr(error)))


class _AssignmentChanged(UnavailableError):
    """Partitions were revoked while the handler ran."""


def _jittered(pause: float) -> float:
    """Return a random half to all of the pause, so that many workers do not retry at once."""
    return pause * random.uniform(0.5, 1.0)


def _place(work: WorkItem) -> dict[str, Any]:
    record = work.record
    return {"topic": record.topic, "partition": record.partition, "offset": record.offset}
