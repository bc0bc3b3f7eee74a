"""Evaluate answers with chosen evaluators: the one pipeline of agents, check, replay and files.

1. Prepare: every evaluator prepares the answer (pure, in a thread).
2. Embed: the distinct texts of an answer together; those of a batch share the batches of the model.
3. Score with rules if an evaluator needs the verifier (pure, in a thread), and get verdicts.
4. Evaluate (pure, in a thread): findings, or a failure with its reason.
5. Report: build reports from findings and, if requested, an enriched answer from the reports.

The built-in evaluators run the stages together. A plug-in evaluator runs them alone, in separate threads and on copies
of its inputs, so that it can neither delay the others nor change their inputs.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from schemas.answers import GeneratedAnswer
from schemas.enriched import EnrichedAnswer
from schemas.quality import EarlierAnswer
from schemas.reports import Report
from workers.delivery.records import Record
from workers.errors import JudgementError
from workers.evaluation.grounding.grounding_evaluator import Verdicts
from workers.evaluation.grounding.sources.verifier_evidence import VerifierPair
from workers.pipeline.builtin_evaluators import BUILTIN
from workers.pipeline.evaluator import AnyEvaluator, Evaluation, Vectors
from workers.pipeline.isolation import IsolatedThreads
from workers.pipeline.models import Models
from workers.pipeline.reports import Origin, build_enriched_answer, make_report
from workers.settings import Settings

T = TypeVar("T")


@dataclass(slots=True)
class AnswerCase:
    """Hold one answer during its evaluation.

    Attributes:
        answer: the answer.
        record: the record of the answer.
        earlier: earlier answers to the same question.
        stored: reports that are used unchanged, by agent.
        evaluations: evaluations by evaluator, in the order of the reports.
    """

    answer: GeneratedAnswer
    record: Record
    earlier: Sequence[EarlierAnswer]
    stored: Mapping[str, Report]
    evaluations: dict[str, Evaluation]

    @property
    def builtin(self) -> list[Evaluation]:
        """Return the evaluations of the built-in evaluators, which run together."""
        return [each for name, each in self.evaluations.items() if name in BUILTIN]

    @property
    def texts(self) -> list[str]:
        """Return the distinct texts whose vectors the built-in evaluators need."""
        return list(dict.fromkeys(text for each in self.builtin for text in each.texts))

    @property
    def pairs(self) -> list[VerifierPair]:
        """Return the distinct pairs of the built-in evaluators for the verifier."""
        return list(dict.fromkeys(pair for each in self.builtin for pair in each.pairs))


@dataclass(frozen=True, slots=True)
class EvaluatedAnswer:
    """The result for one answer.

    Attributes:
        record: the record of the answer.
        reports: new reports, each with its bytes.
        enriched: the answer with all reports.
        value: its JSON bytes.
    """

    record: Record
    reports: Sequence[tuple[Report, bytes]]
    enriched: EnrichedAnswer
    value: bytes


class EvaluationPipeline:
    """Evaluate answers with chosen evaluators.

    Args:
        settings: limits, and the timeout of plug-ins.
        evaluators: evaluators in the order of their reports.
    """

    def __init__(self, settings: Settings, evaluators: Iterable[AnyEvaluator]) -> None:
        self._settings = settings
        self._evaluators = {each.name: each for each in evaluators}
        seconds = settings.evaluators.timeout_seconds
        self._isolated = {name: IsolatedThreads(name, seconds) for name in self._evaluators if name not in BUILTIN}

    @property
    def verifies(self) -> bool:
        """Return whether a built-in evaluator needs the verifier."""
        return any(each.needs.verifier for name, each in self._evaluators.items() if name in BUILTIN)

    def prepare(
        self,
        answer: GeneratedAnswer,
        record: Record,
        earlier: Sequence[EarlierAnswer] = (),
        stored: Mapping[str, Report] | None = None,
    ) -> AnswerCase:
        """Prepare an answer for the built-in evaluators.

        Args:
            answer: the answer.
            record: the record of the answer.
            earlier: earlier answers to the same question.
            stored: reports of evaluators that do not run, by agent.
        """
        evaluations = {name: each.begin(answer, earlier) for name, each in self._evaluators.items()}
        case = AnswerCase(answer, record, earlier, stored or {}, evaluations)
        for evaluation in case.builtin:
            evaluation.prepare()
        return case

    def score_with_rules(self, case: AnswerCase, vectors: Vectors | JudgementError) -> list[VerifierPair]:
        """Score a prepared answer without the verifier.

        Returns:
            Distinct pairs for the verifier.
        """
        for evaluation in case.builtin:
            evaluation.score_with_rules(vectors)
        return case.pairs

    def evaluate(
        self, case: AnswerCase, vectors: Vectors | JudgementError, verdicts: Verdicts | JudgementError
    ) -> None:
        """Compute the findings of the built-in evaluators.

        Args:
            case: the answer; with rule scores if the verifier is used.
            vectors: vectors of its texts, or the reason for their absence, with which evaluations fail.
            verdicts: verdicts on its pairs, or the reason for their absence.
        """
        for evaluation in case.builtin:
            evaluation.evaluate(vectors, verdicts)

    async def run(
        self, cases: Sequence[AnswerCase], models: Models, pool: Executor, until: float | None = None
    ) -> None:
        """Evaluate prepared answers together.

        Args:
            cases: a batch, which limits the work in progress.
            models: source of vectors and verdicts.
            pool: threads of the built-in evaluators.
            until: time of the event loop at which the wait for plug-ins ends; ``None`` for their own timeout.
        """
        alone = (self._run_alone(case, name, models, until) for case in cases for name in self._isolated)
        await asyncio.gather(self._run_together(cases, models, pool), *alone)

    def reports(self, case: AnswerCase, origin: Origin) -> list[tuple[Report, bytes]]:
        """Return the reports on an evaluated answer, each with its bytes."""
        return [make_report(each, case.answer, case.record, origin) for each in case.evaluations.values()]

    def finish(self, case: AnswerCase, origin: Origin) -> EvaluatedAnswer:
        """Return the enriched answer of an evaluated answer, and its reports."""
        made = self.reports(case, origin)
        reports: dict[str, Report] = {report.agent: report for report in case.stored.values()}
        reports |= {report.agent: report for report, _ in made}
        enriched, value = build_enriched_answer(case.answer, reports, case.record, origin)
        return EvaluatedAnswer(case.record, made, enriched, value)

    async def _run_together(self, cases: Sequence[AnswerCase], models: Models, pool: Executor) -> None:
        loop = asyncio.get_running_loop()
        vectors = await asyncio.gather(*(_embed(models, case) for case in cases))
        verdicts: Sequence[Verdicts | JudgementError] = [{}] * len(cases)
        if self.verifies:
            await loop.run_in_executor(pool, self._score_all, cases, vectors)
            verdicts = await asyncio.gather(*(_verify(models, case) for case in cases))
        await loop.run_in_executor(pool, self._evaluate_all, cases, vectors, verdicts)

    def _score_all(self, cases: Sequence[AnswerCase], vectors: Sequence[Vectors | JudgementError]) -> None:
        for case, known in zip(cases, vectors, strict=True):
            self.score_with_rules(case, known)

    def _evaluate_all(
        self,
        cases: Sequence[AnswerCase],
        vectors: Sequence[Vectors | JudgementError],
        verdicts: Sequence[Verdicts | JudgementError],
    ) -> None:
        for case, known, said in zip(cases, vectors, verdicts, strict=True):
            self.evaluate(case, known, said)

    async def _run_alone(self, case: AnswerCase, name: str, models: Models, until: float | None) -> None:
        """Run one plug-in on one answer; if a call hangs, abandon its evaluation and its thread."""
        threads, evaluator = self._isolated[name], self._evaluators[name]
        try:
            run = partial(threads.run, until=until)
            evaluation = await run(partial(_begin_alone, evaluator, case))
            vectors: Vectors | JudgementError = {}
            if evaluation.failure is None and evaluation.texts:
                vectors = await models.embed(evaluation.texts)
                if not isinstance(vectors, JudgementError):
                    vectors = {text: vector.copy() for text, vector in vectors.items()}
            verdicts: Verdicts | JudgementError = {}
            if evaluation.needs.verifier:
                await run(partial(evaluation.score_with_rules, vectors))
                if evaluation.failure is None:
                    verdicts = await models.verify(evaluation.pairs, case.answer.answer_id)
            await run(partial(evaluation.evaluate, vectors, verdicts))
            case.evaluations[name] = evaluation
        except Exception as error:
            case.evaluations[name].failure = error


def _begin_alone(evaluator: AnyEvaluator, case: AnswerCase) -> Evaluation:
    evaluation = evaluator.begin(
        case.answer.model_copy(deep=True), [each.model_copy(deep=True) for each in case.earlier]
    )
    evaluation.prepare()
    return evaluation


async def _embed(models: Models, case: AnswerCase) -> Vectors | JudgementError:
    texts = case.texts
    return await _timed(lambda: models.embed(texts), [e for e in case.builtin if e.texts]) if texts else {}


async def _verify(models: Models, case: AnswerCase) -> Verdicts | JudgementError:
    asking = [each for each in case.builtin if each.needs.verifier and each.failure is None]
    return await _timed(lambda: models.verify(case.pairs, case.answer.answer_id), asking) if asking else {}


async def _timed(call: Callable[[], Awaitable[T]], evaluations: Sequence[Evaluation]) -> T:
    """Wait for a model; count the time for the evaluations that need it."""
    started = time.perf_counter()
    try:
        return await call()
    finally:
        for evaluation in evaluations:
            evaluation.seconds += time.perf_counter() - started
