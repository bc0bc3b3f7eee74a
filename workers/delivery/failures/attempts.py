"""Find the record that kills the process.

The journal on disk lists the records of a batch before processing and removes them afterwards. Records that are still
in the journal at a start were in progress when the last process died. They are suspects, in every agent.

1. A crash during a batch makes its records suspects, but is not counted for a single record. Suspects are processed in
   groups, one group at a time over all agents: one at a time a thousand of them would hold up all others for minutes.
2. A crash during a group is counted for each of its records. They are processed one at a time.
3. A second counted crash leaves one record. A concurrent batch may have been the cause, so the record is processed again
   without any other work.
4. After the third counted crash (the fourth in total) the agent dead-letters the record without processing it.

The journal needs no fsync, because written pages survive the death of the process. The journal is in the state
directory; a worker that is restarted on another machine counts from zero.
"""

import fcntl
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from workers.delivery.failures.isolation import Isolation
from workers.delivery.records import Record
from workers.errors import PoisonError
from workers.observability.logs import get_logger

MAX_COUNTED_DEATHS = 3
"""Number of counted crashes, over all agents, after which a record is
dead-lettered. At the last one no other work ran.
"""

SUSPECTS_TOGETHER = 32
"""Maximum number of suspects in a group, about the square root of the records in progress at a crash: then there are as
many groups as records in one."""

MAX_SUSPECTS = 10_000
"""Maximum number of suspects; the oldest are removed first, because some are never delivered again."""

COMPACT_BYTES = 1_000_000
"""Size at which the journal is compacted."""

log = get_logger(__name__)


class ProcessKilled(PoisonError):
    """Handling this record has ended the process several times."""


class Place(NamedTuple):
    """Topic, partition and offset of a record."""

    topic: str
    partition: int
    offset: int


class AttemptJournal:
    """Journal on disk of the records in progress; one process at a time uses a journal.

    Args:
        directory: folder of the journals; each process takes one that no other process holds.
        group: name of the deployment, so that two deployments never share suspects.
    """

    def __init__(self, directory: Path, group: str) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._file, self._path = _claim(directory, group)
        self._suspects: dict[Place, dict[str, int]] = {}
        self._in_work: dict[tuple[str, Place], bool] = {}
        self.isolation = Isolation()
        """Isolation of suspect records, for the whole process."""
        self._recover()

    @property
    def suspects(self) -> dict[Place, dict[str, int]]:
        """Return the records that were in progress at a crash, with the counted crashes by agent."""
        return {place: dict(deaths) for place, deaths in self._suspects.items()}

    def is_suspect(self, record: Record) -> bool:
        """Return whether the record was in progress at a crash, in any agent.

        A record that crashes one agent is likely to crash the next one too.
        """
        return _place(record) in self._suspects

    def counted_deaths(self, record: Record) -> int:
        """Return the number of crashes that count against the record, over all agents."""
        return sum(self._suspects.get(_place(record), {}).values())

    def check(self, agent: str, record: Record) -> None:
        """Refuse a record that has ended the process too often.

        Raises:
            ProcessKilled: the record would probably end the process again.
        """
        deaths = self.counted_deaths(record)
        if deaths >= MAX_COUNTED_DEATHS and self._suspects[_place(record)].get(agent, 0) > 0:
            raise ProcessKilled(
                f"the process ended {deaths} times while it processed this record, at the last time with no other record"
            )

    def begin(self, agent: str, records: Iterable[Record], *, counts: bool) -> None:
        """Add records that are in progress; a crash counts against each of them if ``counts`` is true."""
        places = [_place(record) for record in records]
        self._in_work.update({(agent, place): counts for place in places})
        self._append([["+", counts, agent, *place] for place in places])

    def end(self, agent: str, records: Iterable[Record]) -> None:
        """Remove records that are no longer in progress."""
        places = [_place(record) for record in records]
        for place in places:
            self._survived(agent, place)
        self._append([["-", agent, *place] for place in places])

    def close(self) -> None:
        """Release the journal; records in progress stay in it."""
        os.close(self._file)

    def _survived(self, agent: str, place: Place) -> None:
        self._in_work.pop((agent, place), None)
        deaths = self._suspects.get(place)
        if deaths is not None:
            deaths.pop(agent, None)
            if not deaths:
                del self._suspects[place]

    def _append(self, entries: list[list[Any]]) -> None:
        try:
            os.write(self._file, b"".join(orjson.dumps(entry) + b"\n" for entry in entries))
            if os.lseek(self._file, 0, os.SEEK_CUR) > COMPACT_BYTES:
                self._compact()
        except OSError as error:
            # A full disk must not fail every record. Without the journal, a record that kills the process is only found
            # later.
            log.warning("journal_write_failed", journal=self._path.name, error=error.strerror)

    def _recover(self) -> None:
        for line in self._path.read_bytes().splitlines():
            try:
                self._replay(*orjson.loads(line))
            except (orjson.JSONDecodeError, TypeError, ValueError):
                continue  # the last line of a process that died while writing
        for (agent, place), counts in self._in_work.items():
            deaths = self._suspects.setdefault(place, {})
            deaths[agent] = deaths.get(agent, 0) + int(counts)
        self._in_work.clear()
        while len(self._suspects) > MAX_SUSPECTS:
            del self._suspects[next(iter(self._suspects))]
        if self._suspects:
            log.warning("process_crashed", suspects=len(self._suspects), journal=self._path.name)
        self._compact()

    def _replay(self, kind: str, *entry: Any) -> None:
        if kind == "=":
            deaths, agent, *place = entry
            self._suspects.setdefault(Place(*place), {})[agent] = deaths
        elif kind == "+":
            counts, agent, *place = entry
            self._in_work[agent, Place(*place)] = counts
        else:
            agent, *place = entry
            self._survived(agent, Place(*place))

    def _compact(self) -> None:
        lines = [
            orjson.dumps(["=", count, agent, *place])
            for place, deaths in self._suspects.items()
            for agent, count in deaths.items()
        ]
        lines += [orjson.dumps(["+", counts, agent, *place]) for (agent, place), counts in self._in_work.items()]
        content = b"".join(line + b"\n" for line in lines)
        # Written in place and not renamed, because the lock belongs to this file. A crash during the write loses
        # counts, but never records.
        os.lseek(self._file, 0, os.SEEK_SET)
        os.ftruncate(self._file, 0)
        os.write(self._file, content)


def _place(record: Record) -> Place:
    return Place(record.topic, record.partition, record.offset)


def _claim(directory: Path, group: str) -> tuple[int, Path]:
    """Open the first journal that no living process holds."""
    number = 0
    while True:
        path = directory / f"{group}.{number}.journal"
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            number += 1
            continue
        return file, path
