"""The seven characteristics of seed 002 and the gate score that is made of them.

Each characteristic is a score in 0..1, or null where its input is missing, and says how it
came about: method, inputs, and the reason where it is null. What needs another agent's report
is computed here, at assembly, so that the agents stay independent.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from schemas.answers import ContextChunk, GeneratedAnswer
from schemas.citations import CitationReport
from schemas.enriched import Characteristic, CharacteristicDetail, EvaluationResult
from schemas.grounding import Claim, GroundingReport
from schemas.quality import QualityReport
from workers.steps.thresholds import GateThresholds
from workers.steps.words import content_words

SECONDS_A_DAY = 86_400.0
DEFAULT_WEIGHT = 1.0
"""Weight of a characteristic that the settings do not name: all count alike (design)."""
CONTEXT_SHARE = 0.2
"""Weight of the contexts in coverage; the question has the rest, since one good source may do."""
BEARING = 0.5
"""Share of the query's content words that a context holds which bears on it."""
MAX_BEARING, MAX_CONTEXT_TEXT = 20, 2_000
"""Most contexts, and code points of each, that are looked at for whether they bear on the query."""
OTHER_SOURCE = 0.5
"""What a citation is worth whose claim is supported, but by another source."""


class Scored(NamedTuple):
    """A characteristic: its score, and how it came about."""

    score: float | None
    method: str
    inputs: dict[str, Any]
    reason: str | None = None


def evaluate(
    answer: GeneratedAnswer,
    citations: CitationReport | None,
    grounding: GroundingReport | None,
    quality: QualityReport | None,
    gate: GateThresholds,
) -> EvaluationResult:
    """Judge an answer by its characteristics.

    Args:
        answer: the answer.
        citations: its report, or ``None`` if it did not come.
        grounding: as citations.
        quality: as citations.
        gate: weights, the threshold of the gate score, the half lives of freshness.

    Returns:
        The weighted mean of the characteristics that are known; a null score where none is.
    """
    judged: dict[Characteristic, Scored] = {
        "faithfulness": faithfulness(grounding),
        "relevance": relevance(quality),
        "correctness": correctness(answer, grounding, quality),
        "coverage": coverage(answer, citations, grounding, quality),
        "consistency": consistency(quality),
        "freshness": freshness(answer, citations, gate),
        "traceability": traceability(answer, citations, grounding),
    }
    metrics = {name: scored.score for name, scored in judged.items()}
    score = _weighted_mean(metrics, gate.weights)
    passed = None if score is None else score >= gate.gate_score
    return EvaluationResult(
        score=score,
        passed=passed,
        reasoning=_reasoning(score, metrics, gate.gate_score),
        metrics={**metrics},
        details={
            name: CharacteristicDetail(method=scored.method, inputs=scored.inputs, reason=scored.reason)
            for name, scored in judged.items()
        },
    )


def faithfulness(grounding: GroundingReport | None) -> Scored:
    """Grounding score, lowered by the share of checked claims that the sources contradict."""
    method = "mean support of the claims x (1 - share contradicted)"
    if grounding is None or grounding.grounding_score is None:
        return Scored(None, method, {}, _absent(grounding, "grounding", "no claim needs grounding"))
    checked, contradicted = _checked(grounding)
    share = contradicted / checked if checked else 0.0
    inputs = {"grounding_score": grounding.grounding_score, "claims_checked": checked, "contradicted": contradicted}
    return Scored(grounding.grounding_score * (1 - share), method, inputs)


def relevance(quality: QualityReport | None) -> Scored:
    """Relevance to the query, from the quality report."""
    method = "0.7 x meaning of the query against the best sentence + 0.3 x share of its words"
    score = quality.metrics.relevance if quality else None
    reason = None if score is not None else _absent(quality, "quality", "no query, or nothing said")
    return Scored(score, method, {}, reason)


_MARKER = re.compile(r"\[[^\[\]]{0,200}\]")
_TOKEN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_]+")
_ARTICLES = frozenset(("a", "an", "the"))


def correctness(answer: GeneratedAnswer, grounding: GroundingReport | None, quality: QualityReport | None) -> Scored:
    """Agreement with the reference answer, where there is one, and with the sources.

    The reference counts by meaning and exact details (quality report); where that is missing,
    by the F1 of words, the measure of SQuAD. Claims that the sources contradict lower it by
    their share; without reference they alone decide.
    """
    method = "agreement with the reference answer x (1 - share of claims contradicted)"
    checked, contradicted = _checked(grounding) if grounding is not None else (0, 0)
    agreement, by = None, None
    if quality is not None and quality.reference_match is not None:
        agreement, by = quality.reference_match, "meaning and details"
    elif _tokens(answer.reference_answer or ""):
        agreement, by = token_f1(answer.answer, answer.reference_answer or ""), "words"
    if agreement is None and not checked:
        return Scored(None, method, {}, "no reference answer and no claim checked")
    inputs = {"reference": agreement, "reference_by": by, "claims_checked": checked, "contradicted": contradicted}
    share = contradicted / checked if checked else 0.0
    return Scored((1.0 if agreement is None else agreement) * (1 - share), method, inputs)


def token_f1(given: str, expected: str) -> float:
    """F1 of two texts' words; case, punctuation, articles and citation markers do not count."""
    one, two = _tokens(given), _tokens(expected)
    total = one.total() + two.total()
    return 2 * (one & two).total() / total if total else 0.0


def _tokens(text: str) -> Counter[str]:
    tokens = _TOKEN.findall(_MARKER.sub(" ", text).casefold())
    return Counter(token for token in tokens if token not in _ARTICLES)


def coverage(
    answer: GeneratedAnswer,
    citations: CitationReport | None,
    grounding: GroundingReport | None,
    quality: QualityReport | None,
) -> Scored:
    """How much of the question, and of the contexts that bear on it, the answer takes up.

    Of the question: completeness. A context bears on it if it holds half of its content words;
    it is taken up if it is cited or is the evidence of a supported claim.
    """
    method = "0.8 x completeness + 0.2 x share of the contexts bearing on the question that are used"
    question = quality.metrics.completeness if quality else None
    if question is None:
        return Scored(None, method, {}, _absent(quality, "quality", "nothing said"))
    bearing = _bearing(answer.query, answer.contexts or []) if citations or grounding else []
    used = {citation.chunk_id for citation in citations.citations} if citations else set()
    used |= {c.evidence.chunk_id for c in grounding.claims if c.evidence and c.verdict == "supported"} if grounding else set()  # fmt: skip
    inputs = {"completeness": question, "contexts_bearing": len(bearing), "contexts_used": len(used & {*bearing})}
    if not bearing:
        return Scored(question, method, inputs)
    share = len(used & {*bearing}) / len({*bearing})
    return Scored((1 - CONTEXT_SHARE) * question + CONTEXT_SHARE * share, method, inputs)


def _bearing(query: str, contexts: list[ContextChunk]) -> list[str]:
    asked = content_words(query)
    if not asked:
        return []
    first = contexts[:MAX_BEARING]
    return [
        c.chunk_id for c in first if len(asked & content_words(c.content[:MAX_CONTEXT_TEXT])) >= BEARING * len(asked)
    ]


def consistency(quality: QualityReport | None) -> Scored:
    """The lower of the agreement within the answer and with earlier answers to the same question."""
    method = "the lower of agreement within the answer and with earlier answers to the same question"
    found = quality.consistency if quality else None
    known = [score for score in (found.within, found.temporal) if score is not None] if found else []
    if found is None or not known:
        return Scored(None, method, {}, _absent(quality, "quality", "nothing said that could be compared"))
    inputs = {
        "within": found.within,
        "temporal": found.temporal,
        "earlier_answers": [earlier.answer_id for earlier in found.earlier],
        "contradictions": len(found.contradictions),
    }
    return Scored(min(known), method, inputs)


def freshness(answer: GeneratedAnswer, citations: CitationReport | None, gate: GateThresholds) -> Scored:
    """Mean freshness of the cited sources, or of all contexts if none is cited.

    A source is worth 0.5 ** (age / half life) at the completion of the answer, one from the
    future 1; its half life is that of its type. Null where no source says when it was updated.
    """
    method = "mean of 0.5 ** (age at completion / half life of the source type) over the cited sources"
    cited = [(citation.source_type, citation.last_updated) for citation in citations.citations] if citations else []
    given = [(chunk.source_type, chunk.last_updated) for chunk in answer.contexts or []]
    dated = [(kind, update) for kind, update in cited or given if update is not None]
    if not dated:
        return Scored(None, method, {}, "no source says when it was updated")
    ages = [(kind, max(0.0, (answer.completed_at - update).total_seconds() / SECONDS_A_DAY)) for kind, update in dated]
    worth = [
        math.pow(0.5, age / gate.freshness_half_lives.get(kind, gate.freshness_half_life_days)) for kind, age in ages
    ]
    inputs = {"sources": len(ages), "oldest_days": round(max(age for _, age in ages), 1), "cited": bool(cited)}
    return Scored(sum(worth) / len(worth), method, inputs)


def traceability(
    answer: GeneratedAnswer, citations: CitationReport | None, grounding: GroundingReport | None
) -> Scored:
    """Whether what is said can be traced: citations that are there, resolve and support."""
    method = "citation coverage x share of references that resolve x share of cited claims that their source supports"
    if not answer.contexts:
        return Scored(None, method, {}, "no contexts to cite")
    if citations is None or citations.coverage is None:
        return Scored(None, method, {}, _absent(citations, "citations", "no sentence that could carry a citation"))
    invalid = len(citations.invalid_references)
    references = len(citations.citations) + invalid
    resolving = 1 - invalid / references if references else 1.0
    citing = [c for c in grounding.claims if c.cited_numbers and c.verdict != "not_checked"] if grounding else []
    supporting = sum(_supports(claim) for claim in citing) / len(citing) if citing else 1.0
    inputs = {
        "coverage": citations.coverage,
        "references": references,
        "invalid": invalid,
        "cited_claims": len(citing),
        "supporting": round(supporting, 6),
    }
    return Scored(citations.coverage * resolving * supporting, method, inputs)


def _supports(claim: Claim) -> float:
    if claim.verdict != "supported":
        return 0.0
    return 1.0 if claim.evidence is None or claim.evidence.number in claim.cited_numbers else OTHER_SOURCE


def _checked(grounding: GroundingReport) -> tuple[int, int]:
    """How many claims were checked, and how many of them the sources contradict."""
    checked = [claim for claim in grounding.claims if claim.verdict != "not_checked"]
    return len(checked), sum(claim.verdict == "contradicted" for claim in checked)


def _absent(report: CitationReport | GroundingReport | QualityReport | None, name: str, otherwise: str) -> str:
    if report is None:
        return f"the report of {name} did not come"
    return report.reason or otherwise


def _weighted_mean(metrics: Mapping[Characteristic, float | None], weights: Mapping[str, float]) -> float | None:
    known = [(score, weights.get(name, DEFAULT_WEIGHT)) for name, score in metrics.items() if score is not None]
    total = sum(weight for _, weight in known)
    if total <= 0:
        return None
    return min(1.0, sum(score * weight for score, weight in known) / total)


def _reasoning(score: float | None, metrics: Mapping[Characteristic, float | None], minimum: float) -> str:
    known = {name: value for name, value in metrics.items() if value is not None}
    if score is None or not known:
        return "Nothing could be judged."
    weakest = min(known, key=lambda name: known[name])
    relation = "reaches" if score >= minimum else "is below"
    return (
        f"Gate score {score:.2f} {relation} {minimum:.2f}, from {len(known)} of {len(metrics)} characteristics;"
        f" weakest: {weakest} ({known[weakest]:.2f})."
    )
