-- Answers of a source whose risk was evaluated: the share of high risk is of these, and not of all answers.

ALTER TABLE {database}.source_hours ADD COLUMN IF NOT EXISTS risk_scored UInt64;

ALTER TABLE {database}.source_hours_refresh MODIFY QUERY
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

-- Figures of earlier hours once more, with the new column.
INSERT INTO {database}.source_hours
    (tenant, run, hour, source, computed_at, answers, citations, claims_supported, claims_contradicted,
     claims_unsupported, risk_high, risk_scored, grounding_scored, grounding_sum, quality_scored, quality_sum)
SELECT
    tenant, run, hour, source, now64(3, 'UTC'), count(), sum(cited), sum(supported), sum(contradicted),
    sum(unsupported), countIf(hallucination_risk = 'high'), countIf(hallucination_risk != ''), count(grounding_score),
    sum(ifNull(grounding_score, 0)), count(quality_score), sum(ifNull(quality_score, 0))
FROM {database}.answer_facts FINAL
LEFT ARRAY JOIN
    source_names AS source, source_citations AS cited, source_supported AS supported,
    source_contradicted AS contradicted, source_unsupported AS unsupported
GROUP BY tenant, run, hour, source
SETTINGS insert_deduplicate = 0, max_partitions_per_insert_block = 0;
