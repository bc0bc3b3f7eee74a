"""Define evaluators: methods that compute findings from one answer.

The simplest evaluator of another distribution is one function::

    class Length(EvaluationFindings):
        '''How long an answer is.'''

    def evaluate(answer: GeneratedAnswer, context: EvaluationContext) -> Length:
        return Length(score=1.0 if len(answer.answer) < 500 else 0.5)

    LENGTH = answer_evaluator("length", Length, evaluate)

Its entry point in the group ``touchstone.evaluators`` names ``LENGTH``.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from pydantic import ValidationError

from schemas.answers import GeneratedAnswer
from schemas.evaluations import EvaluationFindings, EvaluationReport
from schemas.quality import EarlierAnswer
from schemas.reports import Findings, Report
from workers.errors import JudgementError, panics_as_errors
from workers.evaluation.budget import Budget, spend, spending
from workers.evaluation.grounding.grounding_evaluator import Verdicts
from workers.evaluation.grounding.sources.verifier_evidence import VerifierPair
from workers.inference.embedding import Vector

P = TypeVar("P")
F = TypeVar("F", bound=Findings)
E = TypeVar("E", bound=EvaluationFindings)

Vectors = Mapping[str, Vector]
"""Vectors of length 1 by their text."""

MAX_REASON = 500
"""Maximum length of the description of invalid findings, code points."""


class InvalidFindings(JudgementError):
    """The findings of an evaluator do not fit its report."""


@dataclass(frozen=True, slots=True)
class Needs:
    """Needs of an evaluator besides the answer.

    Attributes:
        vectors: sentence vectors of the texts that it names.
        verifier: verdicts of the verifier on the pairs that it names.
        memory: earlier answers to the same question.
    """

    vectors: bool = False
    verifier: bool = False
    memory: bool = False


@dataclass(frozen=True, slots=True)
class EvaluationContext:
    """Inputs of an evaluator besides the answer; empty unless it declares the need.

    Attributes:
        vectors: vectors by text.
        verdicts: verdicts by pair, or the reason for their absence.
        earlier: earlier answers to the same question.
    """

    vectors: Vectors = field(default_factory=dict)
    verdicts: Verdicts | JudgementError = field(default_factory=dict)
    earlier: Sequence[EarlierAnswer] = ()


class Evaluation(Protocol):
    """The evaluation of one answer by one evaluator; call its stages in this order.

    A failed stage records the reason, and later stages do nothing. Stages never raise or block.
    """

    failure: Exception | None
    seconds: float

    @property
    def name(self) -> str:
        """Return the evaluator's name."""

    @property
    def needs(self) -> Needs:
        """Return what the evaluator needs."""

    @property
    def report(self) -> type[Report]:
        """Return the model of its report."""

    @property
    def texts(self) -> Sequence[str]:
        """Return the distinct texts that need vectors; known after ``prepare``."""

    @property
    def pairs(self) -> Sequence[VerifierPair]:
        """Return the distinct pairs for the verifier; known after ``score_with_rules``."""

    @property
    def findings(self) -> Findings | None:
        """Return the findings, or ``None`` if the evaluation failed."""

    def prepare(self) -> None:
        """Prepare the answer."""

    def score_with_rules(self, vectors: Vectors | JudgementError) -> None:
        """Score the answer without the verifier."""

    def evaluate(self, vectors: Vectors | JudgementError, verdicts: Verdicts | JudgementError) -> None:
        """Compute the findings."""


class AnyEvaluator(Protocol):
    """An evaluator of any prepared type and findings type."""

    @property
    def name(self) -> str:
        """Return its name, which is also the name of its agent."""

    @property
    def needs(self) -> Needs:
        """Return its needs."""

    @property
    def report(self) -> type[Report]:
        """Return the model of its report."""

    def begin(self, answer: GeneratedAnswer, earlier: Sequence[EarlierAnswer]) -> Evaluation:
        """Begin the evaluation of an answer."""


def _nothing(_: object) -> tuple[()]:
    return ()


@dataclass(frozen=True, slots=True)
class Evaluator(Generic[P, F]):
    """A method of evaluation, as pure functions over a prepared type of its own.

    Attributes:
        name: name of the evaluator and its agent.
        findings: model of what it finds.
        report: model of its report.
        prepare: function from answer and earlier answers to the prepared answer.
        evaluate: function from prepared answer and context to findings.
        texts: function from the prepared answer to the distinct texts that need vectors.
        score_with_rules: function from prepared answer and vectors to the prepared answer with rule scores; called only
            for evaluators that need the verifier.
        pairs: function from that result to the distinct pairs for the verifier.
        needs: its needs.
    """

    name: str
    findings: type[F]
    report: type[Report]
    prepare: Callable[[GeneratedAnswer, Sequence[EarlierAnswer]], P]
    evaluate: Callable[[P, EvaluationContext], F]
    texts: Callable[[P], Sequence[str]] = _nothing
    score_with_rules: Callable[[P, Vectors], P] | None = None
    pairs: Callable[[P], Sequence[VerifierPair]] = _nothing
    needs: Needs = Needs()

    def begin(self, answer: GeneratedAnswer, earlier: Sequence[EarlierAnswer]) -> Evaluation:
        """Begin the evaluation of an answer."""
        return _Evaluation(self, answer, earlier if self.needs.memory else ())


def answer_evaluator(
    name: str,
    findings: type[E],
    evaluate: Callable[[GeneratedAnswer, EvaluationContext], E],
    *,
    needs: Needs = Needs(),
    texts: Callable[[GeneratedAnswer], Sequence[str]] | None = None,
    pairs: Callable[[GeneratedAnswer], Sequence[VerifierPair]] | None = None,
) -> Evaluator[GeneratedAnswer, E]:
    """Return an evaluator of one function, as plug-ins declare it.

    Args:
        name: its name, equal to the name of its entry point.
        findings: model of what it finds.
        evaluate: function from answer and context to findings.
        needs: its needs besides the answer.
        texts: function that returns the texts that need vectors; required if and only if it needs vectors.
        pairs: function that returns the pairs for the verifier; required if and only if it needs the verifier.

    Raises:
        ValueError: texts or pairs do not agree with the declared needs.
    """
    if needs.vectors != (texts is not None) or needs.verifier != (pairs is not None):
        raise ValueError(
            f"the evaluator {name} must set texts if and only if it needs vectors, and pairs if and only if it "
            "needs the verifier"
        )

    def prepare(answer: GeneratedAnswer, _: Sequence[EarlierAnswer]) -> GeneratedAnswer:
        return answer

    return Evaluator(
        name, findings, EvaluationReport, prepare, evaluate,
        texts=texts or _nothing, pairs=pairs or _nothing, needs=needs,
    )  # fmt: skip


class _Evaluation(Generic[P, F]):
    """Run the stages of one evaluator on one answer within its budget; record their time and failure."""

    def __init__(self, evaluator: Evaluator[P, F], answer: GeneratedAnswer, earlier: Sequence[EarlierAnswer]) -> None:
        self._evaluator, self._answer, self._earlier = evaluator, answer, earlier
        self._prepared: tuple[P] | None = None
        self.texts: Sequence[str] = ()
        self.pairs: Sequence[VerifierPair] = ()
        self.findings: Findings | None = None
        self.failure: Exception | None = None
        self.seconds = 0.0
        self._budget = Budget()

    @property
    def name(self) -> str:
        return self._evaluator.name

    @property
    def needs(self) -> Needs:
        return self._evaluator.needs

    @property
    def report(self) -> type[Report]:
        return self._evaluator.report

    def prepare(self) -> None:
        self._stage(self._prepare)

    def score_with_rules(self, vectors: Vectors | JudgementError) -> None:
        if self.needs.verifier:
            self._stage(lambda: self._score_with_rules(vectors))

    def evaluate(self, vectors: Vectors | JudgementError, verdicts: Verdicts | JudgementError) -> None:
        self._stage(lambda: self._evaluate(vectors, verdicts))

    def _prepare(self) -> None:
        contexts = self._answer.contexts or ()
        spend(len(self._answer.query) + len(self._answer.answer) + sum(len(chunk.content) for chunk in contexts))
        prepared = self._evaluator.prepare(self._answer, self._earlier)
        self._prepared = (prepared,)
        texts = self._evaluator.texts(prepared) if self.needs.vectors else ()
        self.texts = tuple(_checked_text(self.name, text) for text in texts)

    def _score_with_rules(self, vectors: Vectors | JudgementError) -> None:
        assert self._prepared is not None
        (prepared,), known = self._prepared, self._known(vectors)
        if self._evaluator.score_with_rules is not None:
            prepared = self._evaluator.score_with_rules(prepared, known)
            self._prepared = (prepared,)
        self.pairs = tuple(_checked_pair(self.name, pair) for pair in self._evaluator.pairs(prepared))

    def _evaluate(self, vectors: Vectors | JudgementError, verdicts: Verdicts | JudgementError) -> None:
        assert self._prepared is not None
        known = self._known(vectors)
        context = EvaluationContext(known, verdicts if self.needs.verifier else {}, self._earlier)
        findings: object = self._evaluator.evaluate(*self._prepared, context)
        if not isinstance(findings, self._evaluator.findings):
            raise InvalidFindings(
                f"the evaluator {self.name} returned {type(findings).__name__} instead of "
                f"{self._evaluator.findings.__name__}"
            )
        self.findings = findings

    def _known(self, vectors: Vectors | JudgementError) -> Vectors:
        if not self.needs.vectors:
            return {}
        if isinstance(vectors, JudgementError):
            raise vectors
        return vectors

    def _stage(self, stage: Callable[[], None]) -> None:
        if self.failure is not None:
            return
        started = time.perf_counter()
        try:
            with spending(self._budget), panics_as_errors():
                stage()
        except ValidationError as error:
            self.failure = invalid_findings(self.name, error)
        except Exception as error:
            self.failure = error
        self.seconds += time.perf_counter() - started


def _checked_text(name: str, text: object) -> str:
    """Return a text of an evaluator as a plain string; refuse any that would fail in a model, among others' texts."""
    if not isinstance(text, str):
        raise InvalidFindings(f"the evaluator {name} returned a text that is no string but {type(text).__name__}")
    text = str.__str__(text)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidFindings(
            f"the evaluator {name} returned a text that is no valid Unicode: it holds half a surrogate pair"
        ) from None
    return text


def _checked_pair(name: str, pair: object) -> VerifierPair:
    if type(pair) is not VerifierPair:
        raise InvalidFindings(f"the evaluator {name} returned {type(pair).__name__} instead of VerifierPair")
    return VerifierPair(_checked_text(name, pair.evidence), _checked_text(name, pair.claim))


def invalid_findings(name: str, error: ValidationError) -> InvalidFindings:
    """Return the failure of an evaluator whose findings are invalid; the text holds no value of the answer."""
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    shown = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in problems[:5])
    return InvalidFindings(f"the findings of {name} are invalid: {shown}"[:MAX_REASON])
