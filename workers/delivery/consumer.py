"""Faust's consumer with its acknowledgement path replaced by the ledger.

What is overridden, and why, each shown by a test in ``tests/integration/test_consumer.py``
or ``tests/chaos``:

* ``getmany`` notes every delivered offset; a fetch that spans a revocation or a seek is
  thrown away and reading starts over at the committed offsets.
* ``perform_seek`` seeks to the beginning where nothing is committed, which aiokafka does not, and nothing is
  handed on until a seek that has begun is done; one that nobody waits for any more moves nothing.
* ``verify_all_partitions_active`` does nothing: it fails on a position that a seek has left open, and warns by
  acknowledgements that Faust itself has counted.
* ``_wait_next_records`` hands out a copy of the active partitions: pausing one while
  records of it are in the fetch would otherwise drop them.
* ``_filter_committable_offsets`` asks the ledger; ``_commit_offsets`` believes a commit
  only when the broker has confirmed it.
* ``on_partitions_revoked`` commits what is done while the partitions are still ours, and
  begins a new epoch before anything else runs.
* the range assignor gives one worker the same partition numbers of all joined topics.
* batches are read by ``workers.delivery.fetching``, which one bad header does not stop.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from typing import Any, cast

from aiokafka.consumer.fetcher import OffsetResetStrategy
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from faust.transport.drivers.aiokafka import AIOKafkaConsumerThread, Consumer, Transport
from faust.types import TP, Message

from workers.delivery import fetching
from workers.delivery.errors import BrokenPromise
from workers.delivery.ledger import OffsetLedger, Partition
from workers.logs import get_logger

IDLE_WAIT_SECONDS = 0.1
"""How long to wait before looking again while every partition is paused."""

SEEK_SECONDS = 15.0
"""How long a seek may wait for the broker at most. Faust takes one that needs as long as a request may for the end
of the app, and is silent; so it is half of that where that is less."""

FINISH_SECONDS = 10.0
"""How long an agent that can read no further works on what it has already."""

log = get_logger(__name__)


class _NoReadOffsets(dict[TP, int | None]):
    """Faust drops a record below the last one read; the ledger does that better."""

    def __getitem__(self, key: TP) -> None:
        return None

    def __setitem__(self, key: TP, value: int | None) -> None:
        return None

    def update(self, *args: Any, **kwargs: Any) -> None:
        return None


class LedgerConsumerThread(AIOKafkaConsumerThread):
    """The consumer's thread, with an assignor that keeps partition numbers together."""

    logger = logging.getLogger("faust.transport.consumer")
    _seeks_begun = 0

    def _create_worker_consumer(self, transport: Any) -> Any:
        fetching.install()
        consumer = super()._create_worker_consumer(transport)
        # With equal partition counts the range assignor gives one member the same numbers
        # of every topic; Faust's choice, round-robin, does so only by luck of the counts.
        consumer._partition_assignment_strategy = (RangePartitionAssignor,)
        # Faust has 1.5 s in its code.
        consumer._fetch_max_wait_ms = int(transport.fetch_wait_seconds * 1e3)
        return consumer

    def defect(self) -> BaseException | None:
        """What has ended in this thread and must not; aiokafka tells it only to callers that Faust is none of."""
        if self._thread is None:
            return None
        if not self._thread.is_alive():
            return BrokenPromise("the consumer's thread has ended")
        coordinator, fetcher = getattr(self._consumer, "_coordinator", None), getattr(self._consumer, "_fetcher", None)
        if coordinator is None or fetcher is None:
            return None  # the client is still starting
        if coordinator._pending_exception is not None:
            return cast(BaseException, coordinator._pending_exception)
        for task in (coordinator._coordination_task, fetcher._fetch_task, self._consumer._client._sync_task):
            if task is not None and task.done():
                return _end_of(task)
        return None

    async def seek_all(self, limit: float) -> dict[TP, int | None] | None:
        """Read on at the committed offset of each partition, or at the oldest record where there is none.

        aiokafka's own asks about one partition after the other, leaves those without a committed offset where
        they are, and moves what is assigned by then also when nobody waits for it any more.

        Args:
            limit: seconds that the broker may take to name the offsets.

        Returns:
            The committed offsets, ``None`` for partitions without one. ``None`` instead, and nothing is moved, if
            the partitions were assigned anew meanwhile or another seek has begun.

        Raises:
            TimeoutError: the broker did not answer in time.
        """
        return cast(dict[TP, int | None] | None, await self.call_thread(self._seek_all, limit))

    async def _seek_all(self, limit: float) -> dict[TP, int | None] | None:
        consumer = self._ensure_consumer()
        self._seeks_begun += 1
        number, assignment = self._seeks_begun, _assignment_of(consumer)
        if assignment is None:
            return {}
        async with asyncio.timeout(limit):
            found = await consumer._coordinator.fetch_committed_offsets(list(assignment.tps))
        if number != self._seeks_begun or _assignment_of(consumer) is not assignment or not assignment.active:
            return None
        # From here on nothing awaits: all partitions are moved, or none.
        offsets = {TP(*tp): found[tp].offset if tp in found else None for tp in assignment.tps}
        for tp, offset in offsets.items():
            if offset:
                consumer._fetcher.seek_to(tp, offset)
        if oldest := [tp for tp, offset in offsets.items() if not offset]:
            positions = consumer._fetcher.request_offset_reset(oldest, OffsetResetStrategy.EARLIEST)
            positions.add_done_callback(lambda done: done.cancelled() or done.exception())
        return offsets

    @property
    def is_connected(self) -> bool:
        """Whether the group's coordinator answers heartbeats, which are sent with or without records."""
        coordinator = getattr(self._consumer, "_coordinator", None)  # not there before the client has started
        return getattr(coordinator, "coordinator_id", None) is not None


class LedgerConsumer(Consumer):
    """A consumer that never commits past the smallest unacknowledged offset."""

    logger = logging.getLogger("faust.transport.consumer")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.ledger = OffsetLedger()
        self._read_offset = _NoReadOffsets()
        self._fetch_epoch = 0
        self._must_seek = False
        self._seeks = 0
        self.commits = 0
        self._on_epoch: list[Callable[[], None]] = []
        self._on_commit: list[Callable[[Mapping[Partition, int]], None]] = []

    def _new_consumer_thread(self) -> AIOKafkaConsumerThread:
        return LedgerConsumerThread(self, loop=self.loop, beacon=self.beacon)

    @property
    def is_connected(self) -> bool:
        """Whether the broker that keeps the group answers."""
        return bool(self._thread.is_connected)

    def defect(self) -> BaseException | None:
        """What has ended and must not, though nobody was told."""
        if self.app.crashed:
            return cast(BaseException | None, self.app.crash_reason)
        found = self._thread.defect()
        if found is None and not self.app.rebalancing and self.app._fetcher._shutdown.is_set():
            return BrokenPromise("the loop that hands records on has ended")
        return cast(BaseException | None, found)

    def may_commit(self) -> bool:
        """Whether something is acknowledged, not committed, and nothing known is in the way."""
        if self.app.rebalancing or not self.is_connected:
            return False
        return any(self.ledger.committable(partition) is not None for partition in self.ledger.partitions())

    def listen(
        self,
        *,
        on_epoch: Callable[[], None],
        on_commit: Callable[[Mapping[Partition, int]], None] | None = None,
    ) -> None:
        """Be told of every new epoch and of every confirmed commit.

        Args:
            on_epoch: called without await after the ledger was emptied.
            on_commit: called with the committed offsets by partition.
        """
        self._on_epoch.append(on_epoch)
        if on_commit is not None:
            self._on_commit.append(on_commit)

    def acknowledge(self, topic: str, partition: int, offset: int, epoch: int) -> bool:
        """Note that a record is done; see :meth:`OffsetLedger.acknowledge`."""
        return self.ledger.acknowledge(Partition(topic, partition), offset, epoch)

    async def getmany(self, timeout: float) -> AsyncIterator[tuple[TP, Message]]:
        """Fetch records and note each in the ledger as it is handed on."""
        if not self.flow_active:
            # Before the epoch is looked at: the seek of an assignment, which ends this wait, begins a new one.
            await self.wait(self.can_resume_flow)
        if self._must_seek and not self._seeks:
            await self._seek_again()
            return
        before = self._fetch_epoch
        try:
            records, _ = await self._wait_next_records(timeout)
        except fetching.UnreadablePartition:
            # This is the agent's end. What was delivered before is done and committed first, or
            # every restart would begin with it again.
            await self._until_committed(FINISH_SECONDS)
            raise
        if not records or self.should_stop:
            return
        if before != self._fetch_epoch or not self.flow_active or self._must_seek:
            # The fetch spans a rebalance: its records may be from before the seek or from
            # after it. Both are right again after one more seek.
            await self._seek_again()
            return
        for tp, record in self.scheduler.iterate(records):
            if before != self._fetch_epoch or not self.flow_active:
                return
            self.app.monitor.track_tp_end_offset(tp, self.highwater(tp))
            message = self._to_message(tp, record)
            message.touchstone_epoch = self.ledger.epoch
            self._note(Partition(*tp), message.offset)
            yield tp, message

    def _note(self, partition: Partition, offset: int) -> None:
        committed = self.ledger.committed(partition)
        if committed is not None and offset < committed:
            # The log ends before what was committed: a broker has lost its end. What comes now is new, and
            # would never be committed by comparison with what is gone.
            log.warning("log_was_cut", **partition._asdict(), committed=committed, offset=offset)
            self.ledger.begin(partition, None)
        self.ledger.deliver(partition, offset)

    async def _wait_next_records(self, timeout: float) -> tuple[Any, set[TP] | None]:
        if not self.flow_active:
            await self.wait(self.can_resume_flow)
        active = set(self._get_active_partitions())
        if not active:
            await self.sleep(min(timeout, IDLE_WAIT_SECONDS))
            return {}, active
        return await self._getmany(active_partitions=active, timeout=timeout), active

    async def _until_committed(self, limit: float) -> None:
        until = self.loop.time() + limit
        while self.loop.time() < until and self.ledger.unfinished() and not self.should_stop:
            await self.sleep(IDLE_WAIT_SECONDS)

    async def perform_seek(self) -> None:
        """Read from the committed offsets again, in a new epoch; from the beginning where nothing is committed.

        A broker that does not answer in time leaves it undone, as does another assignment meanwhile: then ``getmany``
        does it, before anything is handed on.
        """
        self._must_seek = True
        self._seeks += 1
        self._start_epoch()
        limit = min(SEEK_SECONDS, self.app.conf.broker_request_timeout / 2)
        try:
            async with asyncio.timeout(limit):
                committed = await self._thread.seek_all(limit)
        except TimeoutError:
            log.warning("seek_timed_out", group=self.app.conf.id, limit_seconds=limit)
            return
        finally:
            self._seeks -= 1
            self._fetch_epoch += 1  # what was fetched meanwhile may be from before
        if committed is None:
            return
        for tp, offset in committed.items():
            self.ledger.begin(Partition(*tp), offset)
        self._must_seek = self._seeks > 0

    async def _seek_again(self) -> None:
        """Seek, from within the reading; without partitions there is nothing to seek, and a while to wait."""
        if self.assignment():
            await self.perform_seek()
        else:
            await self.sleep(IDLE_WAIT_SECONDS)

    async def verify_all_partitions_active(self) -> None:
        """Nothing: see the module."""

    async def on_partitions_revoked(self, revoked: set[TP]) -> None:
        """Commit what is done while the partitions are still ours; the rest comes again."""
        limit = self.app.conf.broker_session_timeout / 2
        try:
            await asyncio.wait_for(self.commit(), timeout=limit)
        except TimeoutError:
            log.warning("commit_on_revoke_timed_out", group=self.app.conf.id, limit_seconds=limit)
        try:
            self._start_epoch()
        except Exception as error:
            await self.crash(error)  # aiokafka would log it and go on
            raise
        await super().on_partitions_revoked(revoked)

    def _start_epoch(self) -> None:
        self.ledger.start_epoch()
        self._fetch_epoch += 1
        for tell in self._on_epoch:
            tell()

    def _filter_tps_with_pending_acks(self, topics: Any = None) -> Iterable[TP]:
        return [TP(*partition) for partition in self.ledger.partitions()]

    def _filter_committable_offsets(self, tps: Iterable[TP]) -> dict[TP, int]:
        offsets = ((tp, self.ledger.committable(Partition(*tp))) for tp in tps)
        return {tp: offset for tp, offset in offsets if offset is not None}

    async def _commit_offsets(self, offsets: Mapping[TP, int], start_new_transaction: bool = True) -> bool:
        epoch = self.ledger.epoch
        assignment = self.assignment()
        ours = {tp: offset for tp, offset in offsets.items() if tp in assignment}
        if not ours or not await self._commit(ours):
            return False
        confirmed = {
            Partition(*tp): offset for tp, offset in ours.items() if self.ledger.confirm(Partition(*tp), offset, epoch)
        }
        self.commits += 1
        self.app.monitor.on_tp_commit(ours)
        for tell in self._on_commit:
            tell(confirmed)
        return True


def _assignment_of(consumer: Any) -> Any:
    subscription = consumer._subscription.subscription
    return None if subscription is None else subscription.assignment


def _end_of(task: asyncio.Task[Any]) -> BaseException:
    error = None if task.cancelled() else task.exception()
    return error or BrokenPromise(f"{task.get_coro().__qualname__} has ended")  # type: ignore[union-attr]


class LedgerTransport(Transport):
    """Faust's aiokafka transport with the ledger's consumer."""

    Consumer = LedgerConsumer
    fetch_wait_seconds = 0.5
    """How long the broker may keep a read without records waiting."""
