"""Evaluate the quality of an answer by metrics (`quality_metrics`) and failure signals (`failure_signals`).

There are two phases, so that the texts of many answers are embedded in one batch: ``prepare_quality`` returns the
texts that need a vector, ``evaluate_quality`` evaluates with the vectors.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schemas.answers import GeneratedAnswer
from schemas.quality import EarlierAnswer, FailureSignal, QualityFindings, QualityMetrics
from workers.evaluation.claims.short_answers import needs_question
from workers.evaluation.contradictions.contradiction_checks import compare
from workers.evaluation.conversation.resolution import Resolution, resolve_query, with_resolved_query
from workers.evaluation.quality import quality_metrics as metrics
from workers.evaluation.quality.consistency import evaluate_consistency
from workers.evaluation.quality.failure_signals import (
    count_each_type_once,
    find_signals,
    is_refusal,
    is_tool_failure,
    reported_signals,
)
from workers.evaluation.quality.quality_metrics import MAX_PARTS
from workers.evaluation.quality.query_kinds import accepts_short_answer, query_form, query_parts
from workers.evaluation.quality.validation import assess
from workers.evaluation.text.empty_texts import says_nothing
from workers.evaluation.text.languages.language import guess_language
from workers.evaluation.text.structure.boilerplate import substance
from workers.evaluation.text.structure.markers import find_markers, with_markers, without_markers
from workers.evaluation.text.structure.segmentation import Sentence, segment
from workers.evaluation.text.structure.truncation import is_cut_off
from workers.evaluation.text.wording import plain_text
from workers.evaluation.text.words import content_words
from workers.evaluation.thresholds import QualityThresholds
from workers.evaluation.tools.results.tool_failures import failures_of

Vectors = Mapping[str, NDArray[np.float32]]

MAX_CANDIDATES = 32
"""Maximum number of sentences of an answer to compare: those with the most words of the query. It bounds the cost of a
long answer.
"""
MAX_EMBEDDED = 4
"""Maximum number of these whose vectors are compared with the query's, as the best of them decides. On 478 real answers
with a query no relevance is more than 0.002 below that over all of them.
"""
MAX_REFERENCE, MAX_EARLIER = 16, 16
"""Maximum number of sentences of the reference answer, and of each earlier answer, to compare."""
UNLIKE, ALIKE = 0.4, 0.9
"""Cosines of a reference sentence and the best sentence of the answer that map to 0 and to 1."""
MAX_TEXT = 1_000
"""Maximum length of an embedded text, code points; the model reads 256 tokens."""

ELLIPTICAL = "the answer is understood only together with its question"
"""Reason for a relevance of null: the answer repeats nothing of the question, and grounding compares both together."""


@dataclass(frozen=True, slots=True)
class PreparedQuality:
    """Hold an answer that is ready for evaluation and the texts that must be embedded.

    Attributes:
        answer: the answer.
        sentences: its segmentation, without the courtesies at either end.
        query: the text of the query to embed; empty if there is none.
        parts: the single questions of the query, if it has several.
        candidates: sentences that may answer it.
        embedded: those of them that are compared with the query by their vectors.
        reference: sentences of the reference answer.
        earlier: earlier answers to the same question, with their sentences.
        resolution: the query after the earlier turns; ``None`` without earlier turns.
    """

    answer: GeneratedAnswer
    sentences: tuple[Sentence, ...]
    query: str
    parts: tuple[str, ...]
    candidates: tuple[str, ...]
    embedded: tuple[str, ...]
    reference: tuple[str, ...] = ()
    earlier: tuple[tuple[EarlierAnswer, tuple[str, ...]], ...] = ()
    resolution: Resolution | None = None

    @property
    def texts(self) -> tuple[str, ...]:
        """Return the distinct texts that need a vector."""
        if not self.candidates:
            return ()
        asked = (self.query, *self.parts, *self.embedded) if self.query else ()
        expected = (*self.candidates, *self.reference) if self.reference else ()
        return tuple(dict.fromkeys((*asked, *expected)))


def prepare_quality(answer: GeneratedAnswer, earlier: Sequence[EarlierAnswer] = ()) -> PreparedQuality:
    """Segment an answer and choose the texts to embed.

    Args:
        answer: the answer.
        earlier: earlier answers to the same question from memory.
    """
    resolution = resolve_query(answer.query, answer.conversation)
    answer = with_resolved_query(answer, resolution)
    sentences = tuple(substance(segment(answer.answer)))
    query = plain_text(answer.query)[:MAX_TEXT]
    reference = answer.reference_answer or ""
    candidates = _candidates(query, answer.answer, sentences, len(answer.contexts or []))
    return PreparedQuality(
        answer,
        sentences,
        query,
        _parts(query),
        candidates,
        _embedded(query, candidates, resolution),
        _candidates(query, reference, segment(reference))[:MAX_REFERENCE],
        tuple(
            (before, _candidates(query, before.response, segment(before.response))[:MAX_EARLIER]) for before in earlier
        ),
        resolution,
    )


def evaluate_quality(prepared: PreparedQuality, vectors: Vectors, thresholds: QualityThresholds) -> QualityFindings:
    """Evaluate the quality of a prepared answer.

    An answer that is empty, reports a failed call or declines gets null metrics and does not pass: repeating the
    question would otherwise count as relevance.

    Args:
        prepared: from ``prepare_quality``.
        vectors: an L2-normalised vector for each of ``prepared.texts``.
        thresholds: thresholds of issues and signals.
    """
    answer = prepared.answer
    reported = reported_signals(answer.status, answer.error, answer.finish_reason)
    is_fact = accepts_short_answer(answer.query, answer.query_type, answer.answer)
    # The length of a text that was not sent is unknown.
    found = [] if "answer" in answer.withheld else find_signals(answer.answer, thresholds, is_fact=is_fact)
    if found and any(each.kind == "error" for each in failures_of(answer.contexts or ())):
        # An answer that tells the failure of one of its tools is no failed call.
        found = [signal for signal in found if signal.type != "tool_failure"]
    signals = count_each_type_once([*reported, *found])
    failures = _failures(answer, signals)
    measured, notes = (QualityMetrics(), {}) if failures else _measure(prepared, vectors)
    issues = failures or _issues(measured, thresholds)
    overall = _weighted_mean(dict(measured), thresholds.weights)
    return QualityFindings(
        metrics=measured,
        notes=notes,
        consistency=None if failures else evaluate_consistency(prepared.candidates, prepared.earlier),
        reference_match=reference_match(prepared.candidates, prepared.reference, vectors),
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
    """Return the sentences of a text to compare, in order and without citation markers."""
    plain = [
        plain_text(without_markers(sentence.text, sentence.start, own))[:MAX_TEXT]
        for sentence, own in with_markers(sentences, find_markers(text, contexts, sentences))
        if sentence.block != "code"
    ]
    return _with_most_words(query, [text for text in dict.fromkeys(plain) if text], MAX_CANDIDATES)


def _embedded(query: str, candidates: Sequence[str], resolution: Resolution | None) -> tuple[str, ...]:
    """Return the sentences that are compared with the query; their pronouns are resolved as those of the query."""
    found = _with_most_words(query, candidates, MAX_EMBEDDED)
    return found if resolution is None else tuple(resolution.in_answer(text)[:MAX_TEXT] for text in found)


def _with_most_words(query: str, texts: Sequence[str], most: int) -> tuple[str, ...]:
    """Return the texts with the most words of the query, at most ``most``, in their order."""
    if len(texts) <= most:
        return tuple(texts)
    asked = content_words(query)
    shared = {text: len(asked & content_words(text)) for text in texts}
    best = set(sorted(texts, key=lambda text: -shared[text])[:most])
    return tuple(text for text in texts if text in best)


def _failures(answer: GeneratedAnswer, signals: Sequence[FailureSignal]) -> list[str]:
    failures: list[str] = []
    if says_nothing(answer.answer):
        failures.append("Response was not sent" if "answer" in answer.withheld else "Response is empty")
    if is_tool_failure(signals):
        failures.append("Response reports a failed call")
    if is_refusal(signals):
        failures.append("Response declines to answer")
    return failures


def _parts(query: str) -> tuple[str, ...]:
    """Return the questions of a query that have enough words to compare; none if there is only one question."""
    parts = query_parts(query)[:MAX_PARTS]
    telling = tuple(dict.fromkeys(part for part in parts if len(content_words(part)) >= 2))
    return telling if len(telling) > 1 else ()


def _measure(prepared: PreparedQuality, vectors: Vectors) -> tuple[QualityMetrics, dict[str, str]]:
    """Compute the four metrics and a note on the basis of each."""
    answer, text, sentences = prepared.answer, prepared.answer.answer, prepared.sentences
    form = query_form(answer.query, answer.query_type)
    relevance, addressed = None, list(prepared.parts)
    elliptical = needs_question(answer.query, " ".join(prepared.candidates))
    if prepared.query and prepared.texts:
        found = [vectors[candidate] for candidate in prepared.embedded]
        words = content_words(text)
        if not elliptical:
            said = prepared.resolution.in_answer(text) if prepared.resolution else text
            relevance = metrics.relevance(answer.query, said, vectors[prepared.query], found)
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
        + _resolution_note(prepared.resolution)
        if relevance is not None
        else ELLIPTICAL
        if elliptical
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


def _resolution_note(resolution: Resolution | None) -> str:
    if resolution is None or resolution.status == "self_contained":
        return ""
    if resolution.status == "resolved":
        return "; the query is resolved against the earlier turns"
    return f"; the query is not resolved: {resolution.reason}"


def reference_match(own: Sequence[str], reference: Sequence[str], vectors: Vectors) -> float | None:
    """Return the share of a reference answer that an answer contains, by sentence; ``None`` without a reference.

    The value of a reference sentence is its cosine with the best sentence of the answer (0.4..0.9 as 0..1) or the
    share of its words found there, whichever is higher. It is 0 if the best sentence has other numbers, dates or
    names, or says the opposite.
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
    """Return the issues of the metrics below their thresholds."""
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
    # A mean of exactly the minimum must not fail by the rounding error of a sum.
    return min(1.0, round(sum(score * weight for score, weight in known) / total, 6)) if total > 0 else None
