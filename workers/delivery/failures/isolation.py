"""Isolate suspect records, to find the one that kills the process."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

PATIENCE_SECONDS = 30.0
"""Maximum wait of an accused record for running batches; a batch that hangs must not stop all others."""


class Isolation:
    """Concurrency of batches, suspects and accused records.

    Batches run concurrently. Suspects run one at a time, concurrently with batches. An accused record runs without any
    other work.

    A suspect was in progress at a crash, together with other records. An accused record was in progress as a suspect at
    another crash, which a concurrent batch may have caused. Before it is dead-lettered, it must be the only possible
    cause.
    """

    def __init__(self) -> None:
        self._one = asyncio.Lock()
        self._batches = 0
        self._accused = False
        self._changed = asyncio.Event()

    def together(self) -> AbstractAsyncContextManager[bool]:
        """Return a context for a normal batch; a crash in it is counted for no record."""
        return self._together()

    def alone(self, *, accused: bool) -> AbstractAsyncContextManager[bool]:
        """Return a context for a suspect.

        Args:
            accused: True if no other work may run.

        Returns:
            A context whose value is True if a crash in it is counted for the record.
        """
        return self._alone(accused)

    @asynccontextmanager
    async def _together(self) -> AsyncIterator[bool]:
        while self._accused:
            await self._changed.wait()
        self._batches += 1
        try:
            yield False
        finally:
            self._batches -= 1
            self._tell()

    @asynccontextmanager
    async def _alone(self, accused: bool) -> AsyncIterator[bool]:
        async with self._one:
            self._accused = accused
            try:
                yield not accused or await self._others_are_done()
            finally:
                self._accused = False
                self._tell()

    async def _others_are_done(self) -> bool:
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                while self._batches:
                    await self._changed.wait()
        except TimeoutError:
            return False
        return True

    def _tell(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()
