"""Store topics as Parquet files, which outlive the retention of the topics.

``<place>/topic=<name>/partition=<number>/<first offset>-<last offset>.parquet``, compressed
with zstd; query engines read it as a partitioned table. A record is stored unchanged:
key, value, headers with their names as bytes, time in milliseconds. Files appear whole and are never
changed afterwards except for an erasure. The next run continues after the last file.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from workers.archive.archive_places import ArchiveUnusable, LocalFolder, place_at
from workers.delivery.records import Record

SCHEMA = pa.schema(
    [
        pa.field("offset", pa.int64(), nullable=False),
        pa.field("timestamp_ms", pa.int64(), nullable=False),
        pa.field("key", pa.binary()),
        pa.field("value", pa.binary()),
        pa.field(
            "headers", pa.list_(pa.struct([pa.field("name", pa.binary(), nullable=False), ("value", pa.binary())]))
        ),
    ]
)
READ_ROWS = 1_000
"""Number of records read at once: usually a few megabytes, at the broker's size limit a gigabyte."""

_FOLDERS = re.compile(
    r"topic=(?P<topic>[\w.-]+)/partition=(?P<partition>\d+)/(?P<first>\d{20})-(?P<last>\d{20})\.parquet"
)


@dataclass(frozen=True, slots=True, order=True)
class ArchiveFile:
    """Describe one file with consecutive records of a partition.

    Attributes:
        topic: registry name.
        partition: number.
        first: offset of the first record.
        last: offset of the last record.
        path: path of the file within the place of the archive.
        size: bytes.
    """

    topic: str
    partition: int
    first: int
    last: int
    path: str
    size: int


class Archive:
    """Read and write archived topics.

    Args:
        address: path of a folder, or address of an object store; see :func:`place_at`. Created with the first file.

    Raises:
        ArchiveUnusable: the address cannot be used.
    """

    def __init__(self, address: str | Path) -> None:
        self._place = place_at(address)

    def files(self) -> list[ArchiveFile]:
        """Return all files, by topic, partition and offset.

        Raises:
            ArchiveUnusable: the archive does not exist or cannot be read.
        """
        found = self._found()
        if found is None:
            what = "is not a folder" if isinstance(self._place, LocalFolder) else "contains no archive"
            raise ArchiveUnusable(f"{self._place} {what}; create an archive with: touchstone archive write")
        return found

    def ends(self) -> dict[tuple[str, int], int]:
        """Return the offset after the last archived record of each topic and partition.

        Raises:
            ArchiveUnusable: the archive cannot be read.
        """
        return {(file.topic, file.partition): file.last + 1 for file in self._found() or ()}

    def write(self, records: Sequence[Record]) -> str:
        """Write consecutive records of one partition.

        Returns:
            Path of the file within the place of the archive.

        Raises:
            ArchiveUnusable: the file cannot be written.
        """
        first, last = records[0], records[-1]
        path = f"topic={first.topic}/partition={first.partition}/{first.offset:020}-{last.offset:020}.parquet"
        self._write(path, records)
        return path

    def read(self, file: ArchiveFile) -> Iterator[list[Record]]:
        """Yield the records of a file in batches.

        Raises:
            ArchiveUnusable: the file is damaged or not a file of an archive.
        """
        try:
            with self._place.open(file.path) as source, pq.ParquetFile(source) as opened:
                for batch in opened.iter_batches(READ_ROWS, columns=SCHEMA.names):
                    yield [_record(file, row) for row in batch.to_pylist()]
        except (OSError, pa.ArrowException, KeyError) as error:
            raise _unreadable(f"{self._place}/{file.path}", error) from error

    def erase(self, file: ArchiveFile, covers: Callable[[Record], bool]) -> int:
        """Remove records from a file.

        Args:
            file: the file; its name stays, since it still covers the same offsets.
            covers: predicate for the records to remove.

        Returns:
            Number of removed records.

        Raises:
            ArchiveUnusable: the file cannot be read or written.
        """
        records = [record for batch in self.read(file) for record in batch]
        kept = [record for record in records if not covers(record)]
        if len(kept) < len(records):
            self._write(file.path, kept)
        return len(records) - len(kept)

    def _found(self) -> list[ArchiveFile] | None:
        try:
            if not self._place.exists():
                return None
            sizes = dict(self._place.files())
        except OSError as error:
            raise _unreadable(str(self._place), error) from error
        matches = ((path, _FOLDERS.fullmatch(path)) for path in sizes)
        return sorted(
            ArchiveFile(
                match["topic"], int(match["partition"]), int(match["first"]), int(match["last"]), path, sizes[path]
            )
            for path, match in matches
            if match is not None
        )

    def _write(self, path: str, records: Sequence[Record]) -> None:
        rows = pa.Table.from_pylist([_row(record) for record in records], schema=SCHEMA)
        stream = pa.BufferOutputStream()
        pq.write_table(rows, stream, compression="zstd", write_page_checksum=True)
        try:
            self._place.write(path, stream.getvalue())
        except (OSError, pa.ArrowException) as error:
            raise ArchiveUnusable(
                f"{self._place}/{path} cannot be written ({_reason(error)}); free disk space, or allow this user to "
                "write to its folder or bucket"
            ) from error


def _reason(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


def _unreadable(path: str, error: Exception) -> ArchiveUnusable:
    return ArchiveUnusable(f"{path} cannot be read ({type(error).__name__}: {_reason(error)})")


def refuse_another_log(ends: Mapping[tuple[str, int], int], marks: Mapping[tuple[str, int], int]) -> None:
    """Refuse to mix two logs in one folder, because an offset identifies a record in one log only.

    Args:
        ends: offsets after the last archived records, by topic and partition.
        marks: end offsets of the topics' partitions.

    Raises:
        ArchiveUnusable: a partition ends before its archive, as on a new or restored broker.
    """
    for (topic, partition), end in sorted(ends.items()):
        mark = marks.get((topic, partition), 0)
        if mark < end:
            raise ArchiveUnusable(
                f"{topic}[{partition}] ends at offset {mark}, but its archive ends at {end}: the archive belongs "
                "to another log; use another folder"
            )


def _row(record: Record) -> dict[str, Any]:
    return {
        "offset": record.offset,
        "timestamp_ms": round(record.timestamp * 1000),
        "key": record.key,
        "value": record.value,
        "headers": [
            {"name": name.encode("utf-8", "surrogateescape"), "value": value} for name, value in record.headers
        ],
    }


def _record(file: ArchiveFile, row: dict[str, Any]) -> Record:
    return Record(
        topic=file.topic,
        partition=file.partition,
        offset=row["offset"],
        key=row["key"],
        value=row["value"],
        headers=[(each["name"].decode("utf-8", "surrogateescape"), each["value"]) for each in row["headers"]],
        timestamp=row["timestamp_ms"] / 1000,
    )
