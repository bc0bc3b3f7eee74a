"""Read files of lines, plain or gzip, with a bound on the memory that a line takes."""

import gzip
import io
import os
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self, cast

from workers.errors import TouchstoneError

GZIP_MAGIC = b"\x1f\x8b"
"""First bytes of a gzip file."""

MAX_LINE_BYTES = 64_000_000
"""Longest line that is read if no setting says otherwise, bytes after decompression."""


class LongLine(TouchstoneError):
    """Report a line, or a file of one document, that is longer than the bound."""


def too_long(max_line_bytes: int) -> str:
    """Return the reason why a line, or a document, of more bytes is refused."""
    return (
        f"longer than {max_line_bytes} bytes after decompression; write one record a line, or raise "
        "TOUCHSTONE_FILES__MAX_LINE_BYTES"
    )


class LineFile:
    """Read a file, plain or gzip, and never keep more than one line of bounded length.

    Gzip is recognised by its first bytes and may have several members.

    Args:
        file: path of the file; ``-`` for standard input.
        max_line_bytes: longest line, and longest document, in bytes after decompression.

    Raises:
        TouchstoneError: the file cannot be opened.
    """

    def __init__(self, file: str, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        self.name = file
        self.size: int | None = None
        self._limit = max_line_bytes
        with self._readable():
            self._raw = _standard_input() if file == "-" else Path(file).open("rb")  # noqa: SIM115 closed by close()
            if file != "-" and stat.S_ISREG((status := os.fstat(self._raw.fileno())).st_mode):
                self.size = status.st_size  # pipes and devices have neither a size nor a position
            head = self._raw.read(len(GZIP_MAGIC))
        self._content: io.BufferedIOBase = io.BufferedReader(_Joined(head, self._raw))
        if head == GZIP_MAGIC:
            self._content = gzip.GzipFile(fileobj=self._content)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def position(self) -> int:
        """Return the number of bytes read so far, before decompression; 0 for standard input and pipes."""
        return self._raw.tell() if self.size is not None else 0

    def close(self) -> None:
        """Close the file; standard input stays open."""
        if self.name != "-":
            self._raw.close()

    def document(self) -> bytes | None:
        """Return the content of the file, or ``None`` if it is longer than the bound.

        Lines can be read afterwards in either case, from the beginning.

        Raises:
            TouchstoneError: the file cannot be read.
        """
        with self._readable():
            head = self._content.read(self._limit + 1)
        self._content = io.BufferedReader(_Joined(head, self._content))
        return head if len(head) <= self._limit else None

    def lines(self) -> Iterator[bytes]:
        """Yield the lines.

        Raises:
            LongLine: a line is longer than the bound.
            TouchstoneError: the file cannot be read to its end.
        """
        for number, line in self.numbered_lines():
            if line is None:
                raise LongLine(f"{self.name}, line {number}: {self.too_long()}")
            yield line

    def numbered_lines(self) -> Iterator[tuple[int, bytes | None]]:
        """Yield the number and the content of each line; the content is ``None`` if it is longer than the bound.

        Raises:
            TouchstoneError: the file cannot be read to its end.
        """
        number = 0
        with self._readable():
            while line := self._content.readline(self._limit + 1):
                number += 1
                is_long = len(line) > self._limit
                while is_long and line and not line.endswith(b"\n"):
                    line = self._content.readline(io.DEFAULT_BUFFER_SIZE)
                yield number, None if is_long else line

    def too_long(self) -> str:
        """Return the reason why a line, or a document, is refused."""
        return too_long(self._limit)

    @contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except (OSError, EOFError, zlib.error) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else f"damaged ({error})"
            raise TouchstoneError(f"{self.name} cannot be read: {reason}") from error


def _standard_input() -> io.BufferedReader:
    try:
        # A reader of its own: a thread that still waits for a line at the end of the process holds the lock of its
        # reader, and Python aborts if that is the lock of sys.stdin.
        return open(sys.stdin.fileno(), "rb", closefd=False)
    except (AttributeError, OSError, ValueError):
        return cast("io.BufferedReader", sys.stdin.buffer)  # replaced by an object without a descriptor


class _Joined(io.RawIOBase):
    """Read bytes that were taken from a stream, then the rest of the stream."""

    def __init__(self, head: bytes, rest: io.BufferedIOBase) -> None:
        super().__init__()
        self._head: memoryview | None = memoryview(head)
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # typeshed's buffer has no length
        if self._head is None:
            content = self._rest.read1(len(buffer))  # what is there: lines of a pipe are not held back
            buffer[: len(content)] = content
            return len(content)
        part, self._head = self._head[: len(buffer)], self._head[len(buffer) :]
        buffer[: len(part)] = part
        if not self._head:
            self._head = None  # the bytes are released
        return len(part) or self.readinto(buffer)
