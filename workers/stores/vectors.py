"""Redis: vectors of texts that one worker has made and others need, for as long as a setting says.

Keys, behind the configured prefix: ``vectors:<made by>:<digest of the text>``, the values float32, little
endian. *Made by* names all that decides on a vector, so that no other model, precision or recipe reads it.
No text is kept. Every key expires.

It is a cache and nothing more: without Redis the model is asked, and nobody waits for Redis to come back.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError

from workers import metrics
from workers.logs import get_logger

log = get_logger(__name__)

TIMEOUT_SECONDS = 0.25
"""One answer may take this long: half of what the query history may, since here the model has the vectors as well."""

PAUSE_SECONDS = 5.0
"""After a failure nobody asks again for so long."""

MAX_WRITES = 8
"""Batches that wait to be written, 100 kB each; what is made beyond them stays with its worker."""

Vector = NDArray[np.float32]
Operation = Literal["read", "write"]


class SharedVectors:
    """The vectors that workers share.

    Args:
        url: redis(s)://[user:password@]host:port/database.
        prefix: put before every key.
        made_by: from :func:`workers.versions.vectors_version`.
        expiry_seconds: a vector stays for so long after it was made.
    """

    def __init__(self, url: str, prefix: str, made_by: str, expiry_seconds: int) -> None:
        self._prefix = f"{prefix}vectors:{made_by}:"
        self._expiry = expiry_seconds
        # One repeat at once: a connection of the pool may be one that a restart has closed.
        self._redis = Redis.from_url(
            url,
            socket_timeout=TIMEOUT_SECONDS,
            socket_connect_timeout=TIMEOUT_SECONDS,
            retry=Retry(NoBackoff(), 1, supported_errors=(RedisConnectionError,)),
        )
        # Apart, since a server that is full answers whoever reads.
        self._not_before: dict[Operation, float] = {}
        self._beside: set[asyncio.Task[Any]] = set()
        self._writes = 0

    async def find(self, digests: Sequence[bytes], dimensions: int) -> dict[bytes, Vector]:
        """Vectors that are there, asked for at once.

        Args:
            digests: of texts.
            dimensions: length of a vector; what has another, or is not finite, is not there.

        Returns:
            float32 of shape (dimensions,) by digest; none while Redis is away.
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
        """Write vectors, beside what goes on; they are lost if Redis is away, slow or full.

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
        """Disconnect; what is being written has its timeout to arrive."""
        await asyncio.gather(*self._beside)
        await self._redis.aclose()

    def _key(self, digest: bytes) -> str:
        return self._prefix + digest.hex()

    async def _read(self, digests: Sequence[bytes]) -> list[bytes | None] | None:
        """The values, ``None`` while Redis is away."""

        async def ask() -> list[bytes | None]:
            # The client does not decode, so no value is a text.
            return cast("list[bytes | None]", await self._redis.mget([self._key(digest) for digest in digests]))

        not_before = self._not_before.get("read")
        if not_before is None:
            return await self._ask("read", ask)
        if time.monotonic() >= not_before:
            # Whether it is back is seen beside: a server that hangs must not hold up a batch every few seconds.
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
            # The whole of it, with connecting and the repeat; the client's own timeouts are for each step.
            async with asyncio.timeout(TIMEOUT_SECONDS):
                answer = await command()
        except (RedisError, OSError) as error:
            if not self._not_before:
                log.warning("shared_vectors_away", operation=operation, error_class=type(error).__name__)
            self._not_before[operation] = time.monotonic() + PAUSE_SECONDS
            return None
        if self._not_before.pop(operation, None) is not None and not self._not_before:
            log.info("shared_vectors_back")
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
