"""Define the events for the gateway and for operators."""

from typing import Literal

from pydantic import Field

from schemas.base import Event, Identifier, Label, Many, Metadata, RiskLevel, Score, ShortText, UtcDatetime
from schemas.enriched import ReleaseState

AlertType = Literal["low_grounding_score", "high_hallucination_risk", "degraded_result", "invalid_citation"]


class ReleasedAnswer(Event):
    """State what the gateway may show of an answer; keyed by answer, compacted, with a growing revision.

    Use the final release, otherwise the one with the highest revision, because a redelivery may repeat an older one.
    Of two final releases use the higher revision: revision 200 withdraws revision 100.
    """

    release_id: Identifier = Field(description="UUIDv5 of (tenant, answer_id, 'release').")
    answer_id: Identifier
    tenant: Identifier = "default"
    session_id: Identifier | None = None
    state: ReleaseState
    final: bool = Field(description="True if only a withdrawal can change it.")
    revision: int = Field(
        ge=1, description="1 to 4 from the pipeline (completeness), 100 from decisions, 200 from withdrawals."
    )
    content: str | None = Field(
        default=None,
        max_length=200_000,
        description="Releasable text; null while held or when rejected without text.",
    )
    citations: Many[Metadata] = Field(
        default_factory=list, description="Citations of the content, for a user interface; empty without content."
    )
    ungrounded_claims: Many[str] = Field(default_factory=list, description="Unsupported claims, verbatim.")
    reasons: Many[Label] = Field(default_factory=list)
    hallucination_risk: RiskLevel | None = None
    grounding_score: Score | None = None
    gate_score: Score | None = None
    review_id: Identifier | None = None
    decision_id: Identifier | None = Field(
        default=None, description="Identifier of the decision that made the state final, if any."
    )
    decided_by: Label = Field(default="policy", description="policy, or the reviewer's role or pseudonym.")
    pipeline_version: Label
    released_at: UtcDatetime


class Alert(Event):
    """Describe a condition that needs immediate attention."""

    alert_id: Identifier = Field(description="UUIDv5 of (tenant, answer_id, alert_type).")
    alert_type: AlertType
    severity: Literal["info", "warning", "critical"]
    message: ShortText
    answer_id: Identifier
    tenant: Identifier = "default"
    metadata: Metadata = Field(default_factory=dict, description="Identifiers and figures, never text.")
    raised_at: UtcDatetime
