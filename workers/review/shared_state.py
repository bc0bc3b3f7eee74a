"""Access Redis as an optional store that consoles share."""

import time
from collections.abc import Awaitable, Sequence
from typing import Any

from workers.observability.logs import get_logger
from workers.stores.redis.client import REDIS_ERRORS, RedisClient, read_many

PAUSE_SECONDS = 1.0
"""Time after a failure in which all commands fail at once; otherwise every request would wait for a timeout."""

log = get_logger(__name__)


class SharedStateAway(Exception):
    """Redis does not respond, or none is configured."""


class SharedState:
    """Redis commands under one key prefix.

    Args:
        redis: client with a short timeout; ``None`` to work without Redis.
        prefix: prefix of every key.
    """

    def __init__(self, redis: RedisClient | None, prefix: str) -> None:
        self._redis = redis
        self._prefix = f"{prefix}review:"
        self._not_before = 0.0

    def key(self, kind: str, name: str = "") -> str:
        """Return the full name of a key."""
        return f"{self._prefix}{kind}:{name}" if name else f"{self._prefix}{kind}"

    async def ask(self, command: str, *arguments: Any, **options: Any) -> Any:
        """Send a command and return the reply.

        Raises:
            SharedStateAway: Redis does not respond; all commands of the next second fail at once.
        """
        return await self._tried(getattr(self._there(), command)(*arguments, **options))

    async def read(self, keys: Sequence[str]) -> list[bytes | None]:
        """Return the values of keys, ``None`` for those that are missing.

        Raises:
            SharedStateAway: Redis does not respond.
        """
        found: list[bytes | None] = await self._tried(read_many(self._there(), keys))
        return found

    def _there(self) -> RedisClient:
        if self._redis is None or time.monotonic() < self._not_before:
            raise SharedStateAway
        return self._redis

    async def _tried(self, reply: Awaitable[Any]) -> Any:
        try:
            return await reply
        except REDIS_ERRORS as error:
            self._not_before = time.monotonic() + PAUSE_SECONDS
            log.warning("review_locks_suspended", error_class=type(error).__name__)
            raise SharedStateAway from error
