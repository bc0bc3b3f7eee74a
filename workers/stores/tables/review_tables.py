"""Define the tables of human review."""

from dataclasses import dataclass
from typing import ClassVar

from workers.stores.tables.table_row import (
    EPOCH,
    Flag,
    Float64,
    InsertMillis,
    Label,
    Labels,
    Millis,
    Risk,
    TableRow,
    Text,
    UInt32,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewRow(TableRow):
    """Hold the content of a review request."""

    table: ClassVar[str] = "reviews"
    kept_from: ClassVar[str] = "completed_at"
    tenant: Label
    review_id: Text
    answer_id: Text
    pipeline_version: Label
    rank: UInt32
    state: Label
    held: Flag
    risk_mode: Label
    reasons: Labels = ()
    hallucination_risk: Risk | None = None
    grounding_score: Float64 | None = None
    gate_score: Float64 | None = None
    priority: Float64
    model_id: Label = "unknown"
    query: Text
    answer: Text
    completed_at: Millis
    requested_at: Millis
    deadline_at: Millis | None = None
    decided_at: Millis | None = None
    decided_by: Label = ""
    action: Label = ""
    request: Text = ""
    signals: Labels = ()
    queue: Label = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueRow(TableRow):
    """Hold the place of a request in the queue, or the way it left the queue."""

    table: ClassVar[str] = "review_queue"
    kept_from: ClassVar[str] = "completed_at"
    review_id: Text
    answer_id: Text
    tenant: Label
    rank: UInt32
    state: Label
    queue: Label = "default"
    held: Flag = False
    risk_mode: Label = ""
    reasons: Labels = ()
    signals: Labels = ()
    hallucination_risk: Risk | None = None
    grounding_score: Float64 | None = None
    gate_score: Float64 | None = None
    priority: Float64 = 0.0
    model_id: Label = "unknown"
    title: Text = ""
    completed_at: Millis = EPOCH
    requested_at: Millis = EPOCH
    deadline_at: Millis | None = None
    decision_id: Text = ""
    action: Label = ""
    decided_by: Label = ""
    decided_at: Millis | None = None

    @property
    def key(self) -> tuple[str, str]:
        """Return tenant and review identifier, which identify the request."""
        return self.tenant, self.review_id

    @property
    def is_open(self) -> bool:
        """Return true if the request has no decision."""
        return self.state == "open"

    @property
    def version(self) -> int:
        """Return a number that another result under the same identifier does not have: of other rank, or of a later text."""
        return round(self.requested_at.timestamp() * 1_000) * 10 + self.rank


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionRow(TableRow):
    """Hold a decision, vote or second review."""

    table: ClassVar[str] = "review_decisions"
    kept_from: ClassVar[str] = "decided_at"
    review_id: Text
    decision_id: Text
    answer_id: Text
    tenant: Label
    ruling: Label
    action: Label
    decided_by: Label
    reason: Label = ""
    review_duration: Float64
    model_id: Label = "unknown"
    decided_at: Millis
    decision: Text
    received_at: InsertMillis = None
    request: Text = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewEventRow(TableRow):
    """Hold an event of a request before its decision."""

    table: ClassVar[str] = "review_events"
    kept_from: ClassVar[str] = "occurred_at"
    review_id: Text
    event_id: Text
    answer_id: Text
    tenant: Label
    kind: Label
    reviewer: Label
    queue: Label = ""
    deadline_at: Millis | None = None
    occurred_at: Millis
    received_at: InsertMillis = None
    assignee: Label = ""
    undone: Text = ""
    reason: Text = ""
    verdicts: Text = ""
