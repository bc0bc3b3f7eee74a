"""The file of final states: the same answers as the topic, however often the process dies, and less in memory."""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.harness.paths import ROOT
from workers.decision.finality import Standing, later_standing
from workers.delivery.followers.final_state_file import (
    DAY_MS,
    PIPELINE,
    DamagedFile,
    FinalStateFile,
    LastRecord,
    NotedRecord,
    digest_number,
    remove_final_states,
)
from workers.errors import StoreUnavailable

START = datetime(2026, 11, 1, tzinfo=UTC)
CACHE = 2**20

HELD = Standing(4, False, None, "")
KINDS: dict[str, Standing | None] = {
    "held": HELD,
    "shown": PIPELINE,
    "approved": Standing(100, True, "d-1", "a"),
    "rejected": Standing(100, True, "d-2", "b"),
    "erased": None,
}


def record(offset: int, key: str, kind: str, day: int = 0) -> NotedRecord:
    name = key.encode()
    time_ms = int((START + timedelta(days=day)).timestamp() * 1000) + offset
    return NotedRecord(offset, time_ms, name, digest_number(name), KINDS[kind])


def last(records: Sequence[NotedRecord]) -> LastRecord:
    return LastRecord(records[-1].offset, records[-1].time_ms % 2**32)


def standings(records: Sequence[NotedRecord]) -> dict[int, Standing]:
    """Return the state of each final answer by the topic: the reference that the file is compared with."""
    known: dict[int, Standing] = {}
    for each in records:
        if each.standing is None:
            known.pop(each.number, None)
        elif each.number in known:
            known[each.number] = later_standing(known[each.number], each.standing)
        elif each.standing.final:
            known[each.number] = each.standing
    return known


@contextmanager
def opened(path: Path) -> Iterator[FinalStateFile]:
    file = FinalStateFile(path, CACHE)
    try:
        yield file
    finally:
        file.close()


def killed(path: Path, to: Path, cut: int | None = None) -> Path:
    """Copy what is on disk while the file is open, as a process leaves it that is killed or loses its power.

    Args:
        path: the file that is in use.
        to: folder of the copy.
        cut: number of bytes that the end of the log of writes has lost.
    """
    for name in (path, path.with_name(path.name + "-wal")):
        if name.exists():
            shutil.copy(name, to / name.name)
    log = to / (path.name + "-wal")
    if cut is not None and log.exists():
        log.write_bytes(log.read_bytes()[: -cut or None])
    return to / path.name


events = st.lists(st.tuples(st.sampled_from("abcde"), st.sampled_from(sorted(KINDS))), min_size=1, max_size=40)


@settings(max_examples=60, deadline=None)
@given(said=events, batch=st.integers(1, 7), deaths=st.lists(st.integers(0, 12), max_size=4), cut=st.integers(0, 9000))
def test_a_process_that_dies_at_any_place_knows_what_one_knows_that_never_died(
    said: list[tuple[str, str]], batch: int, deaths: list[int], cut: int
) -> None:
    log = [record(offset, key, kind) for offset, (key, kind) in enumerate(said)]
    with tempfile.TemporaryDirectory() as folder:
        path, file, notes = Path(folder) / "0.sqlite", FinalStateFile(Path(folder) / "0.sqlite", CACHE), 0
        while (position := file.last.offset + 1 if file.last else 0) < len(log):
            part = log[position : position + batch]
            file.note(part, last(part))
            if notes in deaths:
                # The first death also tears the end of the log of writes.
                place = Path(folder) / str(notes)
                place.mkdir()
                copy = killed(path, place, cut if notes == min(deaths) else None)
                file.close()
                path, file = copy, FinalStateFile(copy, CACHE)
                before = log[: file.last.offset + 1] if file.last else []
                assert {n: file.standing(n) for n in standings(log)} == {
                    n: standings(before).get(n) for n in standings(log)
                }
            notes += 1
        numbers = {each.number for each in log}
        assert {n: file.standing(n) for n in numbers} == {n: standings(log).get(n) for n in numbers}
        file.close()


@settings(max_examples=60, deadline=None)
@given(said=events, back=st.integers(0, 40))
def test_records_that_are_read_again_change_nothing(said: list[tuple[str, str]], back: int) -> None:
    """Two processes may share a file for a moment, and one of them is behind the other."""
    log = [record(offset, key, kind) for offset, (key, kind) in enumerate(said)]
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder) / "0.sqlite") as file:
        file.note(log, last(log))
        known, covered = {each.number: file.standing(each.number) for each in log}, file.covered()
        again = log[-back:] if back else []
        if again:
            file.note(again, last(again))
        assert covered == file.covered()
        assert {number: file.standing(number) for number in known} == known


def test_a_final_record_is_covered_until_it_is_repeated_or_compacted_away(tmp_path: Path) -> None:
    with opened(tmp_path / "0.sqlite") as file:
        log = [record(0, "a", "approved"), record(1, "b", "approved"), record(2, "a", "held"), record(3, "b", "held")]
        file.note(log, last(log))
        assert file.covered() == [0, 1]
        file.note([record(4, "a", "approved")], LastRecord(4, 0))
        assert file.covered() == [1]
        file.uncover(1)
        assert file.covered() == []


def test_the_key_of_an_erased_answer_is_no_longer_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "0.sqlite"
    with opened(path) as file:
        file.note([record(0, "person-17", "approved"), record(1, "answer-9", "shown")], LastRecord(1, 0))
        file.note([record(2, "person-17", "erased"), record(3, "answer-9", "erased")], LastRecord(3, 0))
        assert file.standing(digest_number(b"answer-9")) is None
        assert file.standing(digest_number(b"person-17")) is None
    assert b"person-17" not in path.read_bytes()
    assert digest_number(b"answer-9").to_bytes(8, "big", signed=True) not in path.read_bytes()


def test_states_of_days_before_the_period_are_removed(tmp_path: Path) -> None:
    with opened(tmp_path / "0.sqlite") as file:
        log = [record(day, f"a{day}", "shown" if day % 2 else "approved", day) for day in range(10)]
        file.note(log, last(log))
        file.forget_before(START + timedelta(days=4, hours=5))
        assert [day for day in range(10) if file.standing(log[day].number)] == [4, 5, 6, 7, 8, 9]


def test_an_answer_is_looked_for_once_in_each_day_and_never_by_a_scan(tmp_path: Path) -> None:
    """Counted in steps of SQLite's engine: they grow with the days, not with the answers."""

    def steps(answers: int) -> int:
        with opened(tmp_path / f"{answers}.sqlite") as file:
            log = [record(n, f"a{n}", "shown", n * 30 // answers) for n in range(answers)]
            file.note(log, last(log))
            counted = 0

            def count() -> int:
                nonlocal counted
                counted += 1
                return 0

            file._database.set_progress_handler(count, 1)
            assert file.standing(digest_number(b"unknown")) is None
            assert file.standing(log[answers // 2].number) == PIPELINE
            return counted

    assert steps(30_000) <= steps(300) * 1.05


# ------------------------------------------------------------------ damage

KILLED = """
import sys
from pathlib import Path
from tests.unit.delivery.test_final_state_file import last, record
from workers.delivery.followers.final_state_file import FinalStateFile

file, offset = FinalStateFile(Path(sys.argv[1]), 2**16), 0
while True:
    part = [record(offset + n, f"a{offset + n}", "shown") for n in range(200)]
    file.note(part, last(part))
    offset += 200
    print(offset, flush=True)
"""


def test_after_a_kill_in_the_middle_of_writes_everything_before_the_offset_is_known(tmp_path: Path) -> None:
    path = tmp_path / "0.sqlite"
    command = [sys.executable, "-c", KILLED, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, text=True) as worker:
        assert worker.stdout is not None
        confirmed = 0
        while confirmed < 20_000:
            confirmed = int(worker.stdout.readline())
        worker.kill()
    with opened(path) as file:
        assert file.last is not None
        end = file.last.offset + 1
        assert end >= confirmed
        assert end % 200 == 0
        assert all(file.standing(digest_number(f"a{n}".encode())) == PIPELINE for n in range(0, end, 7))
        assert all(file.standing(digest_number(f"a{n}".encode())) is None for n in range(end, end + 400))


def filled(path: Path) -> None:
    with opened(path) as file:
        log = [record(n, f"a{n}", "shown") for n in range(5_000)]
        file.note(log, last(log))


@pytest.mark.parametrize("left", [0.5, 0.1, 0.0001])
def test_a_file_that_lost_its_end_is_told_when_it_is_opened(tmp_path: Path, left: float) -> None:
    path = tmp_path / "0.sqlite"
    filled(path)
    content = path.read_bytes()
    path.write_bytes(content[: max(1, int(len(content) * left))])
    with pytest.raises(DamagedFile), opened(path):
        pass


def test_a_file_of_something_else_or_of_another_version_is_told(tmp_path: Path) -> None:
    path = tmp_path / "0.sqlite"
    path.write_bytes(b"not a database " * 100)
    with pytest.raises(DamagedFile), opened(path):
        pass
    remove_final_states(path)
    filled(path)
    with opened(path) as file:
        file._database.execute("PRAGMA user_version = 99")
    with pytest.raises(DamagedFile, match="layout is 99"), opened(path):
        pass


def test_pages_that_were_overwritten_are_told_when_they_are_read(tmp_path: Path) -> None:
    path = tmp_path / "0.sqlite"
    filled(path)
    content = bytearray(path.read_bytes())
    content[4096 * 6 :] = bytes(len(content) - 4096 * 6)
    path.write_bytes(bytes(content))
    with opened(path) as file, pytest.raises(DamagedFile):
        for n in range(5_000):
            file.standing(digest_number(f"a{n}".encode()))


def test_a_file_that_cannot_be_written_is_waited_for_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "0.sqlite"
    filled(path)
    with opened(path) as file:
        file._database.execute("PRAGMA max_page_count = 1")  # as a full disk
        many = [record(n, f"b{n}", "shown") for n in range(6_000, 12_000)]
        with pytest.raises(StoreUnavailable, match="full"):
            file.note(many, last(many))
        assert file.last == LastRecord(4_999, record(4_999, "a4999", "shown").time_ms % 2**32)
        assert file.standing(digest_number(b"a4999")) == PIPELINE
        assert file.standing(digest_number(b"b6000")) is None
    with pytest.raises(StoreUnavailable, match="closed"):
        file.standing(0)


def test_days_are_those_of_the_record_not_of_the_reader() -> None:
    assert record(0, "a", "shown", 1).time_ms // DAY_MS == record(0, "a", "shown", 0).time_ms // DAY_MS + 1
