"""Define the decision policy: one table from facts of the reports to state, review and reasons.

Each row is a fact (`decision.facts`) with its effect for a gatekeeper and for an observer.
Settings may replace rows, the gate score, the grounding minimum and the audit share, for all
answers or by tenant and query type.
"""

from collections.abc import Mapping
from hashlib import sha256
from typing import Annotated, Literal, get_args

from pydantic import Field, model_validator

from schemas.base import RiskMode
from schemas.reports import EvaluatorName
from workers.evaluation.thresholds import GroundingThresholds, Share, Thresholds

Reason = Literal[
    "no_evidence",
    "grounding_below_minimum",
    "empty_answer",
    "tool_failure",
    "failed_tool",
    "refusal",
    "high_hallucination_risk",
    "gate_score_unknown",
    "gate_score_below_minimum",
    "medium_hallucination_risk",
    "failure_signals",
    "grounding_not_evaluated",
    "text_not_sent",
    "no_contexts",
    "degraded",
    "invalid_citation",
    "citation_of_other_source",
    "uncited_claim",
    "uncited_recommendation",
    "conflicting_sources",
    "said_before",
    "contradicts_earlier",
    "words_not_compared",
]
REASONS: tuple[Reason, ...] = get_args(Reason)
"""Facts in the order of the table and of the reasons of a decision."""
AUDIT: Literal["audit_sample"] = "audit_sample"
"""Reason of a good answer that is reviewed as part of the audit sample."""


def below_minimum(evaluator: str) -> str:
    """Return the reason of an answer whose score by an evaluator plug-in is below its minimum."""
    return f"evaluations.{evaluator}.below_minimum"


def unknown_score(evaluator: str) -> str:
    """Return the reason of an answer that an evaluator plug-in gave no score."""
    return f"evaluations.{evaluator}.unknown"


State = Literal["released", "warned", "fallback", "held"]
SEVERITY: Mapping[State, int] = {"released": 0, "warned": 1, "fallback": 2, "held": 3}
"""States from best to worst; the worst state of the rows that apply counts."""


class Effect(Thresholds):
    """Describe the effect of a fact.

    Attributes:
        state: minimum state of the answer.
        review: True if a person should review the answer.
    """

    state: State = "released"
    review: bool = False


class Row(Thresholds):
    """Describe a row of the table; a mode without an effect ignores the fact.

    Raises:
        pydantic.ValidationError: the observer's state is held.
    """

    gatekeeper: Effect | None = None
    observer: Effect | None = None

    @model_validator(mode="after")
    def _an_observer_never_waits(self) -> "Row":
        if self.observer is not None and self.observer.state == "held":
            raise ValueError("an observer never waits; its state must not be held")
        return self


_HELD, _REVIEW, _WARNED, _NOTE = (
    Effect(state="held", review=True),
    Effect(review=True),
    Effect(state="warned"),
    Effect(),
)
TABLE: Mapping[Reason, Row] = {
    # A fallback is final: its message contains no claims that a review could correct.
    "no_evidence": Row(gatekeeper=Effect(state="fallback"), observer=Effect(state="warned", review=True)),
    "grounding_below_minimum": Row(gatekeeper=Effect(state="fallback"), observer=Effect(state="warned", review=True)),
    "empty_answer": Row(gatekeeper=_HELD, observer=_REVIEW),
    "tool_failure": Row(gatekeeper=_HELD, observer=_REVIEW),
    # A tool failed and the answer speaks as if it had worked; an answer that admits it is no failed call.
    "failed_tool": Row(gatekeeper=_HELD, observer=Effect(state="warned", review=True)),
    "refusal": Row(gatekeeper=_HELD, observer=_REVIEW),
    "high_hallucination_risk": Row(gatekeeper=_HELD, observer=Effect(state="warned", review=True)),
    # A gatekeeper does not release an answer without an evaluation. For observers the gate score alone requests no
    # review, because about half of all answers would be in the queue.
    "gate_score_unknown": Row(gatekeeper=_HELD),
    "gate_score_below_minimum": Row(gatekeeper=_HELD),
    "medium_hallucination_risk": Row(gatekeeper=_WARNED, observer=_WARNED),
    # Other rules of the validator (refusal, tool failure) have their own rows.
    "failure_signals": Row(gatekeeper=_REVIEW, observer=_REVIEW),
    # Unknown is not good: the answer was not compared with any source.
    "grounding_not_evaluated": Row(gatekeeper=_HELD, observer=_WARNED),
    # An observer of a gateway that redacts its records would otherwise warn on each answer.
    "text_not_sent": Row(gatekeeper=_HELD, observer=_NOTE),
    "no_contexts": Row(gatekeeper=_HELD, observer=_WARNED),
    "degraded": Row(gatekeeper=_HELD, observer=_NOTE),
    # A citation is the author's statement about a source. Touchstone adds missing ones and corrects no wrong ones.
    "invalid_citation": Row(gatekeeper=_HELD, observer=_WARNED),
    "citation_of_other_source": Row(gatekeeper=_HELD, observer=_NOTE),
    "uncited_claim": Row(gatekeeper=_HELD, observer=_WARNED),
    "uncited_recommendation": Row(gatekeeper=_WARNED, observer=_NOTE),
    # The text for readers notes the conflict.
    "conflicting_sources": Row(gatekeeper=_WARNED, observer=_NOTE),
    # An earlier turn is no source: it may have been wrong itself.
    "said_before": Row(gatekeeper=_WARNED, observer=_WARNED),
    # The new answer may be the right one. Its text notes what the earlier answer was.
    "contradicts_earlier": Row(gatekeeper=Effect(state="warned", review=True), observer=_WARNED),
    # Nothing differs, but what words say could not be compared: unknown is not good.
    "words_not_compared": Row(gatekeeper=_HELD, observer=_NOTE),
}
"""Default table of the policy."""
SETTLED_BY_FALLBACK: frozenset[str] = frozenset((
    "grounding_below_minimum", "high_hallucination_risk", "medium_hallucination_risk", "gate_score_below_minimum",
    "invalid_citation", "citation_of_other_source", "uncited_claim", "uncited_recommendation", "said_before",
))  # fmt: skip
"""Facts about claims and citations. They hold no answer that falls back for want of evidence: the fallback shows none of them."""

UNGROUNDED: frozenset[str] = frozenset(("no_evidence", "no_contexts"))
"""Facts about an answer that rests on no source."""

FORGOTTEN: tuple[Reason, ...] = (
    "grounding_below_minimum", "empty_answer", "text_not_sent", "degraded", "said_before", "contradicts_earlier",
)  # fmt: skip
"""Facts that keep an answer out of memory, whatever state the table gives it."""


class EvaluatorCondition(Thresholds):
    """Describe the effects of the score of an evaluator plug-in.

    A score is unknown if the report failed, was skipped, did not come, or has no score.
    """

    minimum: Share = Field(description="Minimum score.")
    below: Row = Field(
        default=Row(gatekeeper=_HELD, observer=_WARNED), description="Effects of a score below the minimum."
    )
    unknown: Row = Field(default=Row(gatekeeper=_HELD, observer=_NOTE), description="Effects of an unknown score.")


UngroundedObserver = Literal["warn", "fallback"]
Conditions = Annotated[dict[EvaluatorName, EvaluatorCondition], Field(max_length=100)]


class Override(Thresholds):
    """Describe the differences for a tenant, a query type, or both; absent values stay unchanged."""

    tenant: str | None = Field(default=None, min_length=1, description="Whose answers; all if absent.")
    query_type: str | None = Field(default=None, min_length=1, description="Which class of query; all if absent.")
    gate_score: Share | None = Field(default=None, description="In place of gate.gate_score.")
    grounding_minimum: Share | None = Field(default=None, description="In place of grounding.grounding_minimum.")
    audit_share: Share | None = Field(default=None, description="In place of decision.audit_share.")
    contexts_optional: bool | None = Field(default=None, description="In place of decision.contexts_optional.")
    citations_required: bool | None = Field(default=None, description="In place of decision.citations_required.")
    ungrounded_observer: UngroundedObserver | None = Field(
        default=None, description="In place of decision.ungrounded_observer."
    )
    rows: dict[Reason, Row] = Field(default_factory=dict, description="Rows in place of those of the table.")
    evaluators: Conditions = Field(default_factory=dict, description="Conditions in place of decision.evaluators.")

    def concerns(self, tenant: str, query_type: str | None) -> bool:
        """Return true if the override applies to this tenant and query type."""
        return self.tenant in (None, tenant) and self.query_type in (None, query_type)

    @property
    def precision(self) -> int:
        """Return the specificity of the override: tenant counts 2, query type 1."""
        return 2 * (self.tenant is not None) + (self.query_type is not None)


class DecisionPolicy(Thresholds):
    """Hold the table with its overrides."""

    rows: dict[Reason, Row] = Field(default_factory=dict, description="Rows in place of those of the table.")
    evaluators: Conditions = Field(
        default_factory=dict, description="Conditions on the scores of evaluator plug-ins, by name of the evaluator."
    )
    audit_share: Share = Field(default=0.01, description="Share of good answers that are reviewed all the same.")
    unevaluated_share: Share = Field(
        default=0.1, description="Share of answers without an evaluation of their grounding that are reviewed."
    )
    contexts_optional: bool = Field(
        default=False,
        description="Expect answers without contexts, for example in a chat; the reason no_contexts then never applies.",
    )
    citations_required: bool = Field(
        default=False,
        description="Demand a citation by the author for each claim; otherwise a claim that is attributed to its source"
        " needs none.",
    )
    ungrounded_observer: UngroundedObserver = Field(
        default="warn",
        description="Text of an observer's answer that rests on no source: warn shows it with a warning, fallback"
        " replaces it.",
    )
    overrides: Annotated[tuple[Override, ...], Field(max_length=1_000)] = Field(
        default=(), description="Overrides by tenant and query type; the most specific one applies, of equals the last."
    )

    def resolved(self, tenant: str, query_type: str | None) -> "ResolvedPolicy":
        """Return the policy for one tenant and query type."""
        found = ResolvedPolicy(
            rows={**TABLE, **self.rows},
            audit_share=self.audit_share,
            unevaluated_share=self.unevaluated_share,
            contexts_optional=self.contexts_optional,
            citations_required=self.citations_required,
            ungrounded_observer=self.ungrounded_observer,
            evaluators=dict(self.evaluators),
        )
        concerning = [override for override in self.overrides if override.concerns(tenant, query_type)]
        for override in sorted(concerning, key=lambda override: override.precision):
            given = override.model_dump(exclude={"tenant", "query_type", "rows", "evaluators"}, exclude_none=True)
            found = found.model_copy(update=given | {
                "rows": {**found.rows, **override.rows},
                "evaluators": {**found.evaluators, **override.evaluators},
            })  # fmt: skip
        return found

    @property
    def named_evaluators(self) -> frozenset[str]:
        """Return the names of the evaluator plug-ins that have a condition for some answer."""
        return frozenset(self.evaluators).union(*(override.evaluators for override in self.overrides))


class ResolvedPolicy(Thresholds):
    """Hold the policy for one answer; ``None`` thresholds are those of the settings."""

    rows: dict[Reason, Row]
    audit_share: Share
    evaluators: Conditions
    unevaluated_share: Share
    contexts_optional: bool
    citations_required: bool
    ungrounded_observer: UngroundedObserver
    gate_score: Share | None = None
    grounding_minimum: Share | None = None

    def least_grounding(self, thresholds: GroundingThresholds) -> float:
        """Return the minimum grounding score, 0..1: that of the policy, or else that of the settings."""
        return thresholds.grounding_minimum if self.grounding_minimum is None else self.grounding_minimum

    @property
    def table(self) -> dict[str, Row]:
        """Return all rows by reason: those of the table, then those of evaluator plug-ins."""
        rows: dict[str, Row] = {reason: self.rows[reason] for reason in REASONS}
        for name, condition in self.evaluators.items():
            rows |= {below_minimum(name): condition.below, unknown_score(name): condition.unknown}
        return rows

    def effect(self, reason: str, mode: RiskMode) -> Effect | None:
        """Return the effect of a fact in a mode; ``None`` if the mode ignores the fact."""
        row = self.table[reason]
        effect = row.gatekeeper if mode == "gatekeeper" else row.observer
        replaced = mode == "observer" and self.ungrounded_observer == "fallback" and reason in UNGROUNDED
        return Effect(state="fallback") if effect is not None and replaced else effect


def in_audit_sample(tenant: str, answer_id: str, share: float) -> bool:
    """Return true if an answer is in the sample, by a digest of its identifier, so that repeats agree."""
    digest = sha256(f"audit\0{tenant}\0{answer_id}".encode()).digest()
    return int.from_bytes(digest[:8], "big") < share * 2**64
