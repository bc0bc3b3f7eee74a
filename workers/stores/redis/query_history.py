"""Keep the last queries of each person in Redis, for five minutes.

Keys, behind the configured prefix: ``history:{<person>}:index`` is a sorted set of answer
identifiers by time of the query, ``history:{<person>}:entry:<answer_id>`` the entry, JSON. Both
expire. A person is a digest of tenant and user (or session), so that no key holds a name;
the braces keep one person's keys together in a cluster. The text of a query is not kept, only its vector and the
short digests of ``query_fingerprint``.

Without Redis there is no history: callers get ``None`` and continue.
"""

import base64
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import orjson

from workers.feedback.query_fingerprint import QueryFingerprint
from workers.feedback.retry_detection import AskedQuery
from workers.observability import metrics
from workers.observability.logs import get_logger
from workers.settings import RedisSettings
from workers.stores.redis.client import REDIS_ERRORS, open_redis

log = get_logger(__name__)

AGENT = "signals"
"""Agent that detects retries; its processes alone export whether Redis responds."""

PAUSE_SECONDS = 1.0
"""Pause after a failure. Without the pause every record would wait for a timeout."""

WARNING_SECONDS = 60.0
"""Interval between two warnings while Redis is unavailable."""

# Redis runs a script as one step: of two workers that note queries at the same time, the later one
# sees the query of the earlier one. The query itself is left out, so that a repeated record never
# matches itself.
ADD = """
local prefix, id, keep = ARGV[1], ARGV[2], tonumber(ARGV[6])
local others = {}
for _, other in ipairs(redis.call('ZREVRANGE', KEYS[1], 0, -1)) do
  if other ~= id then
    local entry = redis.call('GET', prefix .. other)
    if not entry then
      redis.call('ZREM', KEYS[1], other)
    elseif #others < keep then
      others[#others + 1] = entry
    end
  end
end
redis.call('SET', prefix .. id, ARGV[4], 'PX', ARGV[5])
redis.call('ZADD', KEYS[1], ARGV[3], id)
for _, old in ipairs(redis.call('ZREVRANGE', KEYS[1], keep, -1)) do
  redis.call('DEL', prefix .. old)
  redis.call('ZREM', KEYS[1], old)
end
redis.call('PEXPIRE', KEYS[1], ARGV[5])
return others
"""

FORGET = """
local count = 0
for _, id in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  count = count + redis.call('DEL', ARGV[1] .. id)
end
redis.call('DEL', KEYS[1])
return count
"""


@dataclass(frozen=True, slots=True)
class PersonQuery:
    """Query with its person, a digest from ``schemas.identifiers.person_digest``."""

    person: str
    query: AskedQuery


class QueryHistory:
    """Recent queries of each person, shared by all workers.

    Args:
        url: address of Redis.
        settings: prefix of keys, connection and number of queries kept.
        expiry_seconds: lifetime of an entry.
    """

    def __init__(self, url: str, settings: RedisSettings, expiry_seconds: float) -> None:
        self._prefix = settings.key_prefix
        self._keep = settings.history_queries
        self._expiry_ms = int(expiry_seconds * 1000)
        self._redis = open_redis(url, settings)
        self._not_before = 0.0
        self._warn_not_before = 0.0
        self._is_away = False

    async def exchange(self, queries: Sequence[PersonQuery]) -> list[list[AskedQuery]] | None:
        """Store queries in order, and return the other queries of each person.

        Args:
            queries: queries in the order of arrival; a repeated query replaces its entry.

        Returns:
            For each query the latest other queries of its person, or ``None`` while Redis is unavailable.
        """
        if not queries or time.monotonic() < self._not_before:
            return None if queries else []
        pipeline = self._redis.pipeline(transaction=False)
        for asked in queries:
            index, entries = self._keys(asked.person)
            query = asked.query
            pipeline.eval(
                ADD, 1, index, entries, query.answer_id, repr(query.asked_at), _entry(query), str(self._expiry_ms),
                str(self._keep),
            )  # fmt: skip
        try:
            answers = await pipeline.execute()
        except REDIS_ERRORS as error:
            self._away(error)
            return None
        self._there()
        return [[known for entry in entries if (known := _query(entry)) is not None] for entries in answers]

    async def check(self) -> None:
        """Ping Redis, so that the gauge is right without traffic."""
        try:
            await self._redis.ping()
        except REDIS_ERRORS as error:
            self._away(error)
        else:
            self._there()

    async def forget(self, person: str) -> int:
        """Remove a person's queries.

        Returns:
            Number of queries removed.

        Raises:
            redis.exceptions.RedisError: Redis does not respond.
        """
        index, entries = self._keys(person)
        return int(await self._redis.eval(FORGET, 1, index, entries))

    async def close(self) -> None:
        """Disconnect."""
        await self._redis.aclose()

    def _keys(self, person: str) -> tuple[str, str]:
        entries = f"{self._prefix}history:{{{person}}}:"
        return entries + "index", entries + "entry:"

    def _away(self, error: Exception) -> None:
        now = time.monotonic()
        self._not_before = now + PAUSE_SECONDS
        self._is_away = True
        metrics.REDIS_AVAILABLE.labels(AGENT).set(0)
        if now >= self._warn_not_before:
            self._warn_not_before = now + WARNING_SECONDS
            log.warning("query_history_suspended", error_class=type(error).__name__)

    def _there(self) -> None:
        metrics.REDIS_AVAILABLE.labels(AGENT).set(1)
        self._not_before = 0.0
        if self._is_away:
            self._is_away = False
            log.info("query_history_resumed")


def _entry(query: AskedQuery) -> bytes:
    content: dict[str, object] = {
        "query_id": query.answer_id,
        "timestamp": query.asked_at,
        "embedding": base64.b64encode(query.vector.astype("<f2").tobytes()).decode(),
    }
    if query.fingerprint is not None:
        content |= {
            "words": query.fingerprint.words,
            "values": sorted(query.fingerprint.values),
            "names": sorted(query.fingerprint.names),
            "asks": sorted(query.fingerprint.asks),
            "poles": sorted(query.fingerprint.poles),
        }
    return orjson.dumps(content)


def _query(entry: bytes) -> AskedQuery | None:
    """Parse an entry; ``None`` if another version or another program wrote it."""
    try:
        content = orjson.loads(entry)
        vector = np.frombuffer(base64.b64decode(content["embedding"]), dtype="<f2").astype(np.float16)
        digests = (
            QueryFingerprint(
                tuple(map(int, content["words"])),
                frozenset(map(int, content["values"])),
                frozenset(map(int, content["names"])),
                frozenset(map(str, content.get("asks", ()))),
                frozenset(map(int, content.get("poles", ()))),
            )
            if "words" in content
            else None
        )
        return AskedQuery(str(content["query_id"]), float(content["timestamp"]), vector, digests)
    except (ValueError, KeyError, TypeError):
        return None
