"""Define the tables of feedback: events, signals, rewards and insights."""

from dataclasses import dataclass
from typing import ClassVar

from workers.stores.tables.table_row import (
    Flag,
    Float64,
    Floats,
    Hour,
    InsertMillis,
    Label,
    Labels,
    Micros,
    Millis,
    Places,
    TableRow,
    Text,
    Texts,
    UInt32,
    UInt64,
    Uuid,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackRow(TableRow):
    """Hold one event of feedback, as JSON."""

    table: ClassVar[str] = "feedback"
    kept_from: ClassVar[str] = "occurred_at"
    answer_id: Text
    feedback_id: Text
    occurred_at: Micros
    tenant: Label
    kind: Label
    user_id: Text = ""
    session_id: Text = ""
    event: Text
    received_at: InsertMillis = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImplicitFeedbackRow(TableRow):
    """Hold the implicit signals of an answer."""

    table: ClassVar[str] = "implicit_feedback"
    kept_from: ClassVar[str] = "timestamp"
    id: Uuid
    query_id: Text
    tenant: Label
    model_id: Label
    query_type: Label = ""
    timestamp: Millis
    error_occurred: Flag = False
    error_type: Text | None = None
    latency_seconds: Float64 | None = None
    latency_accepted: Flag = True
    latency_tolerance: Label | None = None
    retry_detected: Flag = False
    retry_delay_seconds: Float64 | None = None
    similarity_score: Float64 | None = None
    original_query_id: Text | None = None
    asked_again: Flag = False
    satisfaction: Float64 | None = None
    revision: UInt32
    created_at: InsertMillis = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardRow(TableRow):
    """Hold the reward of an answer."""

    table: ClassVar[str] = "rewards"
    kept_from: ClassVar[str] = "answered_at"
    reward_id: Text
    answer_id: Text
    tenant: Label
    model_id: Label
    query_type: Label = ""
    explicit_reward: Float64 | None = None
    implicit_reward: Float64 | None = None
    satisfaction: Float64 | None = None
    reward: Float64
    error_occurred: Flag
    retry_detected: Flag
    latency_seconds: Float64 | None = None
    latency_tolerance: Label | None = None
    revision: UInt32
    answered_at: Millis
    computed_at: Millis
    query_features: Floats = ()
    elsewhere: Places = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class InsightRow(TableRow):
    """Hold a pattern or trend in feedback."""

    table: ClassVar[str] = "insights"
    kept_from: ClassVar[str] = "until"
    insight_id: Text
    tenant: Label = ""
    message_type: Label
    feedback_type: Label
    pattern: Text
    frequency: UInt32
    total: UInt32
    impact_score: Float64
    rate: Float64
    rate_elsewhere: Float64
    difference_low: Float64
    difference_high: Float64
    p_value: Float64 | None = None
    suggested_improvement: Text
    affected_components: Labels = ()
    priority: Label
    answers: Texts = ()
    since: Millis
    until: Millis
    created_at: Millis


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardFactRow(TableRow):
    """Hold the figures of a reward, for hourly sums. A view fills the table."""

    table: ClassVar[str] = "reward_facts"
    kept_from: ClassVar[str] = "hour"
    tenant: Label
    hour: Hour
    answer_key: UInt64
    revision: UInt32
    counts: Flag
    inserted_at: Millis
    answer_id: Text
    model_id: Label
    query_type: Label
    reward: Float64
    explicit_reward: Float64 | None = None
    implicit_reward: Float64 | None = None
    satisfaction: Float64 | None = None
    retried: Flag
    failed: Flag
    latency_tolerance: Label
