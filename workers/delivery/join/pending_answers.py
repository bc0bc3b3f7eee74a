"""Join an answer with its reports, and hold all of them unacknowledged until the join is complete.

The join needs no table and no changelog: its records are in Kafka and are delivered again after
a crash. An answer and its reports have the same partition number, and a report names its answer
by offset. The join is bounded: the partitions of a topic that runs ahead are paused.

A report is acknowledged only after the commit of *its answer's* offset is acknowledged.
Otherwise a crash would deliver the answer again without its reports, and a degraded result
would follow a complete one.

The deadline limits silence and not lag. After a burst, an evaluating agent may have minutes of lag although it works at
full speed. A deadline on the lag would degrade all answers under peak load. The deadline therefore counts from the
agent's last report on the partition. Once the agent has reported on a later answer of the same tenant, the deadline
counts from that report; tenants take turns, so that a report on another tenant's later answer says little. An agent that
reports on other partitions, or on other tenants' later answers, gets additional time. This time is limited, because one
of several workers may hang and a report may be lost.

An answer waits for an optional agent only a fixed time after its other reports have arrived, so that a slow plug-in
does not delay answers for long. A later report is not part of the join, and the caller stores it separately.
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
"""Minimum distance of two progress marks; closer ones are merged, which bounds their number."""


class Place(NamedTuple):
    """Topic, partition, offset and epoch of a record, as needed to acknowledge it."""

    topic: str
    partition: int
    offset: int
    epoch: int


@dataclass(frozen=True, slots=True)
class Joined:
    """An answer with the reports that came in time.

    Attributes:
        record: the answer's record.
        answer: the answer.
        reports: reports by agent.
        missing: agents whose report did not come in time.
        report_bytes: length of the reports as received.
    """

    record: Record
    answer: GeneratedAnswer
    reports: dict[str, Report]
    missing: tuple[str, ...]
    report_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Arrival:
    """Hold the consequences of a report.

    Attributes:
        joined: the joined answer, if this was its last report.
        places: places that can be acknowledged at once.
        late: True if the answer was emitted before; the caller stores and acknowledges the report.
    """

    joined: Joined | None = None
    places: tuple[Place, ...] = ()
    late: bool = False


@dataclass(slots=True)
class _Pending:
    since: float
    settled: float | None = None
    record: Record | None = None
    answer: GeneratedAnswer | None = None
    reports: dict[str, Report] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return len(self.record.value or b"" if self.record else b"") + sum(self.sizes.values())


@dataclass(slots=True)
class _Progress:
    """Progress of an agent on one partition, or on a tenant's answers there: offsets, and the times of reaching them."""

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
        """Return the time when the agent passed ``offset``, else the time of its last report; -inf without reports."""
        if not self.times:
            return float("-inf")
        index = bisect_right(self.offsets, offset)
        return self.times[min(index, len(self.times) - 1)]

    def has_passed(self, offset: int) -> bool:
        return bool(self.offsets) and self.offsets[-1] > offset

    def forget_before(self, offset: int) -> None:
        """Remove the marks that no pending answer needs, except the last mark."""
        keep = min(bisect_right(self.offsets, offset), len(self.offsets) - 1)
        if keep > 0:
            del self.offsets[:keep]
            del self.times[:keep]


@dataclass(slots=True)
class _PartitionJoin:
    pending: dict[int, _Pending] = field(default_factory=dict)
    progress: dict[str, _Progress] = field(default_factory=dict)
    turns: dict[str, dict[str, _Progress]] = field(default_factory=dict)
    """Progress by agent and tenant."""
    answers: int = 0
    answer_bytes: int = 0
    early_reports: dict[str, int] = field(default_factory=dict)
    early_bytes: dict[str, int] = field(default_factory=dict)
    held: dict[int, list[Place]] = field(default_factory=dict)
    held_offsets: list[int] = field(default_factory=list)
    due: list[tuple[float, int]] = field(default_factory=list)
    """Heap of times before which an answer is not late, and its offset; it may name answers that are complete."""

    def hold(self, offset: int, place: Place) -> None:
        if offset not in self.held:
            self.held[offset] = []
            heappush(self.held_offsets, offset)
        self.held[offset].append(place)

    def forget_before(self, oldest: int | None) -> None:
        """Remove the progress that no pending answer needs.

        Args:
            oldest: offset of the first pending answer, if there is one.
        """
        for progress in self.progress.values():
            progress.forget_before(oldest if oldest is not None else progress.offsets[-1])
        for agent, tenants in self.turns.items():
            self.turns[agent] = kept = {
                tenant: progress
                for tenant, progress in tenants.items()
                if oldest is not None and progress.has_passed(oldest)
            }
            for progress in kept.values():
                progress.forget_before(oldest or 0)


class AnswerJoin:
    """Pending answers and early reports of the partitions of one worker; callers pass the time.

    Args:
        agents: agents whose reports an answer waits for.
        deadline_seconds: maximum wait of an answer for a silent agent.
        patience_seconds: maximum wait for an agent that is busy with other partitions.
        optional: agents whose reports an answer awaits only after the others have arrived.
        optional_seconds: maximum wait for optional agents.
    """

    def __init__(
        self,
        agents: Sequence[str],
        deadline_seconds: float,
        patience_seconds: float = 0.0,
        *,
        optional: Sequence[str] = (),
        optional_seconds: float = 0.0,
    ) -> None:
        self._required = tuple(agents)
        self._agents = (*self._required, *optional)
        self._optional_seconds = optional_seconds
        self._deadline = deadline_seconds
        self._patience = patience_seconds
        self._heard: dict[str, float] = {}
        self._partitions: dict[int, _PartitionJoin] = {}

    def add_answer(self, record: Record, answer: GeneratedAnswer, now: float) -> Joined | None:
        """Add an answer.

        Args:
            record: the answer's record.
            answer: content of the record.
            now: monotonic time in seconds.

        Returns:
            The joined answer if all its reports have come, else ``None``.
        """
        partition = self._partition(record.partition)
        pending = partition.pending.get(record.offset)
        if pending is None:
            pending = partition.pending[record.offset] = _Pending(since=now)
        self._no_longer_early(partition, pending)
        pending.record, pending.answer, pending.since = record, answer, now
        partition.answers += 1
        partition.answer_bytes += pending.size
        joined = self._complete(partition, record.offset, pending, now)
        if joined is None:
            heappush(partition.due, (now + self._deadline, record.offset))
        return joined

    def add_report(
        self,
        agent: str,
        report: Report,
        record: Record,
        *,
        now: float,
        committed: int | None,
        position: int | None,
        store_late: bool = False,
    ) -> Arrival:
        """Add a report of an agent that the join waits for.

        Args:
            agent: the agent that made the report.
            report: content of the record.
            record: the report's record.
            now: monotonic time in seconds.
            committed: committed offset of the answer's partition, if known.
            position: offset after the last answer of this partition that the caller has received, if known.
            store_late: True if the caller stores reports that arrive after their answer was emitted.

        Returns:
            The joined answer if this was the last report. A report whose answer is committed
            already can be acknowledged at once, unless it is late: its caller stores it first.
        """
        offset = report.answer_offset
        place = Place(record.topic, record.partition, record.offset, record.epoch)
        partition = self._partition(record.partition)
        partition.progress.setdefault(agent, _Progress()).reached(offset, now)
        partition.turns.setdefault(agent, {}).setdefault(report.tenant, _Progress()).reached(offset, now)
        self._heard[agent] = now
        pending = partition.pending.get(offset)
        is_committed = committed is not None and offset < committed
        is_past = is_committed or (pending is None and position is not None and offset < position)
        if is_past and store_late:
            return Arrival(late=True)
        if is_committed:
            return Arrival(places=(place,))
        partition.hold(offset, place)
        if pending is None:
            if is_past:
                return Arrival()  # emitted already, or unreadable: wait for the commit
            pending = partition.pending[offset] = _Pending(since=now)
        if self._worse(report, pending.reports.get(agent)):
            return Arrival()
        grown = len(record.value or b"") - pending.sizes.get(agent, 0)
        if pending.record is not None:
            partition.answer_bytes += grown
        else:
            partition.early_bytes[agent] = partition.early_bytes.get(agent, 0) + grown
            partition.early_reports[agent] = partition.early_reports.get(agent, 0) + (agent not in pending.reports)
        pending.reports[agent] = report
        pending.sizes[agent] = len(record.value or b"")
        return Arrival(self._complete(partition, offset, pending, now))

    def expire(self, now: float) -> list[Joined]:
        """Remove and return the answers past their deadline, with the reports that came; keep early reports."""
        late: list[Joined] = []
        for partition in self._partitions.values():
            waiting: list[tuple[float, int]] = []
            while partition.due and partition.due[0][0] <= now:
                _, offset = heappop(partition.due)
                pending = partition.pending.get(offset)
                if pending is None or pending.record is None:
                    continue
                late_at = self._late_at(partition, offset, pending)
                if late_at <= now:
                    late.append(self._emit(partition, offset, pending))
                else:
                    waiting.append((late_at, offset))
            for each in waiting:
                heappush(partition.due, each)
            partition.forget_before(min(partition.pending, default=None))
        return late

    def _late_at(self, partition: _PartitionJoin, offset: int, pending: _Pending) -> float:
        """Return the time from which a missing agent is past the deadline; further reports of agents can only delay it."""
        if pending.settled is not None:
            return pending.settled + self._optional_seconds
        return self._deadline + min(
            self._waiting_since(partition, agent, offset, pending)
            for agent in self._required
            if agent not in pending.reports
        )

    def _waiting_since(self, partition: _PartitionJoin, agent: str, offset: int, pending: _Pending) -> float:
        progress = partition.progress.get(agent) or _Progress()
        since = max(pending.since, progress.silent_since(offset))
        heard = self._heard.get(agent, float("-inf"))
        if not progress.has_passed(offset):
            return max(since, min(heard, pending.since + self._patience))
        assert pending.answer is not None
        own = partition.turns[agent].get(pending.answer.tenant)
        if own is not None and own.has_passed(offset):
            return max(pending.since, own.silent_since(offset))
        return max(since, min(heard, since + self._patience))

    def committed(self, partition_number: int, offset: int) -> list[Place]:
        """Return the reports that may be acknowledged once the answers before ``offset`` are committed."""
        partition = self._partitions.get(partition_number)
        places: list[Place] = []
        if partition is None:
            return places
        while partition.held_offsets and partition.held_offsets[0] < offset:
            gone = heappop(partition.held_offsets)
            places.extend(partition.held.pop(gone))
            pending = partition.pending.get(gone)
            if pending is not None and pending.record is None:
                # The answer was compacted away or expired and will never be delivered.
                del partition.pending[gone]
                self._no_longer_early(partition, pending)
        return places

    def clear(self) -> None:
        """Remove everything; after a revocation Kafka delivers all of it again."""
        self._partitions.clear()
        self._heard.clear()

    def waiting_answers(self, partition: int | None = None) -> int:
        """Return the number of answers that wait for reports."""
        return sum(join.answers for join in self._chosen(partition))

    def early_reports(self, agent: str, partition: int | None = None) -> int:
        """Return the number of an agent's reports whose answer has not come."""
        return sum(join.early_reports.get(agent, 0) for join in self._chosen(partition))

    def waiting_bytes(self, partition: int | None = None) -> int:
        """Return the bytes of waiting answers and of their reports."""
        return sum(join.answer_bytes for join in self._chosen(partition))

    def early_bytes(self, agent: str, partition: int | None = None) -> int:
        """Return the bytes of an agent's reports whose answer has not come."""
        return sum(join.early_bytes.get(agent, 0) for join in self._chosen(partition))

    def held_reports(self, partition: int | None = None) -> int:
        """Return the number of reports that wait for their answer or for its commit."""
        return sum(len(places) for join in self._chosen(partition) for places in join.held.values())

    def _chosen(self, partition: int | None) -> Iterable[_PartitionJoin]:
        if partition is None:
            return self._partitions.values()
        return [self._partitions[partition]] if partition in self._partitions else []

    def _partition(self, number: int) -> _PartitionJoin:
        return self._partitions.setdefault(number, _PartitionJoin())

    def _complete(self, partition: _PartitionJoin, offset: int, pending: _Pending, now: float) -> Joined | None:
        if pending.record is None or not all(agent in pending.reports for agent in self._required):
            return None
        if len(pending.reports) < len(self._agents):
            if pending.settled is None:
                pending.settled = now
                heappush(partition.due, (now + self._optional_seconds, offset))
            return None
        return self._emit(partition, offset, pending)

    def _emit(self, partition: _PartitionJoin, offset: int, pending: _Pending) -> Joined:
        assert pending.record is not None and pending.answer is not None
        del partition.pending[offset]
        partition.answers -= 1
        partition.answer_bytes -= pending.size
        # The offset finds a report, but only its tenant and answer say that it belongs here.
        name = pending.answer.tenant, pending.answer.answer_id
        reports = {
            agent: report for agent, report in pending.reports.items() if (report.tenant, report.answer_id) == name
        }
        missing = tuple(agent for agent in self._agents if agent not in reports)
        return Joined(pending.record, pending.answer, reports, missing, sum(pending.sizes.values()))

    @staticmethod
    def _no_longer_early(partition: _PartitionJoin, pending: _Pending) -> None:
        for agent, size in pending.sizes.items():
            partition.early_reports[agent] -= 1
            partition.early_bytes[agent] -= size

    @staticmethod
    def _worse(report: Report, known: Report | None) -> bool:
        """Return whether a report must not replace the known report of the same agent."""
        return known is not None and (report.status == "failed" or known.status == "ok")
