"""Run a replay: evaluate past answers again and store the results under a separate name.

A replay reads, evaluates, writes and then stores its progress. After an interruption it continues at the last stored
progress and overwrites repeated results. Agents are not involved, so a replay causes no release, review, alert, reward
or retry.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from schemas.answers import GeneratedAnswer
from schemas.base import UnreadableEvent
from schemas.quality import EarlierAnswer
from workers.agents.base import read_answer
from workers.delivery.followers.erasure_follower import ErasureFollower, ErasureRegister
from workers.delivery.records import Record
from workers.errors import OversizeRecord, TouchstoneError, UnavailableError, UnreadableRecord
from workers.inference.embedding import EmbeddingService
from workers.inference.verification import VerificationService
from workers.observability.logs import get_logger
from workers.pipeline.evaluator_registry import open_evaluators
from workers.pipeline.models import ServiceModels
from workers.pipeline.pipeline import AnswerCase, EvaluatedAnswer, EvaluationPipeline
from workers.pipeline.reports import Origin
from workers.privacy.record_masking import Privacy
from workers.replay.answer_sources import AnswerSource
from workers.replay.replay_options import AnswerFilter, ReplayOptions
from workers.replay.replay_outputs import ReplayOutputs
from workers.replay.stored_reports import Stored, StoredJudgements
from workers.replay.throttle import Throttle
from workers.settings import Settings
from workers.stores.queries.runs.replay_records import ReplayStore, State, StoredReplay

BATCH_ANSWERS = 32
"""Number of answers that are prepared, embedded and evaluated together."""

IN_WORK = 3
"""Maximum number of batches in progress: one waits for the model, one is prepared, one is evaluated."""

WRITE_ANSWERS = 256
"""Number of answers written together, and maximum number evaluated again after a kill."""

WRITE_SECONDS = 5.0
"""Maximum interval between two writes, so that a slow replay shows its progress."""

log = get_logger(__name__)

Progress = Callable[[int, int | None], None]
"""Callback with the number of processed records, and the total if known."""


@dataclass(frozen=True, slots=True)
class _Part:
    """Consecutive records of a partition with the selected ones, and the reasons for leaving out the others."""

    partition: int
    end: int
    cases: Sequence[tuple[GeneratedAnswer, Record]]
    left_out: Counter[str]


@dataclass(frozen=True, slots=True)
class _Done:
    """Result of one part, with the number of answers that have no stored result."""

    part: _Part
    judged: Sequence[EvaluatedAnswer]
    unknown: int


class ReplayRefused(TouchstoneError):
    """A replay of this name has other options, or runs in another process."""


class FollowedErasures:
    """Follow erasures in the background as long as the replay runs.

    Args:
        follower: follower that has read the register to its end.
    """

    def __init__(self, follower: ErasureFollower) -> None:
        self._follower = follower
        self._following = asyncio.ensure_future(follower.run())

    @property
    def register(self) -> ErasureRegister:
        """Return the current register of erased persons."""
        return self._follower.register

    def require(self) -> None:
        """Refuse writes once the erasure feed stops.

        Raises:
            ErasuresUnreadable: the register is no longer followed.
        """
        if self._following.done() and not self._following.cancelled():
            self._following.result()

    async def stop(self) -> None:
        """Disconnect."""
        self._following.cancel()
        await asyncio.gather(self._following, return_exceptions=True)
        await self._follower.stop()


class Selection:
    """Select the records of a replay: readable ones that concern no erased person.

    Args:
        settings: limits and masking rules.
        options: options of the replay.
        register: erased persons.
    """

    def __init__(self, settings: Settings, options: ReplayOptions, register: ErasureRegister) -> None:
        self._options, self._register = options, register
        self._filter = AnswerFilter(options)
        self._max_bytes = settings.kafka.max_input_bytes
        self._privacy = Privacy(settings.privacy, settings.kafka.max_input_bytes)

    def allowed(self, judged: Sequence[EvaluatedAnswer]) -> list[EvaluatedAnswer]:
        """Return the answers whose persons have not been erased since the selection."""
        return [each for each in judged if not self._register.covers(each.record)]

    def unerased(self, tenant: str, earlier: Sequence[EarlierAnswer]) -> list[EarlierAnswer]:
        """Return the earlier answers whose persons are not erased."""
        return [each for each in earlier if not self._register.knows(tenant, each.answer_id)]

    def part(self, records: Sequence[Record]) -> _Part:
        """Select among consecutive records of a partition.

        Raises:
            TouchstoneError: the filter cannot be applied.
        """
        left_out: Counter[str] = Counter()
        cases = []
        for record in records:
            answer = self._answer(record)
            if isinstance(answer, str):
                left_out[answer] += 1
            else:
                cases.append(answer)
        return _Part(records[0].partition, records[-1].offset + 1, cases, left_out)

    def _answer(self, record: Record) -> tuple[GeneratedAnswer, Record] | str:
        options = self._options
        if not options.holds_time(record.timestamp) or not options.holds_offset(record.partition, record.offset):
            return "not asked for"
        if self._privacy.concerns(record):
            # First of all: the register knows persons by their masked names.
            record = self._privacy.record(record, "replay")
        if self._register.covers(record):
            return "erased"
        try:
            answer = read_answer(record, self._max_bytes)
        except (UnreadableEvent, UnreadableRecord, OversizeRecord):
            # The live stream has dead-lettered this record.
            return "unreadable"
        return (answer, record) if self._filter.wants(answer) else "filtered"


class Replay:
    """A running replay.

    Args:
        settings: settings of the evaluation.
        options: options of the replay.
        source: source of the records.
        selection: selects the records.
        stored: stored results of earlier evaluations.
        embedding: the embedding service.
        verifier: the verifier, if the settings name one.
        outputs: writes the results.
        store: stores the progress.
        row: state of the replay.
        erasures: follows the erasures.
        throttle: waits before further answers are started.
        progress: called after every step.
    """

    def __init__(
        self,
        settings: Settings,
        options: ReplayOptions,
        *,
        source: AnswerSource,
        selection: Selection,
        stored: StoredJudgements,
        embedding: EmbeddingService,
        verifier: VerificationService | None,
        outputs: ReplayOutputs,
        store: ReplayStore,
        row: StoredReplay,
        erasures: FollowedErasures,
        throttle: Throttle,
        progress: Progress,
    ) -> None:
        self._settings, self._options = settings, options
        self._source, self._selection, self._stored = source, selection, stored
        self._models = ServiceModels(embedding, verifier)
        self._outputs, self._store = outputs, store
        self._throttle, self._progress = throttle, progress
        self._pipeline = EvaluationPipeline(settings, open_evaluators(settings, options.agents))
        self._row = row
        self._erasures = erasures
        self._pool = ThreadPoolExecutor(max_workers=2, thread_name_prefix="replay")
        self._in_work: deque[asyncio.Task[_Done]] = deque()
        self._judged: list[EvaluatedAnswer] = []
        self._written_at = 0.0
        self._stopping = asyncio.Event()

    @property
    def judged(self) -> int:
        """Return the number of answers that were evaluated and stored, in total."""
        return self._row.counts.get("judged", 0)

    def stop(self) -> None:
        """Stop reading; the work in progress is finished and written."""
        self._stopping.set()

    async def run(self) -> StoredReplay:
        """Until all is evaluated and stored, or until it is stopped.

        Returns:
            The final state.

        Raises:
            TouchstoneError: a service does not respond; all results before the last progress are stored.
        """
        self._written_at = asyncio.get_running_loop().time()
        try:
            async for records in self._source.batches():
                if not self._row.bounds:
                    # Before the first answer: a resumed replay must have the same bounds.
                    await self._begin_counting()
                for start in range(0, len(records), BATCH_ANSWERS):
                    await self._begin(records[start : start + BATCH_ANSWERS])
                    if self._stopping.is_set():
                        break
                if self._stopping.is_set():
                    break
            await self._finish_all()
            await self._write("running" if self._stopping.is_set() else "finished")
            return self._row
        finally:
            for task in self._in_work:
                task.cancel()
            await asyncio.gather(*self._in_work, return_exceptions=True)
            self._pool.shutdown(wait=False, cancel_futures=True)

    async def _begin(self, records: Sequence[Record]) -> None:
        loop = asyncio.get_running_loop()
        part = await loop.run_in_executor(self._pool, self._selection.part, records)
        if part.cases:
            await self._throttle.wait(len(part.cases), self._stopping, self._flush)
            if self._stopping.is_set():
                return
        self._in_work.append(asyncio.ensure_future(self._work(part)))
        while len(self._in_work) > IN_WORK or (self._in_work and self._in_work[0].done()):
            await self._finish_oldest()

    async def _begin_counting(self) -> None:
        counts = {"gone by retention": self._source.gone} if self._source.gone else {}
        await self._save(replace(self._row, bounds=self._source.bounds, counts=self._row.counts | counts))

    async def _flush(self) -> None:
        """Write all started answers during a pause."""
        await self._finish_all()
        if self._judged:
            await self._write("running")

    async def _finish_all(self) -> None:
        while self._in_work:
            await self._finish_oldest()

    async def _work(self, part: _Part) -> _Done:
        loop = asyncio.get_running_loop()
        cases, unknown = await loop.run_in_executor(self._pool, self._prepare, part)
        await self._pipeline.run(cases, self._models, self._pool)
        return _Done(part, await loop.run_in_executor(self._pool, self._finish, cases), unknown)

    def _prepare(self, part: _Part) -> tuple[list[AnswerCase], int]:
        prepared, unknown = [], 0
        for answer, record in part.cases:
            stored = self._stored.of(answer)
            unknown += stored is None
            stored = stored or Stored()
            earlier = self._selection.unerased(answer.tenant, stored.earlier)
            reports = {str(agent): report for agent, report in stored.reports.items()}
            prepared.append(self._pipeline.prepare(answer, record, earlier, reports))
        return prepared, unknown

    def _finish(self, cases: Sequence[AnswerCase]) -> list[EvaluatedAnswer]:
        origin = Origin(self._settings, self._row.pipeline_version, datetime.now(UTC), self._options.run)
        return [self._pipeline.finish(case, origin) for case in cases]

    async def _finish_oldest(self) -> None:
        done = await self._in_work[0]
        self._in_work.popleft()
        self._judged += done.judged
        counts = Counter(self._row.counts)
        counts["read"] += len(done.part.cases) + done.part.left_out.total()
        counts["judged"] += len(done.judged)
        counts["without stored result"] += done.unknown
        counts += done.part.left_out
        progress = self._row.progress | {done.part.partition: done.part.end}
        self._row = replace(self._row, counts=dict(counts), progress=progress)
        due = asyncio.get_running_loop().time() > self._written_at + WRITE_SECONDS
        if due or len(self._judged) >= WRITE_ANSWERS:
            await self._write("running")
        self._progress(self._source.done, self._source.total)

    async def _write(self, state: State) -> None:
        """Write the results before the progress, so that no result can be lost."""
        self._erasures.require()
        allowed = await asyncio.to_thread(self._selection.allowed, self._judged)
        counts = Counter(self._row.counts)
        counts["erased"] += len(self._judged) - len(allowed)
        counts["judged"] -= len(self._judged) - len(allowed)
        await self._require_own()
        await self._outputs.write(allowed)
        self._judged = []
        bounds = self._row.bounds or self._source.bounds
        await self._save(replace(self._row, state=state, bounds=bounds, counts=dict(+counts)))
        try:
            await self._source.commit(self._row.progress)
        except UnavailableError as error:
            # Only the reported lag is wrong without this commit.
            log.warning("replay_commit_failed", error=str(error))
        self._written_at = asyncio.get_running_loop().time()

    async def _save(self, row: StoredReplay) -> None:
        await self._require_own()
        self._row = await self._store.save(replace(row, updated_at=datetime.now(UTC)))

    async def _require_own(self) -> None:
        """Check that no other process continues or removed this replay."""
        known = await self._store.find(self._row.run)
        if known is None or known.revision != self._row.revision or known.started_at != self._row.started_at:
            raise ReplayRefused(
                f"another process continued or removed the replay {self._row.run}; this one ends, and its unsaved "
                "results are evaluated again by the other process"
            )
