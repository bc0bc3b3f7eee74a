"""Replace the acknowledgement path of Faust's consumer with the offset ledger.

The overrides and their reasons follow. A test in ``tests/integration/delivery/test_consumer.py`` or ``tests/chaos``
covers each of them:

* ``getmany`` records every delivered offset. It discards a fetch that spans a revocation or a seek, and
  reading starts again at the committed offsets.
* ``perform_seek`` seeks to the beginning where nothing is committed, which aiokafka does not do. Nothing is
  delivered until a running seek has finished. An abandoned seek moves nothing.
* ``verify_all_partitions_active`` does nothing. Faust's version fails on a position that a seek has left open,
  and its warnings depend on Faust's own acknowledgements.
* ``_wait_next_records`` returns a copy of the active partitions. Otherwise pausing a partition would drop
  its records from the current fetch.
* ``_filter_committable_offsets`` reads the ledger. ``_commit_offsets`` records a commit only after the broker
  has acknowledged it.
* ``maybe_wait_for_commit_to_finish`` lets every call of ``commit`` commit. Faust's version skips a call that comes
  during another commit: the last one before a stop or a revocation would leave out what was acknowledged meanwhile.
  A cancelled call does not cancel the commit that it waits for.
* ``on_partitions_revoked`` commits finished records while this worker still owns the partitions. It then
  starts a new epoch before any other code runs.
* The range assignor gives one worker the same partition numbers of all joined topics.
* A position that the log does not hold any more is an error to aiokafka here. Otherwise it would continue at the
  oldest record, and would not report how many records retention has deleted before they were read.
* ``workers.delivery.consumption.throttling`` waits as long as a quota of the broker demands, and pauses between attempts
  to connect (``workers.delivery.consumption.reconnection``).
* ``workers.delivery.consumption.fetching`` reads batches and tolerates invalid headers.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from typing import Any, cast

from aiokafka.consumer.fetcher import OffsetResetStrategy
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.errors import KafkaError, NoOffsetForPartitionError, OffsetOutOfRangeError
from faust.transport.drivers.aiokafka import AIOKafkaConsumerThread, Consumer, Transport
from faust.types import TP, Message

from workers.delivery.consumption import decompression, end_offsets, fetching, throttling
from workers.delivery.consumption.ledger import OffsetLedger, Partition
from workers.delivery.consumption.log_growth import LogGrowth
from workers.errors import FatalDeliveryError
from workers.observability.logs import get_logger

IDLE_WAIT_SECONDS = 0.1
"""Time to wait before the next check while every partition is paused, in seconds."""

ROOM_SECONDS = 0.01
"""Time between two checks for room in Faust's queue, in seconds."""

SEEK_SECONDS = 15.0
"""Maximum time that a seek waits for the broker, in seconds.

A seek that lasts as long as a request timeout makes Faust end the app silently. The limit is therefore at most
half of the request timeout."""

FINISH_SECONDS = 10.0
"""Time that an agent gets to finish delivered records after reading has failed, in seconds."""

log = get_logger(__name__)


class _NoReadOffsets(dict[TP, int | None]):
    """Disable Faust's check that drops records below the last offset read. The ledger covers this case."""

    def __getitem__(self, key: TP) -> None:
        return None

    def __setitem__(self, key: TP, value: int | None) -> None:
        return None

    def update(self, *args: Any, **kwargs: Any) -> None:
        return None


class LedgerConsumerThread(AIOKafkaConsumerThread):
    """Run the client in its thread with an assignor that keeps partition numbers together."""

    logger = logging.getLogger("faust.transport.consumer")
    _seeks_begun = 0

    def _create_worker_consumer(self, transport: Any) -> Any:
        fetching.install(transport.max_batch_bytes)
        throttling.install()
        consumer = super()._create_worker_consumer(transport)
        # With equal partition counts the range assignor gives one member the same numbers of every
        # topic. Faust's choice, round-robin, does so only by chance.
        consumer._partition_assignment_strategy = (RangePartitionAssignor,)
        # Faust hard-codes 1.5 s.
        consumer._fetch_max_wait_ms = int(transport.fetch_wait_seconds * 1e3)
        consumer._client_rack = transport.client_rack
        fetching.repeat_when_grown(consumer, transport.log_growth)
        # Otherwise aiokafka continues at the oldest record without a word.
        consumer._auto_offset_reset = "none"
        return consumer

    def defect(self) -> BaseException | None:
        """Return an internal failure that aiokafka never reports to Faust, or None."""
        if self._thread is None:
            return None
        if not self._thread.is_alive():
            return FatalDeliveryError("the consumer's thread has ended")
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
        """Continue at the committed offset of each partition, or at the oldest record without one.

        aiokafka's own seek queries partitions one by one, ignores partitions without a committed offset, and moves
        the current assignment even after the caller has stopped waiting.

        Args:
            limit: seconds that the broker may take to return the offsets.

        Returns:
            The committed offsets by partition, ``None`` for a partition without one. The whole result is ``None``,
            and nothing is moved, if a new assignment arrived meanwhile or another seek has started.

        Raises:
            TimeoutError: the broker did not respond in time.
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
        # No await from here on: either all partitions are moved or none.
        offsets = {TP(*tp): found[tp].offset if tp in found else None for tp in assignment.tps}
        for tp, offset in offsets.items():
            if offset:
                consumer._fetcher.seek_to(tp, offset)
        if oldest := [tp for tp, offset in offsets.items() if not offset]:
            positions = consumer._fetcher.request_offset_reset(oldest, OffsetResetStrategy.EARLIEST)
            positions.add_done_callback(lambda done: done.cancelled() or done.exception())
        return offsets

    async def read_from_start(self, place: TP, limit: float) -> int:
        """Continue at the oldest record of a partition.

        Args:
            place: the partition.
            limit: seconds that the broker may take to return the offset.

        Returns:
            The offset of that record.

        Raises:
            TimeoutError: the broker did not respond in time.
            KafkaError: the broker refused the request.
        """
        return cast(int, await self.call_thread(self._read_from_start, place, limit))

    async def _read_from_start(self, place: TP, limit: float) -> int:
        consumer = self._ensure_consumer()
        async with asyncio.timeout(limit):
            found = await consumer._fetcher.beginning_offsets([place], int(limit * 1000))
        start = int(found[place])
        assignment = _assignment_of(consumer)
        if assignment is not None and place in assignment.tps:
            consumer._fetcher.seek_to(place, start)
        return start

    async def refresh_ends(self, older_seconds: float) -> None:
        """Ask the broker for the ends of partitions; see :func:`end_offsets.refresh_ends`."""
        if self._consumer is not None:
            await self.call_thread(end_offsets.refresh_ends, self._consumer, older_seconds)

    @property
    def is_connected(self) -> bool:
        """Return True if the group's coordinator answers heartbeats, which do not depend on records."""
        coordinator = getattr(self._consumer, "_coordinator", None)  # absent before the client has started
        return getattr(coordinator, "coordinator_id", None) is not None


class LedgerConsumer(Consumer):
    """Consume records and never commit past the smallest unacknowledged offset."""

    logger = logging.getLogger("faust.transport.consumer")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.ledger = OffsetLedger()
        self._read_offset = _NoReadOffsets()
        self._fetch_epoch = 0
        self._must_seek = False
        self._seeks = 0
        self.commits = 0
        self._buffered_bytes = 0
        self._on_epoch: list[Callable[[], None]] = []
        self._on_commit: list[Callable[[Mapping[Partition, int]], None]] = []

    def _new_consumer_thread(self) -> AIOKafkaConsumerThread:
        return LedgerConsumerThread(self, loop=self.loop, beacon=self.beacon)

    @property
    def is_connected(self) -> bool:
        """Return True if the broker that coordinates the group answers."""
        return bool(self._thread.is_connected)

    async def refresh_ends(self, older_seconds: float) -> None:
        """Ask the broker for the ends of partitions that nothing was fetched from for this time."""
        await self._thread.refresh_ends(older_seconds)

    def defect(self) -> BaseException | None:
        """Return a failure that ended the consumer without being reported, or None."""
        if self.app.crashed:
            return cast(BaseException | None, self.app.crash_reason)
        found = self._thread.defect()
        if found is None and not self.app.rebalancing and self.app._fetcher._shutdown.is_set():
            return FatalDeliveryError("the task that delivers records to the agent has ended")
        return cast(BaseException | None, found)

    def may_commit(self) -> bool:
        """Return True if an acknowledged offset is uncommitted and nothing known prevents the commit."""
        if self.app.rebalancing or not self.is_connected:
            return False
        return any(self.ledger.committable(partition) is not None for partition in self.ledger.partitions())

    def listen(
        self,
        *,
        on_epoch: Callable[[], None],
        on_commit: Callable[[Mapping[Partition, int]], None] | None = None,
    ) -> None:
        """Register callbacks for new epochs and acknowledged commits.

        Args:
            on_epoch: called without await after the ledger was emptied.
            on_commit: called with the committed offsets by partition.
        """
        self._on_epoch.append(on_epoch)
        if on_commit is not None:
            self._on_commit.append(on_commit)

    def acknowledge(self, topic: str, partition: int, offset: int, epoch: int) -> bool:
        """Mark a record as done; see :meth:`OffsetLedger.acknowledge`."""
        return self.ledger.acknowledge(Partition(topic, partition), offset, epoch)

    async def getmany(self, timeout: float) -> AsyncIterator[tuple[TP, Message]]:
        """Fetch records and add each to the ledger when it is delivered."""
        if not self.flow_active:
            # Wait before the epoch is read: the seek of an assignment ends this wait and starts a new epoch.
            await self.wait(self.can_resume_flow)
        if self._must_seek and not self._seeks:
            await self._seek_again()
            return
        before = self._fetch_epoch
        try:
            records, _ = await self._wait_next_records(timeout)
        except NoOffsetForPartitionError:
            self._must_seek = True  # a partition that was assigned meanwhile
            return
        except OffsetOutOfRangeError as error:
            await self._continue_in_range(error.args[0])
            return
        except fetching.UnreadablePartition:
            # This error ends the agent. Delivered records are finished and committed first. Otherwise
            # every restart would begin with them again.
            await self._until_committed(FINISH_SECONDS)
            raise
        if not records or self.should_stop:
            return
        if before != self._fetch_epoch or not self.flow_active or self._must_seek:
            # The fetch spans a rebalance: its records may be from before or after the seek. One more
            # seek makes both correct.
            await self._seek_again()
            return
        for tp, record in self.scheduler.iterate(records):
            if before != self._fetch_epoch or not self.flow_active:
                return
            self.app.monitor.track_tp_end_offset(tp, self.highwater(tp))
            message = self._to_message(tp, record)
            await self._until_room(before)
            if before != self._fetch_epoch or not self.flow_active:
                return
            message.touchstone_epoch = self.ledger.epoch
            self._buffered_bytes += len(message.value or b"")
            self._note(Partition(*tp), message.offset)
            yield tp, message

    async def _until_room(self, epoch: int) -> None:
        """Wait while the records in Faust's queue, which is bounded only by their number, take too much memory."""
        limit = self.transport.buffer_bytes
        while self._buffered_bytes > limit and epoch == self._fetch_epoch and self.flow_active and not self.should_stop:
            await self.sleep(ROOM_SECONDS)

    def received(self, message: Message) -> None:
        """Note that a record has left Faust's queue."""
        if message.touchstone_epoch == self.ledger.epoch:
            self._buffered_bytes -= len(message.value or b"")

    async def _continue_in_range(self, positions: Mapping[Any, int]) -> None:
        """Continue at the oldest record where the log does not hold the position, and report what is lost."""
        epoch, cut = self.ledger.epoch, []
        for (topic, number), position in positions.items():
            place = Partition(topic, number)
            start = await self._read_from_start(place)
            if start is None or epoch != self.ledger.epoch:
                continue
            if start > position:
                log.error("records_lost", **place._asdict(), first=position, next=start, lost=start - position)
                if self.transport.on_lost is not None:
                    self.transport.on_lost(topic, start - position)
                # Commit it, so that a restart does not report the same loss again.
                self.ledger.skip(place, start)
            elif self.ledger.position(place) is not None:
                cut.append(place)
        if cut:
            # The log has lost its end, and its offsets come again. Only in another epoch are they new.
            await self.perform_seek()
            for place in cut:
                await self._read_from_start(place)

    async def _read_from_start(self, place: Partition) -> int | None:
        """Continue at the oldest record of a partition; return its offset, or None if the broker did not return it."""
        limit = min(SEEK_SECONDS, self.app.conf.broker_request_timeout / 2)
        try:
            return cast(int, await self._thread.read_from_start(TP(*place), limit))
        except (TimeoutError, KafkaError) as error:
            # The next fetch fails in the same way.
            log.warning("log_start_read_failed", **place._asdict(), error_class=type(error).__name__)
            return None

    def _note(self, partition: Partition, offset: int) -> None:
        committed = self.ledger.committed(partition)
        if committed is not None and offset < committed:
            # The log ends before the committed offset: a broker has lost the end of its log. New records start
            # below the committed offset, so a comparison with it would never commit them.
            log.warning("log_truncated", **partition._asdict(), committed=committed, offset=offset)
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
        """Read from the committed offsets in a new epoch, or from the beginning where nothing is committed.

        The seek stays open if the broker does not respond in time or another assignment arrives. ``getmany`` then
        repeats it before it delivers anything.
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
            self._fetch_epoch += 1  # records fetched meanwhile may be from before the seek
        if committed is None:
            return
        for tp, offset in committed.items():
            self.ledger.begin(Partition(*tp), offset)
        self._must_seek = self._seeks > 0

    async def _seek_again(self) -> None:
        """Seek from within ``getmany``. Without partitions, wait instead."""
        if self.assignment():
            await self.perform_seek()
        else:
            await self.sleep(IDLE_WAIT_SECONDS)

    async def verify_all_partitions_active(self) -> None:
        """Do nothing; see the module docstring."""

    async def on_partitions_revoked(self, revoked: set[TP]) -> None:
        """Commit finished records while this worker owns the partitions. The rest is delivered again."""
        limit = self.app.conf.broker_session_timeout / 2
        try:
            async with asyncio.timeout(limit):
                await self.commit()
        except TimeoutError:
            log.warning("commit_on_revoke_timed_out", group=self.app.conf.id, limit_seconds=limit)
        try:
            self._start_epoch()
        except Exception as error:
            await self.crash(error)  # aiokafka would log the error and continue
            raise
        await super().on_partitions_revoked(revoked)

    def _start_epoch(self) -> None:
        self.ledger.start_epoch()
        self._buffered_bytes = 0
        self._fetch_epoch += 1
        for tell in self._on_epoch:
            tell()

    def _filter_tps_with_pending_acks(self, topics: Any = None) -> Iterable[TP]:
        return [TP(*partition) for partition in self.ledger.partitions()]

    def _filter_committable_offsets(self, tps: Iterable[TP]) -> dict[TP, int]:
        offsets = ((tp, self.ledger.committable(Partition(*tp))) for tp in tps)
        return {tp: offset for tp, offset in offsets if offset is not None}

    async def maybe_wait_for_commit_to_finish(self) -> bool:
        """Wait until no commit runs.

        Returns:
            False: the caller has to commit what was acknowledged meanwhile.
        """
        while self._commit_fut is not None:
            # Faust awaits the future itself: a cancelled caller cancels it, and the loop then never yields again.
            await asyncio.wait([self._commit_fut])
        return False

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
    return error or FatalDeliveryError(f"{task.get_coro().__qualname__} has ended")  # type: ignore[union-attr]


class LedgerTransport(Transport):
    """Use the ledger's consumer in Faust's aiokafka transport."""

    Consumer = LedgerConsumer
    fetch_wait_seconds = 0.5
    """Maximum time that the broker delays a fetch without records, in seconds."""
    on_lost: Callable[[str, int], None] | None = None
    """Called with the topic and the number of records that retention has deleted before they were read."""
    log_growth: LogGrowth | None = None
    """Growth of the light broker's log; ``None`` with Apache Kafka."""
    client_rack: str | None = None
    """Rack whose replicas are read, where the brokers choose replicas by rack."""
    max_batch_bytes = decompression.DEFAULT_MAX_BYTES
    """Maximum size of a batch after decompression."""
    buffer_bytes = 32_000_000
    """Maximum bytes of records that wait in Faust's queue; one record is always delivered."""
