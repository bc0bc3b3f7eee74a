"""Quality of an answer: the metrics of seed 000 and the signals of seed 003 (`metrics`, `signals`).

Two phases, so that texts are embedded in one batch for many answers: ``prepare_quality``
names the texts that need a vector, ``judge_quality`` judges with the vectors.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schemas.answers import GeneratedAnswer
from schemas.quality import FailureSignal, QualityFindings, QualityMetrics
from workers.steps import metrics
from workers.steps.language import guess_language
from workers.steps.queries import query_form
from workers.steps.segmentation import Sentence, segment
from workers.steps.signals import (
    count_each_type_once,
    find_signals,
    is_refusal,
    is_tool_failure,
    reported_signals,
)
from workers.steps.thresholds import QualityThresholds
from workers.steps.validation import assess
from workers.steps.wording import plain_text
from workers.steps.words import content_words

Vectors = Mapping[str, NDArray[np.float32]]

MAX_CANDIDATES = 32
"""Most sentences compared with the query: those that share most words with it. Bounds the
cost of a long answer, whose best sentence is among them."""
MAX_TEXT = 1_000
"""Longest text that is embedded, code points; the model reads 256 tokens anyway."""


@dataclass(frozen=True, slots=True)
class PreparedQuality:
    """An answer ready to be judged, and the texts whose vectors that takes.

    Attributes:
        answer: the answer.
        sentences: its segmentation.
        query: the query as it is embedded, empty if there is none.
        candidates: sentences that may answer it, as they are embedded.
    """

    answer: GeneratedAnswer
    sentences: tuple[Sentence, ...]
    query: str
    candidates: tuple[str, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """Distinct texts that need a vector."""
        if not self.query or not self.candidates:
            return ()
        return tuple(dict.fromkeys((self.query, *self.candidates)))


def prepare_quality(answer: GeneratedAnswer) -> PreparedQuality:
    """Segment an answer and choose what must be embedded."""
    sentences = tuple(segment(answer.answer))
    query = plain_text(answer.query)[:MAX_TEXT]
    return PreparedQuality(answer, sentences, query, _candidates(query, sentences))


def judge_quality(prepared: PreparedQuality, vectors: Vectors, thresholds: QualityThresholds) -> QualityFindings:
    """Judge an answer.

    An answer that is empty, reports a failed call or declines is judged by that alone: its
    metrics are null, since an echo of the question is no relevance, and it does not pass.

    Args:
        prepared: from ``prepare_quality``.
        vectors: an L2-normalised vector for each of ``prepared.texts``.
        thresholds: of issues and signals.
    """
    answer = prepared.answer
    reported = reported_signals(answer.status, answer.error, answer.finish_reason)
    is_fact = query_form(answer.query, answer.query_type) == "factual"
    found = find_signals(answer.answer, thresholds, is_fact=is_fact)
    signals = count_each_type_once([*reported, *found])
    failures = _failures(answer, signals)
    measured = QualityMetrics() if failures else _measure(prepared, vectors)
    issues = failures or _issues(measured, thresholds)
    overall = _mean([measured.relevance, measured.completeness, measured.clarity, measured.actionability])
    return QualityFindings(
        metrics=measured,
        overall_score=overall,
        passes_validation=overall is not None and overall >= thresholds.overall and len(issues) < thresholds.max_issues,
        issues=issues,
        signals=signals,
        validation=assess(signals, thresholds),
        refusal=is_refusal(signals),
        tool_failure=is_tool_failure(signals),
        language=guess_language(answer.answer) if answer.answer.strip() else None,
    )


def _candidates(query: str, sentences: Sequence[Sentence]) -> tuple[str, ...]:
    """The sentences that are compared with the query, in the order of the answer."""
    plain = [plain_text(sentence.text)[:MAX_TEXT] for sentence in sentences if sentence.block != "code"]
    texts = [text for text in dict.fromkeys(plain) if text]
    if len(texts) <= MAX_CANDIDATES:
        return tuple(texts)
    asked = content_words(query)
    shared = {text: len(asked & content_words(text)) for text in texts}
    best = set(sorted(texts, key=lambda text: -shared[text])[:MAX_CANDIDATES])
    return tuple(text for text in texts if text in best)


def _failures(answer: GeneratedAnswer, signals: Sequence[FailureSignal]) -> list[str]:
    failures: list[str] = []
    if not answer.answer.strip():
        failures.append("Response is empty")
    if is_tool_failure(signals):
        failures.append("Response reports a failed call")
    if is_refusal(signals):
        failures.append("Response declines to answer")
    return failures


def _measure(prepared: PreparedQuality, vectors: Vectors) -> QualityMetrics:
    answer, text, sentences = prepared.answer, prepared.answer.answer, prepared.sentences
    form = query_form(answer.query, answer.query_type)
    relevance = None
    if prepared.texts:
        sentence_vectors = [vectors[candidate] for candidate in prepared.candidates]
        relevance = metrics.relevance(answer.query, text, vectors[prepared.query], sentence_vectors)
    return QualityMetrics(
        relevance=relevance,
        completeness=metrics.completeness(text, sentences, answer.query, form),
        clarity=metrics.clarity(text, sentences),
        actionability=metrics.actionability(text, sentences, form),
    )


def _issues(measured: QualityMetrics, thresholds: QualityThresholds) -> list[str]:
    """The issues of seed 000, word for word."""
    judged = (
        (measured.relevance, thresholds.relevance, "Response may not fully address the query"),
        (measured.completeness, thresholds.completeness, "Response appears incomplete"),
        (measured.clarity, thresholds.clarity, "Response could be clearer"),
        (measured.actionability, thresholds.actionability, "Response lacks actionable steps"),
    )
    return [issue for score, minimum, issue in judged if score is not None and score < minimum]


def _mean(scores: Sequence[float | None]) -> float | None:
    known = [score for score in scores if score is not None]
    return sum(known) / len(known) if known else None
