"""Call a model in batches: items of many callers together, each item once, outside the event loop."""

import asyncio
import time
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from prometheus_client import Counter, Histogram

from workers.errors import InferenceFailed, InferenceTimeout, JudgementError, panics_as_errors
from workers.inference.fair_queue import FairQueue
from workers.observability.logs import get_logger
from workers.process.background import start_background, stop_background

log = get_logger(__name__)

Item = TypeVar("Item", bound=Hashable)
Row = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """Bounds of a service.

    Attributes:
        items: maximum number of items in one call of the model.
        wait_seconds: maximum wait for the items of other callers.
        cached: maximum number of rows in the cache.
        timeout_seconds: deadline of one call of the model.
    """

    items: int
    wait_seconds: float
    cached: int
    timeout_seconds: float


@dataclass(frozen=True, slots=True)
class BatchMetrics:
    """Metrics of a service.

    Attributes:
        seconds: duration of one call of the model.
        items: number of items in one call.
        cache: lookups by result: hit, miss.
    """

    seconds: Histogram
    items: Histogram
    cache: Counter


@dataclass(slots=True)
class _Awaited:
    """An item that is queued or in progress, and the number of callers that wait for it."""

    row: asyncio.Future[Row]
    callers: int = 0


class BatchingService(ABC, Generic[Item]):
    """Rows for items, from the cache, other processes or the model.

    One thread calls the model, since the model uses all cores. Items of several answers that
    arrive together share a batch. Answers take turns if their items exceed a batch, so that a
    very long answer does not delay the others. An item that is requested again while it is in
    work is computed once. An item is not computed if all its callers were cancelled before the
    call of the model.

    Args:
        model: name of the model, for messages.
        what: name of the items, for messages, for example "texts".
        limits: sizes and deadline.
        counted: metrics of the service.
    """

    def __init__(self, model: str, what: str, limits: BatchLimits, counted: BatchMetrics) -> None:
        self._model = model
        self._what = what
        self._limits = limits
        self._counted = counted
        self._cache: OrderedDict[bytes, Row] = OrderedDict()
        self._waiting: dict[bytes, _Awaited] = {}
        self._queue: FairQueue[tuple[bytes, Item]] = FairQueue()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="inference")
        self._runner: asyncio.Task[None] | None = None
        self._hung: asyncio.Future[list[Row]] | None = None
        self.failure: asyncio.Future[Exception] = asyncio.get_running_loop().create_future()

    @abstractmethod
    def _digest(self, item: Item) -> bytes:
        """Return the cache key of an item, equal for equal items only."""

    @abstractmethod
    def _compute(self, batch: Sequence[Item]) -> Row:
        """Return the rows of a batch, shape (len(batch), …); called in the service's thread.

        Raise any exception if the rows cannot be used.
        """

    async def _find_shared(self, digests: Sequence[bytes]) -> Mapping[bytes, Row]:
        """Return the rows that other processes have computed, by digest; empty unless a service shares rows."""
        return {}

    def _share(self, rows: Mapping[bytes, Row]) -> None:
        """Offer rows that the model has just computed to other processes; return at once."""

    def start(self) -> None:
        """Start to process batches."""
        self._runner = start_background(self._run(), "inference", self.failure)

    async def stop(self) -> None:
        """Stop, and cancel the items in progress."""
        if self._runner is not None:
            await stop_background(self._runner)
        for awaited in self._waiting.values():
            awaited.row.cancel()
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _rows(self, items: Iterable[Item]) -> dict[Item, Row]:
        """Return the rows of items, distinct or not, in any order.

        The deadline covers one call of the model, not the wait for the items of other callers.
        So a burst delays answers and does not degrade them.

        Raises:
            InferenceTimeout: the model did not return within its deadline.
            InferenceFailed: the model raised.
        """
        wanted = {item: self._digest(item) for item in items}
        missing: dict[Item, _Awaited] = {}
        rows: dict[Item, Row] = {}
        new: list[tuple[bytes, Item]] = []
        for item, digest in wanted.items():
            cached = self._cached(digest)
            if cached is not None:
                rows[item] = cached
                continue
            if digest not in self._waiting:
                new.append((digest, item))
            missing[item] = self._awaited(digest)
        self._queue.put(new)
        self._counted.cache.labels("hit").inc(len(rows))
        self._counted.cache.labels("miss").inc(len(missing))
        if missing:
            await self._wait(missing.values())
            rows |= {item: awaited.row.result() for item, awaited in missing.items()}
        return rows

    async def _wait(self, items: Collection[_Awaited]) -> None:
        """Wait for items, and count as one of their callers during the wait."""
        for awaited in items:
            awaited.callers += 1
        try:
            # wait() and not gather(): the cancellation of one caller must not cancel items of others.
            await asyncio.wait([awaited.row for awaited in items])
        finally:
            for awaited in items:
                awaited.callers -= 1

    def _cached(self, digest: bytes) -> Row | None:
        row = self._cache.get(digest)
        if row is not None:
            self._cache.move_to_end(digest)
        return row

    def _awaited(self, digest: bytes) -> _Awaited:
        awaited = self._waiting.get(digest)
        if awaited is None:
            awaited = self._waiting[digest] = _Awaited(asyncio.get_running_loop().create_future())
            # Retrieve the exception: all callers may be gone at the failure, and the loop would log an error.
            awaited.row.add_done_callback(lambda done: done.cancelled() or done.exception())
        return awaited

    async def _run(self) -> None:
        while True:
            batch = await self._without_shared(await self._next_batch())
            if not batch:
                continue
            if await self._still_hangs():
                # Items queued during the wait have waited for the same deadline and fail with this batch.
                batch += self._queue.take(len(self._queue))
            await self._process(batch)

    async def _process(self, batch: list[tuple[bytes, Item]]) -> None:
        """Give each item of a batch its row or its failure.

        If the model raises, the batch is halved and called again, so that an item that the model cannot read fails
        alone and not the items of other answers.
        """
        parts, ends = [batch], time.monotonic() + self._limits.timeout_seconds
        while parts:
            part = parts.pop()
            started = time.perf_counter()
            try:
                rows = await self._call(part)
            except JudgementError as failure:
                raised = isinstance(failure, InferenceFailed)
                if raised and part is batch:
                    # Logged once: a model that fails at every item would log as many tracebacks.
                    log.error("model_failed", model=self._model, items=len(batch), exc_info=failure.__cause__)
                # A model that fails slowly holds up the next batches hardly longer than one that hangs.
                if raised and len(part) > 1 and time.monotonic() < ends:
                    middle = len(part) // 2
                    parts += [part[middle:], part[:middle]]
                    continue
                for digest, _ in part:
                    self._waiting.pop(digest).row.set_exception(failure)
                continue
            self._counted.seconds.observe(time.perf_counter() - started)
            self._counted.items.observe(len(part))
            made = {digest: row for (digest, _), row in zip(part, rows, strict=True)}
            for digest, row in made.items():
                self._keep(digest, row)
            self._share(made)

    async def _call(self, batch: Sequence[tuple[bytes, Item]]) -> list[Row]:
        """Call the model once, within the deadline; a call that hangs keeps its thread."""
        if self._hung is not None and not self._hung.done():
            raise InferenceTimeout(
                f"the model {self._model} hangs in an earlier call; restart the process if this persists"
            )
        self._hung = None
        items = [item for _, item in batch]
        call = asyncio.get_running_loop().run_in_executor(self._thread, self._copied, items)
        done, _ = await asyncio.wait([call], timeout=self._limits.timeout_seconds)
        if not done:
            call.add_done_callback(lambda late: late.cancelled() or late.exception())
            self._hung = call
            log.error("model_timed_out", model=self._model, what=self._what, items=len(batch))
            raise InferenceTimeout(
                f"the model {self._model} did not finish {len(batch)} {self._what} within "
                f"{self._limits.timeout_seconds:g} s"
            )
        try:
            return call.result()
        except Exception as error:
            raise InferenceFailed(f"the model {self._model} raised {type(error).__name__}") from error

    async def _still_hangs(self) -> bool:
        """Wait one more deadline for a hung call, and return whether the call still hangs.

        Without the wait, every answer would be degraded at full speed while the model hangs. With
        the wait, only the items in progress fail, once per deadline.
        """
        if self._hung is None or self._hung.done():
            return False
        done, _ = await asyncio.wait([self._hung], timeout=self._limits.timeout_seconds)
        return not done

    async def _next_batch(self) -> list[tuple[bytes, Item]]:
        await self._queue.filled()
        if len(self._queue) < self._limits.items:
            await asyncio.sleep(self._limits.wait_seconds)
        batch: list[tuple[bytes, Item]] = []
        while self._queue and len(batch) < self._limits.items:
            batch += self._still_wanted(self._queue.take(self._limits.items - len(batch)))
        return batch

    async def _without_shared(self, batch: Sequence[tuple[bytes, Item]]) -> list[tuple[bytes, Item]]:
        """Return the items that the model must compute; give the other rows to their callers."""
        shared = await self._find_shared([digest for digest, _ in batch])
        for digest, row in shared.items():
            self._keep(digest, row)
        # Callers may have been cancelled during the lookup.
        return list(self._still_wanted(queued for queued in batch if queued[0] not in shared))

    def _still_wanted(self, queued: Iterable[tuple[bytes, Item]]) -> Iterator[tuple[bytes, Item]]:
        """Yield the queued items that a caller waits for, and remove the others.

        Items without a caller stay queued until then, so that a new caller can still join them.
        """
        for digest, item in queued:
            if self._waiting[digest].callers:
                yield digest, item
            else:
                del self._waiting[digest]

    def _copied(self, items: Sequence[Item]) -> list[Row]:
        # Copy each row, so that one cached row does not keep its whole batch in memory.
        with panics_as_errors():
            return [row.copy() for row in self._compute(items)]

    def _keep(self, digest: bytes, row: Row) -> None:
        row.setflags(write=False)
        self._cache[digest] = row
        if len(self._cache) > self._limits.cached:
            self._cache.popitem(last=False)
        future = self._waiting.pop(digest).row
        if not future.done():
            future.set_result(row)
