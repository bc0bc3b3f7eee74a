"""Keep the chunks of answers that still arrive in Redis, so that a restart loses none.

Keys, behind the configured prefix: ``stream:<digest of tenant and answer>`` is a hash with the chunks of an answer, its
other fields and its state; ``streams:<partition>`` is a sorted set of the answers that still arrive, by the time at which
they end without their rest. A hash expires after its latest chunk.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import orjson

from schemas.streams import AnswerChunk
from workers.errors import StoreUnavailable
from workers.stores.redis.client import REDIS_ERRORS, RedisClient

AnswerKey = tuple[str, str]
"""Tenant and identifier of an answer."""


@dataclass(frozen=True, slots=True)
class KeptChunks:
    """Hold what is kept of an answer.

    Attributes:
        chunks: its chunks.
        first_seen: time of the first one, seconds since the epoch.
        done: the record that ended the answer; empty while it grows.
        checked: offset up to which the findings on its sentences were sent.
        latest: offset of the latest record with a chunk.
    """

    chunks: list[AnswerChunk]
    first_seen: float
    done: str
    checked: int
    latest: int


class ChunkStore:
    """Read and write the chunks of answers.

    Args:
        redis: the store.
        prefix: beginning of the keys.
        keep_seconds: lifetime of an answer's chunks.
    """

    def __init__(self, redis: RedisClient, prefix: str, keep_seconds: int) -> None:
        self._redis = redis
        self._prefix = prefix
        self._keep = keep_seconds

    async def load(self, key: AnswerKey) -> KeptChunks | None:
        """Return what is kept of an answer, or ``None``.

        Raises:
            StoreUnavailable: Redis does not respond.
        """
        try:
            found: dict[Any, Any] = await self._redis.hgetall(self._name(key))
        except REDIS_ERRORS as error:
            raise _unavailable(error) from None
        if not found:
            return None
        chunks = [AnswerChunk.from_bytes(value) for name, value in found.items() if name.startswith(b"chunk:")]
        return KeptChunks(
            chunks,
            float(found.get(b"first", 0)),
            found.get(b"done", b"").decode(),
            int(found.get(b"checked", 0)),
            int(found.get(b"latest", 0)),
        )

    async def save(
        self,
        chunks: Iterable[tuple[AnswerChunk, int, int]],
        checked: Iterable[tuple[AnswerKey, int]],
        now: float,
        due: float,
    ) -> None:
        """Store chunks with their partitions and offsets, and the offsets up to which findings were sent.

        Raises:
            StoreUnavailable: Redis does not respond.
        """
        try:
            async with self._redis.pipeline(transaction=False) as pipeline:
                for key, offset in checked:
                    pipeline.hset(self._name(key), "checked", offset)
                for chunk, partition, latest in chunks:
                    key = (chunk.tenant, chunk.answer_id)
                    name = self._name(key)
                    pipeline.hsetnx(name, f"chunk:{chunk.index}", chunk.to_bytes())
                    pipeline.hsetnx(name, "first", now)
                    pipeline.hset(name, "latest", latest)
                    pipeline.expire(name, self._keep)
                    pipeline.zadd(self._due(partition), {orjson.dumps(key): due})
                await pipeline.execute()
        except REDIS_ERRORS as error:
            raise _unavailable(error) from None

    async def end(self, key: AnswerKey, partition: int, done: str) -> None:
        """Mark an answer as ended by a record.

        Raises:
            StoreUnavailable: Redis does not respond.
        """
        try:
            async with self._redis.pipeline(transaction=False) as pipeline:
                pipeline.hset(self._name(key), "done", done)
                pipeline.expire(self._name(key), self._keep)
                pipeline.zrem(self._due(partition), orjson.dumps(key))
                await pipeline.execute()
        except REDIS_ERRORS as error:
            raise _unavailable(error) from None

    async def due(self, partition: int, now: float, most: int) -> list[AnswerKey]:
        """Return answers of a partition whose time has passed.

        Raises:
            StoreUnavailable: Redis does not respond.
        """
        try:
            found: list[Any] = await self._redis.zrangebyscore(self._due(partition), 0, now, start=0, num=most)
        except REDIS_ERRORS as error:
            raise _unavailable(error) from None
        return [(tenant, answer_id) for tenant, answer_id in map(orjson.loads, found)]

    def _name(self, key: AnswerKey) -> str:
        return f"{self._prefix}stream:{sha256(orjson.dumps(key)).hexdigest()}"

    def _due(self, partition: int) -> str:
        return f"{self._prefix}streams:{partition}"


def _unavailable(error: Exception) -> StoreUnavailable:
    return StoreUnavailable(f"Redis does not respond ({type(error).__name__}); chunks of answers wait")
