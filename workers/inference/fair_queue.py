"""A queue in which nobody waits for all of somebody else's."""

import asyncio
from collections import deque
from collections.abc import Iterable
from typing import Generic, TypeVar

T = TypeVar("T")

TURN = 8
"""Items of one asker in a row. Fewer would spread the sentences of an answer, which come out together, over
more batches than they need."""


class FairQueue(Generic[T]):
    """Items of many askers, who take turns: one with a thousand does not hold up one with two."""

    def __init__(self) -> None:
        self._askers: deque[deque[T]] = deque()
        self._size = 0
        self._filled = asyncio.Event()

    def __len__(self) -> int:
        return self._size

    def put(self, items: Iterable[T]) -> None:
        """Add the items of one asker."""
        asked = deque(items)
        if asked:
            self._askers.append(asked)
            self._size += len(asked)
            self._filled.set()

    async def filled(self) -> None:
        """Wait until there is an item."""
        await self._filled.wait()

    def take(self, most: int) -> list[T]:
        """Up to so many items, of each asker in turn."""
        taken: list[T] = []
        while self._askers and len(taken) < most:
            asked = self._askers.popleft()
            taken += [asked.popleft() for _ in range(min(TURN, len(asked), most - len(taken)))]
            if asked:
                self._askers.append(asked)
        self._size -= len(taken)
        if not self._size:
            self._filled.clear()
        return taken
