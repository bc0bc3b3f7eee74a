"""Collect the records of partitions until a file of an archive is worth writing."""

from collections.abc import Iterator, Sequence

from workers.delivery.records import Record

FILE_BYTES = 64_000_000
"""Size at which a file is closed, before compression."""

FILE_RECORDS = 100_000
"""Number of records at which a file is closed."""

HELD_BYTES = 4 * FILE_BYTES
"""Maximum size of all waiting records, whatever the number of partitions."""

RECORD_BYTES = 500
"""Size in memory of a record without its key, value and headers."""

Place = tuple[str, int]


class WaitingRecords:
    """Hold the records that wait to be written, by topic and partition.

    Args:
        held_bytes: maximum size of all waiting records, bytes.
    """

    def __init__(self, held_bytes: int = HELD_BYTES) -> None:
        self._held_bytes = held_bytes
        self._records: dict[Place, list[Record]] = {}
        self._sizes: dict[Place, int] = {}

    @property
    def size(self) -> int:
        """Return the size of all waiting records, bytes."""
        return sum(self._sizes.values())

    def add(self, records: Sequence[Record]) -> Iterator[list[Record]]:
        """Add records of one partition, and yield those to write now: a full file, or the largest ones of too many."""
        place = (records[0].topic, records[0].partition)
        self._records.setdefault(place, []).extend(records)
        self._sizes[place] = self._sizes.get(place, 0) + sum(map(_size, records))
        if self._sizes[place] >= FILE_BYTES or len(self._records[place]) >= FILE_RECORDS:
            yield self._take(place)
        while self.size > self._held_bytes:
            yield self._take(max(self._sizes, key=self._sizes.__getitem__))

    def rest(self) -> Iterator[list[Record]]:
        """Yield all waiting records."""
        for place in list(self._records):
            yield self._take(place)

    def _take(self, place: Place) -> list[Record]:
        del self._sizes[place]
        return self._records.pop(place)


def _size(record: Record) -> int:
    headers = sum(len(name) + len(value or b"") for name, value in record.headers)
    return RECORD_BYTES + len(record.value or b"") + len(record.key or b"") + headers
