"""Finding the record that kills the process.

Before a batch is handled, its records are noted in a journal on disk; afterwards they are
struck out. What stands there when a process starts was in work when the last one died.
Those suspects are then handled one at a time, by every agent; a death then counts against
the one in work, though a batch beside it may be at fault. So it is handled once more with
nothing else in work at all; after that second death, the third in all, the agent gives the
record up unseen. Deaths in a batch make suspects and count for nothing.

The journal needs no fsync: a process that dies takes no written page with it. It lives in
the state directory; a worker that is restarted elsewhere starts counting anew.
"""

import fcntl
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from workers.delivery.errors import PoisonError
from workers.delivery.isolation import Isolation
from workers.delivery.records import Record
from workers.logs import get_logger

MAX_DEATHS_ALONE = 2
"""Deaths that count against a record, over all agents, after which it is given up; the last had no other cause."""

MAX_SUSPECTS = 10_000
"""Suspects kept; those that never come again (they were done, or moved away) fall out at last."""

COMPACT_BYTES = 1_000_000
"""Size at which the journal is written anew."""

log = get_logger(__name__)


class ProcessKilled(PoisonError):
    """Handling this record has ended the process again and again."""


class Place(NamedTuple):
    """Where a record stands."""

    topic: str
    partition: int
    offset: int


class AttemptJournal:
    """Records in work, on disk, for one process at a time.

    Args:
        directory: where journals lie; each process takes one that no other holds.
        group: name of the deployment, so that two of them never share suspects.
    """

    def __init__(self, directory: Path, group: str) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._file, self._path = _claim(directory, group)
        self._suspects: dict[Place, dict[str, int]] = {}
        self._in_work: dict[tuple[str, Place], bool] = {}
        self.isolation = Isolation()
        """Who may be in work beside whom, in the whole process."""
        self._recover()

    @property
    def suspects(self) -> dict[Place, dict[str, int]]:
        """Records that were in work at a death, with the deaths alone of each agent."""
        return {place: dict(deaths) for place, deaths in self._suspects.items()}

    def is_suspect(self, record: Record) -> bool:
        """Whether the record was in work at a death, in whatever agent: what one agent died of
        is likely to kill the next.
        """
        return _place(record) in self._suspects

    def is_accused(self, record: Record) -> bool:
        """Whether a death counts against the record already: at the next one it must have no company."""
        return sum(self._suspects.get(_place(record), {}).values()) > 0

    def check(self, agent: str, record: Record) -> None:
        """Refuse a record that has ended the process too often.

        Raises:
            ProcessKilled: it would end it again.
        """
        deaths = self._suspects.get(_place(record), {})
        if deaths.get(agent, 0) > 0 and sum(deaths.values()) >= MAX_DEATHS_ALONE:
            raise ProcessKilled(
                f"the process ended {sum(deaths.values())} times while it handled nothing but this record"
            )

    def begin(self, agent: str, records: Iterable[Record], *, alone: bool) -> None:
        """Note that records are in work."""
        places = [_place(record) for record in records]
        self._in_work.update({(agent, place): alone for place in places})
        self._append([["+", alone, agent, *place] for place in places])

    def end(self, agent: str, records: Iterable[Record]) -> None:
        """Note that records are no longer in work: this process has survived them."""
        places = [_place(record) for record in records]
        for place in places:
            self._survived(agent, place)
        self._append([["-", agent, *place] for place in places])

    def close(self) -> None:
        """Let go of the journal; what is in work was not survived."""
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
            # A full disk must not make poison of every record: the journal is a second line of
            # defence, and without it a killer is only found later.
            log.warning("journal_not_written", journal=self._path.name, error=error.strerror)

    def _recover(self) -> None:
        for line in self._path.read_bytes().splitlines():
            try:
                self._replay(*orjson.loads(line))
            except (orjson.JSONDecodeError, TypeError, ValueError):
                continue  # the last line of a process that died while it wrote
        for (agent, place), alone in self._in_work.items():
            deaths = self._suspects.setdefault(place, {})
            deaths[agent] = deaths.get(agent, 0) + int(alone)
        self._in_work.clear()
        while len(self._suspects) > MAX_SUSPECTS:
            del self._suspects[next(iter(self._suspects))]
        if self._suspects:
            log.warning("process_died_at_work", suspects=len(self._suspects), journal=self._path.name)
        self._compact()

    def _replay(self, kind: str, *entry: Any) -> None:
        if kind == "=":
            deaths, agent, *place = entry
            self._suspects.setdefault(Place(*place), {})[agent] = deaths
        elif kind == "+":
            alone, agent, *place = entry
            self._in_work[agent, Place(*place)] = alone
        else:
            agent, *place = entry
            self._survived(agent, Place(*place))

    def _compact(self) -> None:
        lines = [
            orjson.dumps(["=", count, agent, *place])
            for place, deaths in self._suspects.items()
            for agent, count in deaths.items()
        ]
        lines += [orjson.dumps(["+", alone, agent, *place]) for (agent, place), alone in self._in_work.items()]
        content = b"".join(line + b"\n" for line in lines)
        # In place and not by renaming, since the lock hangs on the file. A death in between
        # loses counts, never records.
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
