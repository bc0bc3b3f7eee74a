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
    key_base64 String CODEC(ZSTD(3)),
    value_base64 String CODEC(ZSTD(3)),
    headers String CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree(failed_at)
ORDER BY (topic, agent, dead_letter_id)
SETTINGS non_replicated_deduplication_window = 1000;
