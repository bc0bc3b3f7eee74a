"""Define the response models of the console and build them from rows."""

from dataclasses import replace
from datetime import datetime

from pydantic import BaseModel, Field

from schemas.base import RiskLevel
from schemas.evaluations import EvaluatorScore
from schemas.feedback import BehaviourSignals, ExplicitSignals, FeedbackEvent, FeedbackKind
from workers.console.presentation.answer_history import (
    Happening,
    contrary_words,
    history_of,
    latest_feedback,
)
from workers.console.presentation.outcome import ShownText, outcome_of
from workers.console.presentation.source_list import SourceView, sources_of
from workers.decision.explanation import DecisionView, Explanation, WithdrawalView, explain_row
from workers.evaluation.quality.characteristics import CHARACTERISTICS
from workers.feedback.observed_events import is_of_reviewer
from workers.feedback.rewards import combine, explicit_reward
from workers.review.review_models import JudgedClaim, SentTurns
from workers.settings import Settings
from workers.stores.clickhouse.rows.score_rows import stored_scores
from workers.stores.queries.answer_queries import StoredAnswer, counted

OVERALL_SCORE = (
    "Mean of the seven characteristics; null also if the grounding was not evaluated: few of them are known then."
)


class View(BaseModel):
    """A part of a response."""


class AnswerSummary(View):
    """An answer in a list."""

    answer_id: str
    tenant: str
    completed_at: datetime
    query: str = Field(description="Beginning of the query.")
    answer: str = Field(description="Beginning of the answer.")
    shown: str | None = Field(
        description="Beginning of the text that readers see, without warnings; null if they see a notice or nothing."
    )
    model_id: str
    query_type: str
    state: str
    withdrawn: bool = Field(description="True if the answer was decided and then withdrawn; its state is rejected.")
    reasons: list[str]
    review: bool
    degraded: bool
    hallucination_risk: RiskLevel | None
    grounding_score: float | None
    gate_score: float | None = Field(description=OVERALL_SCORE)
    quality_score: float | None
    claims_total: int | None = Field(
        description="Number of claims by the evaluation, whatever a reviewer said of them; null like the next three if they were not evaluated."
    )
    claims_supported: int | None
    claims_contradicted: int | None
    claims_unsupported: int | None
    user_id: str = Field(description="User who asked, a pseudonym where it is masked; empty if it was not sent.")


class AnswerPage(View):
    """A page of answers, the latest first."""

    items: list[AnswerSummary]
    next_cursor: str | None
    previous_cursor: str | None = Field(description="Send it as before to get the page before; null on the first page.")
    total: int | None = Field(description="Number of answers that match; null unless it was asked for.")


class ClaimView(JudgedClaim):
    """A claim with its verdict and evidence; offsets in code points."""

    chunk_id: str
    evidence: str
    evidence_start: int | None
    evidence_end: int | None
    source_digest: str
    cited_numbers: list[int]
    primary_number: int | None
    redundant_numbers: list[int]
    proposed_numbers: list[int]
    cited_unsupported: list[int]
    better_number: int | None
    conflicting: bool = Field(description="True if sources disagree on the claim.")
    verifier_score: float | None = Field(
        description="A verifier's probability that the claim is supported; null if the verifier did not read it."
    )
    earlier_turn: int | None = Field(
        default=None, description="The earlier turn that states it, from 1, for the verdict said_before."
    )
    earlier: str = Field(default="", description="Its sentence in that turn.")
    contradicted_turn: int | None = Field(
        default=None, description="The earlier answer that it contradicts without saying so, from 1."
    )
    contradicted_earlier: str = Field(default="", description="The sentence that it contradicts.")
    step: int | None = Field(default=None, description="The step of the run that stated it first, from 1.")
    step_name: str = Field(default="", description="Kind and name of that step.")


class CitationView(View):
    """A citation, or a reference that cannot be resolved."""

    citation_id: str
    valid: bool
    marker: str = Field(description="Text of an invalid reference.")
    reason: str = Field(description="Reason why the reference is invalid.")
    number: int | None
    chunk_id: str
    source_type: str
    source_name: str
    source_path: str
    source_table: str
    record_id: str
    memory_id: str
    entity: str
    display_text: str
    excerpt: str
    confidence: float | None
    source_digest: str
    spans: list[tuple[int, int]] = Field(description="Positions of the markers in the answer, code points.")
    forms: list[str]
    last_updated: datetime | None
    created_at: datetime | None
    source_event: str
    learned_at: datetime | None


class FeedbackView(View):
    """Feedback on an answer without its author."""

    feedback_id: str
    kind: FeedbackKind
    occurred_at: datetime
    explicit: ExplicitSignals | None
    behaviour: BehaviourSignals | None
    by_reviewer: bool = Field(description="True for a decision or vote of a reviewer; readers did not give it.")


class RewardView(View):
    """The reward of an answer."""

    reward: float
    explicit_reward: float | None
    implicit_reward: float | None
    satisfaction: float | None
    revision: int
    computed_at: datetime


class AnswerDetail(View):
    """An answer with claims, citations, decision, feedback and history."""

    answer_id: str
    tenant: str
    run: str
    session_id: str
    user_id: str = Field(description="Pseudonym of the user.")
    query: str
    answer: str
    content: str | None = Field(description="Text that readers are shown now, Markdown; null if there is none.")
    query_type: str
    model_id: str
    model_provider: str
    prompt_version: str
    risk_mode: str
    status: str
    error: str
    completed_at: datetime
    latency_seconds: float | None
    pipeline_version: str
    state: str = Field(description="State after the final decision, else that of the evaluation.")
    evaluated_state: str = Field(description="State set by the evaluation.")
    blind: bool = Field(
        description="True while you may still review the answer independently: its decision, content and what readers "
        "were shown are hidden until then, and state is that of the evaluation."
    )
    decision: DecisionView | None = Field(description="The final decision; null without one.")
    withdrawal: WithdrawalView | None = Field(description="The withdrawal of the decision; null without one.")
    review_id: str = Field(
        description="Identifier of the review; empty if none was requested, and without a decision or vote."
    )
    outcome: str | None = Field(
        description="Sentence about who decided, and what readers saw before and after; null if it is hidden."
    )
    shown: list[ShownText] = Field(description="Texts that readers were shown, the first one first.")
    contrary: list[str] = Field(
        description="Sentences about what speaks against the state: other opinions, contradicted claims, an open review."
    )
    reasons: list[str]
    review: bool
    degraded: bool
    missing: list[str]
    hallucination_risk: RiskLevel | None
    risk_score: float | None
    grounding_score: float | None
    quality_score: float | None
    gate_score: float | None = Field(description=OVERALL_SCORE)
    citation_coverage: float | None
    characteristics: dict[str, float | None]
    evaluations: list[EvaluatorScore] = Field(description="Scores of evaluator plug-ins.")
    signals: list[str]
    issues: list[str]
    claims_total: int | None = Field(description="Number of claims; null if they were not evaluated.")
    claims: list[ClaimView]
    conversation: SentTurns = Field(
        description="Turns that were sent with the answer, the oldest first; of answers from before they were kept, none."
    )
    citations: list[CitationView]
    sources: list[SourceView] = Field(
        description="All sources that the model received; of answers from before they were kept, only the known ones."
    )
    feedback: list[FeedbackView]
    reward: RewardView | None = Field(
        description="Reward that routers learn from: feedback of readers, and the decision of a reviewer."
    )
    readers_rating: float | None = Field(
        description="Mean of what readers said of the answer, 0..1, without decisions and votes of reviewers; null if no reader did."
    )
    history: list[Happening]


class Remembered(View):
    """A turn of conversational memory with its origin."""

    turn_id: str
    answer_id: str = Field(description="Identifier of the remembered answer.")
    tenant: str
    session_id: str | None
    query: str
    response: str
    context_chunks: list[str] = Field(description="Sources given to the model for the answer.")
    query_type: str | None
    quality_score: float | None
    hallucination_risk: str | None
    grounding_score: float | None
    user_feedback: float | None
    revision: int
    timestamp: datetime = Field(description="Completion time of the answer.")
    similarity: float = Field(description="Cosine of the search text and the remembered turn.")


class RememberedPage(View):
    """The turns found in memory, the nearest first."""

    items: list[Remembered]
    hidden: int = Field(description="Turns left out because you may still review them independently.")


def explanation_of(stored: StoredAnswer, settings: Settings) -> Explanation:
    """Explain the decision on a stored answer."""
    scores = stored_scores(stored.scores)
    explained = explain_row(stored.answer, settings.gate, settings.grounding, settings.decision, scores)
    outcome = outcome_of(stored)
    return explained.model_copy(update={"outcome": outcome.decision, "withdrawal": outcome.withdrawal})


def blinded(stored: StoredAnswer) -> StoredAnswer:
    """Remove what tells the decision or a reviewer's opinion, for an independent review."""
    feedback = [row for row in stored.feedback if not is_of_reviewer(FeedbackEvent.model_validate_json(row["event"]))]
    return replace(stored, decisions=[], review_events=[], rewards=[], feedback=feedback, blind=True)


def answer_detail(stored: StoredAnswer) -> AnswerDetail:
    """Build an answer from its rows."""
    row = stored.answer
    outcome = outcome_of(stored)
    feedback = latest_feedback(stored.feedback)
    of_readers = [event for event in feedback if not is_of_reviewer(event)]
    plain = set(AnswerDetail.model_fields) & set(row)
    return AnswerDetail.model_validate(
        {
            **{name: counted(row)[name] for name in plain},
            "state": outcome.state,
            "evaluated_state": row["state"],
            "blind": stored.blind,
            "content": None if stored.blind else outcome.shown[-1].content,
            "decision": outcome.decision,
            "withdrawal": outcome.withdrawal,
            "review_id": next((row["review_id"] for row in (*stored.decisions, *stored.reviews)), ""),
            "shown": [] if stored.blind else outcome.shown,
            "characteristics": {name: row[name] for name in CHARACTERISTICS},
            "conversation": row["turns"],
            "claims": stored.claims,
            "evaluations": stored_scores(stored.scores),
            "citations": stored.citations,
            "feedback": [
                event.model_dump(include=set(FeedbackView.model_fields)) | {"by_reviewer": is_of_reviewer(event)}
                for event in feedback
                if event.kind in ("explicit", "behaviour")
            ],
            "reward": stored.rewards[0] if stored.rewards else None,
            "readers_rating": explicit_reward(combine(of_readers)) if of_readers else None,
            "history": history_of(stored),
            "outcome": None if stored.blind else outcome.words,
            "contrary": contrary_words(stored),
            "sources": sources_of(stored),
        }
    )
