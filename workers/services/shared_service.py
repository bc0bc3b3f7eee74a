"""Share one opened service among its users: the first opens it, the last closes it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Generic, TypeVar

ServiceT = TypeVar("ServiceT")


class SharedService(Generic[ServiceT]):
    """A service that is opened for its first user and closed after its last.

    Args:
        opener: opens the service; the end of its context closes it.
    """

    def __init__(self, opener: Callable[[], AbstractAsyncContextManager[ServiceT]]) -> None:
        self._opener = opener
        self._lock = asyncio.Lock()
        self._opened: tuple[ServiceT, AsyncExitStack] | None = None
        self._users = 0

    @asynccontextmanager
    async def __call__(self) -> AsyncIterator[ServiceT]:
        """Use the service until the context ends; an error of the opener reaches the user that waits for it."""
        service = await self._enter()
        try:
            yield service
        finally:
            await self._leave()

    async def _enter(self) -> ServiceT:
        async with self._lock:
            if self._opened is None:
                stack = AsyncExitStack()
                self._opened = await stack.enter_async_context(self._opener()), stack
            self._users += 1
            return self._opened[0]

    async def _leave(self) -> None:
        async with self._lock:
            self._users -= 1
            if self._opened is None or self._users:
                return
            (_, stack), self._opened = self._opened, None
            await stack.aclose()
