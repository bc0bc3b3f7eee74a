"""Quality of an answer: the metrics of seed 000 and the signals of seed 003 (`metrics`, `signals`).

Two phases, so that texts are embedded in one batch for many answers: ``prepare_quality``
names the texts that need a vector, ``judge_quality`` judges with the vectors.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schemas.answers import GeneratedAnswer
from schemas.quality import EarlierAnswer, FailureSignal, QualityFindings, QualityMetrics
from workers.steps import metrics
from workers.steps.boilerplate import substance
from workers.steps.checks import compare
from workers.steps.consistency import judge_consistency
from workers.steps.endings import is_cut_off
from workers.steps.language import guess_language
from workers.steps.markers import find_markers, with_markers, without_markers
from workers.steps.metrics import MAX_PARTS
from workers.steps.queries import query_form, query_parts
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
MAX_REFERENCE, MAX_EARLIER = 16, 16
"""Most sentences of the reference answer, and of each earlier answer, that are compared."""
UNLIKE, ALIKE = 0.4, 0.9
"""Cosine of a sentence of the reference and the best of the answer that counts as 0 and as 1."""
MAX_TEXT = 1_000
"""Longest text that is embedded, code points; the model reads 256 tokens anyway."""


@dataclass(frozen=True, slots=True)
class PreparedQuality:
    """An answer ready to be judged, and the texts whose vectors that takes.

    Attributes:
        answer: the answer.
        sentences: its segmentation, without the courtesies at either end.
        query: the query as it is embedded, empty if there is none.
        parts: the questions that it consists of, where it has several.
        candidates: sentences that may answer it, as they are embedded.
        reference: sentences of the reference answer.
        earlier: answers given before to the same question, with their sentences.
    """

    answer: GeneratedAnswer
    sentences: tuple[Sentence, ...]
    query: str
    parts: tuple[str, ...]
    candidates: tuple[str, ...]
    reference: tuple[str, ...] = ()
    earlier: tuple[tuple[EarlierAnswer, tuple[str, ...]], ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """Distinct texts that need a vector."""
        if not self.candidates:
            return ()
        asked = (self.query, *self.parts) if self.query else ()
        before = (sentence for _, sentences in self.earlier for sentence in sentences)
        own = self.candidates if asked or self.reference or self.earlier or len(self.candidates) > 1 else ()
        return tuple(dict.fromkeys((*asked, *own, *self.reference, *before)))


def prepare_quality(answer: GeneratedAnswer, earlier: Sequence[EarlierAnswer] = ()) -> PreparedQuality:
    """Segment an answer and choose what must be embedded.

    Args:
        answer: the answer.
        earlier: answers given before to the same question, as the agent found them in memory.
    """
    sentences = tuple(substance(segment(answer.answer)))
    query = plain_text(answer.query)[:MAX_TEXT]
    reference = answer.reference_answer or ""
    return PreparedQuality(
        answer,
        sentences,
        query,
        _parts(query),
        _candidates(query, answer.answer, sentences, len(answer.contexts or [])),
        _candidates(query, reference, segment(reference))[:MAX_REFERENCE],
        tuple(
            (before, _candidates(query, before.response, segment(before.response))[:MAX_EARLIER]) for before in earlier
        ),
    )


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
    # Of a text that nobody has seen the length says nothing.
    found = [] if "answer" in answer.withheld else find_signals(answer.answer, thresholds, is_fact=is_fact)
    signals = count_each_type_once([*reported, *found])
    failures = _failures(answer, signals)
    measured, notes = (QualityMetrics(), {}) if failures else _measure(prepared, vectors)
    issues = failures or _issues(measured, thresholds)
    overall = _weighted_mean(dict(measured), thresholds.weights)
    comparable = prepared.candidates if prepared.texts else ()
    return QualityFindings(
        metrics=measured,
        notes=notes,
        consistency=None if failures else judge_consistency(comparable, prepared.earlier, vectors),
        reference_match=reference_match(comparable, prepared.reference, vectors),
        overall_score=overall,
        passes_validation=overall is not None and overall >= thresholds.overall and len(issues) < thresholds.max_issues,
        issues=issues,
        signals=signals,
        validation=assess(signals, thresholds),
        refusal=is_refusal(signals),
        tool_failure=is_tool_failure(signals),
        language=guess_language(answer.answer) if answer.answer.strip() else None,
    )


def _candidates(query: str, text: str, sentences: Sequence[Sentence], contexts: int = 0) -> tuple[str, ...]:
    """The sentences of a text that are compared with the query, in its order and without its citation markers.

    A marker says nothing about the matter, and without it the sentence is the same text that
    grounding asks the model for, which is then read once.
    """
    plain = [
        plain_text(without_markers(sentence.text, sentence.start, own))[:MAX_TEXT]
        for sentence, own in with_markers(sentences, find_markers(text, contexts, sentences))
        if sentence.block != "code"
    ]
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
        failures.append("Response was not sent" if "answer" in answer.withheld else "Response is empty")
    if is_tool_failure(signals):
        failures.append("Response reports a failed call")
    if is_refusal(signals):
        failures.append("Response declines to answer")
    return failures


def _parts(query: str) -> tuple[str, ...]:
    """The questions of a query, each with words enough to be compared; none where there is but one."""
    parts = query_parts(query)[:MAX_PARTS]
    telling = tuple(dict.fromkeys(part for part in parts if len(content_words(part)) >= 2))
    return telling if len(telling) > 1 else ()


def _measure(prepared: PreparedQuality, vectors: Vectors) -> tuple[QualityMetrics, dict[str, str]]:
    """The four metrics, and a note on how each came about."""
    answer, text, sentences = prepared.answer, prepared.answer.answer, prepared.sentences
    form = query_form(answer.query, answer.query_type)
    relevance, addressed = None, list(prepared.parts)
    if prepared.query and prepared.texts:
        found = [vectors[candidate] for candidate in prepared.candidates]
        words = content_words(text)
        relevance = metrics.relevance(answer.query, text, vectors[prepared.query], found)
        addressed = [part for part in prepared.parts if metrics.part_is_addressed(part, words, vectors[part], found)]
    share = len(addressed) / len(prepared.parts) if prepared.parts else 1.0
    length, cut_off = metrics.prose_length(text, sentences), is_cut_off(text)
    measured = QualityMetrics(
        relevance=relevance,
        completeness=metrics.completeness(length, answer.query, form, cut_off=cut_off, addressed=share),
        clarity=metrics.clarity(text, sentences),
        actionability=metrics.actionability(text, sentences, form),
    )
    notes = {
        "relevance": "meaning of the query against the best sentence (0.7) and its words (0.3)"
        if relevance is not None
        else "no query to compare with",
        "completeness": f"{length} code points for a query of the form {form}"
        + (f"; {len(addressed)} of {len(prepared.parts)} parts of the question taken up" if prepared.parts else "")
        + ("; ends abruptly" if cut_off else ""),
        "clarity": "sentence length, longest paragraph and long words" if measured.clarity is not None else "no prose",
        "actionability": "steps (0.4), commands (0.3) and instructions (0.3)"
        if measured.actionability is not None
        else "the query does not ask for action, or its script is not known",
    }
    return measured, notes


def reference_match(own: Sequence[str], reference: Sequence[str], vectors: Vectors) -> float | None:
    """How far a reference answer is found in an answer, sentence by sentence; null without one.

    A sentence of the reference counts by meaning (cosine with the best sentence of the answer,
    0.4..0.9 as 0..1) or by the share of its words found there, whichever is more, and nothing
    where that sentence has other numbers, dates, names or the opposite.
    """
    if not own or not reference:
        return None
    scores = []
    for expected in reference:
        best = max(own, key=lambda sentence: float(np.dot(vectors[expected], vectors[sentence])))
        cosine = float(np.dot(vectors[expected], vectors[best]))
        words = content_words(expected)
        shared = len(words & content_words(best)) / len(words) if words else 0.0
        meaning = min(1.0, max(0.0, (cosine - UNLIKE) / (ALIKE - UNLIKE)))
        scores.append(0.0 if compare(best, expected) else max(meaning, shared))
    return sum(scores) / len(scores)


def _issues(measured: QualityMetrics, thresholds: QualityThresholds) -> list[str]:
    """The issues of seed 000, word for word."""
    judged = (
        (measured.relevance, thresholds.relevance, "Response may not fully address the query"),
        (measured.completeness, thresholds.completeness, "Response appears incomplete"),
        (measured.clarity, thresholds.clarity, "Response could be clearer"),
        (measured.actionability, thresholds.actionability, "Response lacks actionable steps"),
    )
    return [issue for score, minimum, issue in judged if score is not None and score < minimum]


def _weighted_mean(scores: Mapping[str, float | None], weights: Mapping[str, float]) -> float | None:
    known = [(score, weights.get(name, 1.0)) for name, score in scores.items() if score is not None]
    total = sum(weight for _, weight in known)
    return min(1.0, sum(score * weight for score, weight in known) / total) if total > 0 else None
