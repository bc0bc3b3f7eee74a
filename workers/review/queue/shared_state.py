"""Access Redis as an optional store that consoles share."""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Sequence
from contextlib import suppress
from typing import Any

from redis.exceptions import ResponseError

from workers.observability.logs import get_logger
from workers.stores.redis.client import REDIS_ERRORS, RedisClient, read_many

PAUSE_SECONDS = 1.0
"""Time after a failure in which all commands fail at once; otherwise every request would wait for a timeout."""

MOST_OWED = 10_000
"""Most commands that wait for Redis; a longer outage than they stand for forgets the oldest ones."""

log = get_logger(__name__)


class SharedStateAway(Exception):
    """Report that Redis does not respond, or that none is configured."""


class SharedState:
    """Send Redis commands under one key prefix.

    Args:
        redis: client with a short timeout; ``None`` to work without Redis.
        prefix: prefix of every key.
    """

    def __init__(self, redis: RedisClient | None, prefix: str) -> None:
        self._redis = redis
        self._prefix = f"{prefix}review:"
        self._not_before = 0.0
        self._owed: deque[tuple[str, tuple[Any, ...], dict[str, Any]]] = deque(maxlen=MOST_OWED)
        self._settling = asyncio.Lock()

    @property
    def is_configured(self) -> bool:
        """Return ``False`` if this process works without Redis."""
        return self._redis is not None

    def key(self, kind: str, name: str = "") -> str:
        """Return the full name of a key."""
        return f"{self._prefix}{kind}:{name}" if name else f"{self._prefix}{kind}"

    async def ask(self, command: str, *arguments: Any, **options: Any) -> Any:
        """Send a command and return the reply.

        Raises:
            SharedStateAway: Redis does not respond; all commands of the next second fail at once.
        """
        await self._settle()
        return await self._send(command, *arguments, **options)

    async def insist(self, command: str, *arguments: Any, **options: Any) -> None:
        """Send a command that may be repeated; if Redis does not respond, send it before the next command of all."""
        if self._redis is None:
            return
        self._owed.append((command, arguments, options))
        with suppress(SharedStateAway):
            await self._settle()

    async def _settle(self) -> None:
        """Send the commands that are owed, in their order: a later command may write what an earlier one removes."""
        if not self._owed:
            return
        async with self._settling:
            while self._owed:
                command, arguments, options = self._owed[0]
                try:
                    await self._send(command, *arguments, **options)
                except SharedStateAway as error:
                    if not isinstance(error.__cause__, ResponseError):
                        raise
                    # Redis is there and refuses (memory, rights): all later commands would wait for this one.
                    self._not_before = 0.0
                    log.error("shared_state_write_refused", command=command, error=str(error.__cause__)[:200])
                self._owed.popleft()

    async def _send(self, command: str, *arguments: Any, **options: Any) -> Any:
        return await self._tried(getattr(self._there(), command)(*arguments, **options))

    async def read(self, keys: Sequence[str]) -> list[bytes | None]:
        """Return the values of keys, ``None`` for those that are missing.

        Raises:
            SharedStateAway: Redis does not respond.
        """
        await self._settle()
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
            log.warning("shared_state_suspended", error_class=type(error).__name__)
            raise SharedStateAway from error
