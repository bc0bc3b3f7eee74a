"""The ledger of delivered offsets: which may be committed and which may not.

Faust forgets a message that nobody references any more, counts gaps as delivered and
passes what is in flight. The ledger knows one rule: an offset that was delivered is
outstanding until it is acknowledged in the same epoch, and a commit never passes the
smallest outstanding one.
"""

from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import NamedTuple


class Partition(NamedTuple):
    """A topic and a partition number; equal to Faust's and aiokafka's tuples."""

    topic: str
    partition: int


@dataclass(slots=True)
class _Position:
    """What is known of one partition in this epoch."""

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
    """Outstanding offsets by partition, for one epoch at a time.

    An epoch is the time between two revocations; what was delivered in an earlier one is
    delivered again, so its acknowledgements count for nothing.

    Not thread-safe: all calls come from the event loop of the app.
    """

    def __init__(self) -> None:
        self._epoch = 0
        self._positions: dict[Partition, _Position] = {}

    @property
    def epoch(self) -> int:
        """Number of the current epoch."""
        return self._epoch

    def is_current(self, epoch: int) -> bool:
        """Whether what was delivered under ``epoch`` may still be acknowledged."""
        return epoch == self._epoch

    def start_epoch(self) -> int:
        """Forget everything: the partitions were revoked or are read anew.

        Returns:
            The number of the new epoch.
        """
        self._epoch += 1
        self._positions.clear()
        return self._epoch

    def begin(self, partition: Partition, committed: int | None) -> None:
        """Note where reading starts: at the committed offset, if there is one."""
        self._position(partition).committed = committed

    def deliver(self, partition: Partition, offset: int) -> None:
        """Note that a record was handed to an agent.

        Raises:
            ValueError: if offsets of a partition do not grow, which would mean that
                something was skipped or came twice within an epoch.
        """
        position = self._position(partition)
        if position.next_offset is not None and offset < position.next_offset:
            raise ValueError(f"offset {offset} of {partition} delivered after {position.next_offset - 1}")
        position.outstanding.add(offset)
        heappush(position.smallest_first, offset)
        position.next_offset = offset + 1

    def acknowledge(self, partition: Partition, offset: int, epoch: int) -> bool:
        """Note that a record is done.

        Returns:
            Whether it counted; not if it belongs to an earlier epoch or was counted before.
        """
        if epoch != self._epoch:
            return False
        position = self._positions.get(partition)
        if position is None or offset not in position.outstanding:
            return False
        position.outstanding.remove(offset)
        return True

    def committable(self, partition: Partition) -> int | None:
        """The offset that may be committed (the next one to read), or ``None`` for nothing new."""
        position = self._positions.get(partition)
        if position is None:
            return None
        offset = position.committable()
        if offset is None or (position.committed is not None and offset <= position.committed):
            return None
        return offset

    def confirm(self, partition: Partition, offset: int, epoch: int) -> bool:
        """Note that the broker has the commit.

        Returns:
            Whether it counted; a commit of an earlier epoch says nothing about this one.
        """
        if epoch != self._epoch:
            return False
        self._position(partition).committed = offset
        return True

    def committed(self, partition: Partition) -> int | None:
        """The last offset known to be committed, if any."""
        position = self._positions.get(partition)
        return position.committed if position else None

    def position(self, partition: Partition) -> int | None:
        """The offset after the last one delivered in this epoch, if any."""
        position = self._positions.get(partition)
        return position.next_offset if position else None

    def outstanding(self, partition: Partition | None = None) -> int:
        """How many delivered records are not acknowledged, in one partition or in all."""
        if partition is not None:
            position = self._positions.get(partition)
            return len(position.outstanding) if position else 0
        return sum(len(position.outstanding) for position in self._positions.values())

    def unfinished(self) -> bool:
        """Whether anything delivered is not acknowledged, or acknowledged and not committed."""
        return any(self.outstanding(p) > 0 or self.committable(p) is not None for p in self._positions)

    def partitions(self) -> list[Partition]:
        """Partitions that something is known of."""
        return list(self._positions)

    def _position(self, partition: Partition) -> _Position:
        return self._positions.setdefault(partition, _Position())
