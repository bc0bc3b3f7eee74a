"""Store the final states of one partition of ``answers.released`` on disk, with the offset they are valid for.

The file is an SQLite database. States and offset are written in one transaction, so a process that is killed leaves the
states of exactly the records before the offset. A process that starts again reads the topic from there.

An answer that the pipeline made final takes 17 bytes: the day of its record and a digest of its key. The day comes first
in the primary key. So records of one day are written next to each other, and old days are removed as one range.
"""

import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from pathlib import Path

from workers.decision.finality import Standing, later_standing
from workers.errors import StoreUnavailable

LAYOUT = 1
"""Number of the layout of the tables. A file with another number is discarded."""
LOCK_SECONDS = 5.0
"""Time to wait for another process that writes the same file."""
DAY_MS = 86_400_000

PIPELINE = Standing(revision=1, final=True, decision_id=None, digest="")
"""Standing of every answer that the pipeline made final; its details are neither known nor needed."""

TABLES = (
    "CREATE TABLE last (one INTEGER PRIMARY KEY, offset INTEGER NOT NULL, checksum INTEGER NOT NULL)",
    "CREATE TABLE final (day INTEGER, number INTEGER, PRIMARY KEY (day, number)) WITHOUT ROWID",
    "CREATE TABLE decided (number INTEGER PRIMARY KEY, day INTEGER NOT NULL, offset INTEGER NOT NULL, key BLOB, "
    "revision INTEGER NOT NULL, final INTEGER NOT NULL, decision TEXT, digest TEXT NOT NULL, covered INTEGER NOT NULL)",
    "CREATE INDEX decided_covered ON decided (offset) WHERE covered",
    "CREATE INDEX decided_key ON decided (key)",
)
# One search in each day, not a scan: SQLite does not skip over the first column of a key by itself.
FINAL = """
WITH RECURSIVE days (day) AS (
    SELECT min(day) FROM final
    UNION ALL
    SELECT (SELECT min(day) FROM final WHERE final.day > days.day) FROM days WHERE days.day IS NOT NULL
)
SELECT final.day FROM days CROSS JOIN final ON final.day = days.day AND final.number = ?
"""


@dataclass(frozen=True, slots=True)
class LastRecord:
    """Describe a record by which a topic is recognised.

    Attributes:
        offset: its offset.
        checksum: checksum of its time, key and value.
    """

    offset: int
    checksum: int


@dataclass(frozen=True, slots=True)
class NotedRecord:
    """Hold the parts of a record that count.

    Attributes:
        offset: its offset.
        time_ms: its time in milliseconds since 1970.
        key: its key.
        number: digest of the answer's key, see :func:`digest_number`.
        standing: the standing that it gives its answer; ``None`` for a tombstone.
    """

    offset: int
    time_ms: int
    key: bytes | None
    number: int
    standing: Standing | None


class DamagedFile(Exception):
    """Report that a file of final states cannot be used. It holds nothing that the topic does not hold.

    Args:
        path: the file.
        reason: description of the damage.
    """

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(reason)
        self.path = path


class FinalStateFile:
    """Keep the final states of one partition.

    Methods may be called from any thread. They block: call them in a thread.

    Args:
        path: path of the file; its folder exists.
        cache_bytes: memory for pages of the file.

    Attributes:
        last: the last record in the file, by which its topic is recognised; ``None`` if the file is new.

    Raises:
        DamagedFile: the file is damaged or of another version.
        StoreUnavailable: the file cannot be opened.
    """

    def __init__(self, path: Path, cache_bytes: int) -> None:
        self._path = path
        self._lock = threading.Lock()
        with self._errors():
            self._database = sqlite3.connect(path, LOCK_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            self._prepare(cache_bytes)
        except BaseException:
            self._database.close()
            raise

    def _prepare(self, cache_bytes: int) -> None:
        with self._errors():
            # After a power failure the last transactions may be missing, offset and states alike.
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = NORMAL")
            self._database.execute(f"PRAGMA cache_size = -{max(1, cache_bytes // 1024)}")
            # Keys of erased answers are overwritten, not only released.
            self._database.execute("PRAGMA secure_delete = ON")
            with self._transaction():
                (layout,) = self._database.execute("PRAGMA user_version").fetchone()
                if layout == 0:
                    for statement in TABLES:
                        self._database.execute(statement)
                    self._database.execute(f"PRAGMA user_version = {LAYOUT}")
                elif layout != LAYOUT:
                    raise DamagedFile(self._path, f"its layout is {layout}, not {LAYOUT}")
            row = self._database.execute("SELECT offset, checksum FROM last").fetchone()
        self.last = LastRecord(*row) if row else None

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._database.close()

    def note(self, records: Iterable[NotedRecord], last: LastRecord) -> None:
        """Add the records that follow the last one.

        Args:
            records: records in the order of their offsets; those that count for nothing may be left out.
            last: the last record that was read, whether it counts or not.
        """
        with self._lock, self._errors(), self._transaction():
            for record in records:
                self._note(record)
            self._database.execute("INSERT OR REPLACE INTO last VALUES (1, ?, ?)", (last.offset, last.checksum))
        self.last = last

    def _note(self, record: NotedRecord) -> None:
        if record.standing is None:
            self._erase(record)
            return
        known = self._decided(record.number)
        if known is not None:
            standing, offset = known
            if later_standing(standing, record.standing) == record.standing:
                # The final record was repeated and now follows the older record that covered it.
                self._decide(record, record.standing)
            elif record.offset > offset:
                self._database.execute("UPDATE decided SET covered = 1 WHERE number = ?", (record.number,))
        elif record.standing.decision_id is not None:
            self._decide(record, record.standing)
        elif record.standing.final:
            day = record.time_ms // DAY_MS
            self._database.execute("INSERT OR IGNORE INTO final VALUES (?, ?)", (day, record.number))

    def _decide(self, record: NotedRecord, standing: Standing) -> None:
        self._database.execute(
            "INSERT OR REPLACE INTO decided VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0)",
            (
                record.number, record.time_ms // DAY_MS, record.offset, record.key,
                standing.revision, standing.final, standing.decision_id, standing.digest,
            ),
        )  # fmt: skip

    def _erase(self, record: NotedRecord) -> None:
        """Remove an answer of an erased person, which must never be sent again."""
        self._database.execute("DELETE FROM decided WHERE key = ?", (record.key,))
        days = self._database.execute(FINAL, (record.number,)).fetchall()
        for (day,) in days:
            self._database.execute("DELETE FROM final WHERE day = ? AND number = ?", (day, record.number))

    def standing(self, number: int) -> Standing | None:
        """Return the standing of a final answer, else ``None``."""
        with self._lock, self._errors():
            decided = self._decided(number)
            if decided is not None:
                return decided[0]
            return PIPELINE if self._database.execute(FINAL, (number,)).fetchone() else None

    def _decided(self, number: int) -> tuple[Standing, int] | None:
        row = self._database.execute(
            "SELECT revision, final, decision, digest, offset FROM decided WHERE number = ?", (number,)
        ).fetchone()
        return None if row is None else (Standing(row[0], bool(row[1]), row[2], row[3]), row[4])

    def covered(self) -> list[int]:
        """Return the offsets of final records that an older record of the same answer follows."""
        with self._lock, self._errors():
            rows = self._database.execute("SELECT offset FROM decided WHERE covered ORDER BY offset")
            return [offset for (offset,) in rows]

    def uncover(self, offset: int) -> None:
        """Note that the final record at an offset no longer exists."""
        with self._lock, self._errors(), self._transaction():
            self._database.execute("UPDATE decided SET covered = 0 WHERE covered AND offset = ?", (offset,))

    def forget_before(self, since: datetime) -> None:
        """Remove the states of records from days before that of ``since``."""
        day = int(since.timestamp() * 1000) // DAY_MS
        with self._lock, self._errors(), self._transaction():
            self._database.execute("DELETE FROM final WHERE day < ?", (day,))
            self._database.execute("DELETE FROM decided WHERE day < ?", (day,))

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        # Immediately: a transaction that began as a reader cannot wait for another writer.
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._database.rollback()
            raise
        self._database.execute("COMMIT")

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.OperationalError, sqlite3.ProgrammingError) as error:
            # Locked, full, no permission, or closed meanwhile: the file itself is not at fault.
            raise StoreUnavailable(
                f"the final states in {self._path} cannot be used ({error}); free disk space, or make the folder of "
                "TOUCHSTONE_STATE_DIR writable"
            ) from error
        except sqlite3.DatabaseError as error:
            raise DamagedFile(self._path, str(error)) from error


def remove_final_states(path: Path) -> None:
    """Delete a file of final states. The topic holds everything that was in it."""
    for name in (path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")):
        name.unlink(missing_ok=True)


def digest_number(key: bytes) -> int:
    """Return a digest of a record key as a signed number of 64 bits."""
    return int.from_bytes(blake2b(key, digest_size=8).digest(), "big", signed=True)


def record_checksum(time_ms: int, parts: Iterable[bytes | None]) -> int:
    """Return a checksum of the time, the key and the value of a record, 32 bits."""
    joined = b"".join(b"-" if part is None else b"%d:" % len(part) + part for part in parts)
    return int.from_bytes(blake2b(b"%d," % time_ms + joined, digest_size=4).digest(), "big")
