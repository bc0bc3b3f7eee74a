"""The journal of attempts: what stands in it after a death, and whom it gives up."""

import errno
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workers.delivery.failures import attempts
from workers.delivery.failures.attempts import MAX_COUNTED_DEATHS, AttemptJournal, ProcessKilled
from workers.delivery.failures.error_action import ErrorAction, action_for
from workers.delivery.records import Record

AGENTS = ("grounding", "quality")


def record(offset: int, partition: int = 0) -> Record:
    return Record("answers.generated", partition, offset, None, b"")


def die(journal: AttemptJournal) -> None:
    """What the kernel does for a process that dies: it closes the file, nothing is struck out."""
    journal.close()


def die_alone(directory: Path, offset: int, agent: str = "grounding", times: int = 1) -> None:
    for _ in range(times):
        journal = AttemptJournal(directory, "g")
        journal.begin(agent, [record(offset)], counts=True)
        die(journal)


def given_up(journal: AttemptJournal, offset: int, agent: str = "grounding") -> bool:
    try:
        journal.check(agent, record(offset))
    except ProcessKilled:
        return True
    return False


def test_what_was_in_work_at_a_death_is_suspect_and_what_was_done_is_not(tmp_path: Path) -> None:
    journal = AttemptJournal(tmp_path, "g")
    journal.begin("grounding", [record(1), record(2), record(3)], counts=False)
    journal.end("grounding", [record(1)])
    die(journal)
    journal = AttemptJournal(tmp_path, "g")
    assert [journal.is_suspect(record(offset)) for offset in (1, 2, 3, 4)] == [False, True, True, False]
    assert not journal.is_suspect(record(2, partition=1))
    assert not given_up(journal, 2), "a death in company counts for nothing"
    journal.end("grounding", [record(2)])
    journal.close()
    journal = AttemptJournal(tmp_path, "g")
    assert [journal.is_suspect(record(offset)) for offset in (2, 3)] == [False, True]
    journal.close()


def test_a_record_is_given_up_after_the_last_death_alone_and_not_before(tmp_path: Path) -> None:
    journal = AttemptJournal(tmp_path, "g")
    journal.begin("grounding", [record(7), record(8)], counts=False)
    die(journal)
    die_alone(tmp_path, 7, times=MAX_COUNTED_DEATHS - 1)
    journal = AttemptJournal(tmp_path, "g")
    assert not given_up(journal, 7)
    journal.close()
    die_alone(tmp_path, 7)
    journal = AttemptJournal(tmp_path, "g")
    assert given_up(journal, 7)
    assert not given_up(journal, 8)
    with pytest.raises(ProcessKilled) as refusal:
        journal.check("grounding", record(7))
    assert action_for(refusal.value) is ErrorAction.DEAD_LETTER
    journal.close()


def test_deaths_in_company_alone_never_give_a_record_up(tmp_path: Path) -> None:
    for _ in range(20):
        journal = AttemptJournal(tmp_path, "g")
        journal.begin("grounding", [record(1), record(2)], counts=False)
        die(journal)
    journal = AttemptJournal(tmp_path, "g")
    assert not given_up(journal, 1)
    assert not given_up(journal, 2)
    journal.close()


def test_deaths_of_several_agents_add_up_but_only_who_died_of_it_gives_it_up(tmp_path: Path) -> None:
    die_alone(tmp_path, 5, "grounding")
    die_alone(tmp_path, 5, "quality", times=MAX_COUNTED_DEATHS - 1)
    journal = AttemptJournal(tmp_path, "g")
    assert given_up(journal, 5, "grounding")
    assert given_up(journal, 5, "quality")
    assert not given_up(journal, 5, "assembly"), "assembly has never died of it"
    journal.close()


def test_surviving_a_record_clears_the_agent_that_did(tmp_path: Path) -> None:
    die_alone(tmp_path, 5, times=MAX_COUNTED_DEATHS - 1)
    journal = AttemptJournal(tmp_path, "g")
    journal.begin("grounding", [record(5)], counts=True)
    journal.end("grounding", [record(5)])
    journal.close()
    die_alone(tmp_path, 5)
    journal = AttemptJournal(tmp_path, "g")
    assert not given_up(journal, 5)
    journal.close()


@pytest.mark.parametrize(
    "torn", [b'["+",true,"grounding","answers.gen', b'["+",tr', b"[", b"\x00\x00\x00", b"5", b"{}"]
)
def test_a_line_that_was_cut_off_by_the_death_spoils_nothing_before_or_after_it(tmp_path: Path, torn: bytes) -> None:
    die_alone(tmp_path, 1, times=MAX_COUNTED_DEATHS)
    (path,) = tmp_path.iterdir()
    with path.open("ab") as file:
        file.write(torn)
    journal = AttemptJournal(tmp_path, "g")
    assert given_up(journal, 1)
    journal.begin("grounding", [record(2)], counts=True)
    die(journal)
    journal = AttemptJournal(tmp_path, "g")
    assert given_up(journal, 1)
    assert set(journal.suspects) == {("answers.generated", 0, 1), ("answers.generated", 0, 2)}
    journal.close()


def test_compaction_keeps_counts_and_what_is_in_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    die_alone(tmp_path, 1)
    monkeypatch.setattr(attempts, "COMPACT_BYTES", 2_000)
    journal = AttemptJournal(tmp_path, "g")
    journal.begin("quality", [record(2)], counts=True)
    for offset in range(100, 1_100):
        journal.begin("grounding", [record(offset)], counts=False)
        journal.end("grounding", [record(offset)])
    (path,) = tmp_path.iterdir()
    assert path.stat().st_size <= 2_200
    die(journal)
    journal = AttemptJournal(tmp_path, "g")
    assert journal.suspects == {
        ("answers.generated", 0, 1): {"grounding": 1},
        ("answers.generated", 0, 2): {"quality": 1},
    }
    journal.close()


def test_a_journal_in_long_use_does_not_grow(tmp_path: Path) -> None:
    for start in range(0, attempts.MAX_SUSPECTS + 500, 500):
        journal = AttemptJournal(tmp_path, "g")
        journal.begin("grounding", [record(offset) for offset in range(start, start + 500)], counts=False)
        die(journal)
    journal = AttemptJournal(tmp_path, "g")
    assert len(journal.suspects) == attempts.MAX_SUSPECTS
    assert journal.is_suspect(record(start)), "the latest are kept"
    journal.close()


def test_two_processes_never_share_a_journal_and_a_dead_one_leaves_its_own_behind(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from workers.delivery.failures.attempts import AttemptJournal\n"
        "from workers.delivery.records import Record\n"
        "journal = AttemptJournal(Path(sys.argv[1]), 'g')\n"
        "journal.begin('grounding', [Record('answers.generated', 0, 42, None, b'')], counts=True)\n"
        "print('ready', flush=True); sys.stdin.read()\n"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(Path(attempts.__file__).parent.parent.parent)},
    )  # fmt: skip
    assert other.stdout is not None and other.stdin is not None
    with other, other.stdout, other.stdin:
        assert other.stdout.readline() == b"ready\n"
        ours = AttemptJournal(tmp_path, "g")
        foreign = AttemptJournal(tmp_path, "another deployment")
        assert not ours.is_suspect(record(42)), "the other process is alive: it is in work there"
        assert len(list(tmp_path.iterdir())) == 3
        other.kill()
        other.wait()
        heir = AttemptJournal(tmp_path, "g")
        assert heir.is_suspect(record(42))
        assert not foreign.is_suspect(record(42))
    for journal in (ours, foreign, heir):
        journal.close()


def test_a_full_disk_stops_the_journal_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    die_alone(tmp_path, 1)
    journal = AttemptJournal(tmp_path, "g")

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(attempts.os, "write", full)
        journal.begin("grounding", [record(2)], counts=False)
        journal.end("grounding", [record(2)])
    journal.begin("grounding", [record(3)], counts=False)
    die(journal)
    journal = AttemptJournal(tmp_path, "g")
    assert journal.is_suspect(record(1))
    assert journal.is_suspect(record(3))
    journal.close()


# ---------------------------------------------------------------- property


class World:
    """Processes that die and come back over one journal, handled as the processor does."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.deaths_alone: Counter[int] = Counter()
        self.given_up: set[int] = set()
        self.restart()

    def restart(self) -> None:
        self.journal = AttemptJournal(self.directory, "g")
        self.batches: list[tuple[str, list[int], bool]] = []

    def begin(self, agent: str, offsets: Iterable[int]) -> None:
        offsets = list(offsets)
        company = [offset for offset in offsets if not self.journal.is_suspect(record(offset))]
        if company:
            self.journal.begin(agent, [record(offset) for offset in company], counts=False)
            self.batches.append((agent, company, False))
        for offset in offsets:
            if offset in company or any(alone for _, _, alone in self.batches):
                continue
            if given_up(self.journal, offset, agent):
                self.given_up.add(offset)
                assert self.deaths_alone[offset] >= MAX_COUNTED_DEATHS
                self.journal.end(agent, [record(offset)])
            else:
                self.journal.begin(agent, [record(offset)], counts=True)
                self.batches.append((agent, [offset], True))

    def end(self, number: int) -> None:
        agent, offsets, _ = self.batches.pop(number % len(self.batches))
        self.journal.end(agent, [record(offset) for offset in offsets])

    def die(self) -> None:
        self.deaths_alone.update(offset for _, offsets, alone in self.batches if alone for offset in offsets)
        die(self.journal)
        self.restart()


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("begin"), st.sampled_from(AGENTS), st.sets(st.integers(0, 5), min_size=1, max_size=3)),
        st.tuples(st.just("end"), st.integers(0, 10)),
        st.tuples(st.just("die")),
    ),
    max_size=60,
)


@given(steps=STEPS)
@settings(max_examples=200, deadline=None)
def test_no_record_is_given_up_that_was_not_alone_in_work_at_enough_deaths(steps: list[tuple[object, ...]]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        world = World(Path(directory))
        for kind, *arguments in steps:
            if kind == "die":
                world.die()
            elif kind == "begin":
                world.begin(*arguments)  # type: ignore[arg-type]
            elif world.batches:
                world.end(*arguments)  # type: ignore[arg-type]
        world.journal.close()


@given(killer=st.integers(0, 5), batches=st.lists(st.permutations(range(6)), min_size=9, max_size=9))
@settings(max_examples=50, deadline=None)
def test_one_killer_is_given_up_at_its_fourth_death_and_nobody_else_is(killer: int, batches: list[list[int]]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        world, deaths, done = World(Path(directory)), 0, set[int]()
        for order in batches:
            todo = [offset for offset in order if offset not in done | world.given_up]
            groups = [[offset] for offset in todo] if deaths else [todo]
            for offsets in groups:
                world.begin("grounding", offsets)
                if any(killer in begun for _, begun, _ in world.batches):
                    world.die()
                    deaths += 1
                    break
                while world.batches:
                    world.end(0)
                done.update(offset for offset in offsets if offset not in world.given_up)
        assert world.given_up == {killer}
        assert deaths == 1 + MAX_COUNTED_DEATHS
        world.journal.close()
