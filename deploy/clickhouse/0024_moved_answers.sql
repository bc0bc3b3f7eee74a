-- An answer that comes again with a completion time in another hour counts in the hour of its newest revision alone.
-- Facts stay as the rows came in. `answer_places` has each hour of an answer with its newest revision there, and
-- `answer_moves` the hours of answers that have several. A refresh of `answer_moves` looks at what came in since the last one,
-- and the figures leave out what has moved. docs/decisions/0078 has the reasons.
-- Oldest worker: 18

-- revision: the rank in the upper 16 bits, the time of the evaluation in milliseconds in the others. Sorted for looking an
-- answer up, and by year, since a look-up does not know the hour and each partition costs it a read.
CREATE TABLE IF NOT EXISTS {database}.answer_places
(
    tenant LowCardinality(String),
    run LowCardinality(String),
    answer_key UInt64,
    hour DateTime('UTC') CODEC(Delta, ZSTD(1)),
    revision UInt64 CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(revision)
PARTITION BY toYear(hour)
ORDER BY (tenant, run, answer_key, hour)
SETTINGS index_granularity = 1024;

CREATE MATERIALIZED VIEW IF NOT EXISTS {database}.answer_places_of_answers TO {database}.answer_places AS
SELECT
    tenant, run, sipHash64(answer_id) AS answer_key, toStartOfHour(completed_at) AS hour,
    bitShiftLeft(toUInt64(rank), 48) + toUInt64(toUnixTimestamp64Milli(enriched_at)) AS revision
FROM {database}.answers;

-- Answers from before the table. Seconds are less than any milliseconds: a revision of which the time is known is newer.
INSERT INTO {database}.answer_places
SELECT tenant, run, answer_key, hour, bitShiftLeft(toUInt64(rank), 48) + toUnixTimestamp(inserted_at)
FROM {database}.answer_facts SETTINGS insert_deduplicate = 0, max_partitions_per_insert_block = 0;

-- A row without a tenant says when a refresh has looked last; the hour keeps it within the retention.
CREATE TABLE IF NOT EXISTS {database}.answer_moves
(
    tenant LowCardinality(String),
    run LowCardinality(String),
    hour DateTime('UTC') CODEC(Delta, ZSTD(1)),
    answer_key UInt64,
    moved Bool,
    computed_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(computed_at)
PARTITION BY toYYYYMM(hour)
ORDER BY (tenant, run, hour, answer_key);

INSERT INTO {database}.answer_moves
SELECT tenant, run, arrayJoin(hours) AS hour, answer_key, hour != newest AS moved, now64(3, 'UTC') AS computed_at
FROM (
    SELECT tenant, run, answer_key, groupUniqArray(hour) AS hours, argMax(hour, (revision, hour)) AS newest
    FROM {database}.answer_places GROUP BY tenant, run, answer_key HAVING length(hours) > 1
)
UNION ALL SELECT '', '', toStartOfHour(now('UTC')), 0, false, now64(3, 'UTC')
SETTINGS insert_deduplicate = 0, max_partitions_per_insert_block = 0, optimize_aggregation_in_order = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS {database}.answer_moves_refresh
REFRESH EVERY 1 MINUTE APPEND TO {database}.answer_moves AS
SELECT tenant, run, arrayJoin(hours) AS hour, answer_key, hour != newest AS moved, now64(3, 'UTC') AS computed_at
FROM (
    SELECT tenant, run, answer_key, groupUniqArray(hour) AS hours, argMax(hour, (revision, hour)) AS newest
    FROM {database}.answer_places
    WHERE (tenant, run, answer_key) IN (
        SELECT tenant, run, answer_key FROM {database}.answer_facts
        WHERE inserted_at > (SELECT max(computed_at) FROM {database}.answer_moves) - toIntervalMinute(2)
    )
    GROUP BY tenant, run, answer_key
    HAVING length(hours) > 1
)
UNION ALL SELECT '', '', toStartOfHour(now('UTC')), 0, false, now64(3, 'UTC');

ALTER TABLE {database}.answer_hours_refresh MODIFY QUERY
WITH
    (SELECT max(computed_at) FROM {database}.answer_hours) - toIntervalMinute(2) AS mark,
    changed AS (
        SELECT tenant, run, hour FROM {database}.answer_facts WHERE inserted_at > mark
        UNION DISTINCT
        SELECT tenant, run, hour FROM {database}.answer_moves WHERE computed_at > mark
    ),
    moved AS (SELECT tenant, run, hour, answer_key FROM {database}.answer_moves FINAL WHERE moved)
SELECT *, now64(3, 'UTC') AS computed_at
FROM (
    SELECT
        tenant, run, hour, model_id, prompt_version, query_type,
        count() AS answers, countIf(f.failed) AS failed, countIf(f.degraded) AS degraded, countIf(review) AS reviewed,
        countIf(state = 'released') AS released, countIf(state = 'warned') AS warned, countIf(state = 'held') AS held,
        countIf(state = 'fallback') AS fallback,
        countIf(hallucination_risk = 'low') AS risk_low, countIf(hallucination_risk = 'medium') AS risk_medium,
        countIf(hallucination_risk = 'high') AS risk_high,
        count(risk_score) AS risk_scored, sum(ifNull(risk_score, 0)) AS risk_sum,
        count(grounding_score) AS grounding_scored, sum(ifNull(grounding_score, 0)) AS grounding_sum,
        count(quality_score) AS quality_scored, sum(ifNull(quality_score, 0)) AS quality_sum,
        count(validation_score) AS validation_scored, sum(ifNull(validation_score, 0)) AS validation_sum,
        count(gate_score) AS gate_scored, sum(ifNull(gate_score, 0)) AS gate_sum,
        count(citation_coverage) AS coverage_scored, sum(ifNull(citation_coverage, 0)) AS coverage_sum,
        count(passes_validation) AS validated, countIf(passes_validation = true) AS passed,
        count(f.citations_valid) AS citations_judged, countIf(f.citations_valid = true) AS citations_valid,
        sum(citations_total) AS citations,
        sum(claims_total) AS claims, sum(f.claims_supported) AS claims_supported,
        sum(f.claims_contradicted) AS claims_contradicted, sum(f.claims_unsupported) AS claims_unsupported,
        countResampleIf(0, 10, 1)(least(9, toUInt8(floor(ifNull(grounding_score, 0) * 10))), grounding_score IS NOT NULL) AS grounding_histogram,
        countResampleIf(0, 10, 1)(least(9, toUInt8(floor(ifNull(quality_score, 0) * 10))), quality_score IS NOT NULL) AS quality_histogram,
        countResampleIf(0, 10, 1)(least(9, toUInt8(floor(ifNull(risk_score, 0) * 10))), risk_score IS NOT NULL) AS risk_histogram,
        sumMap(CAST(arrayMap(name -> (name, toUInt64(1)), f.signals), 'Map(String, UInt64)')) AS signals,
        sumMap(CAST(arrayMap(name -> (name, toUInt64(1)), f.issues), 'Map(String, UInt64)')) AS issues,
        sumMap(CAST(arrayMap(name -> (name, toUInt64(1)), f.reasons), 'Map(String, UInt64)')) AS reasons,
        sumMap(CAST(arrayMap(name -> (name, toUInt64(1)), f.invalid_references), 'Map(String, UInt64)')) AS invalid_references
    FROM {database}.answer_facts AS f FINAL
    WHERE (tenant, run, hour) IN (SELECT tenant, run, hour FROM changed)
      AND (tenant, run, hour, answer_key) NOT IN (SELECT tenant, run, hour, answer_key FROM moved)
    GROUP BY tenant, run, hour, model_id, prompt_version, query_type
) AS found
FULL JOIN (
    SELECT DISTINCT tenant, run, hour, model_id, prompt_version, query_type FROM {database}.answer_hours
    WHERE (tenant, run, hour) IN (SELECT tenant, run, hour FROM changed)
) AS known USING (tenant, run, hour, model_id, prompt_version, query_type);

ALTER TABLE {database}.source_hours_refresh MODIFY QUERY
WITH
    (SELECT max(computed_at) FROM {database}.source_hours) - toIntervalMinute(2) AS mark,
    changed AS (
        SELECT tenant, run, hour FROM {database}.answer_facts WHERE inserted_at > mark
        UNION DISTINCT
        SELECT tenant, run, hour FROM {database}.answer_moves WHERE computed_at > mark
    ),
    moved AS (SELECT tenant, run, hour, answer_key FROM {database}.answer_moves FINAL WHERE moved)
SELECT *, now64(3, 'UTC') AS computed_at
FROM (
    SELECT
        tenant, run, hour, source,
        count() AS answers, sum(cited) AS citations, sum(supported) AS claims_supported,
        sum(contradicted) AS claims_contradicted, sum(unsupported) AS claims_unsupported,
        countIf(hallucination_risk = 'high') AS risk_high, countIf(hallucination_risk != '') AS risk_scored,
        count(grounding_score) AS grounding_scored, sum(ifNull(grounding_score, 0)) AS grounding_sum,
        count(quality_score) AS quality_scored, sum(ifNull(quality_score, 0)) AS quality_sum
    FROM (
        SELECT
            tenant, run, hour, hallucination_risk, grounding_score, quality_score, source_names, source_citations,
            source_supported, source_contradicted, source_unsupported
        FROM {database}.answer_facts FINAL
        WHERE (tenant, run, hour) IN (SELECT tenant, run, hour FROM changed)
          AND (tenant, run, hour, answer_key) NOT IN (SELECT tenant, run, hour, answer_key FROM moved)
    )
    LEFT ARRAY JOIN
        source_names AS source, source_citations AS cited, source_supported AS supported,
        source_contradicted AS contradicted, source_unsupported AS unsupported
    GROUP BY tenant, run, hour, source
) AS found
FULL JOIN (
    SELECT DISTINCT tenant, run, hour, source FROM {database}.source_hours
    WHERE (tenant, run, hour) IN (SELECT tenant, run, hour FROM changed)
) AS known USING (tenant, run, hour, source);

ALTER TABLE {database}.stage_hours_refresh MODIFY QUERY
WITH
    (SELECT max(computed_at) FROM {database}.stage_hours) - toIntervalMinute(2) AS mark,
    changed AS (
        SELECT tenant, run, hour FROM {database}.answer_facts WHERE inserted_at > mark
        UNION DISTINCT
        SELECT tenant, run, hour FROM {database}.answer_moves WHERE computed_at > mark
    ),
    moved AS (SELECT tenant, run, hour, answer_key FROM {database}.answer_moves FINAL WHERE moved)
SELECT *, now64(3, 'UTC') AS computed_at
FROM (
    SELECT
        tenant, run, hour, stage, count() AS answers, sum(took) AS seconds_sum,
        max(took) AS seconds_max, quantilesDDState(0.01, 0.5, 0.95, 0.99)(took) AS seconds
    FROM (
        SELECT tenant, run, hour, stage, assumeNotNull(taken) AS took
        FROM {database}.answer_facts FINAL
        ARRAY JOIN
            ['model', 'citations', 'grounding', 'quality'] AS stage,
            [latency_seconds, citations_seconds, grounding_seconds, quality_seconds] AS taken
        WHERE taken IS NOT NULL AND (tenant, run, hour) IN (SELECT tenant, run, hour FROM changed)
          AND (tenant, run, hour, answer_key) NOT IN (SELECT tenant, run, hour, answer_key FROM moved)
    )
    GROUP BY tenant, run, hour, stage
) AS found
FULL JOIN (
    SELECT DISTINCT tenant, run, hour, stage FROM {database}.stage_hours
    WHERE (tenant, run, hour) IN (SELECT tenant, run, hour FROM changed)
) AS known USING (tenant, run, hour, stage);

ALTER TABLE {database}.worst_hours_refresh MODIFY QUERY
WITH
    (SELECT max(computed_at) FROM {database}.worst_hours) - toIntervalMinute(2) AS mark,
    changed AS (
        SELECT tenant, run, hour FROM {database}.answer_facts WHERE inserted_at > mark
        UNION DISTINCT
        SELECT tenant, run, hour FROM {database}.answer_moves WHERE computed_at > mark
    ),
    moved AS (SELECT tenant, run, hour, answer_key FROM {database}.answer_moves FINAL WHERE moved)
SELECT *, now64(3, 'UTC') AS computed_at
FROM (
    SELECT
        tenant, run, hour, toUInt8(place) AS place,
        one.1 AS grounding_score, one.2 AS answer_id, one.3 AS completed_at, one.4 AS model_id, one.5 AS prompt_version,
        one.6 AS state, one.7 AS hallucination_risk, one.8 AS quality_score, one.9 AS claims_contradicted,
        one.10 AS claims_unsupported
    FROM (
        SELECT
            tenant, run, hour,
            groupArraySorted(20)((
                assumeNotNull(grounding_score), answer_id, completed_at, model_id::String, prompt_version::String,
                state::String, hallucination_risk::String, quality_score, claims_contradicted, claims_unsupported
            )) AS worst
        FROM {database}.answer_facts FINAL
        WHERE (tenant, run, hour) IN (SELECT tenant, run, hour FROM changed)
          AND (tenant, run, hour, answer_key) NOT IN (SELECT tenant, run, hour, answer_key FROM moved)
          AND grounding_score IS NOT NULL
        GROUP BY tenant, run, hour
    )
    ARRAY JOIN worst AS one, arrayEnumerate(worst) AS place
) AS found
FULL JOIN (
    SELECT DISTINCT tenant, run, hour, place FROM {database}.worst_hours
    WHERE (tenant, run, hour) IN (SELECT tenant, run, hour FROM changed)
) AS known USING (tenant, run, hour, place);

ALTER TABLE {database}.promoted_hours_refresh MODIFY QUERY
WITH
    promoted AS (SELECT run, changed_at FROM {database}.promotions FINAL WHERE active),
    moved AS (SELECT tenant, run, hour, answer_key FROM {database}.answer_moves FINAL WHERE moved),
    lived AS (
        SELECT tenant, hour, answer_key FROM {database}.answer_facts FINAL
        WHERE run = 'live' AND (tenant, run, hour, answer_key) NOT IN (SELECT * FROM moved) AND (tenant, hour) IN (
            SELECT tenant, hour FROM {database}.answer_facts WHERE run IN (SELECT run FROM promoted)
        )
    )
SELECT tenant, hour, argMax(name, changed_at) AS run
FROM (
    SELECT tenant, hour, f.run AS name, countIf((tenant, hour, answer_key) IN (SELECT tenant, hour, answer_key FROM lived)) AS judged
    FROM {database}.answer_facts AS f FINAL
    WHERE f.run IN (SELECT run FROM promoted) AND (tenant, f.run, hour, answer_key) NOT IN (SELECT * FROM moved)
    GROUP BY tenant, hour, name
) AS replayed
INNER JOIN (SELECT run AS name, changed_at FROM promoted) AS p USING (name)
LEFT JOIN (SELECT tenant, hour, count() AS live FROM lived GROUP BY tenant, hour) AS l USING (tenant, hour)
WHERE judged >= live
GROUP BY tenant, hour;
