"""Explain a decision: every row of the policy with its finding, and the underlying scores."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from schemas.base import RiskMode
from schemas.enriched import Characteristic, EnrichedAnswer, ReleaseState
from schemas.evaluations import EvaluatorScore
from schemas.review import CorrectionComparison, UserAction
from workers.decision.decision import Fact, evaluator_facts
from workers.decision.decision_basis import UNCERTAIN, UNSTORED, findings_of, found_facts
from workers.decision.evaluator_scores import evaluator_scores
from workers.decision.minima import minima_of
from workers.decision.policy import SEVERITY, DecisionPolicy, Effect, State
from workers.evaluation.quality.characteristics import CHARACTERISTICS, gate_reasoning
from workers.evaluation.text.empty_texts import says_nothing
from workers.evaluation.thresholds import GateThresholds, GroundingThresholds

UNKNOWN = Fact(None, None)
"""A fact that a stored answer does not tell."""


class ExplainedRow(BaseModel):
    """Describe a row of the policy for one answer.

    Attributes:
        fact: name of the fact, which is the reason of a decision.
        applies: True if the fact holds; null if it is unknown.
        value: the measured value.
        threshold: the threshold, if there is one.
        effect: effect in the answer's mode; null if the mode ignores the fact.
        decided: True if it is a reason of the decision.
        kept: True if value and threshold were stored with the answer.
    """

    fact: str
    applies: bool | None
    value: Any = None
    threshold: float | None = None
    effect: Effect | None = None
    decided: bool = False
    kept: bool = False


class DecisionView(BaseModel):
    """The final decision on an answer."""

    action: UserAction
    state: ReleaseState
    with_warning: bool
    decided_by: str
    decided_at: datetime
    reason: str
    comment: str
    corrected_answer: str | None
    comparison: CorrectionComparison | None = Field(
        description="What was found when exactly this correction was compared with the sources; null if it was not."
    )
    review_duration: float | None = Field(
        description="Active time of the review in seconds: the time in which its page was in sight and used before the decision; "
        "a pause counts for up to a minute. Null where it was not measured: for decisions of programs and deadlines, and for "
        "those on several requests of the list."
    )
    verdicts: dict[str, str] = Field(description="Verdicts of the reviewer by claim_id.")


class WithdrawalView(BaseModel):
    """Describe the withdrawal of an answer."""

    by: str
    at: datetime
    reason: str
    comment: str


class Explanation(BaseModel):
    """Describe the basis of a decision.

    Attributes:
        answer_id: the answer.
        tenant: tenant of the answer.
        query_type: the router's class of the query.
        risk_mode: gatekeeper or observer.
        state: release state of the answer by the policy; ``outcome`` has the one after its review, and a withdrawn answer
            is ``rejected``.
        reasons: reasons of the decision.
        review: True if a person should review it.
        final: True if a review can no longer change it.
        pipeline_version: version that decided.
        rows: the policy's table, in order.
        gate: gate score, its threshold and the sentence about it.
        characteristics: the seven, each with score, method, inputs and reason.
        signals: failure signals with weight and evidence.
        validation: result of the validator.
        notes: explanation of each metric.
        evaluations: scores of evaluator plug-ins.
        minima_kept: True if the minima of the gate score and of the grounding score are those by which it was decided; false
            if they were not stored then, and are those of the present settings.
        outcome: final decision of the review; null if there is none yet, and for an answer in a file.
        withdrawal: withdrawal of the answer from its readers; null without one, and for an answer in a file.
    """

    answer_id: str
    tenant: str
    query_type: str | None
    risk_mode: RiskMode
    state: str
    reasons: list[str]
    review: bool
    final: bool
    pipeline_version: str
    rows: list[ExplainedRow]
    gate: dict[str, Any] = Field(default_factory=dict)
    characteristics: dict[str, dict[str, Any]] = Field(default_factory=dict)
    signals: list[dict[str, Any]] = Field(default_factory=list)
    validation: dict[str, Any] | None = None
    notes: dict[str, str] = Field(default_factory=dict)
    evaluations: list[EvaluatorScore] = Field(default_factory=list)
    minima_kept: bool = True
    outcome: DecisionView | None = None
    withdrawal: WithdrawalView | None = None


def explain(
    enriched: EnrichedAnswer,
    gate: GateThresholds,
    grounding_thresholds: GroundingThresholds,
    policy: DecisionPolicy,
) -> Explanation:
    """Explain the decision on an answer whose reports are available."""
    minima = minima_of(gate, grounding_thresholds, policy, enriched.tenant, enriched.answer.query_type)
    found = found_facts(enriched, gate, grounding_thresholds, policy)
    evaluation, quality, decision = enriched.evaluation, enriched.quality, enriched.decision
    return Explanation(
        answer_id=enriched.answer_id,
        tenant=enriched.tenant,
        query_type=enriched.answer.query_type,
        risk_mode=enriched.risk_mode,
        state=decision.state,
        reasons=list(decision.reasons),
        review=decision.review,
        final=decision.final,
        pipeline_version=enriched.pipeline_version,
        rows=explained_rows(found, decision.reasons, policy, enriched.tenant, enriched.answer.query_type, enriched.risk_mode),
        gate={"score": evaluation.score, "threshold": minima.gate, "reasoning": evaluation.reasoning},
        characteristics={
            name: {"score": score, **(evaluation.details[name].model_dump() if name in evaluation.details else {})}
            for name, score in evaluation.metrics.items()
        },
        signals=[s.model_dump(include={"type", "weight", "counted", "evidence", "span", "action"}) for s in quality.signals]
        if quality
        else [],
        validation=quality.validation.model_dump() if quality and quality.validation else None,
        notes=dict(quality.notes) if quality else {},
        evaluations=evaluator_scores(enriched),
    )  # fmt: skip


def explain_row(
    row: Mapping[str, Any],
    gate: GateThresholds,
    grounding_thresholds: GroundingThresholds,
    policy: DecisionPolicy,
    evaluations: Sequence[EvaluatorScore] = (),
) -> Explanation:
    """Explain a decision from the row that ClickHouse stores of an answer.

    Rows contain no methods, inputs and evidence; only ``answers.enriched`` does. The minima and findings are those that
    were stored with the answer. Earlier answers have the minima of the given thresholds, and tell only the findings
    that are among their reasons or would be among them.

    Args:
        row: columns of the table ``answers``.
        gate: thresholds of the gate.
        grounding_thresholds: thresholds with the grounding minimum.
        policy: the table of decisions.
        evaluations: scores of evaluator plug-ins.
    """
    query_type = row["query_type"] or None
    resolved = policy.resolved(row["tenant"], query_type)
    kept = row["gate_minimum"] is not None and row["grounding_minimum"] is not None
    gate_score, minimum = (
        (row["gate_minimum"], row["grounding_minimum"])
        if kept
        else minima_of(gate, grounding_thresholds, policy, row["tenant"], query_type)
    )
    reasons: Sequence[str] = row["reasons"]
    grounding, score, risk = row["grounding_score"], row["gate_score"], row["hallucination_risk"]
    below = grounding is not None and grounding < minimum
    # A text that was not sent is not empty.
    empty = says_nothing(row["answer"]) and ("empty_answer" in reasons or "text_not_sent" not in reasons)
    tells = {
        reason: reason in reasons or _would_be_a_reason(resolved.effect(reason, row["risk_mode"]), row["state"])
        for reason in (*UNSTORED, *UNCERTAIN)
    }
    known: dict[str, Fact] = {
        **{reason: Fact(reason in reasons, reason in reasons) if tells[reason] else UNKNOWN for reason in UNSTORED},
        "no_evidence": Fact(
            below and row["facts_verified"] == 0 and not row["claims_contradicted"], row["facts_verified"]
        ),
        "grounding_below_minimum": Fact(below, grounding, minimum),
        "empty_answer": Fact(empty, 0 if empty else len(row["answer"].strip())),
        "tool_failure": Fact(row["status"] == "error" or "tool_failure" in row["signals"], row["status"]),
        "refusal": Fact("refusal" in row["signals"], "refusal" in row["signals"]),
        "high_hallucination_risk": Fact(risk == "high", risk),
        "gate_score_unknown": Fact(score is None, score),
        "gate_score_below_minimum": Fact(score is not None and score < gate_score, score, gate_score),
        "medium_hallucination_risk": Fact(risk == "medium", risk),
        "failure_signals": Fact("failure_signals" in reasons, sorted(set(row["signals"])))
        if tells["failure_signals"]
        else UNKNOWN,
        "grounding_not_evaluated": Fact("grounding_not_evaluated" in reasons, list(row["missing"]))
        if tells["grounding_not_evaluated"]
        else UNKNOWN,
        "degraded": Fact(row["degraded"], list(row["missing"])),
        "invalid_citation": Fact(row["citations_valid"] is False, row["citations_valid"] is False),
    }
    measured = findings_of(row["findings"])
    known |= {name: fact for name, fact in measured.items() if name not in UNCERTAIN}
    # The columns name the signals and missing reports; the findings say whether the rule held.
    columns = {"failure_signals": sorted(set(row["signals"])), "grounding_not_evaluated": list(row["missing"])}
    known |= {name: Fact(measured[name].applies, columns[name]) for name in columns.keys() & measured.keys()}
    scored = {each.evaluator: each.score for each in evaluations}
    metrics: dict[Characteristic, float | None] = {name: row[name] for name in CHARACTERISTICS}
    return Explanation(
        answer_id=row["answer_id"],
        tenant=row["tenant"],
        query_type=query_type,
        risk_mode=row["risk_mode"],
        state=row["state"],
        reasons=list(reasons),
        review=row["review"],
        final=not row["review"],
        minima_kept=kept,
        pipeline_version=row["pipeline_version"],
        rows=explained_rows(
            evaluator_facts(resolved.evaluators, scored) | known,
            reasons, policy, row["tenant"], query_type, row["risk_mode"], measured.keys(),
        ),
        gate={"score": score, "threshold": gate_score, "reasoning": gate_reasoning(score, metrics, gate_score)},
        characteristics={name: {"score": value} for name, value in metrics.items()},
        signals=[{"type": name} for name in row["signals"]],
        evaluations=list(evaluations),
    )  # fmt: skip


def _would_be_a_reason(effect: Effect | None, state: State) -> bool:
    """Return true if a fact with this effect would be among the reasons of an answer in this state.

    Rows without an effect in the mode are no reasons, and held and fallback answers name no row with a milder state.
    """
    if effect is None:
        return False
    return SEVERITY[state] < SEVERITY["fallback"] or SEVERITY[effect.state] >= SEVERITY[state]


def explained_rows(
    found: Mapping[str, Fact],
    reasons: Sequence[str],
    policy: DecisionPolicy,
    tenant: str,
    query_type: str | None,
    mode: RiskMode,
    kept: Collection[str] = (),
) -> list[ExplainedRow]:
    """Return the rows of the policy's table with their findings; ``kept`` names those stored with the answer."""
    resolved = policy.resolved(tenant, query_type)
    return [
        ExplainedRow(
            fact=reason,
            applies=found[reason].applies,
            value=found[reason].value,
            threshold=found[reason].threshold,
            effect=resolved.effect(reason, mode),
            decided=reason in reasons,
            kept=reason in kept,
        )
        for reason in resolved.table
    ]
