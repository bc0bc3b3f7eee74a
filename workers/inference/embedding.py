"""The embedding service: batches across answers, embeds each distinct text once, never blocks the loop."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from workers import metrics
from workers.background import start_background
from workers.delivery.errors import InferenceFailed, InferenceTimeout, JudgementError
from workers.inference.backends import EmbeddingBackend
from workers.inference.fair_queue import FairQueue
from workers.logs import get_logger
from workers.settings import InferenceSettings

log = get_logger(__name__)

Vector = NDArray[np.float32]


@dataclass(slots=True)
class _Awaited:
    """A text that is queued or in work, and how many callers wait for it."""

    vector: asyncio.Future[Vector]
    callers: int = 0


class EmbeddingService:
    """Vectors for texts, from the cache or the model.

    One thread runs the model, since it uses all cores by itself; texts of many answers
    that arrive together share a batch, and take turns where there are more than fit: an
    enormous answer does not hold up the others. The same text asked for twice while it is
    being embedded is embedded once; one that nobody waits for any more, since its callers were
    cancelled before it came to the model, is not embedded at all.

    Args:
        backend: the model.
        settings: batch size, cache size and deadline.
    """

    def __init__(self, backend: EmbeddingBackend, settings: InferenceSettings) -> None:
        self._backend = backend
        self._settings = settings
        self._cache: OrderedDict[bytes, Vector] = OrderedDict()
        self._waiting: dict[bytes, _Awaited] = {}
        self._queue: FairQueue[tuple[bytes, str]] = FairQueue()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="inference")
        self._runner: asyncio.Task[None] | None = None
        self._hung: asyncio.Future[list[Vector]] | None = None
        self.failure: asyncio.Future[Exception] = asyncio.get_running_loop().create_future()

    @property
    def version(self) -> str:
        """Name of the model."""
        return self._backend.name

    @property
    def dimensions(self) -> int:
        """Length of its vectors."""
        return self._backend.dimensions

    def start(self) -> None:
        """Begin to take batches."""
        self._runner = start_background(self._run(), "inference", self.failure)

    async def stop(self) -> None:
        """Stop; what is being embedded is given up."""
        if self._runner is not None:
            self._runner.cancel()
            await asyncio.gather(self._runner, return_exceptions=True)
        for awaited in self._waiting.values():
            awaited.vector.cancel()
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def embed(self, texts: Iterable[str]) -> dict[str, Vector]:
        """Vectors of texts.

        Args:
            texts: distinct or not, in any order.

        Returns:
            float32 of shape (dimensions,) and length 1 for each distinct text.

        Waiting behind the texts of others is no failure: the deadline is that of one call of
        the model, so a burst makes answers late and not degraded.

        Raises:
            InferenceTimeout: the model did not return within ``inference.timeout_seconds``.
            InferenceFailed: the model raised.
        """
        wanted = {text: _digest(text) for text in texts}
        missing: dict[str, _Awaited] = {}
        vectors: dict[str, Vector] = {}
        new: list[tuple[bytes, str]] = []
        for text, digest in wanted.items():
            cached = self._cached(digest)
            if cached is not None:
                vectors[text] = cached
                continue
            if digest not in self._waiting:
                new.append((digest, text))
            missing[text] = self._awaited(digest)
        self._queue.put(new)
        metrics.EMBEDDING_CACHE.labels("hit").inc(len(vectors))
        metrics.EMBEDDING_CACHE.labels("miss").inc(len(missing))
        if missing:
            await self._wait(missing.values())
            vectors |= {text: awaited.vector.result() for text, awaited in missing.items()}
        return vectors

    async def _wait(self, texts: Collection[_Awaited]) -> None:
        """Wait for texts, and count among their callers only for as long."""
        for awaited in texts:
            awaited.callers += 1
        try:
            # wait() and not gather(): what one caller gives up must not be cancelled for others.
            await asyncio.wait([awaited.vector for awaited in texts])
        finally:
            for awaited in texts:
                awaited.callers -= 1

    def _cached(self, digest: bytes) -> Vector | None:
        vector = self._cache.get(digest)
        if vector is not None:
            self._cache.move_to_end(digest)
        return vector

    def _awaited(self, digest: bytes) -> _Awaited:
        awaited = self._waiting.get(digest)
        if awaited is None:
            awaited = self._waiting[digest] = _Awaited(asyncio.get_running_loop().create_future())
            # Whoever asked may be gone by the time it fails; that is no error of the loop.
            awaited.vector.add_done_callback(lambda done: done.cancelled() or done.exception())
        return awaited

    async def _run(self) -> None:
        while True:
            batch = await self._next_batch()
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
                    self._waiting.pop(digest).vector.set_exception(failure)
                continue
            metrics.INFERENCE_SECONDS.observe(time.perf_counter() - started)
            metrics.INFERENCE_BATCH.observe(len(batch))
            for (digest, _), row in zip(batch, rows, strict=True):
                self._keep(digest, row)

    async def _call(self, batch: Sequence[tuple[bytes, str]]) -> list[Vector]:
        """One call of the model, within its deadline; a call that hangs keeps its thread."""
        if self._hung is not None and not self._hung.done():
            raise InferenceTimeout(f"the model {self._backend.name} hangs in an earlier call")
        self._hung = None
        call = asyncio.get_running_loop().run_in_executor(self._thread, self._encode, batch)
        done, _ = await asyncio.wait([call], timeout=self._settings.timeout_seconds)
        if not done:
            call.add_done_callback(lambda late: late.cancelled() or late.exception())
            self._hung = call
            log.error("model_hangs", model=self._backend.name, texts=len(batch))
            raise InferenceTimeout(
                f"the model {self._backend.name} did not embed {len(batch)} texts within "
                f"{self._settings.timeout_seconds:g} s"
            )
        try:
            return call.result()
        except Exception as error:
            log.error("model_failed", model=self._backend.name, exc_info=error)
            raise InferenceFailed(f"the model {self._backend.name} raised {type(error).__name__}") from error

    async def _still_hangs(self) -> bool:
        """Give a hung call one more deadline to return.

        Failing at once would degrade the whole stream at full speed for as long as the hang
        lasts; this way only what is in work fails, once in a deadline.
        """
        if self._hung is None or self._hung.done():
            return False
        done, _ = await asyncio.wait([self._hung], timeout=self._settings.timeout_seconds)
        return not done

    async def _next_batch(self) -> list[tuple[bytes, str]]:
        await self._queue.filled()
        if len(self._queue) < self._settings.batch_texts:
            await asyncio.sleep(self._settings.batch_wait_seconds)
        batch: list[tuple[bytes, str]] = []
        while self._queue and len(batch) < self._settings.batch_texts:
            batch += self._still_wanted(self._queue.take(self._settings.batch_texts - len(batch)))
        return batch

    def _still_wanted(self, queued: Iterable[tuple[bytes, str]]) -> Iterator[tuple[bytes, str]]:
        """Of what was queued, what somebody waits for; the rest leaves here.

        It stays in the queue until then: who asks for it meanwhile finds it there.
        """
        for digest, text in queued:
            if self._waiting[digest].callers:
                yield digest, text
            else:
                del self._waiting[digest]

    def _encode(self, batch: Sequence[tuple[bytes, str]]) -> list[Vector]:
        vectors = self._backend.encode([text for _, text in batch])
        if vectors.shape != (len(batch), self._backend.dimensions) or not np.isfinite(vectors).all():
            raise ValueError(f"the model returned shape {vectors.shape} or values that are not finite")
        # Copies, so that one cached row does not keep its whole batch in memory.
        return [row.copy() for row in vectors]

    def _keep(self, digest: bytes, vector: Vector) -> None:
        vector.setflags(write=False)
        self._cache[digest] = vector
        if len(self._cache) > self._settings.cache_texts:
            self._cache.popitem(last=False)
        future = self._waiting.pop(digest).vector
        if not future.done():
            future.set_result(vector)


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
