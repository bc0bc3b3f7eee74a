"""Let tenants take turns, so that one with many waiting records does not delay the others."""

import asyncio
from collections import deque
from typing import Generic, TypeVar

T = TypeVar("T")


class Turns(Generic[T]):
    """Queue that hands out one item of each tenant in turn. Items of one tenant keep their order."""

    def __init__(self) -> None:
        self._tenants: dict[str, deque[T]] = {}  # the tenant whose turn it is comes first
        self._filled = asyncio.Event()
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def put(self, tenant: str, item: T) -> None:
        """Add an item."""
        self._tenants.setdefault(tenant, deque()).append(item)
        self._size += 1
        self._filled.set()

    async def get(self) -> T:
        """Remove and return the next item; wait for one."""
        while not self._size:
            self._filled.clear()
            await self._filled.wait()
        return self.take()

    def take(self) -> T:
        """Remove and return the next item of a queue that has one."""
        tenant = next(iter(self._tenants))
        items = self._tenants.pop(tenant)
        item = items.popleft()
        if items:
            self._tenants[tenant] = items
        self._size -= 1
        return item

    def take_beyond(self, most: int) -> list[T]:
        """Remove and return the items after the next ``most`` ones."""
        kept = [self.take() for _ in range(min(most, self._size))]
        beyond = [self.take() for _ in range(self._size)]
        for item in kept:
            self.put("", item)  # their order is that of the turns already
        return beyond
