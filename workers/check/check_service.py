"""Evaluate one answer, decide and format its release, within a deadline.

1. Wait for a slot. ``check.concurrent`` answers are evaluated at once; a caller waits for a slot until its deadline.
2. Mask the answer and run it through the evaluation pipeline. The models and plug-ins have three quarters of the
   deadline. Without vectors the evaluations that need them fail; without the verifier the rules decide alone. The
   result reports both cases.
3. Decide and format as in the stream. Nothing is stored, sent or remembered.

The stages run in threads. After the caller has left, a running stage finishes and keeps its slot. A burst of checks is
therefore answered with 503 and builds no queue. Texts that still wait for the model are cancelled.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextvars import copy_context
from datetime import datetime
from functools import partial
from typing import ParamSpec, TypeVar

from schemas.answers import GeneratedAnswer
from schemas.identifiers import record_key
from workers.check.check_models import CheckedAnswer, checked_answer
from workers.decision.release_events import released_answer
from workers.delivery.records import Record
from workers.errors import (
    InferenceTimeout,
    JudgementError,
    OversizeRecord,
    TouchstoneError,
    UnavailableError,
    panics_as_errors,
)
from workers.evaluation.grounding.claim_memory import ClaimMemory, remembering
from workers.evaluation.grounding.grounding_evaluator import Verdicts
from workers.evaluation.grounding.sources.verifier_evidence import VerifierPair
from workers.inference.embedding import EmbeddingService
from workers.inference.verification import VerificationService
from workers.observability import metrics
from workers.observability.caller_traces import exemplar
from workers.pipeline.evaluator import Vectors
from workers.pipeline.evaluator_registry import open_evaluators
from workers.pipeline.models import ServiceModels
from workers.pipeline.pipeline import AnswerCase, EvaluationPipeline
from workers.pipeline.reports import Origin
from workers.pipeline.verifier_client import unverified
from workers.privacy.record_masking import Privacy
from workers.settings import Settings

MODEL_SHARE = 0.75
"""Share of the deadline that models and plug-ins have; the rest is for the later stages."""

T = TypeVar("T")
P = ParamSpec("P")


class ChecksBusy(UnavailableError):
    """All slots are taken for longer than the caller waits."""


class CheckTimedOut(TouchstoneError):
    """The evaluation did not finish within the deadline."""


class CheckService:
    """Evaluate answers for callers that wait.

    Args:
        settings: all settings; those of the stream, so that the verdicts are the same.
        embedding: the model of this process.
        pipeline_version: version in every result.
        now: the clock.
        verifier: the verifier, if the settings name one.

    Raises:
        ValueError: the settings name a verifier, but none was given.
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
        self._models = ServiceModels(embedding, verifier)
        self._version = pipeline_version
        self._now = now
        self._pipeline = EvaluationPipeline(settings, open_evaluators(settings))
        if self._pipeline.verifies and verifier is None:
            raise ValueError("the settings name a verifier, but none was given")
        self._privacy = Privacy(settings.privacy, settings.kafka.max_input_bytes)
        self._slots = asyncio.Semaphore(settings.check.concurrent)
        self._pool = ThreadPoolExecutor(settings.check.concurrent, thread_name_prefix="check")
        self._tasks: set[asyncio.Task[None]] = set()

    async def stop(self) -> None:
        """Cancel the work in progress."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def check(
        self, answer: GeneratedAnswer, deadline_seconds: float | None = None, memory: ClaimMemory | None = None
    ) -> CheckedAnswer:
        """Evaluate an answer.

        Args:
            answer: the answer to evaluate.
            deadline_seconds: maximum wait; by default the value of the settings.
            memory: measures of the claims of the same answer with less text.

        Raises:
            OversizeRecord: the answer is larger than the limit on input records.
            ChecksBusy: too many concurrent checks.
            CheckTimedOut: the evaluation did not finish within the deadline.
            UnreadableEvent: the answer has an unsupported schema version.
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
                f"{self._settings.check.concurrent} checks are in progress; try again later, or run more consoles"
            ) from None
        result: asyncio.Future[CheckedAnswer] = loop.create_future()
        # The caller may have left before the failure.
        result.add_done_callback(lambda done: done.cancelled() or done.exception())
        with remembering(memory):
            task = asyncio.create_task(self._work(answer, begun, until, result), name="check")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            async with asyncio.timeout_at(until):
                # Cancelled with its caller or by the deadline, so that the work is cancelled as well.
                told = await result
        except TimeoutError:
            metrics.CHECKS.labels("late").inc()
            raise CheckTimedOut(
                "the answer could not be evaluated within the deadline; allow more time, or send a shorter answer"
            ) from None
        metrics.CHECKS.labels("degraded" if told.degraded else "judged").inc()
        metrics.CHECK_SECONDS.observe(loop.time() - begun, exemplar(answer))
        return told

    async def _work(
        self, answer: GeneratedAnswer, begun: float, until: float, result: asyncio.Future[CheckedAnswer]
    ) -> None:
        """Run everything after the wait for a slot; set the result, and release the slot when the work has ended."""
        loop = asyncio.get_running_loop()
        model_until = until - (1 - MODEL_SHARE) * (until - loop.time())
        try:
            with panics_as_errors():
                case = await loop.run_in_executor(self._pool, self._prepare, answer)
                models = _ModelsWithDeadline(self._models, model_until, result)
                await self._pipeline.run([case], models, _ThreadsWithContext(self._pool), model_until)
                if not result.done():
                    told = await loop.run_in_executor(self._pool, self._finish, case, models.late, begun, loop.time)
                    if not result.done():
                        result.set_result(told)
        except Exception as error:
            if not result.done():
                result.set_exception(error)
        finally:
            self._slots.release()

    def _prepare(self, answer: GeneratedAnswer) -> AnswerCase:
        value = self._privacy.value(answer.to_bytes())
        limit = self._settings.kafka.max_input_bytes
        if len(value) > limit:
            raise OversizeRecord(
                f"the answer has {len(value)} bytes; at most {limit} are evaluated; send fewer contexts"
            )
        # Parse the bytes as the agents do, so that both evaluate the same answer.
        read = GeneratedAnswer.from_bytes(value)
        return self._pipeline.prepare(
            read, Record("check", 0, 0, record_key(read.tenant, read.answer_id).encode(), value)
        )

    def _finish(self, case: AnswerCase, late: bool, begun: float, clock: Callable[[], float]) -> CheckedAnswer:
        now = self._now()
        evaluated = self._pipeline.finish(case, Origin(self._settings, self._version, now))
        seconds = clock() - begun
        release = self._settings.release
        released = released_answer(evaluated.enriched, now, style=release.style, reader=release.policy)
        texts = release.policy.texts_for(evaluated.enriched.answer)
        return checked_answer(evaluated.enriched, released, texts, late=late, seconds=seconds)


class _ThreadsWithContext(Executor):
    """Run calls in threads that see the context variables of the caller, such as the memory of claims."""

    def __init__(self, pool: Executor) -> None:
        self._pool = pool

    def submit(self, call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        return self._pool.submit(copy_context().run, partial(call, *args, **kwargs))


class _ModelsWithDeadline:
    """Models with a deadline: requests are cancelled when it passes.

    Args:
        models: the models.
        until: deadline of the models, time of the event loop.
        result: done when the caller has stopped waiting.
    """

    def __init__(self, models: ServiceModels, until: float, result: asyncio.Future[CheckedAnswer]) -> None:
        self._models, self._until, self._result = models, until, result
        self.late = False

    async def embed(self, texts: Sequence[str]) -> Vectors | JudgementError:
        """Return vectors, or the failure or lateness of the model."""
        vectors, late = await self._within(partial(self._models.embed, texts))
        self.late |= late
        return vectors

    async def verify(self, pairs: Sequence[VerifierPair], answer_id: str) -> Verdicts | JudgementError:
        """Return verdicts, or the failure or lateness of the verifier."""
        ask = partial(self._models.verify, pairs, answer_id)
        if not pairs:
            return await ask()  # no request is open
        verdicts, late = await self._within(ask)
        if late and isinstance(verdicts, JudgementError) and not self._result.done():
            unverified(verdicts, answer_id)
        return verdicts

    async def _within(
        self, call: Callable[[], Coroutine[None, None, T | JudgementError]]
    ) -> tuple[T | JudgementError, bool]:
        loop = asyncio.get_running_loop()
        if loop.time() < self._until and not self._result.done():
            asked = asyncio.ensure_future(call())
            # A separate future: a plug-in that waits as well must not end the caller's future.
            ended = loop.create_future()
            told = partial(_tell, ended)
            for each in (asked, self._result):
                each.add_done_callback(told)
            try:
                await asyncio.wait([ended], timeout=self._until - loop.time())
                if asked.done():
                    return asked.result(), False
            finally:
                asked.cancel()
                self._result.remove_done_callback(told)
                asked.remove_done_callback(told)
        return InferenceTimeout("the model did not respond within the deadline of the check"), True


def _tell(ended: asyncio.Future[None], _: object) -> None:
    if not ended.done():
        ended.set_result(None)
