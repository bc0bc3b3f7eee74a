"""The decision policy: one table from what the reports say to state, review and reasons.

Each row is a fact (`decision.facts`) and what it does for a gatekeeper and for an observer.
Settings may replace rows, the gate score, the grounding minimum and the audit share, for all
answers or by tenant and query type.
"""

from collections.abc import Mapping
from hashlib import sha256
from typing import Annotated, Literal, get_args

from pydantic import Field, model_validator

from schemas.base import RiskMode
from workers.steps.thresholds import Share, Thresholds

Reason = Literal[
    "grounding_below_minimum",
    "empty_answer",
    "tool_failure",
    "refusal",
    "high_hallucination_risk",
    "gate_score_unknown",
    "gate_score_below_minimum",
    "medium_hallucination_risk",
    "failure_signals",
    "degraded",
    "invalid_citation",
]
REASONS: tuple[Reason, ...] = get_args(Reason)
"""The facts in the order of the table, which is that of the reasons of a decision."""
AUDIT: Literal["audit_sample"] = "audit_sample"
"""The reason of a good answer that is reviewed since it is in the sample."""

State = Literal["released", "warned", "fallback", "held"]
SEVERITY: Mapping[State, int] = {"released": 0, "warned": 1, "fallback": 2, "held": 3}
"""The worst state of the rows that apply is that of the answer."""


class Effect(Thresholds):
    """What a fact does.

    Attributes:
        state: the least that becomes of the answer.
        review: whether a person should look at it.
    """

    state: State = "released"
    review: bool = False


class Row(Thresholds):
    """A row of the table; a mode without effect does not look at the fact.

    Raises:
        pydantic.ValidationError: an observer would wait.
    """

    gatekeeper: Effect | None = None
    observer: Effect | None = None

    @model_validator(mode="after")
    def _an_observer_never_waits(self) -> "Row":
        if self.observer is not None and self.observer.state == "held":
            raise ValueError("an observer never waits: its state cannot be held")
        return self


_HELD, _REVIEW, _WARNED, _NOTE = (
    Effect(state="held", review=True),
    Effect(review=True),
    Effect(state="warned"),
    Effect(),
)
TABLE: Mapping[Reason, Row] = {
    # A fallback is final: its message claims nothing that a review could mend.
    "grounding_below_minimum": Row(gatekeeper=Effect(state="fallback"), observer=Effect(state="warned", review=True)),
    "empty_answer": Row(gatekeeper=_HELD, observer=_REVIEW),
    "tool_failure": Row(gatekeeper=_HELD, observer=_REVIEW),
    "refusal": Row(gatekeeper=_HELD, observer=_REVIEW),
    "high_hallucination_risk": Row(gatekeeper=_HELD, observer=Effect(state="warned", review=True)),
    # Who waits for a judgement does not release an answer that nothing judged. For observers the
    # gate score alone asks for no review, since the queue would hold every second answer.
    "gate_score_unknown": Row(gatekeeper=_HELD),
    "gate_score_below_minimum": Row(gatekeeper=_HELD),
    "medium_hallucination_risk": Row(gatekeeper=_WARNED, observer=_WARNED),
    # The validator of seed 003 escalates: its other rules, refusal and tool failure, have rows.
    "failure_signals": Row(gatekeeper=_REVIEW, observer=_REVIEW),
    "degraded": Row(gatekeeper=_HELD, observer=_NOTE),
    "invalid_citation": Row(gatekeeper=_NOTE, observer=_NOTE),
}
"""The settled table (design, seed 002, seed 003)."""


class Override(Thresholds):
    """What is different for a tenant, a query type, or both; what is absent stays as it is."""

    tenant: str | None = Field(default=None, min_length=1, description="Whose answers; all if absent.")
    query_type: str | None = Field(default=None, min_length=1, description="Which class of query; all if absent.")
    gate_score: Share | None = Field(default=None, description="In place of gate.gate_score.")
    grounding_minimum: Share | None = Field(default=None, description="In place of grounding.grounding_minimum.")
    audit_share: Share | None = Field(default=None, description="In place of decision.audit_share.")
    rows: dict[Reason, Row] = Field(default_factory=dict, description="Rows in place of those of the table.")

    def concerns(self, tenant: str, query_type: str | None) -> bool:
        """Whether it is about an answer."""
        return self.tenant in (None, tenant) and self.query_type in (None, query_type)

    @property
    def precision(self) -> int:
        """How narrow it is: a tenant weighs more than a query type."""
        return 2 * (self.tenant is not None) + (self.query_type is not None)


class DecisionPolicy(Thresholds):
    """The table with its overrides."""

    rows: dict[Reason, Row] = Field(default_factory=dict, description="Rows in place of those of the table.")
    audit_share: Share = Field(default=0.01, description="Share of good answers that are reviewed all the same.")
    overrides: Annotated[tuple[Override, ...], Field(max_length=1_000)] = Field(
        default=(), description="What is different by tenant and query type; the narrowest wins, then the last."
    )

    def resolved(self, tenant: str, query_type: str | None) -> "ResolvedPolicy":
        """The policy for one answer."""
        rows = {**TABLE, **self.rows}
        found = ResolvedPolicy(rows=rows, audit_share=self.audit_share)
        concerning = [override for override in self.overrides if override.concerns(tenant, query_type)]
        for override in sorted(concerning, key=lambda override: override.precision):
            given = override.model_dump(include={"gate_score", "grounding_minimum", "audit_share"}, exclude_none=True)
            found = found.model_copy(update=given | {"rows": {**found.rows, **override.rows}})
        return found


class ResolvedPolicy(Thresholds):
    """What holds for one answer; null thresholds are those of the settings."""

    rows: dict[Reason, Row]
    audit_share: Share
    gate_score: Share | None = None
    grounding_minimum: Share | None = None

    def effect(self, reason: Reason, mode: RiskMode) -> Effect | None:
        """What a fact does in a mode; ``None`` if the mode does not look at it."""
        row = self.rows[reason]
        return row.gatekeeper if mode == "gatekeeper" else row.observer


def in_audit_sample(tenant: str, answer_id: str, share: float) -> bool:
    """Whether an answer is in the sample: by a digest of its name, so that a repeat says the same."""
    digest = sha256(f"audit\0{tenant}\0{answer_id}".encode()).digest()
    return int.from_bytes(digest[:8], "big") < share * 2**64
