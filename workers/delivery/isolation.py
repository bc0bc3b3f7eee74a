"""Who may be in work beside whom, while a record that kills the process is looked for."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

PATIENCE_SECONDS = 30.0
"""How long an accused record waits for batches in work; a batch that hangs must not hold up all others."""


class Isolation:
    """Batches go on together, suspects one at a time beside them, an accused record all alone.

    A suspect was in work at a death, in company. An accused record was in work as a suspect
    at another one, perhaps beside the batch that was at fault: before it is given up, nothing
    else in the process may be to blame.
    """

    def __init__(self) -> None:
        self._one = asyncio.Lock()
        self._batches = 0
        self._accused = False
        self._changed = asyncio.Event()

    def together(self) -> AbstractAsyncContextManager[bool]:
        """A batch like any other; its death counts against nobody."""
        return self._together()

    def alone(self, *, accused: bool) -> AbstractAsyncContextManager[bool]:
        """A suspect.

        Args:
            accused: whether nothing else may be in work.

        Returns:
            A context that says whether a death in it counts against the record.
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
