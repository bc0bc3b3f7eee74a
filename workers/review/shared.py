"""Redis as consoles share it: it may be away, and then everything goes on without it."""

import time
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import RedisError

from workers.logs import get_logger

PAUSE_SECONDS = 1.0
"""After a failure nobody asks again for so long: otherwise every request would wait for a timeout."""

log = get_logger(__name__)


class SharedStateAway(Exception):
    """Redis does not answer, or there is none."""


class SharedState:
    """Commands to Redis under one prefix.

    Args:
        redis: with a short timeout; ``None`` to do without.
        prefix: put before every key.
    """

    def __init__(self, redis: "Redis | None", prefix: str) -> None:
        self._redis = redis
        self._prefix = f"{prefix}review:"
        self._not_before = 0.0

    def key(self, kind: str, name: str = "") -> str:
        """The name of a key."""
        return f"{self._prefix}{kind}:{name}" if name else f"{self._prefix}{kind}"

    async def ask(self, command: str, *arguments: Any, **options: Any) -> Any:
        """Send a command.

        Raises:
            SharedStateAway: there is no answer; the next ones fail at once for a second.
        """
        if self._redis is None or time.monotonic() < self._not_before:
            raise SharedStateAway
        try:
            return await getattr(self._redis, command)(*arguments, **options)
        except (RedisError, OSError) as error:
            self._not_before = time.monotonic() + PAUSE_SECONDS
            log.warning("review_locks_away", error_class=type(error).__name__)
            raise SharedStateAway from error
