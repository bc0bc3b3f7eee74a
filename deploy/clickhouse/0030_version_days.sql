-- The days on which answers of a tenant were decided by a pipeline version, with the first and the last time. Answers are
-- kept for a shorter time than decisions on them; a row here has no text and stays. docs/decisions/0124 has the reasons.
-- Oldest worker: 18

-- A repeat of an answer changes neither minimum nor maximum.
CREATE TABLE IF NOT EXISTS {database}.version_days
(
    tenant LowCardinality(String),
    pipeline_version LowCardinality(String),
    day Date,
    first_at SimpleAggregateFunction(min, DateTime64(3, 'UTC')),
    last_at SimpleAggregateFunction(max, DateTime64(3, 'UTC'))
)
ENGINE = AggregatingMergeTree
ORDER BY (tenant, pipeline_version, day)
SETTINGS non_replicated_deduplication_window = 1000;

CREATE MATERIALIZED VIEW IF NOT EXISTS {database}.version_days_of_answers TO {database}.version_days AS
SELECT tenant, pipeline_version, toDate(enriched_at) AS day, min(enriched_at) AS first_at, max(enriched_at) AS last_at
FROM {database}.answers WHERE run = 'live' GROUP BY tenant, pipeline_version, day;

INSERT INTO {database}.version_days
SELECT tenant, pipeline_version, toDate(enriched_at) AS day, min(enriched_at) AS first_at, max(enriched_at) AS last_at
FROM {database}.answer_texts GROUP BY tenant, pipeline_version, day SETTINGS insert_deduplicate = 0;
