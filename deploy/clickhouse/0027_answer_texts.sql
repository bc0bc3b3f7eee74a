-- Every evaluated text of an answer. A second text under the same identifier replaces the row in `answers`; what readers
-- were shown before, and what a reviewer decided on, stays here. docs/decisions/0116 has the reasons.
-- Oldest worker: 18

-- The time of the evaluation is part of the key: the same text may come back after another one.
CREATE TABLE IF NOT EXISTS {database}.answer_texts
(
    tenant LowCardinality(String),
    answer_id String,
    enriched_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    completed_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    rank UInt32,
    text_key UInt64,
    model_id LowCardinality(String) DEFAULT 'unknown',
    pipeline_version LowCardinality(String),
    state LowCardinality(String),
    reasons Array(LowCardinality(String)),
    content String CODEC(ZSTD(3)),
    hallucination_risk LowCardinality(Nullable(String)),
    grounding_score Nullable(Float64) CODEC(ZSTD(1)),
    grounding_minimum Nullable(Float64) CODEC(ZSTD(1)),
    gate_score Nullable(Float64) CODEC(ZSTD(1)),
    gate_minimum Nullable(Float64) CODEC(ZSTD(1)),
    claims_total UInt32,
    claims_supported UInt32,
    claims_contradicted UInt32,
    claims_unsupported UInt32
)
ENGINE = ReplacingMergeTree(rank)
PARTITION BY toYear(completed_at)
ORDER BY (tenant, answer_id, enriched_at)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000;

CREATE MATERIALIZED VIEW IF NOT EXISTS {database}.answer_texts_of_answers TO {database}.answer_texts AS
SELECT
    tenant, answer_id, enriched_at, completed_at, rank, sipHash64(answer) AS text_key, model_id, pipeline_version, state, reasons, content, hallucination_risk,
    grounding_score, grounding_minimum, gate_score, gate_minimum, claims_total, claims_supported, claims_contradicted,
    claims_unsupported
FROM {database}.answers WHERE run = 'live';

INSERT INTO {database}.answer_texts
SELECT
    tenant, answer_id, enriched_at, completed_at, rank, sipHash64(answer) AS text_key, model_id, pipeline_version, state, reasons, content, hallucination_risk,
    grounding_score, grounding_minimum, gate_score, gate_minimum, claims_total, claims_supported, claims_contradicted,
    claims_unsupported
FROM {database}.answers FINAL WHERE run = 'live' SETTINGS insert_deduplicate = 0, max_partitions_per_insert_block = 0;

-- The time of the evaluation that found a claim: claims of an earlier text stay at places where the later one has none.
ALTER TABLE {database}.claims ADD COLUMN IF NOT EXISTS enriched_at DateTime64(3, 'UTC') DEFAULT 0 CODEC(Delta, ZSTD(1));

-- Text and release that a decision was made on, as JSON; empty for earlier decisions and for votes.
ALTER TABLE {database}.review_decisions ADD COLUMN IF NOT EXISTS request String DEFAULT '' CODEC(ZSTD(3));
