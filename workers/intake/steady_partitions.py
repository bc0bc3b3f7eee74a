"""Know since when the chunks of each partition are handled without an interruption."""

from collections.abc import Collection

STANDSTILL_SECONDS = 5.0
"""Time between the end of a look and the next one from which on the process counts as stopped, seconds."""


class SteadyPartitions:
    """Times since which partitions are handled steadily.

    During an outage, a standstill or a rebalance, chunks wait on their topic. The silence of a stream then says
    nothing about its sender.
    """

    def __init__(self) -> None:
        self._since: dict[int, float] = {}
        self._latest = self._not_before = 0.0

    def look(self, owned: Collection[int], now: float) -> None:
        """Note the partitions that the worker owns; call it about every second.

        Args:
            owned: partition numbers.
            now: Unix time in seconds.
        """
        step = now - self._latest
        if step <= -STANDSTILL_SECONDS:
            # The clock was set back: times of before lie in the future, and nothing would count until they are reached.
            self._not_before += step
        if abs(step) >= STANDSTILL_SECONDS:
            self.interrupt(now)
        since = max(now, self._not_before)
        self._since = {partition: self._since.get(partition, since) for partition in owned}

    def end_look(self, now: float) -> None:
        """Note the end of a look and of what was done in it: the time that it took is no standstill."""
        self._latest = now

    def interrupt(self, not_before: float) -> None:
        """Count the time of every partition from the next look on, because a service did not respond.

        Args:
            not_before: Unix time in seconds by which the waiting chunks are tried again.
        """
        self._since.clear()
        self._not_before = max(self._not_before, not_before)

    def seconds(self, partition: int, now: float) -> float:
        """Return how long a partition has been handled steadily, in seconds; 0 if it has not been looked at."""
        return max(0.0, now - self._since.get(partition, now))
