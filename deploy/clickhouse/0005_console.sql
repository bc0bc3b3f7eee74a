-- What the console asks for: one citation by its identifier, one answer by its identifier, and
-- who looked at what.

-- A citation by its identifier, sorted by it: among a million rows a skipping index reads several
-- granules of every part and costs three times as much. All that is shown of it is one column of JSON: sixteen
-- columns are sixteen reads, and cost as much again as finding the row.
CREATE TABLE IF NOT EXISTS {database}.citations_by_id
(
    citation_id String,
    run LowCardinality(String) DEFAULT 'live',
    tenant LowCardinality(String),
    answer_id String,
    rank UInt32,
    completed_at DateTime64(3, 'UTC'),
    detail String CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree(rank)
ORDER BY (citation_id, run, tenant)
SETTINGS index_granularity = 512, non_replicated_deduplication_window = 1000;

CREATE MATERIALIZED VIEW IF NOT EXISTS {database}.citations_to_citations_by_id TO {database}.citations_by_id AS
SELECT
    citation_id, run, tenant, answer_id, rank, completed_at,
    toJSONString(CAST(
        (
            chunk_id, source_type, source_name, source_path, source_table, record_id, memory_id, entity,
            display_text, source_digest, last_updated, created_at, source_event, learned_at, excerpt, confidence
        ),
        'Tuple(
            chunk_id String, source_type String, source_name String, source_path String, source_table String,
            record_id String, memory_id String, entity String, display_text String, source_digest String,
            last_updated Nullable(DateTime64(3, \'UTC\')), created_at Nullable(DateTime64(3, \'UTC\')),
            source_event String, learned_at Nullable(DateTime64(3, \'UTC\')), excerpt String, confidence
            Nullable(Float64)
        )'
    )) AS detail
FROM {database}.citations WHERE valid;

-- What is there already: a row that is inserted again replaces itself, and passes the view. In blocks of the
-- size that a sink sends, since JSON of a million rows at once takes more memory than a query may have.
INSERT INTO {database}.citations SELECT * FROM {database}.citations WHERE valid
SETTINGS insert_deduplicate = 0, max_partitions_per_insert_block = 0, min_insert_block_size_rows = 50000,
    min_insert_block_size_bytes = 50000000;

ALTER TABLE {database}.answers ADD INDEX IF NOT EXISTS by_answer answer_id TYPE bloom_filter(0.001) GRANULARITY 1;

-- The overview counts by the time of the judgement, which grows with every part.
ALTER TABLE {database}.answers ADD INDEX IF NOT EXISTS by_enriched enriched_at TYPE minmax GRANULARITY 1;

ALTER TABLE {database}.citations ADD INDEX IF NOT EXISTS by_answer answer_id TYPE bloom_filter(0.001) GRANULARITY 1;

-- Who was shown which answers. Never replaced.
CREATE TABLE IF NOT EXISTS {database}.accesses
(
    access_id String,
    at DateTime64(3, 'UTC'),
    who LowCardinality(String),
    via LowCardinality(String),
    what LowCardinality(String),
    tenant LowCardinality(String),
    answers Array(String)
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(at)
ORDER BY (at, access_id)
SETTINGS non_replicated_deduplication_window = 1000;
