"""Track delivered offsets and decide which may be committed.

Faust forgets a message without references, counts gaps as delivered, and commits past records
in flight. The ledger has one rule: a delivered offset is outstanding until it is acknowledged in the same
epoch, and a commit never passes the smallest outstanding offset.
"""

from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import NamedTuple


class Partition(NamedTuple):
    """Identify a partition by topic and number; equal to Faust's and aiokafka's tuples."""

    topic: str
    partition: int


@dataclass(slots=True)
class _Position:
    """Hold the offsets of one partition in this epoch."""

    committed: int | None = None
    next_offset: int | None = None
    outstanding: set[int] = field(default_factory=set)
    smallest_first: list[int] = field(default_factory=list)

    def committable(self) -> int | None:
        heap = self.smallest_first
        while heap and heap[0] not in self.outstanding:
            heappop(heap)
        return heap[0] if heap else self.next_offset


class OffsetLedger:
    """Track outstanding offsets by partition, one epoch at a time.

    An epoch is the time between two revocations. Records of an earlier epoch are delivered again, so their
    acknowledgements are ignored.

    Not thread-safe: all calls come from the event loop of the app.
    """

    def __init__(self) -> None:
        self._epoch = 0
        self._positions: dict[Partition, _Position] = {}

    @property
    def epoch(self) -> int:
        """Return the number of the current epoch."""
        return self._epoch

    def is_current(self, epoch: int) -> bool:
        """Return True if records delivered in ``epoch`` may still be acknowledged."""
        return epoch == self._epoch

    def start_epoch(self) -> int:
        """Clear all offsets, because the partitions were revoked or are read again.

        Returns:
            The number of the new epoch.
        """
        self._epoch += 1
        self._positions.clear()
        return self._epoch

    def begin(self, partition: Partition, committed: int | None) -> None:
        """Set the committed offset where reading starts, or None without one."""
        self._position(partition).committed = committed

    def deliver(self, partition: Partition, offset: int) -> None:
        """Add a record that was delivered to an agent.

        Raises:
            ValueError: if offsets of a partition do not increase. A record would have been skipped or
                delivered twice within an epoch.
        """
        position = self._position(partition)
        if position.next_offset is not None and offset < position.next_offset:
            raise ValueError(f"offset {offset} of {partition} delivered after {position.next_offset - 1}")
        position.outstanding.add(offset)
        heappush(position.smallest_first, offset)
        position.next_offset = offset + 1

    def skip(self, partition: Partition, offset: int) -> None:
        """Continue at a later offset: the records before it are gone. Records in progress hold back the commit."""
        position = self._position(partition)
        position.next_offset = max(offset, position.next_offset or 0)

    def acknowledge(self, partition: Partition, offset: int, epoch: int) -> bool:
        """Mark a record as done.

        Returns:
            True if the acknowledgement counts; False for an earlier epoch or a repeated acknowledgement.
        """
        if epoch != self._epoch:
            return False
        position = self._positions.get(partition)
        if position is None or offset not in position.outstanding:
            return False
        position.outstanding.remove(offset)
        return True

    def committable(self, partition: Partition) -> int | None:
        """Return the offset that may be committed (the next one to read), or ``None`` without progress."""
        position = self._positions.get(partition)
        if position is None:
            return None
        offset = position.committable()
        if offset is None or (position.committed is not None and offset <= position.committed):
            return None
        return offset

    def confirm(self, partition: Partition, offset: int, epoch: int) -> bool:
        """Set the offset that the broker has committed.

        Returns:
            True if the commit counts; False for a commit of an earlier epoch.
        """
        if epoch != self._epoch:
            return False
        self._position(partition).committed = offset
        return True

    def committed(self, partition: Partition) -> int | None:
        """Return the last offset known to be committed, or None."""
        position = self._positions.get(partition)
        return position.committed if position else None

    def position(self, partition: Partition) -> int | None:
        """Return the offset after the last one delivered in this epoch, or None."""
        position = self._positions.get(partition)
        return position.next_offset if position else None

    def outstanding(self, partition: Partition | None = None) -> int:
        """Count delivered records that are not acknowledged, in one partition or in all."""
        if partition is not None:
            position = self._positions.get(partition)
            return len(position.outstanding) if position else 0
        return sum(len(position.outstanding) for position in self._positions.values())

    def unfinished(self) -> bool:
        """Return True if a delivered record is unacknowledged, or acknowledged but uncommitted."""
        return any(self.outstanding(p) > 0 or self.committable(p) is not None for p in self._positions)

    def partitions(self) -> list[Partition]:
        """Return the partitions that the ledger tracks in this epoch."""
        return list(self._positions)

    def _position(self, partition: Partition) -> _Position:
        return self._positions.setdefault(partition, _Position())
