"""Define feedback: signals about answers, rewards, and the posteriors learned from them."""

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
"""Number of terms: the constant and the features of a query."""

QueryFeatures = Annotated[
    list[Annotated[float, Field(ge=-10, le=10)]], Field(min_length=QUERY_FEATURES, max_length=QUERY_FEATURES)
]
"""A query's embedding on 16 fixed random directions (``workers.feedback.contextual_reward``)."""

LatencyTolerance = Literal["high", "medium", "low"]
FeedbackKind = Literal["explicit", "behaviour", "execution", "retry"]


class ExplicitSignals(Part):
    """Hold the explicit signals of a person; null for a signal that was not given."""

    rating: int | None = Field(default=None, ge=1, le=5, description="Rating in stars.")
    vote: Literal["up", "down"] | None = None
    quality_score: Score | None = None
    met_expectations: bool | None = None
    review_action: UserAction | None = Field(default=None, description="A reviewer's decision on the answer.")
    comment: LongText | None = None


class BehaviourSignals(Part):
    """Hold the observed behaviour of a person; null means not observed, which differs from false."""

    followup_query: LongText | None = None
    query_rephrased: bool | None = None
    time_spent_seconds: Seconds | None = Field(default=None, description="Reading time so far; the longest counts.")
    citations_clicked: Many[Identifier] = Field(default_factory=list, max_length=1_000)
    response_copied: bool | None = None


class ExecutionSignals(Part):
    """Describe the outcome of the call."""

    status: Literal["success", "error"]
    error_type: Label | None = Field(
        default=None,
        description="hard_error, empty_response, refusal, or the gateway's error type; any value means an error.",
    )
    latency_seconds: Seconds | None = None
    first_token_seconds: Seconds | None = Field(default=None, description="From the query to the first token.")
    cost_usd: FiniteFloat | None = Field(default=None, description="Cost of the call as the gateway calculates it.")
    cache_hit: bool | None = Field(default=None, description="True if the gateway answered from its cache.")
    query_features: QueryFeatures | None = Field(
        default=None, description="Query features for a router; null without an embedding."
    )


class RetrySignals(Part):
    """Describe a repeated query; both answers receive the same object."""

    original_answer_id: Identifier = Field(description="Answer to the first query.")
    retry_answer_id: Identifier = Field(description="Answer to the repeated query.")
    delay_seconds: Seconds = Field(description="Time from the first query to the repeated one.")
    similarity_score: Score = Field(description="Cosine of the queries' embeddings.")


class FeedbackEvent(Event):
    """Describe one piece of feedback on an answer; may precede the answer, repeat, or refer to no answer.

    The part named by ``kind`` is required. An event with the same identifier is the same event; with a later
    ``occurred_at`` it is a revision and replaces the earlier one.
    """

    feedback_id: Identifier = Field(
        default="", description="Identifier from the sender; by default a digest of the content."
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
            raise ValueError(f"kind is {self.kind}, but the field {self.kind} is missing; send it")
        if not self.feedback_id:
            content = self.model_dump_json(exclude={"feedback_id", "schema_version"})
            self.feedback_id = sha256(content.encode()).hexdigest()
        return self


class Reward(Event):
    """Hold the reward of an answer: 70 % explicit and 30 % implicit if both are known."""

    reward_id: Identifier = Field(description="UUIDv5 of (tenant, answer_id, 'reward').")
    answer_id: Identifier
    tenant: Identifier = "default"
    model_id: Label = "unknown"
    query_type: Label | None = None
    explicit_reward: Score | None = Field(default=None, description="Null without explicit feedback.")
    implicit_reward: Score | None = Field(default=None, description="Null without observed signals.")
    satisfaction: Score | None = Field(
        default=None, description="Implicit satisfaction; null without observed behaviour."
    )
    reward: Score
    error_occurred: bool = False
    retry_detected: bool = Field(
        default=False, description="True if the query was repeated, which means that this answer failed."
    )
    latency_seconds: Seconds | None = None
    latency_tolerance: LatencyTolerance | None = None
    query_features: QueryFeatures | None = None
    revision: int = Field(default=1, ge=1, description="Grows with every further event; the highest counts.")
    answered_at: UtcDatetime = Field(description="Completion time of the answer, or time of its first feedback.")
    computed_at: UtcDatetime

    @property
    def is_personal(self) -> bool:
        """Return true if a person gave a signal or showed behaviour, beyond the outcome of the call."""
        return self.explicit_reward is not None or self.satisfaction is not None or self.retry_detected


TableName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=200)]


class PackedRows(Part):
    """Hold rows for one table among those of one answer."""

    table: TableName
    columns: list[str] = Field(max_length=1_000, description="Names of the values, without those that all rows share.")
    values: list[list[Any]] = Field(max_length=10_000, description="Values of each row; null for one that it lacks.")

    @model_validator(mode="after")
    def _has_a_value_for_each_column(self) -> Self:
        if any(len(row) != len(self.columns) for row in self.values):
            raise ValueError(f"give each row of {self.table} {len(self.columns)} values, one for each of its columns")
        return self


class AnalyticsRow(Event):
    """Hold one row for one ClickHouse table, or the rows of one answer."""

    table: TableName | None = Field(
        default=None, exclude_if=lambda table: table is None, description="Absent if there are several rows."
    )
    columns: dict[str, Any] = Field(
        description="Values by column; times as ISO 8601. With several rows: values of each row whose table has the column."
    )
    rows: list[PackedRows] = Field(
        default_factory=list, max_length=1_000, exclude_if=lambda rows: not rows, description="Several rows, by table."
    )

    @model_validator(mode="after")
    def _is_one_form(self) -> Self:
        if (self.table is None) == (not self.rows):
            raise ValueError("name a table, or rows with theirs")
        return self


class FeedbackAggregation(Part):
    """Describe a pattern in feedback."""

    aggregation_id: Identifier
    feedback_type: Literal["quality_issue", "factual_error", "relevance_problem", "other"]
    pattern: ShortText
    frequency: int = Field(ge=0)
    impact_score: Score
    suggested_improvement: ShortText
    affected_components: Many[Literal["Generator", "Orchestrator", "System"]] = Field(default_factory=list)


class FeedbackMessage(Event):
    """Describe an insight for engineers who improve prompts and routing."""

    message_id: Identifier
    message_type: Literal["human_feedback", "aggregated_insights", "trend_analysis"]
    source_component: Literal["HumanReviewInterface", "GeneratorAgent", "SystemMonitor"]
    payload: FeedbackAggregation | HumanFeedback
    processing_priority: Literal["high", "medium", "low"]
    created_at: UtcDatetime


class LinearPosterior(Part):
    """Describe the posterior of the coefficients of a model's reward by query: normal, with these moments."""

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
    variance: float = Field(gt=0, allow_inf_nan=False, description="Variance of a reward around its expectation.")


class ModelPosterior(Event):
    """Describe the beta posterior of a model's reward for a tenant and query type, for Thompson sampling."""

    tenant: Identifier
    model_id: Label
    query_type: Label | None = None
    alpha: float = Field(gt=0, allow_inf_nan=False)
    beta: float = Field(gt=0, allow_inf_nan=False)
    mean: Score
    observations: float = Field(ge=0, allow_inf_nan=False, description="Weighted sum by age.")
    linear: LinearPosterior | None = Field(
        default=None,
        description="Linear posterior for routers that embed queries; null if no query of the model was embedded.",
    )
    computed_at: UtcDatetime
