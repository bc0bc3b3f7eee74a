"""Store topics as Parquet files, which outlive the retention of the topics.

``<folder>/topic=<name>/partition=<number>/<first offset>-<last offset>.parquet``, compressed
with zstd; query engines read it as a partitioned table. A record is stored unchanged:
key, value, headers with their names as bytes, time in milliseconds. Files are written
under a temporary name and then renamed, so that no partial file exists. They are never changed
afterwards except for an erasure. The next run continues after the last file.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from workers.delivery.records import Record
from workers.errors import TouchstoneError

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


class ArchiveUnusable(TouchstoneError):
    """Report that the archive cannot be read or written, or belongs to another log; the message names the file or partition."""


@dataclass(frozen=True, slots=True, order=True)
class ArchiveFile:
    """Describe one file with consecutive records of a partition.

    Attributes:
        topic: registry name.
        partition: number.
        first: offset of the first record.
        last: offset of the last record.
        path: path of the file.
    """

    topic: str
    partition: int
    first: int
    last: int
    path: Path


class Archive:
    """Read and write a folder of archived topics.

    Args:
        folder: path of the folder; created with the first file.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def files(self) -> list[ArchiveFile]:
        """Return all files, by topic, partition and offset.

        Raises:
            ArchiveUnusable: the folder does not exist.
        """
        if not self._folder.is_dir():
            raise ArchiveUnusable(f"{self._folder} is not a folder; create an archive with: touchstone archive write")
        found = []
        for path in self._folder.glob("topic=*/partition=*/*.parquet"):
            match = _FOLDERS.fullmatch(path.relative_to(self._folder).as_posix())
            if match is not None:
                place = (match["topic"], int(match["partition"]), int(match["first"]), int(match["last"]))
                found.append(ArchiveFile(*place, path))
        return sorted(found)

    def ends(self) -> dict[tuple[str, int], int]:
        """Return the offset after the last archived record of each topic and partition."""
        if not self._folder.is_dir():
            return {}
        return {(file.topic, file.partition): file.last + 1 for file in self.files()}

    def write(self, records: Sequence[Record]) -> Path:
        """Write consecutive records of one partition.

        Raises:
            ArchiveUnusable: the file cannot be written.
        """
        first, last = records[0], records[-1]
        folder = self._folder / f"topic={first.topic}" / f"partition={first.partition}"
        path = folder / f"{first.offset:020}-{last.offset:020}.parquet"
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            _write(path, records)
        except (OSError, pa.ArrowException) as error:
            raise _unwritable(path, error) from error
        return path

    def read(self, file: ArchiveFile) -> Iterator[list[Record]]:
        """Yield the records of a file in batches.

        Raises:
            ArchiveUnusable: the file is damaged or not a file of an archive.
        """
        try:
            with pq.ParquetFile(file.path) as opened:
                for batch in opened.iter_batches(READ_ROWS, columns=SCHEMA.names):
                    yield [_record(file, row) for row in batch.to_pylist()]
        except (OSError, pa.ArrowException, KeyError) as error:
            raise ArchiveUnusable(f"{file.path} cannot be read ({type(error).__name__})") from error

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
            try:
                _write(file.path, kept)
            except (OSError, pa.ArrowException) as error:
                raise _unwritable(file.path, error) from error
        return len(records) - len(kept)


def _unwritable(path: Path, error: Exception) -> ArchiveUnusable:
    return ArchiveUnusable(
        f"{path} cannot be written ({type(error).__name__}); free disk space, or allow this user to write to its folder"
    )


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


def _write(path: Path, records: Sequence[Record]) -> None:
    beside = path.with_suffix(".tmp")
    rows = pa.Table.from_pylist([_row(record) for record in records], schema=SCHEMA)
    pq.write_table(rows, beside, compression="zstd", write_page_checksum=True)
    beside.chmod(0o600)
    with beside.open("rb") as file:
        os.fsync(file.fileno())
    beside.replace(path)


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
