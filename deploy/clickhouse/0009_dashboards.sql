-- What dashboards read: narrow facts, one row an answer or reward, and figures by the hour.
--
-- Facts are filled by materialised views as raw rows come in, and replace each other by the same
-- rules: a row that comes twice is one fact, a degraded one loses to a complete one. Figures by the
-- hour are never added to: a refresh takes the hours that something came in for since the last one
-- (and two minutes before it, as an insert shows some time after it has begun), reads all their facts
-- and writes the whole hour anew, with zeros for what is there no longer. So no repeat, replay or late
-- row can count twice. Read both with FINAL. docs/decisions/0016 has the measurements.
--
-- All keys lead with tenant and run: a replay has hours of its own.

ALTER TABLE {database}.answers
    ADD COLUMN IF NOT EXISTS validation_score Nullable(Float64) AFTER passes_validation,
    ADD COLUMN IF NOT EXISTS citations_total UInt16 AFTER claims_unsupported,
    ADD COLUMN IF NOT EXISTS invalid_references Array(LowCardinality(String)) AFTER citations_total,
    ADD COLUMN IF NOT EXISTS source_names Array(LowCardinality(String)) AFTER invalid_references,
    ADD COLUMN IF NOT EXISTS source_citations Array(UInt16) AFTER source_names,
    ADD COLUMN IF NOT EXISTS source_supported Array(UInt16) AFTER source_citations,
    ADD COLUMN IF NOT EXISTS source_contradicted Array(UInt16) AFTER source_supported,
    ADD COLUMN IF NOT EXISTS source_unsupported Array(UInt16) AFTER source_contradicted;

CREATE TABLE IF NOT EXISTS {database}.answer_facts
(
    tenant LowCardinality(String),
    run LowCardinality(String),
    hour DateTime('UTC') CODEC(Delta, ZSTD(1)),
    answer_key UInt64,
    rank UInt32,
    inserted_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    answer_id String CODEC(ZSTD(1)),
    completed_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    model_id LowCardinality(String),
    prompt_version LowCardinality(String),
    query_type LowCardinality(String),
    state LowCardinality(String),
    failed Bool,
    degraded Bool,
    review Bool,
    hallucination_risk LowCardinality(String),
    risk_score Nullable(Float64) CODEC(ZSTD(1)),
    grounding_score Nullable(Float64) CODEC(ZSTD(1)),
    quality_score Nullable(Float64) CODEC(ZSTD(1)),
    validation_score Nullable(Float64) CODEC(ZSTD(1)),
    gate_score Nullable(Float64) CODEC(ZSTD(1)),
    citation_coverage Nullable(Float64) CODEC(ZSTD(1)),
    passes_validation Nullable(Bool),
    citations_valid Nullable(Bool),
    citations_total UInt16,
    invalid_references Array(LowCardinality(String)),
    claims_total UInt32,
    claims_supported UInt32,
    claims_contradicted UInt32,
    claims_unsupported UInt32,
    signals Array(LowCardinality(String)),
    issues Array(LowCardinality(String)),
    reasons Array(LowCardinality(String)),
    source_names Array(LowCardinality(String)),
    source_citations Array(UInt16),
    source_supported Array(UInt16),
    source_contradicted Array(UInt16),
    source_unsupported Array(UInt16),
    latency_seconds Nullable(Float64) CODEC(ZSTD(1)),
    citations_seconds Nullable(Float64) CODEC(ZSTD(1)),
    grounding_seconds Nullable(Float64) CODEC(ZSTD(1)),
    quality_seconds Nullable(Float64) CODEC(ZSTD(1)),
    -- What came in since the last refresh is found without reading the rest.
    INDEX by_inserted inserted_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(rank)
PARTITION BY toYYYYMM(hour)
ORDER BY (tenant, run, hour, answer_key);

CREATE MATERIALIZED VIEW IF NOT EXISTS {database}.answer_facts_of_answers TO {database}.answer_facts AS
SELECT
    tenant, run, toStartOfHour(completed_at) AS hour, sipHash64(answer_id) AS answer_key, rank,
    now64(3, 'UTC') AS inserted_at, answer_id, completed_at, model_id, prompt_version, query_type, state,
    status = 'error' AS failed, degraded, review, ifNull(hallucination_risk, '') AS hallucination_risk,
    risk_score, grounding_score, quality_score, validation_score, gate_score, citation_coverage,
    passes_validation, citations_valid, citations_total, invalid_references,
    claims_total, claims_supported, claims_contradicted, claims_unsupported, signals, issues, reasons,
    source_names, source_citations, source_supported, source_contradicted, source_unsupported,
    latency_seconds, citations_seconds, grounding_seconds, quality_seconds
FROM {database}.answers;

-- Figures of answers by model, prompt version and query type. *_scored count the answers that have
-- the score; the histograms have ten bins of 0.1, the last one closed.
CREATE TABLE IF NOT EXISTS {database}.answer_hours
(
    tenant LowCardinality(String),
    run LowCardinality(String),
    hour DateTime('UTC') CODEC(Delta, ZSTD(1)),
    model_id LowCardinality(String),
    prompt_version LowCardinality(String),
    query_type LowCardinality(String),
    computed_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    answers UInt64,
    failed UInt64,
    degraded UInt64,
    reviewed UInt64,
    released UInt64,
    warned UInt64,
    held UInt64,
    fallback UInt64,
    risk_low UInt64,
    risk_medium UInt64,
    risk_high UInt64,
    risk_scored UInt64,
    risk_sum Float64,
    grounding_scored UInt64,
    grounding_sum Float64,
    quality_scored UInt64,
    quality_sum Float64,
    validation_scored UInt64,
    validation_sum Float64,
    gate_scored UInt64,
    gate_sum Float64,
    coverage_scored UInt64,
    coverage_sum Float64,
    validated UInt64,
    passed UInt64,
    citations_judged UInt64,
    citations_valid UInt64,
    citations UInt64,
    claims UInt64,
    claims_supported UInt64,
    claims_contradicted UInt64,
    claims_unsupported UInt64,
    grounding_histogram Array(UInt64),
    quality_histogram Array(UInt64),
    risk_histogram Array(UInt64),
    signals Map(LowCardinality(String), UInt64),
    issues Map(LowCardinality(String), UInt64),
    reasons Map(LowCardinality(String), UInt64),
    invalid_references Map(LowCardinality(String), UInt64)
)
ENGINE = ReplacingMergeTree(computed_at)
PARTITION BY toYYYYMM(hour)
ORDER BY (tenant, run, hour, model_id, prompt_version, query_type);

CREATE MATERIALIZED VIEW IF NOT EXISTS {database}.answer_hours_refresh
REFRESH EVERY 1 MINUTE APPEND TO {database}.answer_hours AS
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
    WHERE (tenant, run, hour) IN (
        SELECT DISTINCT tenant, run, hour FROM {database}.answer_facts
        WHERE inserted_at > (SELECT max(computed_at) FROM {database}.answer_hours) - toIntervalMinute(2)
    )
    GROUP BY tenant, run, hour, model_id, prompt_version, query_type
) AS found
FULL JOIN (
    SELECT DISTINCT tenant, run, hour, model_id, prompt_version, query_type FROM {database}.answer_hours
    WHERE (tenant, run, hour) IN (
        SELECT DISTINCT tenant, run, hour FROM {database}.answer_facts
        WHERE inserted_at > (SELECT max(computed_at) FROM {database}.answer_hours) - toIntervalMinute(2)
    )
) AS known USING (tenant, run, hour, model_id, prompt_version, query_type);

-- Figures of sources: what cites them, and what becomes of the claims that rest on them; the source
-- without a name stands for the answers that rest on none.
CREATE TABLE IF NOT EXISTS {database}.source_hours
(
    tenant LowCardinality(String),
    run LowCardinality(String),
    hour DateTime('UTC') CODEC(Delta, ZSTD(1)),
    source LowCardinality(String),
    computed_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    answers UInt64,
    citations UInt64,
    claims_supported UInt64,
    claims_contradicted UInt64,
    claims_unsupported UInt64,
    risk_high UInt64,
    grounding_scored UInt64,
    grounding_sum Float64,
    quality_scored UInt64,
    quality_sum Float64
)
ENGINE = ReplacingMergeTree(computed_at)
PARTITION BY toYYYYMM(hour)
ORDER BY (tenant, run, hour, source);

CREATE MATERIALIZED VIEW IF NOT EXISTS {database}.source_hours_refresh
REFRESH EVERY 1 MINUTE APPEND TO {database}.source_hours AS
SELECT *, now64(3, 'UTC') AS computed_at
FROM (
    SELECT
        tenant, run, hour, source,
        count() AS answers, sum(cited) AS citations, sum(supported) AS claims_supported,
        sum(contradicted) AS claims_contradicted, sum(unsupported) AS claims_unsupported,
        countIf(hallucination_risk = 'high') AS risk_high,
        count(grounding_score) AS grounding_scored, sum(ifNull(grounding_score, 0)) AS grounding_sum,
        count(quality_score) AS quality_scored, sum(ifNull(quality_score, 0)) AS quality_sum
    FROM (
        SELECT
            tenant, run, hour, hallucination_risk, grounding_score, quality_score, source_names, source_citations,
            source_supported, source_contradicted, source_unsupported
        FROM {database}.answer_facts FINAL
        WHERE (tenant, run, hour) IN (
            SELECT DISTINCT tenant, run, hour FROM {database}.answer_facts
            WHERE inserted_at > (SELECT max(computed_at) FROM {database}.source_hours) - toIntervalMinute(2)
        )
    )
    LEFT ARRAY JOIN
        source_names AS source, source_citations AS cited, source_supported AS supported,
        source_contradicted AS contradicted, source_unsupported AS unsupported
    GROUP BY tenant, run, hour, source
) AS found
FULL JOIN (
    SELECT DISTINCT tenant, run, hour, source FROM {database}.source_hours
    WHERE (tenant, run, hour) IN (
        SELECT DISTINCT tenant, run, hour FROM {database}.answer_facts
        WHERE inserted_at > (SELECT max(computed_at) FROM {database}.source_hours) - toIntervalMinute(2)
    )
) AS known USING (tenant, run, hour, source);

-- How long each stage took for an answer; the quantiles are right to two percent.
CREATE TABLE IF NOT EXISTS {database}.stage_hours
(
    tenant LowCardinality(String),
    run LowCardinality(String),
    hour DateTime('UTC') CODEC(Delta, ZSTD(1)),
    stage LowCardinality(String),
    computed_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    answers UInt64,
    seconds_sum Float64,
    seconds_max Float64,
    seconds AggregateFunction(quantilesDD(0.01, 0.5, 0.95, 0.99), Float64)
)
ENGINE = ReplacingMergeTree(computed_at)
PARTITION BY toYYYYMM(hour)
ORDER BY (tenant, run, hour, stage);

CREATE MATERIALIZED VIEW IF NOT EXISTS {database}.stage_hours_refresh
REFRESH EVERY 1 MINUTE APPEND TO {database}.stage_hours AS
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
        WHERE taken IS NOT NULL AND (tenant, run, hour) IN (
            SELECT DISTINCT tenant, run, hour FROM {database}.answer_facts
            WHERE inserted_at > (SELECT max(computed_at) FROM {database}.stage_hours) - toIntervalMinute(2)
        )
    )
    GROUP BY tenant, run, hour, stage
) AS found
FULL JOIN (
    SELECT DISTINCT tenant, run, hour, stage FROM {database}.stage_hours
    WHERE (tenant, run, hour) IN (
        SELECT DISTINCT tenant, run, hour FROM {database}.answer_facts
        WHERE inserted_at > (SELECT max(computed_at) FROM {database}.stage_hours) - toIntervalMinute(2)
    )
) AS known USING (tenant, run, hour, stage);

-- The twenty answers of an hour that rest on the least: so the worst twenty of any time are among them.
CREATE TABLE IF NOT EXISTS {database}.worst_hours
(
    tenant LowCardinality(String),
    run LowCardinality(String),
    hour DateTime('UTC') CODEC(Delta, ZSTD(1)),
    place UInt8,
    computed_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    answer_id String CODEC(ZSTD(1)),
    completed_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    model_id LowCardinality(String),
    prompt_version LowCardinality(String),
    state LowCardinality(String),
    hallucination_risk LowCardinality(String),
    grounding_score Float64,
    quality_score Nullable(Float64),
    claims_contradicted UInt32,
    claims_unsupported UInt32
)
ENGINE = ReplacingMergeTree(computed_at)
PARTITION BY toYYYYMM(hour)
ORDER BY (tenant, run, hour, place);

-- A place that is empty now has no answer_id.
CREATE MATERIALIZED VIEW IF NOT EXISTS {database}.worst_hours_refresh
REFRESH EVERY 1 MINUTE APPEND TO {database}.worst_hours AS
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
        WHERE (tenant, run, hour) IN (
            SELECT DISTINCT tenant, run, hour FROM {database}.answer_facts
            WHERE inserted_at > (SELECT max(computed_at) FROM {database}.worst_hours) - toIntervalMinute(2)
        ) AND grounding_score IS NOT NULL
        GROUP BY tenant, run, hour
    )
    ARRAY JOIN worst AS one, arrayEnumerate(worst) AS place
) AS found
FULL JOIN (
    SELECT DISTINCT tenant, run, hour, place FROM {database}.worst_hours
    WHERE (tenant, run, hour) IN (
        SELECT DISTINCT tenant, run, hour FROM {database}.answer_facts
        WHERE inserted_at > (SELECT max(computed_at) FROM {database}.worst_hours) - toIntervalMinute(2)
    )
) AS known USING (tenant, run, hour, place);

-- Rewards. Feedback may come before its answer, so that the first revision of a reward stands under
-- another tenant or hour than the later ones: `elsewhere` names those places, and a later revision
-- empties them.
ALTER TABLE {database}.rewards
    ADD COLUMN IF NOT EXISTS elsewhere Array(Tuple(tenant String, answered_at DateTime64(3, 'UTC')));

CREATE TABLE IF NOT EXISTS {database}.reward_facts
(
    tenant LowCardinality(String),
    hour DateTime('UTC') CODEC(Delta, ZSTD(1)),
    answer_key UInt64,
    revision UInt32,
    counts Bool,
    inserted_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    answer_id String CODEC(ZSTD(1)),
    model_id LowCardinality(String),
    query_type LowCardinality(String),
    reward Float64 CODEC(ZSTD(1)),
    explicit_reward Nullable(Float64) CODEC(ZSTD(1)),
    implicit_reward Nullable(Float64) CODEC(ZSTD(1)),
    satisfaction Nullable(Float64) CODEC(ZSTD(1)),
    retried Bool,
    failed Bool,
    latency_tolerance LowCardinality(String),
    INDEX by_inserted inserted_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
PARTITION BY toYYYYMM(hour)
ORDER BY (tenant, hour, answer_key);

CREATE MATERIALIZED VIEW IF NOT EXISTS {database}.reward_facts_of_rewards TO {database}.reward_facts AS
SELECT
    place.1 AS tenant, toStartOfHour(place.2) AS hour, sipHash64(answer_id) AS answer_key, revision,
    place.3 AS counts, now64(3, 'UTC') AS inserted_at, answer_id, model_id, query_type, reward, explicit_reward,
    implicit_reward, r.satisfaction AS satisfaction, retry_detected AS retried, error_occurred AS failed,
    ifNull(r.latency_tolerance, '') AS latency_tolerance
FROM {database}.rewards AS r
ARRAY JOIN arrayConcat(
    [(r.tenant::String, r.answered_at, true)], arrayMap(other -> (other.1, other.2, false), r.elsewhere)
) AS place;

CREATE TABLE IF NOT EXISTS {database}.reward_hours
(
    tenant LowCardinality(String),
    hour DateTime('UTC') CODEC(Delta, ZSTD(1)),
    model_id LowCardinality(String),
    query_type LowCardinality(String),
    computed_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    answers UInt64,
    reward_sum Float64,
    reward_squares Float64,
    explicit_known UInt64,
    explicit_sum Float64,
    implicit_known UInt64,
    implicit_sum Float64,
    satisfaction_known UInt64,
    satisfaction_sum Float64,
    retried UInt64,
    failed UInt64,
    latency_high UInt64,
    latency_medium UInt64,
    latency_low UInt64
)
ENGINE = ReplacingMergeTree(computed_at)
PARTITION BY toYYYYMM(hour)
ORDER BY (tenant, hour, model_id, query_type);

CREATE MATERIALIZED VIEW IF NOT EXISTS {database}.reward_hours_refresh
REFRESH EVERY 1 MINUTE APPEND TO {database}.reward_hours AS
SELECT *, now64(3, 'UTC') AS computed_at
FROM (
    SELECT
        tenant, hour, model_id, query_type, countIf(counts) AS answers,
        sumIf(reward, counts) AS reward_sum, sumIf(reward * reward, counts) AS reward_squares,
        countIf(counts AND explicit_reward IS NOT NULL) AS explicit_known,
        sumIf(ifNull(explicit_reward, 0), counts) AS explicit_sum,
        countIf(counts AND implicit_reward IS NOT NULL) AS implicit_known,
        sumIf(ifNull(implicit_reward, 0), counts) AS implicit_sum,
        countIf(counts AND satisfaction IS NOT NULL) AS satisfaction_known,
        sumIf(ifNull(satisfaction, 0), counts) AS satisfaction_sum,
        countIf(counts AND f.retried) AS retried, countIf(counts AND f.failed) AS failed,
        countIf(counts AND latency_tolerance = 'high') AS latency_high,
        countIf(counts AND latency_tolerance = 'medium') AS latency_medium,
        countIf(counts AND latency_tolerance = 'low') AS latency_low
    FROM {database}.reward_facts AS f FINAL
    WHERE (tenant, hour) IN (
        SELECT DISTINCT tenant, hour FROM {database}.reward_facts
        WHERE inserted_at > (SELECT max(computed_at) FROM {database}.reward_hours) - toIntervalMinute(2)
    )
    GROUP BY tenant, hour, model_id, query_type
) AS found
FULL JOIN (
    SELECT DISTINCT tenant, hour, model_id, query_type FROM {database}.reward_hours
    WHERE (tenant, hour) IN (
        SELECT DISTINCT tenant, hour FROM {database}.reward_facts
        WHERE inserted_at > (SELECT max(computed_at) FROM {database}.reward_hours) - toIntervalMinute(2)
    )
) AS known USING (tenant, hour, model_id, query_type);

-- A source is kept for some time after it was cited last; each citation stores it again.
ALTER TABLE {database}.sources ADD COLUMN IF NOT EXISTS stored_at DateTime('UTC') DEFAULT now();

-- Facts of what came in before these tables were there: a row that is inserted again replaces itself.
INSERT INTO {database}.answers SELECT * FROM {database}.answers SETTINGS insert_deduplicate = 0, max_partitions_per_insert_block = 0;
INSERT INTO {database}.rewards SELECT * FROM {database}.rewards SETTINGS insert_deduplicate = 0;
