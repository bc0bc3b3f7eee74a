"""Human review: the request, the decision (HumanFeedback of seed 002) and what happens between."""

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

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
    UtcDatetime,
)
from schemas.grounding import Claim, Verdict

UserAction = Literal["approve", "reject", "correct", "upvote", "downvote"]


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
    model_id: Label = "unknown"
    priority: Score = Field(default=0.5, description="1 is looked at first.")
    pipeline_version: Label
    requested_at: UtcDatetime
    deadline_at: UtcDatetime | None = None


class ClaimVerdict(Part):
    """A person's verdict on one claim."""

    claim_id: Identifier
    verdict: Verdict | Literal["cannot_tell"]
    comment: LongText | None = None


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
    """A decision on a review; it carries what it decides on, so that it needs no look-up."""

    review_id: Identifier
    answer_id: Identifier
    tenant: Identifier = "default"
    user_id: Identifier | None = Field(default=None, description="Who asked; for memory.")
    decided_by: Label = Field(default="reviewer", description="Role or pseudonym; policy for a deadline.")
    reason: Label | None = None
    contexts: Many[Identifier] = Field(default_factory=list, description="Chunks that the answer was given.")
    model_id: Label = "unknown"
    claim_verdicts: Many[ClaimVerdict] = Field(default_factory=list, max_length=400)
    evaluator_versions: ByName[str] = Field(default_factory=dict)


class ReviewEvent(Event):
    """What happens to a request before its decision."""

    event_id: Identifier
    review_id: Identifier
    answer_id: Identifier
    tenant: Identifier = "default"
    kind: Literal["assigned", "unassigned", "skipped", "escalated", "undone"]
    reviewer: Label
    queue: Label | None = None
    deadline_at: UtcDatetime | None = None
    occurred_at: UtcDatetime
