"""Define the request and response bodies of the review interface."""

from dataclasses import dataclass, field
from datetime import date as date_of_day
from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator
from pydantic_core import from_json

from schemas.answers import Step
from schemas.base import AnswerText, Identifier, Label, LongText, RiskLevel, Score, Seconds
from schemas.enriched import ReleaseState
from schemas.review import ClaimVerdict, CorrectionComparison, ReviewContext, UserAction
from workers.review.decision_events import DeadlineAction
from workers.review.reader_outcomes import ReaderOutcome
from workers.stores.queries.reviews.review_queue_rows import QueueState
from workers.stores.queries.reviews.review_team_queries import AcceptanceBy, Interval


@dataclass(frozen=True, slots=True)
class Reviewer:
    """A reviewer.

    Attributes:
        name: role or pseudonym, as written in decisions.
        tenants: tenants whose requests the reviewer may see; empty for all.
        may_withdraw: the reviewer may take answers back from readers, as an auditor.
        may_review: false for an auditor who reviews nothing: no decision is hidden from them.
    """

    name: str
    tenants: frozenset[str] = field(default_factory=frozenset)
    may_withdraw: bool = False
    may_review: bool = True

    def may_see(self, tenant: str) -> bool:
        """Return ``True`` if the reviewer may see the requests of a tenant."""
        return not self.tenants or tenant in self.tenants


class Strict(BaseModel):
    """A request body that rejects unknown fields."""

    model_config = ConfigDict(extra="forbid")


class Filters(Strict):
    """Filters of the queue; an absent filter matches every request."""

    tenant: Identifier | None = None
    model: Label | None = Field(default=None, description="Model of the answer.")
    signal: Label | None = Field(default=None, description="Failure signal of the answer.")
    reason: Label | None = Field(default=None, description="Reason of the decision.")
    queue: Label | None = None
    min_risk: RiskLevel | None = Field(default=None, description="Minimum hallucination risk.")
    max_score: Score | None = Field(default=None, description="Maximum gate score; an unknown score counts as 0.")
    assignee: Label | None = Field(
        default=None,
        description="Person to whom the requests are assigned, in upper or lower case; `nobody` for unassigned ones.",
    )
    reviewed_by: Label | None = Field(
        default=None,
        description="Person who decided the requests or reviewed them independently, in upper or lower case; `policy` for deadlines. Its state is decided, also by default.",
    )
    q: str | None = Field(
        default=None,
        max_length=500,
        description="Words that the question or the answer of open requests hold, all of them, without regard to case and accents; a phrase in quotation marks.",
    )
    state: QueueState = Field(default="open", description="open, decided, or waiting for a blind second review.")

    @model_validator(mode="before")
    @classmethod
    def _decided_if_reviewed(cls, given: Any) -> Any:
        is_implied = isinstance(given, dict) and given.get("reviewed_by") and "state" not in given
        return given | {"state": "decided"} if is_implied else given

    @model_validator(mode="after")
    def _reviewed_are_decided(self) -> Self:
        if self.reviewed_by and self.state != "decided":
            raise ValueError("reviewed_by is valid only for the state decided; leave one of both out")
        return self

    @model_validator(mode="after")
    def _searched_are_open(self) -> Self:
        # Texts of all decided requests are too many to look through; the search of answers finds them.
        if self.q and self.state != "open":
            raise ValueError("q is valid only for the state open; leave one of both out")
        return self

    @property
    def of_open(self) -> "Filters":
        """Return the filters for open requests."""
        return self.model_copy(update={"state": "open", "reviewed_by": None})

    @field_validator("assignee", "reviewed_by", "q", mode="before")
    @classmethod
    def _without_blanks(cls, given: object) -> object:
        return (given.strip() or None) if isinstance(given, str) else given


class Lock(BaseModel):
    """The holder of a request and the lifetime of the lock."""

    holder: str
    since: datetime
    expires_at: datetime
    opened_at: datetime | None = Field(
        default=None, description="Time at which the holder was first shown the request; null if it is loaded ahead."
    )


class Escalation(BaseModel):
    """The escalation by which a request came to its queue."""

    by: str = Field(description="Reviewer, or policy for a passed deadline.")
    at: datetime
    reason: str = Field(description="Why others should decide; empty if no reason was given.")
    verdicts: dict[str, str] = Field(
        default_factory=dict,
        description="Verdicts of that reviewer on claims, by claim_id; others decide for themselves.",
    )


class AskedOpinion(BaseModel):
    """A second opinion that somebody asked for on a decided request."""

    person: str | None = Field(description="Person who is asked; null for anyone who has not reviewed the request.")
    by: str = Field(description="Person who asks for it.")
    at: datetime


class OpinionBody(Strict):
    """Whose second opinion is asked for."""

    person: Label | None = Field(
        default=None, min_length=1, description="Person to ask; by default anyone who has not reviewed the request."
    )


class EvidenceView(BaseModel):
    """The evidence passage of a claim; offsets in the chunk's content, code points."""

    chunk_id: str
    start: int | None
    end: int | None
    text: str


class SentTurn(BaseModel):
    """A message of the conversation that an answer was sent with."""

    role: Literal["user", "assistant"]
    content: str = Field(description="Text of the message, at most its first 2,000 code points.")


SentTurns = Annotated[
    list[SentTurn],
    BeforeValidator(lambda stored: (from_json(stored) if stored else []) if isinstance(stored, str) else stored),
]
"""Turns that an answer was sent with, also read from the text of their column."""


class JudgedClaim(BaseModel):
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


class ClaimView(JudgedClaim):
    """A claim with its verdict and evidence; offsets in the answer, code points."""

    conflicting: bool = False
    verifier_score: float | None = Field(
        default=None,
        description="A verifier's probability that the claim is supported; null if the verifier did not read it.",
    )
    evidence: EvidenceView | None


class GivenDecision(BaseModel):
    """A decision, an independent review or a withdrawal as it was made."""

    ruling: str = Field(description="final, second (an independent review) or withdrawal.")
    by: str
    at: datetime
    action: str
    with_warning: bool
    reason: str
    comment: str
    corrected_answer: str | None
    comparison: CorrectionComparison | None = Field(
        description="What was found when exactly this correction was compared with the sources; null if it was not."
    )
    verdicts: dict[str, str] = Field(description="Verdicts on claims, by claim_id.")


class HistoryEntry(BaseModel):
    """One event in the history of a request."""

    kind: str
    by: str
    at: datetime
    detail: str = ""


class ReviewSummary(BaseModel):
    """A request in a list of the queue."""

    review_id: str
    answer_id: str
    tenant: str
    query: str = Field(description="Question; in lists its beginning.")
    state: str
    queue: str
    held: bool
    risk_mode: str
    priority: float
    reasons: list[str]
    signals: list[str]
    hallucination_risk: RiskLevel | None
    grounding_score: float | None
    gate_score: float | None = Field(
        description="Overall score; null also if the grounding was not evaluated: few characteristics are known then."
    )
    model_id: str
    requested_at: datetime
    deadline_at: datetime | None
    version: int = Field(description="Version to send back with the decision.")
    second_review: bool = Field(default=False, description="True if a blind second review is requested.")
    reviews_done: int = Field(default=0, description="Independent reviews, the decision included.")
    reviews_wanted: int = Field(default=1, description="Target of independent reviews; 1 outside of the sample.")
    asked: list[AskedOpinion] = Field(
        default_factory=list, description="Second opinions that are asked for and not given; of others, while blind."
    )
    lock: Lock | None = None
    escalation: Escalation | None = Field(default=None, description="The last escalation; null if there is none.")
    assignee: str | None = Field(default=None, description="Person to whom the request is assigned.")
    decided_by: str | None = None
    decided_at: datetime | None = None
    action: str | None = Field(
        default=None, description="What was decided; withdraw if the answer was taken back, by decided_by."
    )

    @model_validator(mode="after")
    def _without_partial_score(self) -> Self:
        # The mean of freshness and traceability alone would read as a measured score of the answer.
        if "grounding_not_evaluated" in self.reasons:
            self.gate_score = None
        return self


class LaterText(BaseModel):
    """Another text of the same identifier, which readers get instead of that of a request."""

    since: datetime = Field(description="Time of its evaluation.")
    state: ReleaseState


class ReviewItem(ReviewSummary):
    """A request with answer, claims, evidence and history."""

    answer: str
    session_id: str = Field(description="Session of the user; empty without one.")
    completed_at: datetime = Field(description="Completion time of the answer.")
    answer_metrics: dict[str, float]
    conversation: SentTurns = Field(
        default_factory=list, description="Turns that were sent with the answer, the oldest first."
    )
    claims: list[ClaimView]
    contexts: list[ReviewContext]
    contexts_total: int = Field(
        description="Number of contexts given to the model; contexts that did not fit are not shown."
    )
    cut_off: bool = Field(
        default=False, description="True if the model reported its limit of tokens, or the text ends within a sentence."
    )
    steps: list[Step] = Field(
        default_factory=list, description="Calls on the way to the answer, without what they returned."
    )
    evaluator_versions: dict[str, str]
    query_type: str | None = Field(default=None, description="Class of the query; null if unknown.")
    shown_state: ReleaseState | None = Field(
        default=None, description="State that readers see until the decision; null if unknown or for a second review."
    )
    outcomes: dict[str, ReaderOutcome] = Field(
        default_factory=dict,
        description="What readers get from approve, warn (approve with a warning), reject and deadline (no person decides); empty if nothing is to be decided, and for a second review, which releases nothing.",
    )
    at_deadline: DeadlineAction | Literal["escalate"] | None = Field(
        default=None,
        description="What the policy does at the deadline if no person decides: reject, warn (approve with a warning), keep what readers see, or escalate; null without a deadline.",
    )
    replaced: LaterText | None = Field(
        default=None,
        description="Another text that was evaluated under the identifier of the answer after this request; null without one.",
    )
    decisions: list[GivenDecision] = Field(
        default_factory=list,
        description="Decision, independent reviews and withdrawal in order of time; empty while open, and for a second review.",
    )
    history: list[HistoryEntry]


class QueuePage(BaseModel):
    """A page of the queue."""

    items: list[ReviewSummary]
    next_cursor: str | None
    open_count: int = Field(description="Number of requests that match the filters.")
    held_count: int | None = Field(
        default=None, description="Those whose readers wait; null unless the requests are open."
    )
    oldest_at: datetime | None = Field(
        default=None, description="Time of the oldest request among them; null unless the requests are open."
    )


USUAL_REASONS = (
    "wrong_figure", "contradicts_source", "not_in_sources", "wrong_citation", "outdated_source", "incomplete", "off_topic",
    "unsafe", "badly_written", "nothing_wrong",
)  # fmt: skip
"""Reasons that the page offers for consistent wording; any other reason is accepted."""


class VerdictBody(ClaimVerdict):
    """A reviewer's verdict on one claim; unknown fields are rejected."""

    model_config = ConfigDict(extra="forbid")


class DecisionBody(Strict):
    """The decision of a reviewer."""

    user_action: UserAction
    user_comment: LongText | None = None
    reason: Label | None = None
    corrected_answer: AnswerText | None = Field(default=None, description="Replacement text; required for correct.")
    with_warning: bool = Field(default=False, description="Approve, and show the answer with the disclaimer.")
    review_duration: Seconds = Field(default=0.0, description="Seconds of active review.")
    claim_verdicts: list[VerdictBody] = Field(default_factory=list, max_length=400)
    version: int | None = Field(default=None, description="Version of the request that the reviewer saw.")

    @model_validator(mode="after")
    def _fits_its_action(self) -> Self:
        if self.user_action == "correct" and not (self.corrected_answer or "").strip():
            raise ValueError("corrected_answer is required if user_action is correct; send the corrected text")
        if self.with_warning and self.user_action != "approve":
            raise ValueError("with_warning is valid only if user_action is approve")
        if len({verdict.claim_id for verdict in self.claim_verdicts}) < len(self.claim_verdicts):
            raise ValueError("claim_verdicts names a claim twice; send one verdict for each claim")
        return self


class ComparisonBody(Strict):
    """A corrected text that is to be compared with the sources of its answer."""

    corrected_answer: AnswerText


class WithdrawalBody(Strict):
    """The reason for taking a decided answer back from readers."""

    reason: Label = Field(min_length=1, description="Short reason, one or two words.")
    comment: LongText | None = None


class DecisionReceipt(BaseModel):
    """The receipt of a decision."""

    decision_id: str
    final: Literal[False] = Field(
        default=False, description="Always false: the order of the log decides; answers.released has the final state."
    )
    undo_until: datetime | None = Field(description="End of the undo window; null if the decision is published.")


class QueueStats(BaseModel):
    """Statistics of the queue and of recent decisions."""

    backlog: int
    held: int = Field(description="Requests whose readers wait.")
    oldest_at: datetime | None
    decided_today: int = Field(description="Decisions by people since midnight UTC.")
    decided_by_policy_today: int
    agreement: float | None = Field(
        description="Cohen's kappa over every two independent reviews of a request; null if unknown."
    )
    agreement_interval: list[float] | None = Field(
        min_length=2,
        max_length=2,
        description="Ends of the 95 % interval of kappa; null if unknown, or for fewer than 20 requests.",
    )
    agreement_pairs: int
    median_active_seconds: float | None = Field(description="Decisions of today.")


class ReviewerFigures(BaseModel):
    """Counts of the decisions of one reviewer."""

    name: str
    decided: int
    second: int = Field(description="Second reviews.")
    approved: int = Field(description="Among decisions and second reviews.")
    corrected: int
    rejected: int
    median_active_seconds: float | None


class AcceptancePoint(BaseModel):
    """Final decisions of people in a day or week."""

    date: date_of_day = Field(description="First day of the interval, UTC; weeks begin on Monday.")
    name: str | None = Field(description="Reviewer or model; null for all beyond the 20 with the most decisions.")
    approved: int
    corrected: int
    rejected: int


class Acceptance(BaseModel):
    """Approvals, corrections and rejections over time."""

    since: date_of_day = Field(description="First day.")
    until: date_of_day = Field(description="Last day; it and its week are not over.")
    time_zone: Literal["UTC"] = "UTC"
    by: AcceptanceBy
    interval: Interval
    model: str = Field(description="Only decisions on answers of this model; all if empty.")
    models: list[str] = Field(description="Models with decisions in this time.")
    points: list[AcceptancePoint] = Field(description="Intervals without a decision are left out.")


class Disagreement(BaseModel):
    """An independent review that differs from the final decision, or that corrects the answer to another text."""

    review_id: str
    answer_id: str
    tenant: str
    model_id: str
    query: str = Field(default="", description="Beginning of the question.")
    first: str
    first_by: str
    first_reason: str = Field(default="", description="Reason of the final decision; empty if none was given.")
    first_comment: str = Field(default="", description="Comment of the final decision; empty if none was given.")
    second: str
    second_by: str
    second_reason: str = Field(default="", description="Reason of the other review; empty if none was given.")
    second_comment: str = Field(default="", description="Comment of the other review; empty if none was given.")
    decided_at: datetime = Field(description="Time of the later decision.")


def claim_view(row: dict[str, Any]) -> ClaimView:
    """Build a claim from its row."""
    evidence = None
    if row["chunk_id"]:
        evidence = EvidenceView(
            chunk_id=row["chunk_id"], start=row["evidence_start"], end=row["evidence_end"], text=row["evidence"]
        )
    return ClaimView(**{name: row[name] for name in ClaimView.model_fields if name != "evidence"}, evidence=evidence)
