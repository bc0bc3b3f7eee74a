"""What becomes of an answer: the order of release states.

Read `decide` from top to bottom: the first rule that applies names the state.
"""

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from schemas.answers import GeneratedAnswer
from schemas.base import RiskMode
from schemas.citations import CitationReport
from schemas.enriched import Decision, EnrichedAnswer, EvaluationResult
from schemas.grounding import GroundingReport
from schemas.quality import QualityReport
from schemas.release import AlertType
from workers.steps.thresholds import GateThresholds, GroundingThresholds

AlertSeverity = Literal["info", "warning", "critical"]


class RaisedAlert(NamedTuple):
    """An alert before it gets its identifier and time; figures only, never text."""

    alert_type: AlertType
    severity: AlertSeverity
    message: str
    metadata: dict[str, Any]


def decide(
    answer: GeneratedAnswer,
    risk_mode: RiskMode,
    citations: CitationReport | None,
    grounding: GroundingReport | None,
    quality: QualityReport | None,
    evaluation: EvaluationResult,
    degraded: bool,
    gate: GateThresholds,
    grounding_thresholds: GroundingThresholds,
    *,
    remember_without_context: bool = False,
) -> Decision:
    """Decide on an answer by the settled order.

    1. A gatekeeper holds what has a gate score below the threshold, or refuses, reports a
       failed call, is empty, of high risk or degraded. A null gate score is not passed: who
       waits for a judgement does not release an answer that nothing judged.
    2. Grounding below the minimum, with something to ground: a gatekeeper falls back, for
       good; an observer warns and asks for review.
    3. Medium or high risk: warned.
    4. Otherwise released.

    An observer never waits. What a gatekeeper would hold for the answer's own sake (rule 1
    without gate score and degradation, which raises an alert) an observer has reviewed; such
    an answer is out at once but not final, since the review may still replace it.
    """
    gatekeeper = risk_mode == "gatekeeper"
    failures = _failures(answer, grounding, quality)
    gate_failures = [*failures, *_gate_failures(evaluation, degraded, gate)]
    notes = ["invalid_citation"] if citations is not None and citations.invalid_references else []
    if gatekeeper and gate_failures:
        return Decision(state="held", reasons=[*gate_failures, *notes], review=True, final=False)
    score = grounding.grounding_score if grounding is not None else None
    weak = score is not None and score < grounding_thresholds.grounding_minimum
    if weak and gatekeeper:
        return Decision(state="fallback", reasons=["grounding_below_minimum", *notes])
    reasons = [*(["grounding_below_minimum"] if weak else []), *failures]
    review = bool(reasons)
    risk = grounding.hallucination_risk if grounding is not None else None
    if risk == "medium":
        reasons.append("medium_hallucination_risk")
    if degraded:
        reasons.append("degraded")
    remember = not review and not degraded and _is_memorable(answer, score, remember_without_context)
    return Decision(
        state="warned" if weak or risk in ("medium", "high") else "released",
        reasons=[*reasons, *notes],
        review=review,
        final=not review,
        remember=remember,
    )


def _failures(answer: GeneratedAnswer, grounding: GroundingReport | None, quality: QualityReport | None) -> list[str]:
    """What is wrong with the answer itself, whatever its scores."""
    failures: list[str] = []
    if not answer.answer.strip():
        failures.append("empty_answer")
    if answer.status == "error" or (quality is not None and quality.tool_failure):
        failures.append("tool_failure")
    if quality is not None and quality.refusal:
        failures.append("refusal")
    if grounding is not None and grounding.hallucination_risk == "high":
        failures.append("high_hallucination_risk")
    return failures


def _gate_failures(evaluation: EvaluationResult, degraded: bool, gate: GateThresholds) -> Iterator[str]:
    if evaluation.score is None:
        yield "gate_score_unknown"
    elif evaluation.score < gate.gate_score:
        yield "gate_score_below_minimum"
    if degraded:
        yield "degraded"


def _is_memorable(answer: GeneratedAnswer, grounding_score: float | None, remember_without_context: bool) -> bool:
    """Something grounded, or by setting an answer that was given no context at all.

    What had contexts and nothing to ground (a greeting, a question) is not remembered, nor
    what could not be checked.
    """
    if grounding_score is not None:
        return True
    return remember_without_context and not answer.contexts


def review_priority(enriched: EnrichedAnswer) -> float:
    """Which review comes first, in 0..1.

    One half if a reader waits for it, and up to one half for how bad the worst sign is: the
    risk, missing grounding, contradicted claims, a failed or empty answer, the missing gate
    score.
    """
    return 0.5 * (enriched.decision.state == "held") + 0.5 * max(_severities(enriched))


def _severities(enriched: EnrichedAnswer) -> Iterator[float]:
    grounding, gate_score = enriched.grounding, enriched.evaluation.score
    yield 0.5 if gate_score is None else 1.0 - gate_score
    if {"tool_failure", "empty_answer"} & set(enriched.decision.reasons):
        yield 0.8
    if grounding is not None:
        yield {None: 0.0, "low": 0.0, "medium": 0.5, "high": 1.0}[grounding.hallucination_risk]
        if grounding.grounding_score is not None:
            yield 1.0 - grounding.grounding_score
        if any(claim.verdict == "contradicted" for claim in grounding.claims):
            yield 0.9


def alerts_for(enriched: EnrichedAnswer, grounding_thresholds: GroundingThresholds) -> list[RaisedAlert]:
    """Alerts that an answer raises (seed 004: grounding below 0.6, severity warning).

    High risk is critical once readers see the answer, and a warning while it is held.
    """
    return list(_alerts(enriched, grounding_thresholds.grounding_minimum))


def _alerts(enriched: EnrichedAnswer, minimum: float) -> Iterator[RaisedAlert]:
    identifier, grounding, citations = enriched.answer_id, enriched.grounding, enriched.citations
    score = grounding.grounding_score if grounding is not None else None
    if score is not None and score < minimum:
        yield RaisedAlert(
            "low_grounding_score",
            "warning",
            f"Response {identifier} has low grounding score: {score:.2f}",
            {"response_id": identifier, "score": score, "minimum": minimum},
        )
    if grounding is not None and grounding.hallucination_risk == "high":
        yield RaisedAlert(
            "high_hallucination_risk",
            "critical" if enriched.decision.state in ("released", "warned") else "warning",
            f"Response {identifier} has high hallucination risk",
            {"response_id": identifier, "risk_score": grounding.risk_score, "state": enriched.decision.state},
        )
    if enriched.degraded:
        yield RaisedAlert(
            "degraded_result",
            "warning",
            f"Response {identifier} was judged incompletely",
            {"response_id": identifier, "missing": list(enriched.missing), "failed": list(enriched.failed)},
        )
    if citations is not None and citations.invalid_references:
        count = len(citations.invalid_references)
        yield RaisedAlert(
            "invalid_citation",
            "warning",
            f"Response {identifier} cites {count} source{'s' if count > 1 else ''} that it was not given",
            {"response_id": identifier, "invalid_references": count},
        )
