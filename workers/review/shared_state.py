"""Access Redis as an optional store that consoles share."""

import time
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import RedisError

from workers.observability.logs import get_logger

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

    def __init__(self, redis: "Redis | None", prefix: str) -> None:
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
        if self._redis is None or time.monotonic() < self._not_before:
            raise SharedStateAway
        try:
            return await getattr(self._redis, command)(*arguments, **options)
        except (RedisError, OSError) as error:
            self._not_before = time.monotonic() + PAUSE_SECONDS
            log.warning("review_locks_suspended", error_class=type(error).__name__)
            raise SharedStateAway from error
