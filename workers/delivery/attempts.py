"""Finding the record that kills the process.

Before a batch is handled, its records are noted in a journal on disk; afterwards they are
struck out. What stands there when a process starts was in work when the last one died.
Those suspects are then handled one at a time in the whole process, so that the next death
has exactly one cause, and a record that was alone in work at that moment is counted. At
the third attempt it is dead-lettered unseen.

The journal needs no fsync: a process that dies takes no written page with it. It lives in
the state directory; a worker that is restarted elsewhere starts counting anew.
"""

import asyncio
import fcntl
import os
from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from workers.delivery.errors import PoisonError
from workers.delivery.records import Record
from workers.logs import get_logger

MAX_ATTEMPTS = 3
"""A record that was in work alone at so many deaths is given up, the first one counted in company."""

COMPACT_BYTES = 1_000_000
"""Size at which the journal is written anew."""

log = get_logger(__name__)


class ProcessKilled(PoisonError):
    """Handling this record has ended the process again and again."""


class Suspect(NamedTuple):
    """A record as one agent sees it."""

    agent: str
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
        self._attempts: dict[Suspect, int] = {}
        self._in_work: dict[Suspect, bool] = {}
        self._isolation = asyncio.Lock()
        self._recover()

    @property
    def suspects(self) -> dict[Suspect, int]:
        """Attempts of the records that were in work at a death."""
        return dict(self._attempts)

    def check(self, agent: str, record: Record) -> None:
        """Refuse a record that has ended the process too often.

        Raises:
            ProcessKilled: this would be one attempt too many.
        """
        attempts = self._attempts.get(_suspect(agent, record), 0)
        if attempts >= MAX_ATTEMPTS:
            raise ProcessKilled(f"the process ended {attempts} times while {agent} handled this record")

    def is_suspect(self, agent: str, record: Record) -> bool:
        """Whether the record was in work at a death."""
        return bool(self._attempts) and _suspect(agent, record) in self._attempts

    def isolation(self, alone: bool) -> AbstractAsyncContextManager[Any]:
        """What a suspect is handled under: one at a time in the whole process."""
        return self._isolation if alone else nullcontext()

    def begin(self, agent: str, records: Iterable[Record], *, alone: bool) -> None:
        """Note that records are in work."""
        suspects = [_suspect(agent, record) for record in records]
        self._in_work.update(dict.fromkeys(suspects, alone))
        self._append([["+", alone, *suspect] for suspect in suspects])

    def end(self, agent: str, records: Iterable[Record]) -> None:
        """Note that records are no longer in work: this process has survived them."""
        suspects = [_suspect(agent, record) for record in records]
        for suspect in suspects:
            self._in_work.pop(suspect, None)
            self._attempts.pop(suspect, None)
        self._append([["-", *suspect] for suspect in suspects])

    def close(self) -> None:
        """Let go of the journal; what is in work was not survived."""
        os.close(self._file)

    def _append(self, entries: list[list[Any]]) -> None:
        os.write(self._file, b"".join(orjson.dumps(entry) + b"\n" for entry in entries))
        if os.lseek(self._file, 0, os.SEEK_CUR) > COMPACT_BYTES:
            self._compact()

    def _recover(self) -> None:
        for line in self._path.read_bytes().splitlines():
            try:
                kind, *rest = orjson.loads(line)
            except orjson.JSONDecodeError:
                continue  # the last line of a process that died while it wrote
            if kind == "=":
                attempts, *place = rest
                self._attempts[Suspect(*place)] = attempts
            elif kind == "+":
                alone, *place = rest
                self._in_work[Suspect(*place)] = alone
            else:
                suspect = Suspect(*rest)
                self._in_work.pop(suspect, None)
                self._attempts.pop(suspect, None)
        for suspect, alone in self._in_work.items():
            known = self._attempts.get(suspect, 0)
            self._attempts[suspect] = known + 1 if alone else max(known, 1)
        self._in_work.clear()
        if self._attempts:
            log.warning("process_died_at_work", suspects=len(self._attempts), journal=self._path.name)
        self._compact()

    def _compact(self) -> None:
        lines = [orjson.dumps(["=", attempts, *suspect]) for suspect, attempts in self._attempts.items()]
        lines += [orjson.dumps(["+", alone, *suspect]) for suspect, alone in self._in_work.items()]
        content = b"".join(line + b"\n" for line in lines)
        # In place and not by renaming, since the lock hangs on the file. A death in between
        # loses counts, never records.
        os.lseek(self._file, 0, os.SEEK_SET)
        os.ftruncate(self._file, 0)
        os.write(self._file, content)


def _suspect(agent: str, record: Record) -> Suspect:
    return Suspect(agent, record.topic, record.partition, record.offset)


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
