"""Decide on an answer: derive facts from the reports and apply the policy's table."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from schemas.answers import GeneratedAnswer
from schemas.base import RiskMode
from schemas.citations import CitationReport
from schemas.enriched import Decision, EnrichedAnswer, EvaluationResult
from schemas.evaluations import EvaluationReport
from schemas.grounding import Claim, GroundingReport
from schemas.quality import QualityReport
from schemas.release import AlertType
from workers.decision.minima import minima_of
from workers.decision.policy import (
    AUDIT,
    FORGOTTEN,
    SETTLED_BY_FALLBACK,
    SEVERITY,
    UNGROUNDED,
    DecisionPolicy,
    Effect,
    EvaluatorCondition,
    State,
    below_minimum,
    in_audit_sample,
    unknown_score,
)
from workers.evaluation.text.empty_texts import says_nothing
from workers.evaluation.thresholds import GateThresholds, GroundingThresholds

AlertSeverity = Literal["info", "warning", "critical"]


class RaisedAlert(NamedTuple):
    """Describe an alert before it has an identifier and a time; it contains figures only, no text."""

    alert_type: AlertType
    severity: AlertSeverity
    message: str
    metadata: dict[str, Any]


class Fact(NamedTuple):
    """Describe one input of a decision.

    Attributes:
        applies: True if the fact holds; ``None`` if a stored answer does not tell.
        value: the measured value.
        threshold: the threshold, if there is one.
    """

    applies: bool | None
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
    evaluations: Mapping[str, EvaluationReport] = MappingProxyType({}),
) -> Decision:
    """Decide on an answer by the table of the policy (`policy.TABLE`).

    The state of the answer is the worst state of the rows that apply. The reasons of a held or fallback answer are the
    rows with that state and the rows without an effect; the reasons of other answers are all rows that apply. An answer
    in review is not final, because the review may replace it. Only final answers are remembered. A sample of good
    answers is reviewed for audit. An answer without evidence falls back unless another fact holds it: its claims and
    citations are not shown (`policy.SETTLED_BY_FALLBACK`).
    """
    policy = policy or DecisionPolicy()
    resolved = policy.resolved(answer.tenant, answer.query_type)
    minima = minima_of(gate, grounding_thresholds, policy, answer.tenant, answer.query_type)
    found = facts(
        answer, citations, grounding, quality, evaluation, degraded=degraded,
        gate_score=minima.gate,
        grounding_minimum=minima.grounding,
        contexts_optional=resolved.contexts_optional,
        citations_required=resolved.citations_required,
    ) | evaluator_facts(resolved.evaluators, scores_of(evaluations))  # fmt: skip
    effects = {
        reason: effect
        for reason in resolved.table
        if found[reason].applies and (effect := resolved.effect(reason, risk_mode)) is not None
    }
    if any(effects[reason].state == "fallback" for reason in UNGROUNDED & effects.keys()):
        settled = Effect(state="fallback")
        effects = {reason: settled if reason in SETTLED_BY_FALLBACK else e for reason, e in effects.items()}
    states: list[State] = [effect.state for effect in effects.values()]
    state = max(states, key=lambda state: SEVERITY[state]) if states else "released"
    if SEVERITY[state] >= SEVERITY["fallback"]:
        noted = {"invalid_citation"} & effects.keys()
        effects = {reason: e for reason, e in effects.items() if e.state == state or reason in noted}
    reasons: list[str] = list(effects)
    review = any(effect.review for effect in effects.values())
    if not reasons and in_audit_sample(answer.tenant, answer.answer_id, resolved.audit_share):
        reasons, review = [AUDIT], True
    if "grounding_not_evaluated" in effects:
        review = review or in_audit_sample(answer.tenant, answer.answer_id, resolved.unevaluated_share)
    score = grounding.grounding_score if grounding is not None else None
    shown = SEVERITY[state] <= SEVERITY["warned"]
    # Memory holds what sources support; an earlier answer would become its own evidence.
    forbidding = (*FORGOTTEN, *map(unknown_score, resolved.evaluators))
    memorable = not any(found[reason].applies for reason in forbidding)
    return Decision(
        state=state,
        reasons=reasons,
        review=review,
        final=not review,
        remember=shown and not review and memorable and _is_grounded(answer, score, remember_without_context),
        memorable=memorable,
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
    contexts_optional: bool = False,
    citations_required: bool = False,
) -> dict[str, Fact]:
    """Return the facts of a decision by the rows of the table."""
    score = grounding.grounding_score if grounding is not None else None
    risk = grounding.hallucination_risk if grounding is not None else None
    invalid = len(citations.invalid_references) if citations is not None else 0
    validation = quality.validation if quality is not None else None
    tool_failure = answer.status == "error" or (quality is not None and quality.tool_failure)
    refusal = quality is not None and quality.refusal
    # Without contexts the citations evaluator still counts the claims: a greeting needs no source.
    baseless = (
        not answer.contexts and "contexts" not in answer.withheld and citations is not None and citations.claims > 0
    )
    empty = says_nothing(answer.answer) and "answer" not in answer.withheld
    # Evaluators skip a failed call, but its text may have reached readers, as that of a stream that broke off.
    broken = answer.status == "error" and not empty
    skipped = grounding is not None and grounding.status == "skipped"
    unevaluated = grounding is None or grounding.status == "failed" or (broken and skipped)
    # A gateway may redact its records: nothing was compared, although nothing is missing.
    unsent = sorted({"answer", "contexts"} & set(answer.withheld))
    claims = grounding.claims if grounding is not None else []
    below = score is not None and score < grounding_minimum
    # A contradiction is evidence, and a reviewer can correct the answer by it.
    baseless_claims = grounding is not None and grounding.facts_verified == 0 and not _contradicted(claims)
    misattributed = sum(claim.better_number is not None for claim in claims)
    uncited = citations.claims - citations.cited_claims if citations is not None else 0
    recommended = sum(claim.kind == "recommendation" and not _is_traced(claim) for claim in claims)
    conflicts = len(grounding.conflicts) if grounding is not None else 0
    said_before = sum(claim.verdict == "said_before" for claim in claims)
    contradicting = len(grounding.earlier_contradictions) if grounding is not None else 0
    hidden = sum(issue.type == "failed_tool" for issue in grounding.issues) if grounding is not None else 0
    unread = sum(claim.verdict == "not_checked" and claim.evidence is not None for claim in claims)
    unread = unread or int(bool(answer.contexts) and grounding is not None and _is_unread(grounding))
    # Nothing is known of what was not evaluated: "none" would read as a check that was passed.
    compared = grounding is not None and grounding.status == "ok"

    def of_claims(count: int) -> int | None:
        return count if compared else None

    # Facts with their own row are not listed twice.
    escalated = validation is not None and validation.should_escalate and not (tool_failure or refusal or empty)
    return {
        "no_evidence": Fact(below and baseless_claims, grounding.facts_verified if grounding is not None else None),
        "grounding_below_minimum": Fact(below, score, grounding_minimum),
        "empty_answer": Fact(empty, 0 if empty else len(answer.answer.strip())),
        "tool_failure": Fact(tool_failure, answer.status),
        "failed_tool": Fact(hidden > 0, hidden),
        "refusal": Fact(refusal, refusal),
        "high_hallucination_risk": Fact(risk == "high", risk),
        "gate_score_unknown": Fact(evaluation.score is None, evaluation.score),
        "gate_score_below_minimum": Fact(
            evaluation.score is not None and evaluation.score < gate_score, evaluation.score, gate_score
        ),
        "medium_hallucination_risk": Fact(risk == "medium", risk),
        "failure_signals": Fact(escalated, validation.score if validation is not None else None),
        "grounding_not_evaluated": Fact(unevaluated, grounding.status if grounding is not None else "missing"),
        "text_not_sent": Fact(skipped and bool(unsent), unsent),
        "no_contexts": Fact(baseless and not contexts_optional, len(answer.contexts or [])),
        "degraded": Fact(degraded, degraded),
        "invalid_citation": Fact(invalid > 0, invalid if citations is not None else None),
        "citation_of_other_source": Fact(misattributed > 0, of_claims(misattributed)),
        "uncited_claim": Fact(citations_required and uncited > 0, uncited if citations is not None else None),
        "uncited_recommendation": Fact(recommended > 0, of_claims(recommended)),
        "conflicting_sources": Fact(conflicts > 0, of_claims(conflicts)),
        "said_before": Fact(said_before > 0, of_claims(said_before)),
        "contradicts_earlier": Fact(contradicting > 0, of_claims(contradicting)),
        "words_not_compared": Fact(unread > 0, of_claims(unread)),
    }


def _contradicted(claims: Sequence[Claim]) -> bool:
    return any(claim.verdict == "contradicted" for claim in claims)


def _is_unread(grounding: GroundingReport) -> bool:
    """Return true if nothing of an answer was compared, although it may state something ("Of course!").

    Code and conclusions of its own are usual where they are asked for, and earlier turns have a row of their own.
    """
    if grounding.status != "ok" or grounding.hallucination_risk is not None:
        return False
    return all(claim.verdict == "not_checked" and claim.kind in ("meta", "question") for claim in grounding.claims)


def _is_traced(claim: Claim) -> bool:
    """Return true if a reader can look up the source of a claim: the author cites one, or Touchstone adds it."""
    return bool(claim.cited_numbers) or claim.primary_number is not None


def scores_of(evaluations: Mapping[str, EvaluationReport]) -> dict[str, float | None]:
    """Return the scores of evaluator plug-ins by name; only a report with the status ``ok`` has one."""
    return {name: report.score if report.status == "ok" else None for name, report in evaluations.items()}


def evaluator_facts(
    conditions: Mapping[str, EvaluatorCondition], scores: Mapping[str, float | None]
) -> dict[str, Fact]:
    """Return the facts about the scores of evaluator plug-ins; a missing score is unknown, and never a good one.

    Args:
        conditions: by name of the evaluator.
        scores: by name of the evaluator; ``None`` or absent where it gave none.
    """
    found: dict[str, Fact] = {}
    for name, condition in conditions.items():
        score, minimum = scores.get(name), condition.minimum
        found[below_minimum(name)] = Fact(score is not None and score < minimum, score, minimum)
        found[unknown_score(name)] = Fact(score is None, score)
    return found


def _is_grounded(answer: GeneratedAnswer, grounding_score: float | None, remember_without_context: bool) -> bool:
    """Return true for a grounded answer, and by setting for an answer without any context.

    An answer with contexts is not remembered if it has no claims to ground (a greeting, a question) or if it could not
    be checked.
    """
    if grounding_score is not None:
        return True
    return remember_without_context and not answer.contexts


def review_priority(enriched: EnrichedAnswer) -> float:
    """Return the priority of the review, 0..1; the highest is reviewed first.

    The priority is 0.5 if a reader waits, plus at most 0.5 for the worst of these: the risk, missing grounding,
    contradicted claims, a failed or empty answer, a missing gate score.
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
        if _contradicted(grounding.claims):
            yield 0.9


def alerts_for(
    enriched: EnrichedAnswer, grounding_thresholds: GroundingThresholds, policy: DecisionPolicy | None = None
) -> list[RaisedAlert]:
    """Return the alerts that an answer raises (grounding score below its minimum, severity warning).

    The severity of high risk is critical if readers see the answer, and warning while it is held.
    """
    resolved = (policy or DecisionPolicy()).resolved(enriched.tenant, enriched.answer.query_type)
    return list(_alerts(enriched, resolved.least_grounding(grounding_thresholds)))


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
