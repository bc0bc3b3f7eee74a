"""A model behind batches: the items of many askers together, each of them once, never on the event loop."""

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

from workers.background import start_background
from workers.delivery.errors import InferenceFailed, InferenceTimeout, JudgementError
from workers.inference.fair_queue import FairQueue
from workers.logs import get_logger

log = get_logger(__name__)

Item = TypeVar("Item", bound=Hashable)
Row = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """Bounds of a service.

    Attributes:
        items: most in one call of the model.
        wait_seconds: longest wait for the items of other askers.
        cached: rows that are kept.
        timeout_seconds: one call of the model may take this long.
    """

    items: int
    wait_seconds: float
    cached: int
    timeout_seconds: float


@dataclass(frozen=True, slots=True)
class BatchMetrics:
    """Where a service counts.

    Attributes:
        seconds: time of one call of the model.
        items: items in it.
        cache: look-ups by result: hit, miss.
    """

    seconds: Histogram
    items: Histogram
    cache: Counter


@dataclass(slots=True)
class _Awaited:
    """An item that is queued or in work, and how many callers wait for it."""

    row: asyncio.Future[Row]
    callers: int = 0


class BatchingService(ABC, Generic[Item]):
    """Rows for items, from the cache, other processes or the model.

    One thread calls the model, since it uses all cores by itself; items of many answers
    that arrive together share a batch, and take turns where there are more than fit: an
    enormous answer does not hold up the others. The same item asked for twice while it is
    in work is computed once; one that nobody waits for any more, since its callers were
    cancelled before it came to the model, is not computed at all.

    Args:
        model: its name, for messages.
        what: its items, for messages: texts, say.
        limits: sizes and deadline.
        counted: its metrics.
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
        """What an item is known by; equal for equal items alone."""

    @abstractmethod
    def _compute(self, batch: Sequence[Item]) -> Row:
        """The rows of a batch, shape (len(batch), …), called in the service's thread; raises if they cannot be used."""

    async def _find_shared(self, digests: Sequence[bytes]) -> Mapping[bytes, Row]:
        """Rows that another process has made, by digest; none, unless a service shares them."""
        return {}

    def _share(self, rows: Mapping[bytes, Row]) -> None:
        """Take rows that the model has just made, for other processes; returns at once."""

    def start(self) -> None:
        """Begin to take batches."""
        self._runner = start_background(self._run(), "inference", self.failure)

    async def stop(self) -> None:
        """Stop; what is in work is given up."""
        if self._runner is not None:
            self._runner.cancel()
            await asyncio.gather(self._runner, return_exceptions=True)
        for awaited in self._waiting.values():
            awaited.row.cancel()
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _rows(self, items: Iterable[Item]) -> dict[Item, Row]:
        """Rows of items, distinct or not, in any order.

        Waiting behind the items of others is no failure: the deadline is that of one call of
        the model, so a burst makes answers late and not degraded.

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
        """Wait for items, and count among their callers only for as long."""
        for awaited in items:
            awaited.callers += 1
        try:
            # wait() and not gather(): what one caller gives up must not be cancelled for others.
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
            # Whoever asked may be gone by the time it fails; that is no error of the loop.
            awaited.row.add_done_callback(lambda done: done.cancelled() or done.exception())
        return awaited

    async def _run(self) -> None:
        while True:
            batch = await self._without_shared(await self._next_batch())
            if not batch:
                continue
            if await self._still_hangs():
                # Whoever has queued up meanwhile has waited with this batch and fails with it.
                batch += self._queue.take(len(self._queue))
            started = time.perf_counter()
            try:
                rows = await self._call(batch)
            except JudgementError as failure:
                for digest, _ in batch:
                    self._waiting.pop(digest).row.set_exception(failure)
                continue
            self._counted.seconds.observe(time.perf_counter() - started)
            self._counted.items.observe(len(batch))
            made = {digest: row for (digest, _), row in zip(batch, rows, strict=True)}
            for digest, row in made.items():
                self._keep(digest, row)
            self._share(made)

    async def _call(self, batch: Sequence[tuple[bytes, Item]]) -> list[Row]:
        """One call of the model, within its deadline; a call that hangs keeps its thread."""
        if self._hung is not None and not self._hung.done():
            raise InferenceTimeout(f"the model {self._model} hangs in an earlier call")
        self._hung = None
        items = [item for _, item in batch]
        call = asyncio.get_running_loop().run_in_executor(self._thread, self._copied, items)
        done, _ = await asyncio.wait([call], timeout=self._limits.timeout_seconds)
        if not done:
            call.add_done_callback(lambda late: late.cancelled() or late.exception())
            self._hung = call
            log.error("model_hangs", model=self._model, what=self._what, items=len(batch))
            raise InferenceTimeout(
                f"the model {self._model} was not done with {len(batch)} {self._what} within "
                f"{self._limits.timeout_seconds:g} s"
            )
        try:
            return call.result()
        except Exception as error:
            log.error("model_failed", model=self._model, exc_info=error)
            raise InferenceFailed(f"the model {self._model} raised {type(error).__name__}") from error

    async def _still_hangs(self) -> bool:
        """Give a hung call one more deadline to return.

        Failing at once would degrade the whole stream at full speed for as long as the hang
        lasts; this way only what is in work fails, once in a deadline.
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
        """Of a batch, what the model has to make; whoever waits for the rest has it."""
        shared = await self._find_shared([digest for digest, _ in batch])
        for digest, row in shared.items():
            self._keep(digest, row)
        # Looking them up took a while, in which callers may have gone.
        return list(self._still_wanted(queued for queued in batch if queued[0] not in shared))

    def _still_wanted(self, queued: Iterable[tuple[bytes, Item]]) -> Iterator[tuple[bytes, Item]]:
        """Of what was queued, what somebody waits for; the rest leaves here.

        It stays in the queue until then: who asks for it meanwhile finds it there.
        """
        for digest, item in queued:
            if self._waiting[digest].callers:
                yield digest, item
            else:
                del self._waiting[digest]

    def _copied(self, items: Sequence[Item]) -> list[Row]:
        # Copies, so that one cached row does not keep its whole batch in memory.
        return [row.copy() for row in self._compute(items)]

    def _keep(self, digest: bytes, row: Row) -> None:
        row.setflags(write=False)
        self._cache[digest] = row
        if len(self._cache) > self._limits.cached:
            self._cache.popitem(last=False)
        future = self._waiting.pop(digest).row
        if not future.done():
            future.set_result(row)
