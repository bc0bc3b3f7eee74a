-- What operators and auditors ask for beside the answers: alerts and dead letters.

CREATE TABLE IF NOT EXISTS {database}.alerts
(
    tenant LowCardinality(String),
    alert_id String,
    answer_id String,
    rank UInt32,
    alert_type LowCardinality(String),
    severity LowCardinality(String),
    message String,
    metadata String,
    completed_at DateTime64(3, 'UTC'),
    raised_at DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(rank)
PARTITION BY toYYYYMM(completed_at)
ORDER BY (tenant, toDate(completed_at), alert_id)
SETTINGS non_replicated_deduplication_window = 1000;

-- The agent writes revision 0, however often the letter comes; each requeueing adds one. Key and
-- value are null where the record has none, and empty where they are empty; headers are a
-- JSON list of [name, base64 or null] in their order.
CREATE TABLE IF NOT EXISTS {database}.dead_letters
(
    dead_letter_id String,
    topic LowCardinality(String),
    partition UInt32,
    offset UInt64,
    agent LowCardinality(String),
    error_class LowCardinality(String),
    error String,
    attempts UInt32,
    failed_at DateTime64(3, 'UTC'),
    pipeline_version LowCardinality(String),
    key_base64 Nullable(String) CODEC(ZSTD(3)),
    value_base64 Nullable(String) CODEC(ZSTD(3)),
    headers String CODEC(ZSTD(3)),
    value_omitted Nullable(UInt64),
    value_sha256 Nullable(String),
    revision UInt32 DEFAULT 0,
    requeued_at Nullable(DateTime64(3, 'UTC')),
    requeue_count UInt32 DEFAULT 0
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (topic, agent, dead_letter_id)
SETTINGS non_replicated_deduplication_window = 1000;
