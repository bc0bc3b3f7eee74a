"""Hold the work items of an agent: bounded in number and bytes, handed out in micro-batches."""

import asyncio
from collections.abc import Sequence

from workers.delivery.followers.record_subjects import tenant_of
from workers.delivery.limits import BatchLimits
from workers.delivery.records import WorkItem
from workers.delivery.turns import Turns
from workers.observability import metrics


class WorkQueue:
    """Work items that are accepted and not settled.

    Args:
        agent: name of the agent, for metrics.
        limits: bounds of a batch and of all items.

    Attributes:
        count: number of the items.
        size: bytes of their values.
    """

    def __init__(self, agent: str, limits: BatchLimits) -> None:
        self._agent = agent
        self._limits = limits
        self._queue: Turns[WorkItem] = Turns()
        self._carried: WorkItem | None = None
        self._idle = _set_event()
        self._has_room = _set_event()
        self.count = 0
        self.size = 0
        metrics.IN_FLIGHT.labels(agent).set(0)

    async def room_for(self, work: WorkItem) -> None:
        """Wait while too many items are in flight; one item is always admitted, whatever its size."""
        while self._has_no_room(work):
            self._has_room.clear()
            await self._has_room.wait()

    def add(self, work: WorkItem) -> None:
        """Accept an item."""
        self.count += 1
        self.size += work.size
        self._idle.clear()
        metrics.IN_FLIGHT.labels(self._agent).set(self.count)
        self._queue.put(tenant_of(work.record) if self._limits.by_tenant else "", work)

    def settle(self, works: Sequence[WorkItem]) -> None:
        """Let go of items that are acknowledged or dropped."""
        self.count -= len(works)
        self.size -= sum(work.size for work in works)
        metrics.IN_FLIGHT.labels(self._agent).set(self.count)
        self._has_room.set()  # waiting submitters check again
        if self.count == 0:
            self._idle.set()

    async def wait_idle(self, timeout: float) -> bool:
        """Wait until every item is settled, apart from items that wait for the turn of their tenant.

        Args:
            timeout: longest wait in seconds.

        Returns:
            Whether every item is settled.
        """
        if self._limits.by_tenant:
            # What is not acknowledged is delivered again.
            self.settle(self._queue.take_beyond(self._limits.records * self._limits.concurrent))
        try:
            async with asyncio.timeout(timeout):
                await self._idle.wait()
        except TimeoutError:
            return False
        return True

    async def next_batch(self) -> list[WorkItem]:
        """Return the next batch, in the order of acceptance or by turns of tenants; wait for at least one item."""
        works = [self._carried or await self._queue.get()]
        self._carried = None
        size = works[0].size
        until = asyncio.get_running_loop().time() + self._limits.wait_seconds
        while len(works) < self._limits.records and size < self._limits.batch_bytes:
            try:
                async with asyncio.timeout_at(until):
                    work = await self._queue.get()
            except TimeoutError:
                break
            size += work.size
            if size > self._limits.batch_bytes:
                self._carried = work  # the first of the next batch
                break
            works.append(work)
        return works

    def _has_no_room(self, work: WorkItem) -> bool:
        too_large = self.size + work.size > self._limits.in_flight_bytes
        return self.count >= self._limits.in_flight or (too_large and self.count > 0)


def _set_event() -> asyncio.Event:
    event = asyncio.Event()
    event.set()
    return event
