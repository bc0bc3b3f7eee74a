"""Backpressure over HTTP: what waits for the broker is bounded."""

from collections.abc import Iterator
from contextlib import contextmanager

from workers.console.problems import too_many

RETRY_SECONDS = 1.0
"""What a sender is told to wait while too much waits for the broker."""


class IntakeGate:
    """Bounds what waits for the broker: who comes while it is full is told to come again.

    Args:
        limit: bytes; one request is always taken.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._waiting = 0

    @contextmanager
    def taking(self, size: int) -> Iterator[None]:
        """Take a request.

        Raises:
            Problem: 429, with the time to wait.
        """
        if self._waiting and self._waiting + size > self._limit:
            raise too_many(RETRY_SECONDS)
        self._waiting += size
        try:
            yield
        finally:
            self._waiting -= size
