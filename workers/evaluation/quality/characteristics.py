"""Compute the seven quality characteristics and the gate score that combines them.

Each characteristic is a score in 0..1, or null if its input is missing. It contains its method, its inputs, and the
reason if it is null. Characteristics that need reports of several agents are computed here, at assembly, so that the
agents stay independent.
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
from workers.evaluation.text.words import content_words
from workers.evaluation.thresholds import GateThresholds

CHARACTERISTICS: tuple[Characteristic, ...] = (
    "faithfulness", "relevance", "correctness", "coverage", "consistency", "freshness", "traceability",
)  # fmt: skip
"""Names of the characteristics, in the order in which they are shown."""

SECONDS_A_DAY = 86_400.0
DEFAULT_WEIGHT = 1.0
"""Default weight of a characteristic; all are equal."""
CONTEXT_SHARE = 0.2
"""Weight of the contexts in coverage; the rest is the weight of the question, since one good source may suffice."""
BEARING = 0.5
"""Share of the query's content words from which a context is relevant."""
MAX_BEARING, MAX_CONTEXT_TEXT = 20, 2_000
"""Maximum number of contexts, and of code points of each, that are checked for relevance."""
OTHER_SOURCE = 0.5
"""Value of a citation whose claim is supported by another source only."""


WITHOUT_REFERENCE = "1 - share of claims contradicted; no reference answer to compare with"
UNCONTRADICTED = "no claim contradicted, which proves none correct"


class Scored(NamedTuple):
    """Hold the score of a characteristic and its explanation."""

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
    """Evaluate an answer by its characteristics.

    Args:
        answer: the answer.
        citations: its report, or ``None`` if it is missing.
        grounding: as citations.
        quality: as citations.
        gate: weights, threshold of the gate score, half-lives of freshness.

    Returns:
        The weighted mean of the known characteristics; a null score if none is known, or if the answer has claims and
        their words could not be compared with the sources.
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
    # Form and references of an answer say nothing of its truth: without a claim that was compared there is no score.
    score = None if _is_unread(grounding) else _weighted_mean(metrics, gate.weights)
    passed = None if score is None else score >= gate.gate_score
    return EvaluationResult(
        score=score,
        passed=passed,
        reasoning=gate_reasoning(score, metrics, gate.gate_score),
        metrics={**metrics},
        details={
            name: CharacteristicDetail(method=scored.method, inputs=scored.inputs, reason=scored.reason)
            for name, scored in judged.items()
        },
    )


def faithfulness(grounding: GroundingReport | None) -> Scored:
    """Return the grounding score, lowered by the share of checked claims that the sources contradict."""
    method = "mean support of the claims x (1 - share contradicted)"
    if grounding is None or grounding.grounding_score is None:
        return Scored(None, method, {}, _absent(grounding, "grounding", "no claim needs grounding"))
    checked, contradicted = _checked(grounding)
    share = contradicted / checked if checked else 0.0
    inputs = {"grounding_score": grounding.grounding_score, "claims_checked": checked, "contradicted": contradicted}
    return Scored(grounding.grounding_score * (1 - share), method, inputs)


def relevance(quality: QualityReport | None) -> Scored:
    """Return the relevance to the query from the quality report."""
    method = "0.7 x meaning of the query against the best sentence + 0.3 x share of its words"
    score = quality.metrics.relevance if quality else None
    note = quality.notes.get("relevance", "no query, or nothing said") if quality else ""
    return Scored(score, method, {}, None if score is not None else _absent(quality, "quality", note))


_MARKER = re.compile(r"\[[^\[\]]{0,200}\]")
_TOKEN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_]+")
_ARTICLES = frozenset(("a", "an", "the"))


def correctness(answer: GeneratedAnswer, grounding: GroundingReport | None, quality: QualityReport | None) -> Scored:
    """Score the agreement with the reference answer, if there is one, and with the sources.

    The agreement with the reference uses meaning and exact details (quality report) or, without them, the F1 of words
    as in SQuAD. It is multiplied by one minus the share of claims that the sources contradict. Without a reference
    answer, that factor is the score, and its method says so: 1 means that nothing contradicts the answer, and not that
    the answer is proven correct.
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
    if agreement is None:
        return Scored(
            1 - share, WITHOUT_REFERENCE if contradicted else f"{UNCONTRADICTED}: {WITHOUT_REFERENCE}", inputs
        )
    return Scored(agreement * (1 - share), method, inputs)


def token_f1(given: str, expected: str) -> float:
    """Compute F1 over the words of two texts; ignore case, punctuation, articles and citation markers."""
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
    """Score the share of the question and of its relevant contexts that the answer covers.

    The question is covered by its completeness. A context is relevant if it contains half of the question's content
    words. It is covered if it is cited or is the evidence of a supported claim.
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
    """Return the lower of the agreement within the answer and with earlier answers to the same question."""
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
    """Return the mean freshness of the cited sources, or of all contexts if none is cited.

    The freshness of a source is 0.5 ** (age / half-life) at the completion of the answer, and 1 for a source
    from the future. The half-life depends on the source type. The result is null if no source has an update time.
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
    """Score the traceability of statements to sources: all are traced, and every citation resolves and supports.

    A claim is traced if the author cites a source for it, or if grounding attributes it to a source that supports it:
    the formatter adds that reference. An attribution never makes up for a citation that resolves to nothing or to a
    source that does not support its claim.
    """
    method = "share of claims traced x share of references that resolve x share of cited claims that their source supports"  # fmt: skip
    if citations is None or citations.coverage is None:
        return Scored(None, method, {}, _absent(citations, "citations", "no sentence that could carry a citation"))
    invalid = len(citations.invalid_references)
    if not answer.contexts and not invalid:
        return Scored(None, method, {}, "no contexts to cite")
    references = len(citations.citations) + invalid
    resolving = 1 - invalid / references if references else 1.0
    claims = [c for c in grounding.claims if c.verdict != "not_checked"] if grounding else []
    citing = [claim for claim in claims if claim.cited_numbers]
    supporting = sum(map(_supports, citing)) / len(citing) if citing else 1.0
    attributed = sum(_is_attributed(claim) for claim in claims)
    traced = min(1.0, citations.coverage + attributed / citations.claims) if citations.claims else citations.coverage
    inputs = {
        "coverage": citations.coverage,
        "attributed": attributed,
        "references": references,
        "invalid": invalid,
        "cited_claims": len(citing),
        "supporting": round(supporting, 6),
    }
    return Scored(traced * resolving * supporting, method, inputs)


def _is_attributed(claim: Claim) -> bool:
    is_supported = claim.verdict == "supported" and claim.primary_number is not None
    return is_supported and not claim.cited_numbers and claim.kind in ("factual", "recommendation")


def _supports(claim: Claim) -> float:
    if claim.verdict != "supported":
        return 0.0
    return 1.0 if claim.evidence is None or claim.evidence.number in claim.cited_numbers else OTHER_SOURCE


def _checked(grounding: GroundingReport) -> tuple[int, int]:
    """Return the number of claims that were compared with sources, and the number of contradicted ones."""
    checked = [claim for claim in grounding.claims if claim.verdict not in ("not_checked", "said_before")]
    return len(checked), sum(claim.verdict == "contradicted" for claim in checked)


def _is_unread(grounding: GroundingReport | None) -> bool:
    """Return true if no claim was compared, although evidence for one was found: its words could not be compared."""
    if grounding is None or _checked(grounding)[0]:
        return False
    return any(claim.verdict == "not_checked" and claim.evidence is not None for claim in grounding.claims)


def _absent(report: CitationReport | GroundingReport | QualityReport | None, name: str, otherwise: str) -> str:
    if report is None:
        return f"the report of {name} did not come"
    return report.reason or otherwise


def _weighted_mean(metrics: Mapping[Characteristic, float | None], weights: Mapping[str, float]) -> float | None:
    known = [(score, weights.get(name, DEFAULT_WEIGHT)) for name, score in metrics.items() if score is not None]
    total = sum(weight for _, weight in known)
    if total <= 0:
        return None
    # A mean of exactly the minimum must not fail by the rounding error of a sum.
    return min(1.0, round(sum(score * weight for score, weight in known) / total, 6))


def gate_reasoning(score: float | None, metrics: Mapping[Characteristic, float | None], minimum: float) -> str:
    """Return a sentence about a gate score: its minimum, the number of known characteristics, and the weakest one."""
    known = {name: value for name, value in metrics.items() if value is not None}
    if not known:
        return "Nothing could be judged."
    if score is None:
        return "No gate score: no claim could be compared with the sources, or no known characteristic has a weight."
    weakest = min(known, key=lambda name: known[name])
    relation = "reaches" if score >= minimum else "is below"
    return (
        f"Gate score {score:.2f} {relation} {minimum:.2f}, from {len(known)} of {len(metrics)} characteristics;"
        f" weakest: {weakest} ({known[weakest]:.2f})."
    )
