"""Queue items of several callers so that a caller with many items does not delay the others."""

import asyncio
from collections import deque
from collections.abc import Iterable
from typing import Generic, TypeVar

T = TypeVar("T")

TURN = 8
"""Items of one caller per turn. A smaller number would spread the sentences of one answer over more batches than
necessary."""


class FairQueue(Generic[T]):
    """Queue in which callers take turns: a caller with a thousand items does not delay one with two."""

    def __init__(self) -> None:
        self._askers: deque[deque[T]] = deque()
        self._size = 0
        self._filled = asyncio.Event()

    def __len__(self) -> int:
        return self._size

    def put(self, items: Iterable[T]) -> None:
        """Add the items of one caller."""
        asked = deque(items)
        if asked:
            self._askers.append(asked)
            self._size += len(asked)
            self._filled.set()

    async def filled(self) -> None:
        """Wait until the queue has an item."""
        await self._filled.wait()

    def take(self, most: int) -> list[T]:
        """Remove and return at most ``most`` items, from each caller in turn."""
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
