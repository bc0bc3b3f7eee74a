"""Read the lines of a file in a thread, so that an event loop never waits for a pipe."""

import asyncio
import threading
from collections.abc import AsyncIterator
from typing import Self

from workers.process.line_files import LineFile

BATCH_LINES = 100
"""Maximum number of lines of a batch."""

BATCH_BYTES = 8_000_000
"""Size from which a batch takes no further line, bytes."""

BATCH_SECONDS = 0.2
"""Maximum wait for further lines after the first one of a batch: those of a live pipe are not held back."""

NumberedLine = tuple[int, bytes | None]
"""Number of a line and its content; ``None`` if it is longer than the bound."""


class LineReader:
    """Read the lines of a file in batches.

    The thread is a daemon, because nothing can end one that waits for a pipe.

    Args:
        file: path of the file, plain or gzip; ``-`` for standard input.
        max_line_bytes: longest line, bytes after decompression.

    Attributes:
        position: number of bytes read so far, before decompression; 0 for standard input and pipes.
        size: size of the file, bytes; ``None`` for standard input and pipes.
    """

    def __init__(self, file: str, max_line_bytes: int) -> None:
        self.position, self.size = 0, None  # type: int, int | None
        self._file, self._limit = file, max_line_bytes
        self._loop = asyncio.get_running_loop()
        # Guards all fields below; the thread waits with it while a batch is full.
        self._changed = threading.Condition()
        self._lines: list[NumberedLine] = []
        self._bytes = 0
        self._ended = self._closed = False
        self._failure: Exception | None = None
        self._arrived, self._filled = asyncio.Event(), asyncio.Event()

    def __enter__(self) -> Self:
        threading.Thread(target=self._read, name="lines", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify()

    async def first_line(self) -> None:
        """Wait for the first line, or for the end of an empty file.

        Raises:
            TouchstoneError: the file cannot be opened, or is damaged before its first line.
        """
        await self._arrived.wait()
        if self._failure is not None and not self._lines:
            raise self._failure

    async def batches(self) -> AsyncIterator[list[NumberedLine]]:
        """Yield the lines in batches, each a short time after its first line.

        Raises:
            TouchstoneError: the file cannot be read to its end.
        """
        while True:
            await self._arrived.wait()
            try:
                async with asyncio.timeout(BATCH_SECONDS):
                    await self._filled.wait()
            except TimeoutError:
                pass
            with self._changed:
                batch, self._lines, self._bytes = self._lines, [], 0
                ended = self._ended
                if not ended:
                    self._arrived.clear()
                    self._filled.clear()
                self._changed.notify()
            if batch:
                yield batch
            if ended and self._failure is not None:
                raise self._failure
            if ended:
                return

    def _read(self) -> None:
        try:
            with LineFile(self._file, self._limit) as source:
                for number, line in source.numbered_lines():
                    if not self._add((number, line), source):
                        return
        except Exception as error:
            self._failure = error
        with self._changed:
            self._ended = True
            self._set(self._arrived, self._filled)

    def _add(self, line: NumberedLine, source: LineFile) -> bool:
        """Add a line to the batch once there is room; return whether more lines are wanted."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or not self._full())
            self._lines.append(line)
            self._bytes += len(line[1] or b"")
            self.position, self.size = source.position, source.size
            if len(self._lines) == 1:
                self._set(self._arrived)
            if self._full():
                self._set(self._filled)
            return not self._closed

    def _full(self) -> bool:
        return len(self._lines) >= BATCH_LINES or self._bytes >= BATCH_BYTES

    def _set(self, *events: asyncio.Event) -> None:
        if not self._closed:  # afterwards the loop may be closed
            for event in events:
                self._loop.call_soon_threadsafe(event.set)
