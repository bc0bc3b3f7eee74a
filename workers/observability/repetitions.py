"""Log a repeated event of a library once, and then its count every minute.

A client library logs each failed attempt. While brokers do not respond that is hundreds of lines a second.
"""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Any

INTERVAL_SECONDS = 60.0
"""Time between two lines of one event."""

MAX_EVENTS = 1_000
"""Events that are remembered; the oldest are forgotten, because a library may write values into its messages."""

Event = tuple[str, int, str, Any]


@dataclass(slots=True)
class _Seen:
    since: float
    withheld: int = 0


class RepetitionFilter:
    """Withhold repeated events of libraries. An event is a logger, a level, a message without values, and an error class.

    Args:
        clock: seconds, never going back.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._seen: dict[Event, _Seen] = {}
        self._lock = threading.Lock()

    def __call__(self, record: logging.LogRecord) -> bool:
        """Return true if the record is logged. A record after withheld ones gets their number."""
        if isinstance(record.msg, dict):
            return True  # Touchstone's own event
        error = record.exc_info[0] if record.exc_info else None
        event: Event = (record.name, record.levelno, str(record.msg), error)
        with self._lock:
            now = self._clock()
            seen = self._seen.get(event)
            if seen is None:
                if len(self._seen) >= MAX_EVENTS:
                    del self._seen[next(iter(self._seen))]
                self._seen[event] = _Seen(now)
                return True
            if now - seen.since < INTERVAL_SECONDS:
                seen.withheld += 1
                return False
            withheld, elapsed = seen.withheld, now - seen.since
            self._seen[event] = _Seen(now)
        if withheld:
            record.msg = f"{record.getMessage()} ({withheld} more in the last {elapsed:.0f} s)"
            record.args = ()
        return True
