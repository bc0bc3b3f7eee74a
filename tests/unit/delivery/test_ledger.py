"""The ledger against a model of ten lines, with gaps, failed commits and revocations."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from workers.delivery.consumption.ledger import OffsetLedger, Partition

TP = Partition("answers.generated", 0)


class LedgerMachine(RuleBasedStateMachine):
    """A broker with one partition, a consumer that reads it, works in any order and commits.

    The model: the log, what was ever acknowledged while it was ours, and the broker's
    committed offset. The promise: nothing below the committed offset is undone.
    """

    @initialize(gaps=st.lists(st.integers(1, 4), min_size=1, max_size=40))
    def log_with_gaps(self, gaps: list[int]) -> None:
        self.ledger = OffsetLedger()
        self.log = [sum(gaps[: n + 1]) for n in range(len(gaps))]
        self.done: set[int] = set()
        self.broker_committed: int | None = None
        self.in_work: list[tuple[int, int]] = []
        self.commits_under_way: list[tuple[int, int]] = []
        self.position = 0
        self.ledger.begin(TP, None)

    @precondition(lambda self: any(offset >= self.position for offset in self.log))
    @rule()
    def deliver_next(self) -> None:
        offset = next(offset for offset in self.log if offset >= self.position)
        self.ledger.deliver(TP, offset)
        self.position = offset + 1
        self.in_work.append((offset, self.ledger.epoch))

    @precondition(lambda self: self.in_work)
    @rule(data=st.data())
    def acknowledge_any(self, data: st.DataObject) -> None:
        offset, epoch = data.draw(st.sampled_from(self.in_work))
        counted = self.ledger.acknowledge(TP, offset, epoch)
        assert counted == (epoch == self.ledger.epoch)
        if counted:
            self.done.add(offset)
        self.in_work.remove((offset, epoch))

    @precondition(lambda self: self.in_work)
    @rule(data=st.data())
    def acknowledge_twice_counts_once(self, data: st.DataObject) -> None:
        offset, epoch = data.draw(st.sampled_from(self.in_work))
        self.in_work.remove((offset, epoch))
        if self.ledger.acknowledge(TP, offset, epoch):
            self.done.add(offset)
        assert not self.ledger.acknowledge(TP, offset, epoch)

    @rule()
    def begin_commit(self) -> None:
        offset = self.ledger.committable(TP)
        if offset is not None:
            self.commits_under_way.append((offset, self.ledger.epoch))

    @precondition(lambda self: self.commits_under_way)
    @rule(reaches_broker=st.booleans(), confirmed=st.booleans())
    def end_commit(self, reaches_broker: bool, confirmed: bool) -> None:
        """A commit may fail, or reach the broker while its confirmation is lost."""
        offset, epoch = self.commits_under_way.pop(0)
        if epoch != self.ledger.epoch:
            # The broker fences the commit of an earlier generation; its answer says nothing.
            assert not self.ledger.confirm(TP, offset, epoch)
            return
        if reaches_broker:
            self.broker_committed = max(offset, self.broker_committed or 0)
            if confirmed:
                assert self.ledger.confirm(TP, offset, epoch)

    @rule()
    def revoke_and_assign_again(self) -> None:
        self.ledger.start_epoch()
        self.ledger.begin(TP, self.broker_committed)
        self.position = self.broker_committed or 0

    @invariant()
    def committed_offsets_have_nothing_undone_below(self) -> None:
        if getattr(self, "broker_committed", None) is not None:
            assert all(offset in self.done for offset in self.log if offset < self.broker_committed)

    @invariant()
    def committable_is_the_smallest_outstanding_or_the_end(self) -> None:
        if not hasattr(self, "ledger"):
            return
        outstanding = [offset for offset, epoch in self.in_work if epoch == self.ledger.epoch]
        assert self.ledger.outstanding(TP) == len(outstanding)
        expected = min(outstanding, default=self.ledger.position(TP))
        committed = self.ledger.committed(TP)
        if expected is None or (committed is not None and expected <= committed):
            assert self.ledger.committable(TP) is None
        else:
            assert self.ledger.committable(TP) == expected


LedgerMachine.TestCase.settings = settings(max_examples=100, stateful_step_count=60, deadline=None)
TestLedger = LedgerMachine.TestCase


def test_an_offset_in_work_holds_back_all_later_ones() -> None:
    ledger = OffsetLedger()
    for offset in range(5):
        ledger.deliver(TP, offset)
    for offset in (1, 2, 3, 4):
        assert ledger.acknowledge(TP, offset, ledger.epoch)
    assert ledger.committable(TP) == 0
    ledger.acknowledge(TP, 0, ledger.epoch)
    assert ledger.committable(TP) == 5


def test_a_gap_in_the_offsets_is_passed_only_when_what_stands_before_it_is_done() -> None:
    ledger = OffsetLedger()
    ledger.deliver(TP, 3)
    ledger.deliver(TP, 90)
    assert ledger.committable(TP) == 3
    ledger.acknowledge(TP, 3, ledger.epoch)
    assert ledger.committable(TP) == 90
    ledger.acknowledge(TP, 90, ledger.epoch)
    assert ledger.committable(TP) == 91


def test_a_record_delivered_twice_in_an_epoch_is_an_error() -> None:
    ledger = OffsetLedger()
    ledger.deliver(TP, 7)
    with pytest.raises(ValueError, match="offset 7"):
        ledger.deliver(TP, 7)


def test_acknowledgements_of_an_earlier_epoch_count_for_nothing() -> None:
    ledger = OffsetLedger()
    ledger.deliver(TP, 0)
    before = ledger.epoch
    ledger.start_epoch()
    ledger.deliver(TP, 0)
    assert not ledger.acknowledge(TP, 0, before)
    assert ledger.committable(TP) == 0
    assert not ledger.confirm(TP, 1, before)
    assert ledger.committed(TP) is None


def test_a_ledger_is_finished_once_all_is_acknowledged_and_committed() -> None:
    ledger = OffsetLedger()
    assert not ledger.unfinished()
    ledger.deliver(TP, 0)
    assert ledger.unfinished()
    ledger.acknowledge(TP, 0, ledger.epoch)
    assert ledger.unfinished()
    ledger.confirm(TP, 1, ledger.epoch)
    assert not ledger.unfinished()
