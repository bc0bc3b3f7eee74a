"""The three steps, the decision and the release of one answer, within a deadline.

1. A slot: so many answers are judged at once, the others wait for as long as their own deadline.
2. The answer is masked, made ready and its texts embedded; then a verifier is asked, where the settings name one. The
   models have three quarters of the deadline together; without vectors the rest is judged all the same, without the
   verifier the rules judge alone, and the result says so.
3. Judged, decided and formatted as in the stream; nothing is stored, sent or remembered.

The steps run in threads. A step that a caller no longer waits for goes on to its end and keeps its slot, since its
work is not gone with its caller: so a burst is answered with 503, and not with a queue that is late for everybody.
Texts that still queue for the model are withdrawn.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from schemas.answers import GeneratedAnswer
from workers import metrics
from workers.agents.asking import ask_verifier, unverified
from workers.agents.judging import Origin
from workers.agents.whole import AnswerJudge, PreparedAnswer
from workers.checking.models import CheckedAnswer, checked_answer
from workers.delivery.errors import InferenceTimeout, JudgementError, OversizeRecord, TouchstoneError, UnavailableError
from workers.delivery.records import Record
from workers.exporters.traces import exemplar
from workers.inference.embedding import EmbeddingService, Vector
from workers.inference.verification import VerificationService
from workers.privacy import Privacy
from workers.settings import Settings
from workers.steps.grounding import Verdicts
from workers.steps.outcomes import released_answer

MODEL_SHARE = 0.75
"""Of the deadline, after which no model is waited for; the rest is for the steps behind it."""

T = TypeVar("T")


class ChecksBusy(UnavailableError):
    """All slots are taken for longer than the caller waits."""


class CheckTimedOut(TouchstoneError):
    """Nothing could be told within the deadline."""


class CheckService:
    """Judges answers for who waits.

    Args:
        settings: all settings; those of the stream, so that the verdicts are the same.
        embedding: the model of this process.
        pipeline_version: told with every result.
        now: the clock.
        verifier: the verifier, where the settings name one.

    Raises:
        ValueError: they name one, and none was given.
    """

    def __init__(
        self,
        settings: Settings,
        embedding: EmbeddingService,
        pipeline_version: str,
        now: Callable[[], datetime],
        verifier: VerificationService | None = None,
    ) -> None:
        self._settings = settings
        self._embedding = embedding
        self._verifier = verifier
        self._version = pipeline_version
        self._now = now
        self._judge = AnswerJudge(settings)
        if self._judge.verifies and verifier is None:
            raise ValueError("the settings name a verifier, and none was given")
        self._privacy = Privacy(settings.privacy, settings.kafka.max_input_bytes)
        self._slots = asyncio.Semaphore(settings.check.concurrent)
        self._pool = ThreadPoolExecutor(settings.check.concurrent, thread_name_prefix="check")
        self._tasks: set[asyncio.Task[None]] = set()

    async def stop(self) -> None:
        """Give up what is in work."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def check(self, answer: GeneratedAnswer, deadline_seconds: float | None = None) -> bytes:
        """Judge an answer.

        Args:
            answer: what is judged.
            deadline_seconds: longest wait; that of the settings by default.

        Returns:
            A ``CheckedAnswer`` as JSON.

        Raises:
            OversizeRecord: the stream would not take it either.
            ChecksBusy: too many at once.
            CheckTimedOut: it could not be made ready, or its steps took longer than the deadline.
            UnreadableEvent: it is of a version that is not understood here.
        """
        loop = asyncio.get_running_loop()
        begun = loop.time()
        until = begun + (deadline_seconds or self._settings.check.deadline_seconds)
        try:
            async with asyncio.timeout_at(until):
                await self._slots.acquire()
        except TimeoutError:
            metrics.CHECKS.labels("refused").inc()
            raise ChecksBusy(
                f"{self._settings.check.concurrent} answers are in work; try again, or run more consoles"
            ) from None
        result: asyncio.Future[CheckedAnswer] = loop.create_future()
        # Whoever asked may be gone by the time it fails.
        result.add_done_callback(lambda done: done.cancelled() or done.exception())
        task = asyncio.create_task(self._work(answer, begun, until, result), name="check")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            async with asyncio.timeout_at(until):
                # Cancelled with its caller or by the deadline, which tells the work that nobody waits for it.
                told = await result
        except TimeoutError:
            metrics.CHECKS.labels("late").inc()
            raise CheckTimedOut(
                "the answer could not be judged within the deadline; allow more, or send less"
            ) from None
        metrics.CHECKS.labels("degraded" if told.degraded else "judged").inc()
        metrics.CHECK_SECONDS.observe(loop.time() - begun, exemplar(answer))
        return told.model_dump_json().encode()

    async def _work(
        self, answer: GeneratedAnswer, begun: float, until: float, result: asyncio.Future[CheckedAnswer]
    ) -> None:
        """Everything after the slot; tells the result and gives the slot back once nothing of it goes on."""
        loop = asyncio.get_running_loop()
        model_until = until - (1 - MODEL_SHARE) * (until - loop.time())
        try:
            case = await loop.run_in_executor(self._pool, self._prepare, answer)
            vectors, late = await self._within(model_until, result, partial(self._embedding.embed, case.texts))
            verdicts: Verdicts | JudgementError = {}
            if self._verifier is not None and not isinstance(vectors, JudgementError) and not result.done():
                verdicts = await self._verdicts(self._verifier, case, vectors, model_until, result)
            if not result.done():
                told = await loop.run_in_executor(
                    self._pool, self._finish, case, vectors, verdicts, late, begun, loop.time
                )
                if not result.done():
                    result.set_result(told)
        except Exception as error:
            if not result.done():
                result.set_exception(error)
        finally:
            self._slots.release()

    async def _verdicts(
        self,
        verifier: VerificationService,
        case: PreparedAnswer,
        vectors: Mapping[str, Vector],
        until: float,
        result: asyncio.Future[CheckedAnswer],
    ) -> Verdicts | JudgementError:
        loop = asyncio.get_running_loop()
        questions = await loop.run_in_executor(self._pool, self._judge.weigh, case, vectors)
        ask = partial(ask_verifier, verifier, questions, case.answer.answer_id)
        if not questions:
            return await ask()  # which waits for nothing, however late it is
        verdicts, late = await self._within(until, result, ask)
        if late and isinstance(verdicts, JudgementError) and not result.done():
            unverified(verdicts, case.answer.answer_id)
        return verdicts

    @staticmethod
    async def _within(
        until: float, result: asyncio.Future[CheckedAnswer], call: Callable[[], Coroutine[Any, Any, T | JudgementError]]
    ) -> tuple[T | JudgementError, bool]:
        """What a model says, or why it says nothing, and whether that is for want of time; asked while somebody waits."""
        loop = asyncio.get_running_loop()
        if loop.time() < until and not result.done():
            asked = asyncio.create_task(call())
            either: list[asyncio.Future[Any]] = [asked, result]
            try:
                await asyncio.wait(either, timeout=until - loop.time(), return_when=asyncio.FIRST_COMPLETED)
                if asked.done():
                    return asked.result(), False
            except JudgementError as failure:
                return failure, False
            finally:
                asked.cancel()
        return InferenceTimeout("the model did not answer within the deadline of the check"), True

    def _prepare(self, answer: GeneratedAnswer) -> PreparedAnswer:
        value = self._privacy.value(answer.to_bytes())
        limit = self._settings.kafka.max_input_bytes
        if len(value) > limit:
            raise OversizeRecord(
                f"the answer has {len(value)} bytes and at most {limit} are judged; send fewer contexts"
            )
        # Read again as the agents read it, so that what is judged here is what is judged there.
        read = GeneratedAnswer.from_bytes(value)
        return self._judge.prepare(read, Record("check", 0, 0, read.answer_id.encode(), value))

    def _finish(
        self,
        case: PreparedAnswer,
        vectors: Mapping[str, Vector] | JudgementError,
        verdicts: Verdicts | JudgementError,
        late: bool,
        begun: float,
        clock: Callable[[], float],
    ) -> CheckedAnswer:
        now = self._now()
        judged = self._judge.judge(case, vectors, Origin(self._settings, self._version, now), verdicts)
        seconds = clock() - begun
        return checked_answer(judged.enriched, released_answer(judged.enriched, now), late=late, seconds=seconds)
