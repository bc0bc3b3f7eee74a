-- Answers, claims, citations, their sources and audit, and reviews.
--
-- ReplacingMergeTree(rank): a repeat of a row replaces it, whatever the order of arrival.
-- The sort key holds only values of the event, so a repeat has the same key; rank prefers a
-- complete result to a degraded one. Read with FINAL.

CREATE TABLE IF NOT EXISTS {database}.answers
(
    tenant LowCardinality(String),
    answer_id String,
    run LowCardinality(String) DEFAULT 'live',
    pipeline_version LowCardinality(String),
    rank UInt32,
    session_id String DEFAULT '',
    user_id String DEFAULT '',
    query String CODEC(ZSTD(3)),
    answer String CODEC(ZSTD(3)),
    content String CODEC(ZSTD(3)),
    query_type LowCardinality(String) DEFAULT '',
    model_id LowCardinality(String) DEFAULT 'unknown',
    model_provider LowCardinality(String) DEFAULT '',
    prompt_version LowCardinality(String) DEFAULT '',
    risk_mode LowCardinality(String),
    status LowCardinality(String),
    error String DEFAULT '',
    contexts UInt16,
    requested_at Nullable(DateTime64(3, 'UTC')),
    completed_at DateTime64(3, 'UTC'),
    latency_seconds Nullable(Float64),
    prompt_tokens Nullable(UInt32),
    completion_tokens Nullable(UInt32),
    trace_id String DEFAULT '',
    hallucination_risk LowCardinality(Nullable(String)),
    risk_score Nullable(Float64),
    grounding_score Nullable(Float64),
    context_similarity Nullable(Float64),
    facts_verified Nullable(Float64),
    citation_coverage Nullable(Float64),
    citations_valid Nullable(Bool),
    quality_score Nullable(Float64),
    passes_validation Nullable(Bool),
    gate_score Nullable(Float64),
    faithfulness Nullable(Float64),
    relevance Nullable(Float64),
    correctness Nullable(Float64),
    coverage Nullable(Float64),
    consistency Nullable(Float64),
    freshness Nullable(Float64),
    traceability Nullable(Float64),
    signals Array(LowCardinality(String)),
    issues Array(LowCardinality(String)),
    claims_total UInt32,
    claims_supported UInt32,
    claims_contradicted UInt32,
    claims_unsupported UInt32,
    state LowCardinality(String),
    reasons Array(LowCardinality(String)),
    review Bool,
    degraded Bool,
    missing Array(LowCardinality(String)),
    citations_seconds Nullable(Float64),
    grounding_seconds Nullable(Float64),
    quality_seconds Nullable(Float64),
    answer_partition UInt32,
    answer_offset UInt64,
    enriched_at DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(rank)
PARTITION BY toYYYYMM(completed_at)
ORDER BY (tenant, toDate(completed_at), answer_id, run)
SETTINGS non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS {database}.claims
(
    tenant LowCardinality(String),
    answer_id String,
    run LowCardinality(String) DEFAULT 'live',
    claim_id String,
    pipeline_version LowCardinality(String),
    rank UInt32,
    completed_at DateTime64(3, 'UTC'),
    start UInt32,
    end UInt32,
    text String CODEC(ZSTD(3)),
    kind LowCardinality(String),
    hedged Bool,
    verdict LowCardinality(String),
    score Nullable(Float64),
    mismatches Array(LowCardinality(String)),
    chunk_id String DEFAULT '',
    evidence_start Nullable(UInt32),
    evidence_end Nullable(UInt32),
    evidence String DEFAULT '' CODEC(ZSTD(3)),
    source_digest String DEFAULT '',
    cited_numbers Array(UInt16),
    primary_number Nullable(UInt16),
    redundant_numbers Array(UInt16),
    proposed_numbers Array(UInt16),
    cited_unsupported Array(UInt16),
    better_number Nullable(UInt16),
    conflicting Bool DEFAULT false,
    similarity Nullable(Float64),
    model_id LowCardinality(String) DEFAULT 'unknown'
)
ENGINE = ReplacingMergeTree(rank)
PARTITION BY toYYYYMM(completed_at)
ORDER BY (tenant, toDate(completed_at), answer_id, run, claim_id)
SETTINGS non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS {database}.citations
(
    tenant LowCardinality(String),
    answer_id String,
    run LowCardinality(String) DEFAULT 'live',
    citation_id String,
    pipeline_version LowCardinality(String),
    rank UInt32,
    completed_at DateTime64(3, 'UTC'),
    valid Bool,
    marker String DEFAULT '',
    reason LowCardinality(String) DEFAULT '',
    number Nullable(UInt32),
    chunk_id String DEFAULT '',
    source_type LowCardinality(String) DEFAULT '',
    source_name String DEFAULT '',
    source_path String DEFAULT '',
    source_table LowCardinality(String) DEFAULT '',
    record_id String DEFAULT '',
    memory_id String DEFAULT '',
    entity String DEFAULT '',
    display_text String DEFAULT '',
    source_digest String DEFAULT '',
    last_updated Nullable(DateTime64(3, 'UTC')),
    created_at Nullable(DateTime64(3, 'UTC')),
    source_event String DEFAULT '',
    learned_at Nullable(DateTime64(3, 'UTC')),
    spans Array(Tuple(UInt32, UInt32)),
    excerpt String DEFAULT '' CODEC(ZSTD(3)),
    confidence Nullable(Float64),
    forms Array(LowCardinality(String)),
    model_id LowCardinality(String) DEFAULT 'unknown',
    -- Sorted for looking a source up by its record; indices for a citation and for a content. By
    -- year, since a look-up does not know the day and every partition costs it a few milliseconds.
    INDEX by_citation citation_id TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX by_digest source_digest TYPE bloom_filter(0.001) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(rank)
PARTITION BY toYear(completed_at)
ORDER BY (tenant, record_id, citation_id, run)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000;

-- What a citation or a claim's evidence rested on, once for each content: a record that changes
-- later gets a row of its own, and an old citation still shows what it cited then.
CREATE TABLE IF NOT EXISTS {database}.sources
(
    tenant LowCardinality(String),
    source_digest String,
    rank UInt32 DEFAULT 1,
    content String CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree(rank)
ORDER BY (tenant, source_digest)
SETTINGS index_granularity = 256, non_replicated_deduplication_window = 1000;

-- The audit of seed 004: every answer with its citations, as JSON of the seed's Citation.
CREATE TABLE IF NOT EXISTS {database}.citation_logs
(
    tenant LowCardinality(String),
    response_id String,
    run LowCardinality(String) DEFAULT 'live',
    pipeline_version LowCardinality(String),
    rank UInt32,
    user_id String DEFAULT '',
    session_id String DEFAULT '',
    query_text String CODEC(ZSTD(3)),
    response_text String CODEC(ZSTD(3)),
    citations String CODEC(ZSTD(3)),
    citation_count UInt32,
    invalid_references String CODEC(ZSTD(3)),
    grounding_score Nullable(Float64),
    recommendation_coverage Nullable(Float64),
    ungrounded_claims String CODEC(ZSTD(3)),
    state LowCardinality(String),
    response_seconds Nullable(Float64),
    grounding_seconds Nullable(Float64),
    completed_at DateTime64(3, 'UTC'),
    validated_at Nullable(DateTime64(3, 'UTC')),
    created_at DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(rank)
PARTITION BY toYYYYMM(completed_at)
ORDER BY (tenant, toDate(completed_at), response_id, run)
SETTINGS non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS {database}.reviews
(
    tenant LowCardinality(String),
    review_id String,
    answer_id String,
    pipeline_version LowCardinality(String),
    rank UInt32,
    state LowCardinality(String),
    held Bool,
    risk_mode LowCardinality(String),
    reasons Array(LowCardinality(String)),
    hallucination_risk LowCardinality(Nullable(String)),
    grounding_score Nullable(Float64),
    gate_score Nullable(Float64),
    priority Float64,
    model_id LowCardinality(String) DEFAULT 'unknown',
    query String CODEC(ZSTD(3)),
    answer String CODEC(ZSTD(3)),
    completed_at DateTime64(3, 'UTC'),
    requested_at DateTime64(3, 'UTC'),
    deadline_at Nullable(DateTime64(3, 'UTC')),
    decided_at Nullable(DateTime64(3, 'UTC')),
    decided_by LowCardinality(String) DEFAULT '',
    action LowCardinality(String) DEFAULT ''
)
ENGINE = ReplacingMergeTree(rank)
PARTITION BY toYYYYMM(completed_at)
ORDER BY (tenant, toDate(completed_at), review_id)
SETTINGS non_replicated_deduplication_window = 1000;
