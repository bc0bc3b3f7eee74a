-- Feedback, what it says of each answer, and what the answer earned.
--
-- Sort keys begin with the answer: feedback may come before it, or name another tenant by
-- mistake, and all of one answer is read at once. Read with FINAL.

-- Every event with all its revisions; an event that comes twice is one row.
CREATE TABLE IF NOT EXISTS {database}.feedback
(
    answer_id String,
    feedback_id String,
    occurred_at DateTime64(6, 'UTC'),
    tenant LowCardinality(String),
    kind LowCardinality(String),
    user_id String DEFAULT '',
    session_id String DEFAULT '',
    event String CODEC(ZSTD(3)),
    received_at DateTime64(3, 'UTC') DEFAULT now64(3),
    rating Nullable(UInt8) ALIAS JSONExtract(event, 'explicit', 'rating', 'Nullable(UInt8)'),
    vote Nullable(String) ALIAS JSONExtract(event, 'explicit', 'vote', 'Nullable(String)'),
    quality_score Nullable(Float64) ALIAS JSONExtract(event, 'explicit', 'quality_score', 'Nullable(Float64)'),
    met_expectations Nullable(Bool) ALIAS JSONExtract(event, 'explicit', 'met_expectations', 'Nullable(Bool)'),
    review_action Nullable(String) ALIAS JSONExtract(event, 'explicit', 'review_action', 'Nullable(String)'),
    comment Nullable(String) ALIAS JSONExtract(event, 'explicit', 'comment', 'Nullable(String)'),
    followup_query Nullable(String) ALIAS JSONExtract(event, 'behaviour', 'followup_query', 'Nullable(String)'),
    query_rephrased Nullable(Bool) ALIAS JSONExtract(event, 'behaviour', 'query_rephrased', 'Nullable(Bool)'),
    time_spent_seconds Nullable(Float64) ALIAS JSONExtract(event, 'behaviour', 'time_spent_seconds', 'Nullable(Float64)'),
    citations_clicked Array(String) ALIAS JSONExtract(event, 'behaviour', 'citations_clicked', 'Array(String)'),
    response_copied Nullable(Bool) ALIAS JSONExtract(event, 'behaviour', 'response_copied', 'Nullable(Bool)')
)
ENGINE = ReplacingMergeTree(received_at)
ORDER BY (answer_id, feedback_id, occurred_at)
SETTINGS non_replicated_deduplication_window = 1000;

-- The columns and constraints of seed 001; query_id is the answer's identifier. retry_detected
-- and what follows it say that this query repeats an earlier one; asked_again says that a
-- later one repeats this, which is what costs the answer its reward.
CREATE TABLE IF NOT EXISTS {database}.implicit_feedback
(
    id UUID,
    query_id String,
    tenant LowCardinality(String),
    model_id LowCardinality(String),
    query_type LowCardinality(String) DEFAULT '',
    timestamp DateTime64(3, 'UTC'),
    error_occurred Bool DEFAULT false,
    error_type Nullable(String),
    latency_seconds Nullable(Float64),
    latency_accepted Bool DEFAULT true,
    latency_tolerance LowCardinality(Nullable(String)),
    retry_detected Bool DEFAULT false,
    retry_delay_seconds Nullable(Float64),
    similarity_score Nullable(Float64),
    original_query_id Nullable(String),
    asked_again Bool DEFAULT false,
    satisfaction Nullable(Float64),
    revision UInt32,
    created_at DateTime64(3, 'UTC') DEFAULT now64(3),
    CONSTRAINT latency_not_negative CHECK isNull(latency_seconds) OR latency_seconds >= 0,
    CONSTRAINT tolerance_known CHECK isNull(latency_tolerance) OR latency_tolerance IN ('high', 'medium', 'low'),
    CONSTRAINT delay_not_negative CHECK isNull(retry_delay_seconds) OR retry_delay_seconds >= 0,
    CONSTRAINT similarity_is_a_share CHECK isNull(similarity_score) OR (similarity_score >= 0 AND similarity_score <= 1)
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY query_id
SETTINGS non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS {database}.rewards
(
    reward_id String,
    answer_id String,
    tenant LowCardinality(String),
    model_id LowCardinality(String),
    query_type LowCardinality(String) DEFAULT '',
    explicit_reward Nullable(Float64),
    implicit_reward Nullable(Float64),
    satisfaction Nullable(Float64),
    reward Float64,
    error_occurred Bool,
    retry_detected Bool,
    latency_seconds Nullable(Float64),
    latency_tolerance LowCardinality(Nullable(String)),
    revision UInt32,
    answered_at DateTime64(3, 'UTC'),
    computed_at DateTime64(3, 'UTC'),
    CONSTRAINT reward_is_a_share CHECK reward >= 0 AND reward <= 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY answer_id
SETTINGS non_replicated_deduplication_window = 1000;

-- Patterns and trends; the same period looked at again replaces its rows.
CREATE TABLE IF NOT EXISTS {database}.insights
(
    insight_id String,
    tenant LowCardinality(String) DEFAULT '',
    message_type LowCardinality(String),
    feedback_type LowCardinality(String),
    pattern String,
    frequency UInt32,
    total UInt32,
    impact_score Float64,
    rate Float64,
    rate_elsewhere Float64,
    difference_low Float64,
    difference_high Float64,
    p_value Nullable(Float64),
    suggested_improvement String,
    affected_components Array(LowCardinality(String)),
    priority LowCardinality(String),
    answers Array(String),
    since DateTime64(3, 'UTC'),
    until DateTime64(3, 'UTC'),
    created_at DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(created_at)
ORDER BY insight_id
SETTINGS non_replicated_deduplication_window = 1000;
