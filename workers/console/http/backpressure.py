"""Bound the request bodies that wait for the broker."""

from collections.abc import Iterator
from contextlib import contextmanager

from workers.console.http.problems import too_many

RETRY_SECONDS = 1.0
"""Value of ``Retry-After`` while the limit is reached."""


class IntakeGate:
    """Limit on the bytes that wait for the broker; requests over the limit are refused.

    Args:
        limit: bytes; a single request is always accepted.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._waiting = 0

    @contextmanager
    def taking(self, size: int) -> Iterator[None]:
        """Count a request of ``size`` bytes as waiting while the context is open.

        Raises:
            Problem: 429 with ``Retry-After``, the limit is reached.
        """
        if self._waiting and self._waiting + size > self._limit:
            raise too_many(RETRY_SECONDS)
        self._waiting += size
        try:
            yield
        finally:
            self._waiting -= size
