"""Define human review: the request, the decision, and the events between them."""

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from schemas.answers import SourceType, Step, ToolCall
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
from schemas.grounding import Claim, Mismatch, Verdict
from schemas.reports import Span

UserAction = Literal["approve", "reject", "correct", "upvote", "downvote"]

DEFAULT_QUEUE = "default"
"""Queue of every request until it is escalated by a reviewer or its deadline."""

POLICY = "policy"
"""Author of decisions and escalations by deadline."""

WITHDRAWN = ":withdrawn:"
"""Part of the identifier of a withdrawal, between that of the withdrawn decision and a digest, so that the withdrawal
shows which decision was final before it."""


class ReviewContext(Part):
    """One piece of evidence as the model received it, for the reviewer and for labelled data."""

    number: int = Field(ge=1, description="Position among the contexts, from 1.")
    chunk_id: Identifier
    source_type: SourceType = "document"
    source_name: Label = ""
    source_path: ShortText = ""
    version: ShortText = Field(default="", description="Version that the retriever named; empty if unknown.")
    last_updated: UtcDatetime | None = Field(default=None, description="Time of the source's last change.")
    tool: ToolCall | None = Field(
        default=None, exclude_if=lambda call: call is None, description="The call whose result this is, for tools."
    )
    content: SourceText


class ReaderNotices(Part):
    """The texts that a decision may show readers, in the language of the answer."""

    warning: str = Field(max_length=3_000, description="Disclaimer below an answer that is approved with a warning.")
    rejected: str = Field(max_length=2_000, description="Text in place of a rejected answer.")
    withdrawn: str = Field(max_length=2_000, description="Text in place of a withdrawn answer.")


class ReleasableAnswer(Part):
    """The data that a release needs; the decision carries it, so that no lookup is necessary."""

    state: ReleaseState = Field(description="State set by the pipeline: held, warned, released.")
    body: str | None = Field(
        default=None, max_length=200_000, description="Formatted without disclaimer; null if it would not fit."
    )
    references: str = Field(default="", max_length=200_000, description="Formatted text below the body.")
    citations: Many[Metadata] = Field(default_factory=list, description="Citations for a user interface.")
    query_type: Label | None = None
    quality_score: Score | None = None
    completed_at: UtcDatetime = Field(description="Completion time of the answer.")
    memorable: bool = Field(
        default=True, description="False if the answer enters memory only after a person has verified it."
    )
    notices: ReaderNotices | None = Field(
        default=None,
        exclude_if=lambda notices: notices is None,
        description="Texts that a decision may show; absent in records from before they had languages, which are English.",
    )


class ReviewRequest(Event):
    """A request that a person reviews an answer."""

    review_id: Identifier = Field(description="UUIDv5 of (tenant, answer_id, 'review').")
    answer_id: Identifier
    tenant: Identifier = "default"
    session_id: Identifier | None = None
    user_id: Identifier | None = None
    query: LongText = ""
    answer: AnswerText
    risk_mode: RiskMode
    held: bool = Field(description="True if the reader waits for the decision.")
    reasons: Many[Label] = Field(default_factory=list)
    hallucination_risk: RiskLevel | None = None
    grounding_score: Score | None = None
    gate_score: Score | None = None
    answer_metrics: ByName[FiniteFloat] = Field(default_factory=dict, description="Scores at the time, by name.")
    claims: Many[Claim] = Field(default_factory=list, max_length=20, description="The worst claims first.")
    signals: Many[Label] = Field(default_factory=list, description="Types of failure signals.")
    contexts: Many[ReviewContext] = Field(default_factory=list, description="Evidence, as far as it fits.")
    contexts_total: int = Field(default=0, ge=0, description="Number of contexts that the model received.")
    cut_off: bool = Field(
        default=False,
        exclude_if=lambda cut_off: not cut_off,
        description="True if the model reported its limit of tokens, or the text ends within a sentence.",
    )
    steps: Many[Step] = Field(
        default_factory=list,
        exclude_if=lambda steps: not steps,
        description="Calls on the way to the answer, without what they returned.",
    )
    releasable: ReleasableAnswer | None = Field(default=None, description="Data that a decision needs for a release.")
    model_id: Label = "unknown"
    queue: Label = DEFAULT_QUEUE
    priority: Score = Field(default=0.5, description="Priority; 1 is the highest.")
    rank: int = Field(default=1, ge=0, description="Completeness of the result; a higher one replaces a lower one.")
    evaluator_versions: ByName[str] = Field(default_factory=dict, description="Versions of the evaluators by name.")
    pipeline_version: Label
    requested_at: UtcDatetime
    deadline_at: UtcDatetime | None = None


class ClaimVerdict(Part):
    """A person's verdict on one claim."""

    claim_id: Identifier
    verdict: Verdict | Literal["cannot_tell"]
    comment: LongText | None = None
    span: Span | None = Field(default=None, description="The claim in the answer, code points.")


MAX_DOUBTED = 20
"""Maximum number of statements that a comparison lists."""


class DoubtedStatement(Part):
    """Describe a statement of a corrected text that the sources do not support."""

    verdict: Verdict | Literal["said_before"]
    span: Span = Field(description="The statement in the corrected text, code points.")
    mismatches: Many[Mismatch] = Field(default_factory=list, description="Kinds of mismatch with the evidence.")
    number: int | None = Field(
        default=None, ge=1, description="Source with the evidence that it was compared with, from 1; null without any."
    )


class CorrectionComparison(Part):
    """Describe the evaluation of a corrected text against the sources of its answer.

    The numbers count statements by verdict. Questions, code and remarks about the answer are no statements.
    """

    compared_at: UtcDatetime
    pipeline_version: Label = Field(description="Version that compared it.")
    sources: int = Field(ge=0, description="Number of sources that the text was compared with.")
    sources_total: int = Field(ge=0, description="Number of sources that the model received.")
    supported: int = Field(default=0, ge=0)
    contradicted: int = Field(default=0, ge=0)
    unsupported: int = Field(default=0, ge=0)
    said_before: int = Field(
        default=0, ge=0, description="Stated by an earlier turn of the conversation, and by no source."
    )
    not_checked: int = Field(default=0, ge=0, description="Statements in words that could not be compared.")
    doubted: list[DoubtedStatement] = Field(
        default_factory=list, max_length=MAX_DOUBTED, description="Statements that are not supported, the worst first."
    )


class HumanFeedback(Event):
    """Feedback of a person on an answer."""

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
            raise ValueError("corrected_answer is required if user_action is correct; send the corrected text")
        return self


class ReviewDecision(HumanFeedback):
    """A decision on a review; it carries its subject, so that no lookup is necessary.

    The first decision on the log that approves, rejects or corrects is final. Votes and second reviews do not change
    the state. A rejection that names the final decision in ``withdraws`` takes the answer back from readers.
    """

    review_id: Identifier
    answer_id: Identifier
    tenant: Identifier = "default"
    user_id: Identifier | None = Field(default=None, description="Pseudonym of the user, for memory.")
    decided_by: Label = Field(default="reviewer", description="Role or pseudonym; policy for a deadline.")
    reason: Label | None = None
    with_warning: bool = Field(default=False, description="True if approved but shown with the disclaimer.")
    second_review: bool = Field(
        default=False, description="True for a blind second review, which is used for agreement only."
    )
    withdraws: Identifier | None = Field(
        default=None,
        description="The final decision that this rejection withdraws, or the release of an answer without a decision; "
        "null for any other decision.",
    )
    published_at: UtcDatetime | None = Field(
        default=None,
        exclude_if=lambda at: at is None,
        description="Time of its publication after the undo window, from which readers have its result; null if it was "
        "published when it was made.",
    )
    corrected_references: str = Field(
        default="", max_length=200_000, description="Formatted list of the references that a correction cites."
    )
    comparison: CorrectionComparison | None = Field(
        default=None,
        exclude_if=lambda comparison: comparison is None,
        description="What the console found when it compared corrected_answer with the sources; absent if exactly this text "
        "was not compared before it was saved.",
    )
    contexts: Many[Identifier] = Field(default_factory=list, description="Chunks that the model received.")
    releasable: ReleasableAnswer | None = Field(default=None, description="As in the request.")
    reasons: Many[Label] = Field(default_factory=list, description="Reasons for the review.")
    hallucination_risk: RiskLevel | None = None
    grounding_score: Score | None = None
    gate_score: Score | None = None
    model_id: Label = "unknown"
    claim_verdicts: Many[ClaimVerdict] = Field(default_factory=list, max_length=400)
    evaluator_versions: ByName[str] = Field(default_factory=dict)
    pipeline_version: Label = Field(default="unknown", description="Version that requested the review.")


ReviewEventKind = Literal[
    "assigned", "unassigned", "skipped", "escalated", "undone", "resumed", "given", "opinion_asked", "opinion_ended"
]
"""Locked and unlocked (assigned, unassigned), a decision undone, a skip or escalation undone (resumed), given to a
person by another one, or a second opinion on a decided request asked for and no longer wanted."""
OPINIONS: tuple[ReviewEventKind, ...] = ("opinion_asked", "opinion_ended")
"""Kinds of events about second opinions."""
OF_PERSONS: tuple[ReviewEventKind, ...] = ("given", *OPINIONS)
"""Kinds of events with a person in ``assignee``."""


class UndoneDecision(Part):
    """A decision that its author undid before it was published."""

    action: UserAction
    with_warning: bool = False
    reason: Label | None = None
    comment: LongText | None = None
    corrected_answer: AnswerText | None = None
    review_duration: Seconds = Field(
        default=0.0, exclude_if=lambda seconds: seconds == 0, description="Seconds of active review; 0 if not measured."
    )
    decided_at: UtcDatetime
    comparison: CorrectionComparison | None = Field(
        default=None, exclude_if=lambda comparison: comparison is None, description="As in the decision."
    )


class ReviewEvent(Event):
    """An event of a review request before its decision."""

    event_id: Identifier
    review_id: Identifier
    answer_id: Identifier
    tenant: Identifier = "default"
    kind: ReviewEventKind
    reviewer: Label
    queue: Label | None = None
    assignee: Label | None = Field(
        default=None,
        description="Person of an event given, empty if the assignment ends; person whose second opinion is asked for, empty for anyone.",
    )
    undone: UndoneDecision | None = Field(default=None, description="The decision that an event undone took back.")
    deadline_at: UtcDatetime | None = None
    reason: ShortText | None = Field(default=None, description="Why a request was escalated, for the next reviewer.")
    claim_verdicts: Many[ClaimVerdict] = Field(
        default_factory=list, max_length=400, description="Verdicts of the person who escalated it."
    )
    occurred_at: UtcDatetime
