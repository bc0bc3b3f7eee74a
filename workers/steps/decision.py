"""What becomes of an answer: facts from the reports, and the policy's table over them."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from schemas.answers import GeneratedAnswer
from schemas.base import RiskMode
from schemas.citations import CitationReport
from schemas.enriched import Decision, EnrichedAnswer, EvaluationResult
from schemas.grounding import GroundingReport
from schemas.quality import QualityReport
from schemas.release import AlertType
from workers.steps.policy import AUDIT, REASONS, SEVERITY, DecisionPolicy, Reason, State, in_audit_sample
from workers.steps.thresholds import GateThresholds, GroundingThresholds

AlertSeverity = Literal["info", "warning", "critical"]


class RaisedAlert(NamedTuple):
    """An alert before it gets its identifier and time; figures only, never text."""

    alert_type: AlertType
    severity: AlertSeverity
    message: str
    metadata: dict[str, Any]


class Fact(NamedTuple):
    """One thing that a decision looks at.

    Attributes:
        applies: whether it is so.
        value: what was found.
        threshold: what it was held against, if anything.
    """

    applies: bool
    value: Any
    threshold: float | None = None


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
    policy: DecisionPolicy | None = None,
    remember_without_context: bool = False,
) -> Decision:
    """Decide on an answer by the table of the policy (`policy.TABLE`).

    The worst state of the rows that apply is that of the answer. Held and fallback are told by
    the rows that say so, and by what is only noted; warned and released by all that apply.
    Whoever is reviewed is not final, since the review may still replace the answer, and only
    what is final is remembered. Of the good answers a sample is reviewed, for audit.
    """
    resolved = (policy or DecisionPolicy()).resolved(answer.tenant, answer.query_type)
    found = facts(
        answer, citations, grounding, quality, evaluation, degraded=degraded,
        gate_score=gate.gate_score if resolved.gate_score is None else resolved.gate_score,
        grounding_minimum=grounding_thresholds.grounding_minimum
        if resolved.grounding_minimum is None
        else resolved.grounding_minimum,
    )  # fmt: skip
    effects = {
        reason: effect
        for reason in REASONS
        if found[reason].applies and (effect := resolved.effect(reason, risk_mode)) is not None
    }
    states: list[State] = [effect.state for effect in effects.values()]
    state = max(states, key=lambda state: SEVERITY[state]) if states else "released"
    if SEVERITY[state] >= SEVERITY["fallback"]:
        noted = {"invalid_citation"} & effects.keys()
        effects = {reason: e for reason, e in effects.items() if e.state == state or reason in noted}
    reasons: list[str] = list(effects)
    review = any(effect.review for effect in effects.values())
    if not reasons and in_audit_sample(answer.tenant, answer.answer_id, resolved.audit_share):
        reasons, review = [AUDIT], True
    score = grounding.grounding_score if grounding is not None else None
    shown = SEVERITY[state] <= SEVERITY["warned"]
    return Decision(
        state=state,
        reasons=reasons,
        review=review,
        final=not review,
        remember=shown and not review and not degraded and _is_memorable(answer, score, remember_without_context),
    )


def facts(
    answer: GeneratedAnswer,
    citations: CitationReport | None,
    grounding: GroundingReport | None,
    quality: QualityReport | None,
    evaluation: EvaluationResult,
    *,
    degraded: bool,
    gate_score: float,
    grounding_minimum: float,
) -> Mapping[Reason, Fact]:
    """What a decision looks at, by the rows of the table."""
    score = grounding.grounding_score if grounding is not None else None
    risk = grounding.hallucination_risk if grounding is not None else None
    invalid = len(citations.invalid_references) if citations is not None else 0
    validation = quality.validation if quality is not None else None
    tool_failure = answer.status == "error" or (quality is not None and quality.tool_failure)
    refusal = quality is not None and quality.refusal
    empty = not answer.answer.strip() and "answer" not in answer.withheld
    # What has a row of its own is not told twice.
    escalated = validation is not None and validation.should_escalate and not (tool_failure or refusal or empty)
    return {
        "grounding_below_minimum": Fact(score is not None and score < grounding_minimum, score, grounding_minimum),
        "empty_answer": Fact(empty, len(answer.answer.strip())),
        "tool_failure": Fact(tool_failure, answer.status),
        "refusal": Fact(refusal, refusal),
        "high_hallucination_risk": Fact(risk == "high", risk),
        "gate_score_unknown": Fact(evaluation.score is None, evaluation.score),
        "gate_score_below_minimum": Fact(
            evaluation.score is not None and evaluation.score < gate_score, evaluation.score, gate_score
        ),
        "medium_hallucination_risk": Fact(risk == "medium", risk),
        "failure_signals": Fact(escalated, validation.score if validation is not None else None),
        "degraded": Fact(degraded, degraded),
        "invalid_citation": Fact(invalid > 0, invalid),
    }


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
