"""Measure the time in which the process ran."""

from collections.abc import Callable

STANDSTILL_SECONDS = 5.0
"""Distance of two readings from which on the process counts as stopped between them, in seconds."""


class RunningClock:
    """Clock that stands still with the process: while it is frozen, no report can reach it.

    Read it far more often than every :data:`STANDSTILL_SECONDS`.

    Args:
        clock: monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._latest = clock()
        self._stopped = 0.0

    def __call__(self) -> float:
        """Return the clock's seconds without the times of standstill."""
        reading = self._clock()
        if reading - self._latest >= STANDSTILL_SECONDS:
            self._stopped += reading - self._latest
        self._latest = reading
        return reading - self._stopped
