"""What the review service says and is told, as JSON of the HTTP interface."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from schemas.base import AnswerText, Identifier, Label, LongText, RiskLevel, Score, Seconds
from schemas.review import ClaimVerdict, ReviewContext, UserAction
from workers.stores.reviews import QueueState


@dataclass(frozen=True, slots=True)
class Reviewer:
    """Who reviews.

    Attributes:
        name: role or pseudonym, as it stands in decisions.
        tenants: whose requests they may see; empty for all.
    """

    name: str
    tenants: frozenset[str] = field(default_factory=frozenset)

    def may_see(self, tenant: str) -> bool:
        """Whether a tenant's requests are for them."""
        return not self.tenants or tenant in self.tenants


class Strict(BaseModel):
    """A body; a name that does not exist is an error."""

    model_config = ConfigDict(extra="forbid")


class Filters(Strict):
    """What part of the queue is asked for; absent for no matter what."""

    tenant: Identifier | None = None
    model: Label | None = Field(default=None, description="Who wrote the answer.")
    signal: Label | None = Field(default=None, description="A failure signal of the answer.")
    reason: Label | None = Field(default=None, description="A reason of the decision.")
    queue: Label | None = None
    min_risk: RiskLevel | None = Field(default=None, description="The lowest hallucination risk.")
    max_score: Score | None = Field(default=None, description="The highest gate score; unknown counts as 0.")
    state: QueueState = Field(default="open", description="open, decided, or waiting for a blind second review.")


class Lock(BaseModel):
    """Who has a request, and until when."""

    holder: str
    since: datetime
    expires_at: datetime


class EvidenceView(BaseModel):
    """The passage that a claim was held against; offsets in the chunk's content, code points."""

    chunk_id: str
    start: int | None
    end: int | None
    text: str


class ClaimView(BaseModel):
    """A claim with its verdict; offsets in the answer, code points."""

    claim_id: str
    start: int
    end: int
    text: str
    kind: str
    hedged: bool
    verdict: str
    score: float | None
    mismatches: list[str]
    conflicting: bool = False
    verifier_score: float | None = Field(
        default=None, description="A verifier's probability that it is supported; null where none was asked."
    )
    evidence: EvidenceView | None


class HistoryEntry(BaseModel):
    """One thing that has happened to a request."""

    kind: str
    by: str
    at: datetime
    detail: str = ""


class ReviewSummary(BaseModel):
    """A request as the queue lists it."""

    review_id: str
    answer_id: str
    tenant: str
    query: str = Field(description="Its beginning, in the list.")
    state: str
    queue: str
    held: bool
    risk_mode: str
    priority: float
    reasons: list[str]
    signals: list[str]
    hallucination_risk: RiskLevel | None
    grounding_score: float | None
    gate_score: float | None
    model_id: str
    requested_at: datetime
    deadline_at: datetime | None
    version: int = Field(description="To be sent back with the decision.")
    second_review: bool = Field(default=False, description="A blind second opinion is asked for.")
    lock: Lock | None = None
    decided_by: str | None = None
    decided_at: datetime | None = None
    action: str | None = None


class ReviewItem(ReviewSummary):
    """A request with everything that the reviewer looks at."""

    answer: str
    answer_metrics: dict[str, float]
    claims: list[ClaimView]
    contexts: list[ReviewContext]
    contexts_total: int = Field(
        description="How many contexts the model was given; more than are shown where they did not fit."
    )
    evaluator_versions: dict[str, str]
    history: list[HistoryEntry]


class QueuePage(BaseModel):
    """A page of the queue."""

    items: list[ReviewSummary]
    next_cursor: str | None
    open_count: int = Field(description="How many requests fit the filters in all.")


USUAL_REASONS = (
    "wrong_figure", "contradicts_source", "not_in_sources", "wrong_citation", "outdated_source", "incomplete", "off_topic",
    "unsafe", "badly_written", "nothing_wrong",
)  # fmt: skip
"""Reasons that a page offers, so that the same thing is said in the same words; any other one may be given."""


class DecisionBody(Strict):
    """What a reviewer decides."""

    user_action: UserAction
    user_comment: LongText | None = None
    reason: Label | None = None
    corrected_answer: AnswerText | None = Field(default=None, description="Required for correct.")
    with_warning: bool = Field(default=False, description="Approved, and shown with the disclaimer all the same.")
    review_duration: Seconds = Field(default=0.0, description="Seconds of active review.")
    claim_verdicts: list[ClaimVerdict] = Field(default_factory=list, max_length=400)
    version: int | None = Field(default=None, description="That of the request as it was seen.")

    @model_validator(mode="after")
    def _fits_its_action(self) -> Self:
        if self.user_action == "correct" and not (self.corrected_answer or "").strip():
            raise ValueError("corrected_answer is required when user_action is correct; send the corrected text")
        if self.with_warning and self.user_action != "approve":
            raise ValueError("with_warning goes with user_action approve alone")
        return self


class DecisionReceipt(BaseModel):
    """What became of a decision."""

    decision_id: str
    final: Literal[False] = Field(default=False, description="Never yet: the log decides, and answers.released tells.")
    undo_until: datetime | None = Field(description="Until then it can be taken back; null if it is published.")


class QueueStats(BaseModel):
    """How the queue stands and how it is worked."""

    backlog: int
    held: int = Field(description="Readers who wait.")
    oldest_at: datetime | None
    decided_today: int = Field(description="By people, since midnight UTC.")
    decided_by_policy_today: int
    agreement: float | None = Field(description="Cohen's kappa of first and second reviews; null where unknown.")
    agreement_pairs: int
    median_active_seconds: float | None = Field(description="Of today's decisions.")


def claim_view(row: dict[str, Any]) -> ClaimView:
    """A claim from its row."""
    evidence = None
    if row["chunk_id"]:
        evidence = EvidenceView(
            chunk_id=row["chunk_id"], start=row["evidence_start"], end=row["evidence_end"], text=row["evidence"]
        )
    return ClaimView(**{name: row[name] for name in ClaimView.model_fields if name != "evidence"}, evidence=evidence)
