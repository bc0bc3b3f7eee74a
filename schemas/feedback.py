"""Feedback: what people do with answers, and what is learned from it (seeds 000, 001, 002)."""

from hashlib import sha256
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from schemas.base import (
    Event,
    EventTime,
    FiniteFloat,
    Identifier,
    Label,
    LongText,
    Many,
    Part,
    Score,
    Seconds,
    ShortText,
    UtcDatetime,
)
from schemas.review import HumanFeedback, UserAction

QUERY_FEATURES = 16
LINEAR_TERMS = QUERY_FEATURES + 1
"""The constant and the features of a query."""

QueryFeatures = Annotated[
    list[Annotated[float, Field(ge=-10, le=10)]], Field(min_length=QUERY_FEATURES, max_length=QUERY_FEATURES)
]
"""A query's embedding on 16 fixed random directions (``workers.steps.contextual``)."""

LatencyTolerance = Literal["high", "medium", "low"]
FeedbackKind = Literal["explicit", "behaviour", "execution", "retry"]


class ExplicitSignals(Part):
    """What a person says; null where nothing was said."""

    rating: int | None = Field(default=None, ge=1, le=5, description="Stars.")
    vote: Literal["up", "down"] | None = None
    quality_score: Score | None = None
    met_expectations: bool | None = None
    review_action: UserAction | None = Field(default=None, description="A reviewer's decision on the answer.")
    comment: LongText | None = None


class BehaviourSignals(Part):
    """What a person does; null where nothing was observed, which is not the same as false."""

    followup_query: LongText | None = None
    query_rephrased: bool | None = None
    time_spent_seconds: Seconds | None = Field(default=None, description="Reading so far; the longest counts.")
    citations_clicked: Many[Identifier] = Field(default_factory=list, max_length=1_000)
    response_copied: bool | None = None


class ExecutionSignals(Part):
    """How the call went."""

    status: Literal["success", "error"]
    error_type: Label | None = Field(
        default=None, description="hard_error, empty_response, refusal, or the gateway's word; set, it is an error."
    )
    latency_seconds: Seconds | None = None
    first_token_seconds: Seconds | None = Field(default=None, description="From the query to the first token.")
    cost_usd: FiniteFloat | None = Field(default=None, description="Of the call, as the gateway reckons it.")
    cache_hit: bool | None = Field(default=None, description="Whether the gateway answered from its cache.")
    query_features: QueryFeatures | None = Field(
        default=None, description="What of the query a router learns from; null where it was not embedded."
    )


class RetrySignals(Part):
    """A query that was asked again: the same part goes to both answers."""

    original_answer_id: Identifier = Field(description="The answer that made the person ask again.")
    retry_answer_id: Identifier = Field(description="The answer to the query that asked again.")
    delay_seconds: Seconds = Field(description="From the first query to the second.")
    similarity_score: Score = Field(description="Cosine of the queries' embeddings.")


class FeedbackEvent(Event):
    """One piece of feedback on an answer; may precede the answer, repeat, or refer to none.

    The part named by ``kind`` must be there. An event that comes again under its identifier
    is the same event; with a later ``occurred_at`` it is its revision and replaces it.
    """

    feedback_id: Identifier = Field(
        default="", description="The sender's identifier; a digest of the content where none is given."
    )
    answer_id: Identifier
    tenant: Identifier = "default"
    session_id: Identifier | None = None
    user_id: Identifier | None = None
    kind: FeedbackKind
    explicit: ExplicitSignals | None = None
    behaviour: BehaviourSignals | None = None
    execution: ExecutionSignals | None = None
    retry: RetrySignals | None = None
    model_id: Label | None = None
    query_type: Label | None = None
    occurred_at: EventTime

    @model_validator(mode="after")
    def _has_its_part_and_a_name(self) -> Self:
        if getattr(self, self.kind) is None:
            raise ValueError(f"kind is {self.kind}, so {self.kind} must be there")
        if not self.feedback_id:
            content = self.model_dump_json(exclude={"feedback_id", "schema_version"})
            self.feedback_id = sha256(content.encode()).hexdigest()
        return self


class Reward(Event):
    """What an answer earned: 70 % explicit, 30 % implicit where both are known (seed 001)."""

    reward_id: Identifier = Field(description="UUIDv5 of (answer_id, 'reward').")
    answer_id: Identifier
    tenant: Identifier = "default"
    model_id: Label = "unknown"
    query_type: Label | None = None
    explicit_reward: Score | None = Field(default=None, description="null where nobody said anything.")
    implicit_reward: Score | None = Field(default=None, description="null where nothing was observed.")
    satisfaction: Score | None = Field(default=None, description="Implicit satisfaction of seed 000; null if unseen.")
    reward: Score
    error_occurred: bool = False
    retry_detected: bool = Field(default=False, description="The query was asked again, so this answer failed.")
    latency_seconds: Seconds | None = None
    latency_tolerance: LatencyTolerance | None = None
    query_features: QueryFeatures | None = None
    revision: int = Field(default=1, ge=1, description="Grows with every further event; the highest counts.")
    answered_at: UtcDatetime = Field(description="When the answer was complete, or the first feedback on it.")
    computed_at: UtcDatetime

    @property
    def is_personal(self) -> bool:
        """Whether a person has said or done something, beyond the call having gone well or not."""
        return self.explicit_reward is not None or self.satisfaction is not None or self.retry_detected


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


class LinearPosterior(Part):
    """Posterior of what a model's reward owes to the query: normal, with these moments."""

    precision: Many[FiniteFloat] = Field(
        min_length=LINEAR_TERMS * (LINEAR_TERMS + 1) // 2,
        max_length=LINEAR_TERMS * (LINEAR_TERMS + 1) // 2,
        description="Upper triangle of the precision of the 17 coefficients, row by row, in units of 1/variance.",
    )
    rewards: Many[FiniteFloat] = Field(
        min_length=LINEAR_TERMS,
        max_length=LINEAR_TERMS,
        description="Sums of terms times (reward - 0.5); the coefficients' mean is precision^-1 x rewards.",
    )
    variance: float = Field(gt=0, allow_inf_nan=False, description="Of a reward about its expectation.")


class ModelPosterior(Event):
    """Beta posterior of a model's reward for a tenant and query type (seed 001: Thompson sampling)."""

    tenant: Identifier
    model_id: Label
    query_type: Label | None = None
    alpha: float = Field(gt=0, allow_inf_nan=False)
    beta: float = Field(gt=0, allow_inf_nan=False)
    mean: Score
    observations: float = Field(ge=0, allow_inf_nan=False, description="Weighted by age.")
    linear: LinearPosterior | None = Field(
        default=None, description="For routers that embed queries; null where no query of the model was embedded."
    )
    computed_at: UtcDatetime
