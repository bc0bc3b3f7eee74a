"""From accepted record to acknowledgement: bounded, in micro-batches, with one place that decides.

The order for every batch:

1. the handler turns works into results, one for each work;
2. all outputs of the works that succeeded are sent and confirmed;
3. those works are acknowledged;
4. every work that failed meets its fate (``workers.delivery.errors``): it waits with its
   batch, is retried alone, is dead-lettered and then acknowledged, or stops the process.

Between any two steps the assignment may have changed; then the works are dropped without
a trace, since their records come again to whoever owns the partition now.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, Protocol

from schemas.topics import DEAD_LETTERS
from workers import metrics
from workers.background import start_background
from workers.delivery.attempts import AttemptJournal, ProcessKilled
from workers.delivery.breaker import DeadLetterBreaker
from workers.delivery.dead_letters import DeadLetterSender
from workers.delivery.erasures import ErasureRegister, erasure_output
from workers.delivery.errors import (
    BrokenPromise,
    DeadLetterFailed,
    Fate,
    TransientError,
    UnavailableError,
    describe,
    fate_of,
)
from workers.delivery.limits import BatchLimits
from workers.delivery.producer import ConfirmedProducer
from workers.delivery.records import Output, Result, Work
from workers.logs import get_logger
from workers.settings import DeliverySettings

log = get_logger(__name__)

Handler = Callable[[Sequence[Work]], Awaitable[Sequence[Result]]]
"""Turns a batch of works into one result each; may raise for the whole batch."""


class HandlerTimeout(TransientError):
    """The handler did not finish in time."""


class Acknowledger(Protocol):
    """Where records are acknowledged; a consumer with a ledger."""

    def is_current(self, epoch: int) -> bool:
        """Whether what was delivered in ``epoch`` may still be acknowledged."""

    def acknowledge(self, topic: str, partition: int, offset: int, epoch: int) -> bool:
        """Note that a record is done."""


class BatchProcessor:
    """Takes works one by one, settles them in batches.

    Args:
        agent: name, for metrics and dead letters.
        handler: the agent's own work.
        acknowledger: told of every record that is done.
        producer: confirms outputs.
        dead_letters: takes records that are given up.
        delivery: attempts, pauses and bounds.
        limits: size of batches.
        journal: notes what is in work, to find a record that kills the process.
        breaker: stops the agent when too much is dead-lettered.
        erasures: whose records are dropped, whatever they hold.
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
    ) -> None:
        self.agent = agent
        self._handler = handler
        self._acknowledger = acknowledger
        self._producer = producer
        self._dead_letters = dead_letters
        self._delivery = delivery
        self._limits = limits
        self._journal = journal
        self.breaker = breaker
        self._erasures = erasures
        self.waiting_for: str | None = None
        self._batch_slots = asyncio.Semaphore(limits.concurrent)
        self._queue: asyncio.Queue[Work] = asyncio.Queue()
        self._carried: Work | None = None
        self._in_flight = 0
        self._in_flight_bytes = 0
        self._idle = _set_event()
        self._has_room = _set_event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._collector: asyncio.Task[None] | None = None
        self.failure: asyncio.Future[Exception] = asyncio.get_running_loop().create_future()
        metrics.IN_FLIGHT.labels(agent).set(0)

    def start(self) -> None:
        """Begin to collect batches."""
        self._collector = start_background(self._collect(), f"{self.agent}-collector", self.failure)

    async def submit(self, work: Work) -> None:
        """Accept a work; waits while too many are in flight, which holds up the consumer."""
        while self._has_no_room(work):
            self._has_room.clear()
            await self._has_room.wait()
        self.submit_now(work)

    def submit_now(self, work: Work) -> None:
        """Accept a work whose number is bounded elsewhere (by the join's limit)."""
        self._in_flight += 1
        self._in_flight_bytes += work.size
        self._idle.clear()
        metrics.IN_FLIGHT.labels(self.agent).set(self._in_flight)
        self._queue.put_nowait(work)

    async def drain(self, timeout: float) -> bool:
        """Wait until everything accepted is settled.

        Args:
            timeout: longest wait in seconds.

        Returns:
            Whether it is; at once ``False`` behind an open breaker, where nothing moves.
        """
        if self.breaker.is_open:
            return self._in_flight == 0
        try:
            await asyncio.wait_for(self._idle.wait(), timeout)
        except TimeoutError:
            return False
        return True

    async def stop(self) -> None:
        """Give up what is not settled; it was not acknowledged, so it comes again."""
        tasks = [*self._tasks, *([self._collector] if self._collector else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    @property
    def in_flight(self) -> int:
        """Works accepted and not settled."""
        return self._in_flight

    @property
    def in_flight_bytes(self) -> int:
        """Bytes of their values."""
        return self._in_flight_bytes

    def _has_no_room(self, work: Work) -> bool:
        too_large = self._in_flight_bytes + work.size > self._limits.in_flight_bytes
        return self._in_flight >= self._limits.in_flight or (too_large and self._in_flight > 0)

    async def _collect(self) -> None:
        while True:
            works = await self._next_batch()
            if self.breaker.is_open:
                return  # what is queued stays unacknowledged, on its topic
            metrics.BATCH_SIZE.labels(self.agent).observe(len(works))
            await self._batch_slots.acquire()
            self._spawn(self._process_batch(works))

    async def _next_batch(self) -> list[Work]:
        works = [self._carried or await self._queue.get()]
        self._carried = None
        size = works[0].size
        loop = asyncio.get_running_loop()
        until = loop.time() + self._limits.wait_seconds
        while len(works) < self._limits.records and size < self._limits.batch_bytes:
            try:
                left = until - loop.time()
                work = (
                    await asyncio.wait_for(self._queue.get(), left) if self._queue.empty() else self._queue.get_nowait()
                )
            except TimeoutError:
                break
            size += work.size
            if size > self._limits.batch_bytes:
                self._carried = work  # the first of the next batch
                break
            works.append(work)
        return works

    async def _process_batch(self, works: list[Work]) -> None:
        suspects = [work for work in works if self._journal.is_suspect(work.record)]
        try:
            if suspects and self._limits.ordered:
                failures, suspects = await self._attempt_in_order(works, suspects), []
            else:
                failures = await self._attempt([work for work in works if work not in suspects])
        finally:
            self._batch_slots.release()
        for suspect in suspects:
            failures += await self._attempt_alone(suspect)
        for work, error in failures:
            # Alone and outside the batch's slot: a poison record delays nobody else.
            self._spawn(self._recover(work, error))

    async def _attempt_in_order(self, works: Sequence[Work], suspects: Sequence[Work]) -> list[tuple[Work, Exception]]:
        """One after the other, where the order of the log says which of two counts."""
        failures = []
        for work in works:
            failures += await (self._attempt_alone(work) if work in suspects else self._attempt([work]))
        return failures

    async def _attempt_alone(self, work: Work) -> list[tuple[Work, Exception]]:
        """One attempt at a record that was in work when a process died."""
        try:
            if not self._erasures.covers(work.record):
                self._journal.check(self.agent, work.record)
        except ProcessKilled as error:
            # Its deaths are kept: until the commit passes it, another death brings it again.
            return [(work, error)]
        return await self._attempt([work], alone=True)

    async def _attempt(self, works: Sequence[Work], *, alone: bool = False) -> list[tuple[Work, Exception]]:
        """Steps 1 to 3; waits inside while somebody is unavailable.

        Returns:
            The works that failed, with their errors.
        """
        pause = self._delivery.retry_initial_seconds
        while current := self._drop_stale(works):
            try:
                # As late as can be: an erasure may come while somebody is waited for.
                current = await self._drop_erased(current)
                if not current:
                    return []
                results = await self._handle(current, alone)
                await self._send(current, results)
                self._nobody_is_away()
            except UnavailableError as error:
                await self._wait(error, pause)
                pause = min(pause * 2, self._delivery.retry_max_seconds)
                works = current
                continue
            except Exception as error:
                if len(current) == 1:
                    return [(current[0], error)]
                # Nobody knows whose fault it is. Halving finds the guilty one in few attempts
                # and lets the others through, which would otherwise share its fate.
                half = len(current) // 2
                failures = await self._attempt(current[:half], alone=alone)
                return failures + await self._attempt(current[half:], alone=alone)
            self._acknowledge([w for w, r in zip(current, results, strict=True) if not isinstance(r, Exception)])
            return [(w, r) for w, r in zip(current, results, strict=True) if isinstance(r, Exception)]
        return []

    async def _handle(self, works: Sequence[Work], alone: bool) -> Sequence[Result]:
        records = [work.record for work in works]
        isolation = self._journal.isolation
        accused = alone and self._journal.is_accused(records[0])
        async with isolation.alone(accused=accused) if alone else isolation.together() as counts:
            self._journal.begin(self.agent, records, alone=counts)
            try:
                return await asyncio.wait_for(self._handler(works), self._limits.timeout_seconds)
            except TimeoutError as error:
                if self._limits.timeout_seconds is None:
                    raise
                raise HandlerTimeout(
                    f"{self.agent} did not finish a batch of {len(works)} within {self._limits.timeout_seconds:g} s"
                ) from error
            finally:
                self._journal.end(self.agent, records)

    async def _send(self, works: Sequence[Work], results: Sequence[Result]) -> None:
        if not all(self._acknowledger.is_current(work.record.epoch) for work in works):
            # Somebody else owns a partition now and will send this; the next round sorts them out.
            raise _AssignmentChanged(self.agent)
        outputs: list[Output] = [o for r in results if not isinstance(r, Exception) for o in r]
        await self._producer.send(outputs, agent=self.agent)

    async def _wait(self, error: UnavailableError, pause: float) -> None:
        if isinstance(error, _AssignmentChanged):
            return
        self.waiting_for = str(error)
        metrics.AGENT_WAITING.labels(self.agent).set(1)
        metrics.RECORDS_RETRIED.labels(self.agent, type(error).__name__).inc()
        log.warning("waiting", agent=self.agent, error=str(error), pause_seconds=round(pause, 2))
        await asyncio.sleep(_jittered(pause))

    def _nobody_is_away(self) -> None:
        if self.waiting_for is not None:
            self.waiting_for = None
            metrics.AGENT_WAITING.labels(self.agent).set(0)

    async def _recover(self, work: Work, error: Exception) -> None:
        """Step 4 for one work: retry it alone until it is done or given up."""
        attempts = 1
        pause = self._delivery.retry_initial_seconds
        while True:
            fate = fate_of(error)
            if fate is Fate.STOP:
                self._fail(error)
                return
            if fate is not Fate.RETRY or attempts >= self._delivery.max_attempts:
                await self._give_up(work, error, attempts)
                return
            metrics.RECORDS_RETRIED.labels(self.agent, type(error).__name__).inc()
            log.warning("retrying", agent=self.agent, attempts=attempts, **_place(work), exc_info=error)
            await asyncio.sleep(_jittered(pause))
            pause = min(pause * 2, self._delivery.retry_max_seconds)
            failures = await self._attempt([work])
            if not failures:
                return
            error = failures[0][1]
            attempts += 1

    async def _give_up(self, work: Work, error: Exception, attempts: int) -> None:
        if not self._drop_stale([work]):
            return
        if fate_of(error) is Fate.RETRY:
            log.error("giving_up", agent=self.agent, attempts=attempts, **_place(work), exc_info=error)
        if work.record.topic == DEAD_LETTERS.name:
            # It is on the dead-letter topic already; another letter about it would never end.
            log.error("dead_letter_not_stored", agent=self.agent, error=describe(error), **_place(work))
            self._acknowledge([work])
            return
        try:
            await self._dead_letters.send(work.record, agent=self.agent, error=error, attempts=attempts)
        except DeadLetterFailed as failure:
            self._fail(failure)
            return
        self._acknowledge([work])
        self.breaker.dead_lettered()

    def _drop_stale(self, works: Sequence[Work]) -> list[Work]:
        stale = [work for work in works if not self._acknowledger.is_current(work.record.epoch)]
        if not stale:
            return list(works)
        metrics.RECORDS_STALE.labels(self.agent).inc(len(stale))
        self._settle(stale)
        return [work for work in works if self._acknowledger.is_current(work.record.epoch)]

    async def _drop_erased(self, works: Sequence[Work]) -> list[Work]:
        """Acknowledge what is about an erased person, unhandled; others learn of answers that nobody has named."""
        erased: list[Work] = []
        kept: list[Work] = []
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

    def _acknowledge(self, works: Sequence[Work]) -> None:
        for work in works:
            record = work.record
            self._acknowledger.acknowledge(record.topic, record.partition, record.offset, record.epoch)
        metrics.RECORDS_ACKNOWLEDGED.labels(self.agent).inc(len(works))
        self.breaker.settled(len(works))
        self._settle(works)

    def _settle(self, works: Sequence[Work]) -> None:
        self._in_flight -= len(works)
        self._in_flight_bytes -= sum(work.size for work in works)
        metrics.IN_FLIGHT.labels(self.agent).set(self._in_flight)
        self._has_room.set()  # who waits looks again
        if self._in_flight == 0:
            self._idle.set()

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
            # A mistake in this file would otherwise leave works in flight for ever.
            self._fail(error if isinstance(error, Exception) else BrokenPromise(repr(error)))


class _AssignmentChanged(UnavailableError):
    """Partitions were revoked while the handler ran."""


def _set_event() -> asyncio.Event:
    event = asyncio.Event()
    event.set()
    return event


def _jittered(pause: float) -> float:
    """Half to all of the pause, so that many workers do not come back at once."""
    return pause * random.uniform(0.5, 1.0)


def _place(work: Work) -> dict[str, Any]:
    record = work.record
    return {"topic": record.topic, "partition": record.partition, "offset": record.offset}
