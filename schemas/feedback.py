"""Feedback: what people do with answers, and what is learned from it (seeds 000, 001, 002)."""

from typing import Any, Literal

from pydantic import Field

from schemas.base import Event, Identifier, Label, LongText, Many, Part, Score, Seconds, ShortText, UtcDatetime
from schemas.review import HumanFeedback

LatencyTolerance = Literal["high", "medium", "low"]


class ExplicitSignals(Part):
    """What a person says."""

    rating: int | None = Field(default=None, ge=1, le=5, description="Stars.")
    vote: Literal["up", "down"] | None = None
    quality_score: Score | None = None
    met_expectations: bool | None = None
    comment: LongText | None = None


class BehaviourSignals(Part):
    """What a person does."""

    followup_query: LongText | None = None
    query_rephrased: bool | None = None
    time_spent_seconds: Seconds | None = None
    citations_clicked: Many[Identifier] = Field(default_factory=list, max_length=1_000)
    response_copied: bool | None = None


class ExecutionSignals(Part):
    """How the call went."""

    status: Literal["success", "error"]
    error_type: Label | None = None
    latency_seconds: Seconds | None = None


class FeedbackEvent(Event):
    """One piece of feedback on an answer; may precede the answer, repeat, or refer to none."""

    feedback_id: Identifier = Field(description="The sender's identifier, or a digest of the content.")
    answer_id: Identifier
    tenant: Identifier = "default"
    session_id: Identifier | None = None
    user_id: Identifier | None = None
    kind: Literal["explicit", "behaviour", "execution"]
    explicit: ExplicitSignals | None = None
    behaviour: BehaviourSignals | None = None
    execution: ExecutionSignals | None = None
    model_id: Label | None = None
    query_type: Label | None = None
    occurred_at: UtcDatetime


class Reward(Event):
    """What an answer earned: 70 % explicit, 30 % implicit where both are known (seed 001)."""

    reward_id: Identifier = Field(description="UUIDv5 of (answer_id, 'reward').")
    answer_id: Identifier
    tenant: Identifier = "default"
    model_id: Label = "unknown"
    query_type: Label | None = None
    explicit_reward: Score | None = None
    implicit_reward: Score | None = None
    reward: Score
    error_occurred: bool = False
    retry_detected: bool = False
    latency_seconds: Seconds | None = None
    latency_tolerance: LatencyTolerance | None = None
    revision: int = Field(default=1, ge=1)
    computed_at: UtcDatetime


class AnalyticsRow(Event):
    """One row for one ClickHouse table; our sink or ClickHouse's own Kafka engine reads it."""

    table: Label = Field(pattern=r"^[a-z][a-z0-9_]*$")
    columns: dict[str, Any] = Field(description="Values by column; times as ISO 8601.")


class FeedbackAggregation(Part):
    """A pattern in feedback (seed 002)."""

    aggregation_id: Identifier
    feedback_type: Literal["quality_issue", "factual_error", "relevance_problem", "other"]
    pattern: ShortText
    frequency: int = Field(ge=0)
    impact_score: Score
    suggested_improvement: ShortText
    affected_components: Many[Literal["Generator", "Orchestrator", "System"]] = Field(default_factory=list)


class FeedbackMessage(Event):
    """An insight for those who improve prompts and routing (seed 002)."""

    message_id: Identifier
    message_type: Literal["human_feedback", "aggregated_insights", "trend_analysis"]
    source_component: Literal["HumanReviewInterface", "GeneratorAgent", "SystemMonitor"]
    payload: FeedbackAggregation | HumanFeedback
    processing_priority: Literal["high", "medium", "low"]
    created_at: UtcDatetime


class ModelPosterior(Event):
    """Beta posterior of a model's reward for a tenant and query type (seed 001: Thompson sampling)."""

    tenant: Identifier
    model_id: Label
    query_type: Label | None = None
    alpha: float = Field(gt=0, allow_inf_nan=False)
    beta: float = Field(gt=0, allow_inf_nan=False)
    mean: Score
    observations: float = Field(ge=0, allow_inf_nan=False, description="Weighted by age.")
    computed_at: UtcDatetime
