"""Joining an answer with its reports, by holding all of them unacknowledged.

No table and no changelog: what is here is in Kafka too, and comes again after a crash.
An answer and its reports stand on the same partition number and are told by the answer's
offset. The join is bounded by pausing the partitions of whichever topic runs ahead.

A report is acknowledged only after the commit of *its answer's* offset is confirmed.
Otherwise a crash would bring the answer again without its reports, and a degraded result
would follow a complete one.

The deadline measures silence, not backlog. Behind a burst, an answer may lie minutes ahead
of a judging agent that does all it can; giving it up then would degrade everything just
when there is most of it. So the time counts from the agent's last report on the partition,
or, once the agent has reported on a later answer, from that moment. An agent that reports
on other partitions is granted patience, which is bounded: one of several workers may hang.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import NamedTuple

from schemas.answers import GeneratedAnswer
from schemas.reports import Report
from workers.delivery.records import Record

MARK_SECONDS = 0.25
"""Marks of progress closer together are one; it bounds their number, not what they tell."""


class Place(NamedTuple):
    """Where a record stands; enough to acknowledge it."""

    topic: str
    partition: int
    offset: int
    epoch: int


@dataclass(frozen=True, slots=True)
class Joined:
    """An answer that waits no longer.

    Attributes:
        record: the answer's record.
        answer: the answer.
        reports: by agent.
        missing: agents whose report did not come in time.
        report_bytes: length of the reports as they came.
    """

    record: Record
    answer: GeneratedAnswer
    reports: dict[str, Report]
    missing: tuple[str, ...]
    report_bytes: int = 0


@dataclass(slots=True)
class _Pending:
    since: float
    record: Record | None = None
    answer: GeneratedAnswer | None = None
    reports: dict[str, Report] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return len(self.record.value or b"" if self.record else b"") + sum(self.sizes.values())


@dataclass(slots=True)
class _Progress:
    """How far an agent is on one partition: a mark for every time it got further."""

    offsets: list[int] = field(default_factory=list)
    times: list[float] = field(default_factory=list)

    def reached(self, offset: int, now: float) -> None:
        if self.offsets and offset <= self.offsets[-1]:
            return
        if self.times and now - self.times[-1] < MARK_SECONDS:
            self.offsets[-1] = offset
            return
        self.offsets.append(offset)
        self.times.append(now)

    def silent_since(self, offset: int) -> float:
        """When the agent passed ``offset``, or else when it was last heard of; -inf if never."""
        if not self.times:
            return float("-inf")
        index = bisect_right(self.offsets, offset)
        return self.times[min(index, len(self.times) - 1)]

    def has_passed(self, offset: int) -> bool:
        return bool(self.offsets) and self.offsets[-1] > offset

    def forget_before(self, offset: int) -> None:
        """Let go of marks that no pending answer needs; the last one always stays."""
        keep = min(bisect_right(self.offsets, offset), len(self.offsets) - 1)
        if keep > 0:
            del self.offsets[:keep]
            del self.times[:keep]


@dataclass(slots=True)
class _PartitionJoin:
    pending: dict[int, _Pending] = field(default_factory=dict)
    progress: dict[str, _Progress] = field(default_factory=dict)
    answers: int = 0
    answer_bytes: int = 0
    early_reports: dict[str, int] = field(default_factory=dict)
    early_bytes: dict[str, int] = field(default_factory=dict)
    held: dict[int, list[Place]] = field(default_factory=dict)
    held_offsets: list[int] = field(default_factory=list)

    def hold(self, offset: int, place: Place) -> None:
        if offset not in self.held:
            self.held[offset] = []
            heappush(self.held_offsets, offset)
        self.held[offset].append(place)


class AnswerJoin:
    """Pending answers and early reports of the partitions of one worker; pure, time is passed in.

    Args:
        agents: whose reports an answer waits for.
        deadline_seconds: how long an answer waits for a silent agent.
        patience_seconds: how long for one that is busy with other partitions.
    """

    def __init__(self, agents: Sequence[str], deadline_seconds: float, patience_seconds: float = 0.0) -> None:
        self._agents = tuple(agents)
        self._deadline = deadline_seconds
        self._patience = patience_seconds
        self._heard: dict[str, float] = {}
        self._partitions: dict[int, _PartitionJoin] = {}

    def add_answer(self, record: Record, answer: GeneratedAnswer, now: float) -> Joined | None:
        """Take an answer.

        Args:
            record: the answer's record.
            answer: what it says.
            now: monotonic time in seconds.

        Returns:
            The joined answer if all its reports are here already.
        """
        partition = self._partition(record.partition)
        pending = partition.pending.get(record.offset)
        if pending is None:
            pending = partition.pending[record.offset] = _Pending(since=now)
        self._no_longer_early(partition, pending)
        pending.record, pending.answer, pending.since = record, answer, now
        partition.answers += 1
        partition.answer_bytes += pending.size
        return self._complete(partition, record.offset, pending)

    def add_report(
        self, agent: str, report: Report, record: Record, *, now: float, committed: int | None, position: int | None
    ) -> tuple[Joined | None, list[Place]]:
        """Take a report.

        Args:
            agent: who made it.
            report: what it says.
            record: the report's record.
            now: monotonic time in seconds.
            committed: committed offset of the answer's partition, if known.
            position: next offset to be read of the answer's partition, if known.

        Returns:
            The joined answer if this was the last report, and the places that can be
            acknowledged at once: those of reports whose answer is committed already.
        """
        offset = report.answer_offset
        place = Place(record.topic, record.partition, record.offset, record.epoch)
        partition = self._partition(record.partition)
        partition.progress.setdefault(agent, _Progress()).reached(offset, now)
        self._heard[agent] = now
        if committed is not None and offset < committed:
            return None, [place]
        partition.hold(offset, place)
        pending = partition.pending.get(offset)
        if pending is None:
            if position is not None and offset < position:
                return None, []  # emitted already, or unreadable: wait for the commit
            pending = partition.pending[offset] = _Pending(since=now)
        if self._worse(report, pending.reports.get(agent)):
            return None, []
        grown = len(record.value or b"") - pending.sizes.get(agent, 0)
        if pending.record is not None:
            partition.answer_bytes += grown
        else:
            partition.early_bytes[agent] = partition.early_bytes.get(agent, 0) + grown
            partition.early_reports[agent] = partition.early_reports.get(agent, 0) + (agent not in pending.reports)
        pending.reports[agent] = report
        pending.sizes[agent] = len(record.value or b"")
        return self._complete(partition, offset, pending), []

    def expire(self, now: float) -> list[Joined]:
        """Answers that have waited long enough, with what has come; early reports wait on."""
        late: list[Joined] = []
        for partition in self._partitions.values():
            offsets = [
                offset
                for offset, pending in partition.pending.items()
                if pending.record is not None and self._is_late(partition, offset, pending, now)
            ]
            late.extend(self._emit(partition, offset, partition.pending[offset]) for offset in offsets)
            oldest = min(partition.pending, default=None)
            for progress in partition.progress.values():
                progress.forget_before(oldest if oldest is not None else progress.offsets[-1])
        return late

    def _is_late(self, partition: _PartitionJoin, offset: int, pending: _Pending, now: float) -> bool:
        """Late as soon as one missing agent is: the answer has to go without it in any case."""
        if now - pending.since < self._deadline:
            return False
        return any(
            now - self._waiting_since(partition, agent, offset, pending) >= self._deadline
            for agent in self._agents
            if agent not in pending.reports
        )

    def _waiting_since(self, partition: _PartitionJoin, agent: str, offset: int, pending: _Pending) -> float:
        progress = partition.progress.get(agent) or _Progress()
        since = max(pending.since, progress.silent_since(offset))
        if progress.has_passed(offset):
            return since
        heard_elsewhere = self._heard.get(agent, float("-inf"))
        return max(since, min(heard_elsewhere, pending.since + self._patience))

    def committed(self, partition_number: int, offset: int) -> list[Place]:
        """Reports that may be acknowledged now that answers before ``offset`` are committed."""
        partition = self._partitions.get(partition_number)
        places: list[Place] = []
        if partition is None:
            return places
        while partition.held_offsets and partition.held_offsets[0] < offset:
            gone = heappop(partition.held_offsets)
            places.extend(partition.held.pop(gone))
            pending = partition.pending.get(gone)
            if pending is not None and pending.record is None:
                # Its answer was never delivered (compacted away or expired) and never will be.
                del partition.pending[gone]
                self._no_longer_early(partition, pending)
        return places

    def clear(self) -> None:
        """Forget everything; after a revocation it all comes again."""
        self._partitions.clear()
        self._heard.clear()

    def waiting_answers(self, partition: int | None = None) -> int:
        """Answers that wait for reports."""
        return sum(join.answers for join in self._chosen(partition))

    def early_reports(self, agent: str, partition: int | None = None) -> int:
        """Reports of an agent whose answer has not come."""
        return sum(join.early_reports.get(agent, 0) for join in self._chosen(partition))

    def waiting_bytes(self, partition: int | None = None) -> int:
        """Bytes of answers that wait, with the reports they have."""
        return sum(join.answer_bytes for join in self._chosen(partition))

    def early_bytes(self, agent: str, partition: int | None = None) -> int:
        """Bytes of an agent's reports whose answer has not come."""
        return sum(join.early_bytes.get(agent, 0) for join in self._chosen(partition))

    def held_reports(self, partition: int | None = None) -> int:
        """Reports that wait for the commit of their answer, or for the answer itself."""
        return sum(len(places) for join in self._chosen(partition) for places in join.held.values())

    def _chosen(self, partition: int | None) -> Iterable[_PartitionJoin]:
        if partition is None:
            return self._partitions.values()
        return [self._partitions[partition]] if partition in self._partitions else []

    def _partition(self, number: int) -> _PartitionJoin:
        return self._partitions.setdefault(number, _PartitionJoin())

    def _complete(self, partition: _PartitionJoin, offset: int, pending: _Pending) -> Joined | None:
        if pending.record is None or len(pending.reports) < len(self._agents):
            return None
        return self._emit(partition, offset, pending)

    def _emit(self, partition: _PartitionJoin, offset: int, pending: _Pending) -> Joined:
        assert pending.record is not None and pending.answer is not None
        del partition.pending[offset]
        partition.answers -= 1
        partition.answer_bytes -= pending.size
        missing = tuple(agent for agent in self._agents if agent not in pending.reports)
        return Joined(pending.record, pending.answer, pending.reports, missing, sum(pending.sizes.values()))

    @staticmethod
    def _no_longer_early(partition: _PartitionJoin, pending: _Pending) -> None:
        for agent, size in pending.sizes.items():
            partition.early_reports[agent] -= 1
            partition.early_bytes[agent] -= size

    @staticmethod
    def _worse(report: Report, known: Report | None) -> bool:
        """Of two reports of one agent a failed one never replaces one that is there."""
        return known is not None and (report.status == "failed" or known.status == "ok")
