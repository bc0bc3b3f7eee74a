"""The seven characteristics of seed 002 and the gate score that is made of them.

Each characteristic is a score in 0..1, or null where its input is missing. What needs
another agent's report is computed here, at assembly, so that the agents stay independent.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime

from schemas.answers import GeneratedAnswer
from schemas.citations import CitationReport
from schemas.enriched import Characteristic, EvaluationResult
from schemas.grounding import GroundingReport
from schemas.quality import QualityReport
from workers.steps.thresholds import GateThresholds

SECONDS_A_DAY = 86_400.0
DEFAULT_WEIGHT = 1.0
"""Weight of a characteristic that the settings do not name: all count alike (design)."""


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
        gate: weights, the threshold of the gate score, the half life of freshness.

    Returns:
        The weighted mean of the characteristics that are known; a null score where none is.
    """
    metrics: dict[Characteristic, float | None] = {
        "faithfulness": faithfulness(grounding),
        "relevance": quality.metrics.relevance if quality else None,
        "correctness": correctness(answer),
        "coverage": quality.metrics.completeness if quality else None,
        # Consistency needs the answers given before to the same question; nobody fetches them yet.
        "consistency": None,
        "freshness": freshness(answer, citations, gate.freshness_half_life_days),
        "traceability": traceability(answer, citations),
    }
    score = _weighted_mean(metrics, gate.weights)
    passed = None if score is None else score >= gate.gate_score
    return EvaluationResult(
        score=score, passed=passed, reasoning=_reasoning(score, metrics, gate.gate_score), metrics={**metrics}
    )


def faithfulness(grounding: GroundingReport | None) -> float | None:
    """Grounding score, lowered by the share of checked claims that the sources contradict."""
    if grounding is None or grounding.grounding_score is None:
        return None
    checked = [claim for claim in grounding.claims if claim.verdict != "not_checked"]
    contradicted = sum(claim.verdict == "contradicted" for claim in checked)
    return grounding.grounding_score * (1 - contradicted / len(checked)) if checked else grounding.grounding_score


_MARKER = re.compile(r"\[[^\[\]]{0,200}\]")
_TOKEN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_]+")
_ARTICLES = frozenset(("a", "an", "the"))


def correctness(answer: GeneratedAnswer) -> float | None:
    """F1 of the answer's words against the reference answer's; null without a reference.

    The measure of SQuAD: case, punctuation and articles do not count, citation markers
    neither. It rewards the same words, not the same meaning.
    """
    expected = _tokens(answer.reference_answer or "")
    if not expected:
        return None
    given = _tokens(answer.answer)
    return 2 * (expected & given).total() / (expected.total() + given.total())


def _tokens(text: str) -> Counter[str]:
    tokens = _TOKEN.findall(_MARKER.sub(" ", text).casefold())
    return Counter(token for token in tokens if token not in _ARTICLES)


def freshness(answer: GeneratedAnswer, citations: CitationReport | None, half_life_days: float) -> float | None:
    """Mean freshness of the cited sources, or of all contexts if none is cited.

    A source is worth 0.5 ** (age / half life) at the completion of the answer, one from the
    future 1. Null where no source says when it was updated.
    """
    cited = [citation.last_updated for citation in citations.citations] if citations else []
    given = [chunk.last_updated for chunk in answer.contexts or []]
    updates: Sequence[datetime] = [update for update in cited or given if update is not None]
    if not updates:
        return None
    ages = [max(0.0, (answer.completed_at - update).total_seconds() / SECONDS_A_DAY) for update in updates]
    return sum(math.pow(0.5, age / half_life_days) for age in ages) / len(ages)


def traceability(answer: GeneratedAnswer, citations: CitationReport | None) -> float | None:
    """Citation coverage x the share of references that are valid; null without contexts."""
    if not answer.contexts or citations is None or citations.coverage is None:
        return None
    invalid = len(citations.invalid_references)
    references = len(citations.citations) + invalid
    return citations.coverage * (1 - invalid / references if references else 1.0)


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
