-- Human review: requests, their place in the queue, decisions and what happens in between.
--
-- A request's whole content stands in reviews and is never replaced by a decision. Its place in
-- the queue is a narrow row that a decision replaces by rank, also one that came first: a queue
-- of 100,000 is read within milliseconds, and no row needs to know another.

ALTER TABLE {database}.reviews ADD COLUMN IF NOT EXISTS request String DEFAULT '' CODEC(ZSTD(3));

ALTER TABLE {database}.reviews ADD INDEX IF NOT EXISTS by_review review_id TYPE bloom_filter(0.001) GRANULARITY 1;

CREATE TABLE IF NOT EXISTS {database}.review_queue
(
    review_id String,
    answer_id String,
    tenant LowCardinality(String),
    rank UInt32,
    state LowCardinality(String),
    queue LowCardinality(String) DEFAULT 'default',
    held Bool DEFAULT false,
    risk_mode LowCardinality(String) DEFAULT '',
    reasons Array(LowCardinality(String)),
    signals Array(LowCardinality(String)),
    hallucination_risk LowCardinality(Nullable(String)),
    grounding_score Nullable(Float64),
    gate_score Nullable(Float64),
    priority Float64 DEFAULT 0,
    model_id LowCardinality(String) DEFAULT 'unknown',
    title String DEFAULT '' CODEC(ZSTD(3)),
    completed_at DateTime64(3, 'UTC') DEFAULT 0,
    requested_at DateTime64(3, 'UTC') DEFAULT 0,
    deadline_at Nullable(DateTime64(3, 'UTC')),
    decision_id String DEFAULT '',
    action LowCardinality(String) DEFAULT '',
    decided_by LowCardinality(String) DEFAULT '',
    decided_at Nullable(DateTime64(3, 'UTC'))
)
ENGINE = ReplacingMergeTree(rank)
ORDER BY review_id
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000;

-- Every decision, vote and second review, whatever became of it: final, late, vote, second.
CREATE TABLE IF NOT EXISTS {database}.review_decisions
(
    review_id String,
    decision_id String,
    answer_id String,
    tenant LowCardinality(String),
    ruling LowCardinality(String),
    action LowCardinality(String),
    decided_by LowCardinality(String),
    reason LowCardinality(String) DEFAULT '',
    review_duration Float64,
    model_id LowCardinality(String) DEFAULT 'unknown',
    decided_at DateTime64(3, 'UTC'),
    decision String CODEC(ZSTD(3)),
    received_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree(received_at)
ORDER BY (review_id, decision_id)
SETTINGS non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS {database}.review_events
(
    review_id String,
    event_id String,
    answer_id String,
    tenant LowCardinality(String),
    kind LowCardinality(String),
    reviewer LowCardinality(String),
    queue LowCardinality(String) DEFAULT '',
    deadline_at Nullable(DateTime64(3, 'UTC')),
    occurred_at DateTime64(3, 'UTC'),
    received_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree(received_at)
ORDER BY (review_id, event_id)
SETTINGS non_replicated_deduplication_window = 1000;
