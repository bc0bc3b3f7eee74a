-- Scores of evaluator plug-ins. The score of an evaluator itself has the name 'score' and holds explanation and
-- details; its further scores have names of their own. rank is 1 for a missing report, 2 for a failed one, 3 for a
-- skipped one and 4 for a good one, so that a report that comes late replaces the note that it was missing.

CREATE TABLE IF NOT EXISTS {database}.scores
(
    tenant LowCardinality(String),
    answer_id String,
    run LowCardinality(String) DEFAULT 'live',
    evaluator LowCardinality(String),
    name String,
    pipeline_version LowCardinality(String),
    rank UInt32,
    completed_at DateTime64(3, 'UTC'),
    status LowCardinality(String),
    value Nullable(Float64),
    reason String DEFAULT '' CODEC(ZSTD(3)),
    explanation String DEFAULT '' CODEC(ZSTD(3)),
    details String DEFAULT '' CODEC(ZSTD(3)),
    seconds Nullable(Float64),
    judged_at DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(rank)
PARTITION BY toYYYYMM(completed_at)
ORDER BY (tenant, toDate(completed_at), answer_id, run, evaluator, name)
SETTINGS non_replicated_deduplication_window = 1000;
