"""Share vectors of texts between workers in Redis, for a configured time.

Keys, behind the configured prefix: ``vectors:<made by>:<digest of the text>``, the values float32, little
endian. *Made by* names everything that determines a vector, so that no other model, precision or recipe reads it.
No text is kept. Every key expires.

The store is only a cache: without Redis the model computes the vectors, and no caller waits for Redis.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from workers.observability import metrics
from workers.observability.logs import get_logger
from workers.settings import RedisSettings
from workers.stores.redis.client import REDIS_ERRORS, open_redis, read_many

log = get_logger(__name__)

TIMEOUT_SECONDS = 0.25
"""Timeout of a command. It is half that of the query history, because the model can compute the vectors as well."""

PAUSE_SECONDS = 5.0
"""Pause after a failure."""

MAX_WRITES = 8
"""Maximum number of batches that wait to be written, 100 kB each. Further vectors are not shared."""

Vector = NDArray[np.float32]
Operation = Literal["read", "write"]


class SharedVectors:
    """Cache of vectors that workers share.

    Args:
        url: address of Redis.
        settings: prefix of keys and connection.
        made_by: from :func:`workers.pipeline.versions.vectors_version`.
        expiry_seconds: lifetime of a vector.
    """

    def __init__(self, url: str, settings: RedisSettings, made_by: str, expiry_seconds: int) -> None:
        self._prefix = f"{settings.key_prefix}vectors:{made_by}:"
        self._expiry = expiry_seconds
        self._redis = open_redis(url, settings, TIMEOUT_SECONDS)
        # Reads and writes pause separately: a full server still answers reads.
        self._not_before: dict[Operation, float] = {}
        self._beside: set[asyncio.Task[Any]] = set()
        self._writes = 0

    async def find(self, digests: Sequence[bytes], dimensions: int) -> dict[bytes, Vector]:
        """Find stored vectors with one command.

        Args:
            digests: digests of texts.
            dimensions: length of a vector; values of another length or not finite count as absent.

        Returns:
            float32 of shape (dimensions,) by digest; empty while Redis is unavailable.
        """
        values = await self._read(digests) if digests else []
        if values is None:
            metrics.SHARED_VECTORS.labels("failed").inc(len(digests))
            return {}
        read = ((digest, _vector(value, dimensions)) for digest, value in zip(digests, values, strict=True))
        found = {digest: vector for digest, vector in read if vector is not None}
        metrics.SHARED_VECTORS.labels("hit").inc(len(found))
        metrics.SHARED_VECTORS.labels("miss").inc(len(digests) - len(found))
        return found

    def keep(self, vectors: Mapping[bytes, Vector]) -> None:
        """Write vectors in the background. They are lost if Redis is unavailable, slow or full.

        Args:
            vectors: float32 of shape (dimensions,) by digest of the text.
        """
        if self._writes == MAX_WRITES or time.monotonic() < self._not_before.get("write", 0.0):
            return
        pipeline = self._redis.pipeline(transaction=False)
        for digest, vector in vectors.items():
            pipeline.set(self._key(digest), vector.astype("<f4").tobytes(), ex=self._expiry)
        self._writes += 1
        self._start(self._write(pipeline.execute))

    async def close(self) -> None:
        """Wait for writes under way, at most for their timeout, and disconnect."""
        await asyncio.gather(*self._beside)
        await self._redis.aclose()

    def _key(self, digest: bytes) -> str:
        return self._prefix + digest.hex()

    async def _read(self, digests: Sequence[bytes]) -> list[bytes | None] | None:
        """Return the stored values, ``None`` while Redis is unavailable."""

        async def ask() -> list[bytes | None]:
            return await read_many(self._redis, [self._key(digest) for digest in digests])

        not_before = self._not_before.get("read")
        if not_before is None:
            return await self._ask("read", ask)
        if time.monotonic() >= not_before:
            # A background command probes Redis: a hanging server must not delay a batch every few seconds.
            self._not_before["read"] = time.monotonic() + PAUSE_SECONDS
            self._start(self._ask("read", ask))
        return None

    async def _write(self, execute: Callable[[], Awaitable[list[Any]]]) -> None:
        try:
            await self._ask("write", execute)
        finally:
            self._writes -= 1

    async def _ask(self, operation: Operation, command: Callable[[], Awaitable[list[Any]]]) -> list[Any] | None:
        try:
            # This limit includes connecting and the repeat. The timeouts of the client are for each step.
            async with asyncio.timeout(TIMEOUT_SECONDS):
                answer = await command()
        except REDIS_ERRORS as error:
            if not self._not_before:
                log.warning("shared_vectors_suspended", operation=operation, error_class=type(error).__name__)
            self._not_before[operation] = time.monotonic() + PAUSE_SECONDS
            return None
        if self._not_before.pop(operation, None) is not None and not self._not_before:
            log.info("shared_vectors_resumed")
        return answer

    def _start(self, work: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.create_task(work)
        self._beside.add(task)
        task.add_done_callback(self._beside.discard)


def _vector(value: bytes | None, dimensions: int) -> Vector | None:
    if value is None or len(value) != 4 * dimensions:
        return None
    vector = np.frombuffer(value, dtype="<f4").astype(np.float32)
    return vector if np.isfinite(vector).all() else None
