"""A replay: answers that were, judged once more beside the live stream, and stored under a name of their own.

Read, judge, write and note how far it has come, in this order: whatever is interrupted is done again
from the last note, and replaces itself. No agent is involved, so nothing follows from a replay that would
follow from an answer: no release, review, alert, reward or retry.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from schemas.answers import GeneratedAnswer
from schemas.base import UnreadableEvent
from schemas.quality import EarlierAnswer
from workers.agents.asking import ask_verifier
from workers.agents.base import read_answer
from workers.agents.judging import Origin
from workers.agents.whole import AnswerJudge, JudgedAnswer, PreparedAnswer
from workers.delivery.erasures import ErasureFollower, ErasureRegister
from workers.delivery.errors import (
    JudgementError,
    OversizeRecord,
    TouchstoneError,
    UnavailableError,
    UnreadableRecord,
)
from workers.delivery.records import Record
from workers.inference.embedding import EmbeddingService, Vector
from workers.inference.verification import VerificationService
from workers.logs import get_logger
from workers.privacy import Privacy
from workers.replay.options import AnswerFilter, ReplayOptions
from workers.replay.outputs import ReplayOutputs
from workers.replay.sources import AnswerSource
from workers.replay.stored import Stored, StoredJudgements
from workers.replay.throttling import Throttle
from workers.settings import Settings
from workers.steps.grounding import Verdicts
from workers.steps.verification import VerifierPair
from workers.stores.replays import ReplayRow, ReplayStore, State

BATCH_ANSWERS = 32
"""Answers that are prepared, embedded and judged together."""

IN_WORK = 3
"""Batches in work at once: while one waits for the model, another is prepared and a third judged."""

WRITE_ANSWERS = 256
"""Answers that are written together; so many are judged again after a kill, at most."""

WRITE_SECONDS = 5.0
"""And not later than this after the last time, so that a slow replay shows how far it is."""

log = get_logger(__name__)

Progress = Callable[[int, int | None], None]
"""Told how many records are done, and of how many if that is known."""


@dataclass(frozen=True, slots=True)
class _Part:
    """Consecutive records of a partition, those of them that are wanted, and why the others are not."""

    partition: int
    end: int
    cases: Sequence[tuple[GeneratedAnswer, Record]]
    left_out: Counter[str]


@dataclass(frozen=True, slots=True)
class _Done:
    """What became of a part, and of how many answers no stored result is known."""

    part: _Part
    judged: Sequence[JudgedAnswer]
    unknown: int


class ReplayRefused(TouchstoneError):
    """A replay of that name is something else, or somebody else's."""


class FollowedErasures:
    """Who is erased, followed in the background as long as the replay runs.

    Args:
        follower: has read all there was.
    """

    def __init__(self, follower: ErasureFollower) -> None:
        self._follower = follower
        self._following = asyncio.ensure_future(follower.run())

    @property
    def register(self) -> ErasureRegister:
        """Who is erased by now."""
        return self._follower.register

    def require(self) -> None:
        """Nothing may be written by who no longer hears of erasures.

        Raises:
            ErasuresUnreadable: the register is not followed any more.
        """
        if self._following.done() and not self._following.cancelled():
            self._following.result()

    async def stop(self) -> None:
        """Disconnect."""
        self._following.cancel()
        await asyncio.gather(self._following, return_exceptions=True)
        await self._follower.stop()


class Selection:
    """Which records are wanted: those that can be read, of nobody who is erased.

    Args:
        settings: limits and what is masked.
        options: what is asked for.
        register: who is erased.
    """

    def __init__(self, settings: Settings, options: ReplayOptions, register: ErasureRegister) -> None:
        self._options, self._register = options, register
        self._filter = AnswerFilter(options)
        self._max_bytes = settings.kafka.max_input_bytes
        self._privacy = Privacy(settings.privacy, settings.kafka.max_input_bytes)

    def allowed(self, judged: Sequence[JudgedAnswer]) -> list[JudgedAnswer]:
        """Those of nobody who has been erased since they were chosen."""
        return [each for each in judged if not self._register.covers(each.record)]

    def unerased(self, earlier: Sequence[EarlierAnswer]) -> list[EarlierAnswer]:
        """Earlier answers of nobody who is erased."""
        return [each for each in earlier if not self._register.knows(each.answer_id)]

    def part(self, records: Sequence[Record]) -> _Part:
        """Consecutive records of a partition, looked at.

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
            # First: who is erased is known by what the stores knew them as, which is the mask.
            record = self._privacy.record(record, "replay")
        if self._register.covers(record):
            return "erased"
        try:
            answer = read_answer(record, self._max_bytes)
        except (UnreadableEvent, UnreadableRecord, OversizeRecord):
            # The live stream has dead-lettered it.
            return "unreadable"
        return (answer, record) if self._filter.wants(answer) else "filtered"


class Replay:
    """One replay at work.

    Args:
        settings: what is judged by.
        options: what is asked for.
        source: the records.
        selection: which of them are wanted.
        stored: what is known of how they were judged.
        embedding: the model.
        verifier: the verifier, where the settings name one.
        outputs: where to.
        store: where it is noted how far it has come.
        row: how it stands.
        erasures: follows who is erased.
        throttle: waits before answers are begun.
        progress: told of every step.
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
        row: ReplayRow,
        erasures: FollowedErasures,
        throttle: Throttle,
        progress: Progress,
    ) -> None:
        self._settings, self._options = settings, options
        self._source, self._selection, self._stored = source, selection, stored
        self._embedding, self._verifier = embedding, verifier
        self._outputs, self._store = outputs, store
        self._throttle, self._progress = throttle, progress
        self._judge = AnswerJudge(settings, options.agents)
        self._row = row
        self._erasures = erasures
        self._pool = ThreadPoolExecutor(max_workers=2, thread_name_prefix="replay")
        self._in_work: deque[asyncio.Task[_Done]] = deque()
        self._judged: list[JudgedAnswer] = []
        self._written_at = 0.0
        self._stopping = asyncio.Event()

    @property
    def judged(self) -> int:
        """Answers that have been judged and stored, in all."""
        return self._row.counts.get("judged", 0)

    def stop(self) -> None:
        """Read nothing more; what is in work is finished and written."""
        self._stopping.set()

    async def run(self) -> ReplayRow:
        """Until all is judged and stored, or until it is stopped.

        Returns:
            How it stands then.

        Raises:
            TouchstoneError: something does not answer; all up to the last note is stored.
        """
        self._written_at = asyncio.get_running_loop().time()
        try:
            async for records in self._source.batches():
                if not self._row.bounds:
                    # Before the first answer: whoever goes on must end where this one would have.
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
        """Write all that is begun, if there is any: there is time."""
        await self._finish_all()
        if self._judged:
            await self._write("running")

    async def _finish_all(self) -> None:
        while self._in_work:
            await self._finish_oldest()

    async def _work(self, part: _Part) -> _Done:
        loop = asyncio.get_running_loop()
        cases, unknown = await loop.run_in_executor(self._pool, self._prepare, part)
        vectors = await asyncio.gather(*(self._vectors(case) for case in cases))
        verdicts: Sequence[Verdicts | JudgementError] = [{}] * len(cases)
        if self._verifier is not None and self._judge.verifies:
            verdicts = await self._verdicts(self._verifier, cases, vectors)
        judged = await loop.run_in_executor(self._pool, self._judge_all, cases, vectors, verdicts)
        return _Done(part, judged, unknown)

    def _prepare(self, part: _Part) -> tuple[list[PreparedAnswer], int]:
        prepared, unknown = [], 0
        for answer, record in part.cases:
            stored = self._stored.of(answer.answer_id)
            unknown += stored is None
            stored = stored or Stored()
            earlier = self._selection.unerased(stored.earlier)
            prepared.append(self._judge.prepare(answer, record, earlier, stored.reports))
        return prepared, unknown

    async def _vectors(self, case: PreparedAnswer) -> Mapping[str, Vector] | JudgementError:
        try:
            return await self._embedding.embed(case.texts)
        except JudgementError as error:
            return error

    async def _verdicts(
        self,
        verifier: VerificationService,
        cases: Sequence[PreparedAnswer],
        vectors: Sequence[Mapping[str, Vector] | JudgementError],
    ) -> Sequence[Verdicts | JudgementError]:
        def weigh() -> list[list[VerifierPair]]:
            return [self._judge.weigh(case, found) for case, found in zip(cases, vectors, strict=True)]

        questions = await asyncio.get_running_loop().run_in_executor(self._pool, weigh)
        asked = zip(cases, questions, strict=True)
        return await asyncio.gather(*(ask_verifier(verifier, pairs, case.answer.answer_id) for case, pairs in asked))

    def _judge_all(
        self,
        cases: Sequence[PreparedAnswer],
        vectors: Sequence[Mapping[str, Vector] | JudgementError],
        verdicts: Sequence[Verdicts | JudgementError],
    ) -> list[JudgedAnswer]:
        origin = Origin(self._settings, self._row.pipeline_version, datetime.now(UTC), self._options.run)
        return [
            self._judge.judge(case, found, origin, said)
            for case, found, said in zip(cases, vectors, verdicts, strict=True)
        ]

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
        """What is judged, and then how far that is: in this order, so that nothing is missing."""
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
            # Only who looks at lags misses it.
            log.warning("replay_group_not_committed", error=str(error))
        self._written_at = asyncio.get_running_loop().time()

    async def _save(self, row: ReplayRow) -> None:
        await self._require_own()
        self._row = await self._store.save(replace(row, updated_at=datetime.now(UTC)))

    async def _require_own(self) -> None:
        """Nobody else has gone on with this replay, or removed it."""
        known = await self._store.find(self._row.run)
        if known is None or known.revision != self._row.revision or known.started_at != self._row.started_at:
            raise ReplayRefused(
                f"somebody else works on the replay {self._row.run}, or has removed it; this one ends, and what it has "
                "not noted is judged again by whoever goes on"
            )
