"""Human review: the request, the decision (HumanFeedback of seed 002) and what happens between."""

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from schemas.answers import SourceType
from schemas.base import (
    AnswerText,
    ByName,
    Event,
    EventTime,
    FiniteFloat,
    Identifier,
    Label,
    LongText,
    Many,
    Metadata,
    Part,
    RiskLevel,
    RiskMode,
    Score,
    Seconds,
    ShortText,
    SourceText,
    UtcDatetime,
)
from schemas.enriched import ReleaseState
from schemas.grounding import Claim, Verdict
from schemas.reports import Span

UserAction = Literal["approve", "reject", "correct", "upvote", "downvote"]

DEFAULT_QUEUE = "default"
"""The queue of every request until somebody, or its deadline, escalates it."""

POLICY = "policy"
"""Author of decisions and escalations that a deadline makes."""


class ReviewContext(Part):
    """One piece of evidence as the model was given it, for the reviewer and for labelled data."""

    number: int = Field(ge=1, description="Position among the contexts, from 1.")
    chunk_id: Identifier
    source_type: SourceType = "document"
    source_name: Label = ""
    source_path: ShortText = ""
    content: SourceText


class ReleasableAnswer(Part):
    """What a release needs of an answer; the decision carries it, so that it needs no look-up."""

    state: ReleaseState = Field(description="How the pipeline left it: held, warned, released.")
    body: str | None = Field(
        default=None, max_length=200_000, description="Formatted without disclaimer; null where it would not fit."
    )
    references: str = Field(default="", max_length=200_000, description="What stands under the body, formatted.")
    citations: Many[Metadata] = Field(default_factory=list, description="For a user interface (000).")
    query_type: Label | None = None
    quality_score: Score | None = None
    completed_at: UtcDatetime = Field(description="When the answer was complete.")


class ReviewRequest(Event):
    """An answer that a person should look at."""

    review_id: Identifier = Field(description="UUIDv5 of (answer_id, 'review').")
    answer_id: Identifier
    tenant: Identifier = "default"
    session_id: Identifier | None = None
    user_id: Identifier | None = None
    query: LongText = ""
    answer: AnswerText
    risk_mode: RiskMode
    held: bool = Field(description="The reader waits for the decision.")
    reasons: Many[Label] = Field(default_factory=list)
    hallucination_risk: RiskLevel | None = None
    grounding_score: Score | None = None
    gate_score: Score | None = None
    answer_metrics: ByName[FiniteFloat] = Field(default_factory=dict, description="Scores at the time, by name.")
    claims: Many[Claim] = Field(default_factory=list, max_length=20, description="The worst claims first.")
    signals: Many[Label] = Field(default_factory=list, description="Types of failure signals (seed 003).")
    contexts: Many[ReviewContext] = Field(default_factory=list, description="Evidence, as far as it fits.")
    contexts_total: int = Field(default=0, ge=0, description="How many contexts the model was given.")
    releasable: ReleasableAnswer | None = Field(default=None, description="What a decision releases.")
    model_id: Label = "unknown"
    queue: Label = DEFAULT_QUEUE
    priority: Score = Field(default=0.5, description="1 is looked at first.")
    rank: int = Field(default=1, ge=0, description="Completeness of the result; a higher one replaces a lower one.")
    evaluator_versions: ByName[str] = Field(default_factory=dict, description="Who judged, by name.")
    pipeline_version: Label
    requested_at: UtcDatetime
    deadline_at: UtcDatetime | None = None


class ClaimVerdict(Part):
    """A person's verdict on one claim."""

    claim_id: Identifier
    verdict: Verdict | Literal["cannot_tell"]
    comment: LongText | None = None
    span: Span | None = Field(default=None, description="The claim in the answer, code points.")


class HumanFeedback(Event):
    """Feedback of a person on an answer (seed 002, section 8)."""

    nesting_reserve: ClassVar[int] = 8

    feedback_id: Identifier
    session_id: Identifier | None = None
    timestamp: EventTime
    query: LongText = ""
    original_answer: AnswerText
    answer_metrics: ByName[FiniteFloat] = Field(default_factory=dict)
    user_action: UserAction
    user_comment: LongText | None = None
    corrected_answer: AnswerText | None = Field(default=None, description="Required for correct.")
    review_duration: Seconds = Field(default=0.0, description="Seconds of active review.")
    user_profile: Metadata = Field(default_factory=dict, description="Anonymous facts about the reviewer.")

    @model_validator(mode="after")
    def _a_correction_has_text(self) -> Self:
        if self.user_action == "correct" and not (self.corrected_answer or "").strip():
            raise ValueError("corrected_answer is required when user_action is correct; send the corrected text")
        return self


class ReviewDecision(HumanFeedback):
    """A decision on a review; it carries what it decides on, so that it needs no look-up.

    The first one on the log that approves, rejects or corrects is final. Votes and second
    reviews decide nothing.
    """

    review_id: Identifier
    answer_id: Identifier
    tenant: Identifier = "default"
    user_id: Identifier | None = Field(default=None, description="Who asked; for memory.")
    decided_by: Label = Field(default="reviewer", description="Role or pseudonym; policy for a deadline.")
    reason: Label | None = None
    with_warning: bool = Field(default=False, description="Approved, and shown with the disclaimer all the same.")
    second_review: bool = Field(default=False, description="A blind second opinion, for agreement alone.")
    contexts: Many[Identifier] = Field(default_factory=list, description="Chunks that the answer was given.")
    releasable: ReleasableAnswer | None = Field(default=None, description="As in the request.")
    reasons: Many[Label] = Field(default_factory=list, description="Why it was to be reviewed.")
    hallucination_risk: RiskLevel | None = None
    grounding_score: Score | None = None
    gate_score: Score | None = None
    model_id: Label = "unknown"
    claim_verdicts: Many[ClaimVerdict] = Field(default_factory=list, max_length=400)
    evaluator_versions: ByName[str] = Field(default_factory=dict)
    pipeline_version: Label = Field(default="unknown", description="Version that asked for the review.")


ReviewEventKind = Literal["assigned", "unassigned", "skipped", "escalated", "undone"]


class ReviewEvent(Event):
    """What happens to a request before its decision."""

    event_id: Identifier
    review_id: Identifier
    answer_id: Identifier
    tenant: Identifier = "default"
    kind: ReviewEventKind
    reviewer: Label
    queue: Label | None = None
    deadline_at: UtcDatetime | None = None
    occurred_at: UtcDatetime
