-- Whose figures are the current ones: those of a promoted replay, for every hour of a tenant in which it
-- has judged each answer that the live run has; else live. Looked at every minute, so an answer that
-- comes in late takes its hour back, and nothing is ever missing.

CREATE TABLE IF NOT EXISTS {database}.promotions
(
    run String,
    active Bool,
    changed_at DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(changed_at)
ORDER BY run
SETTINGS non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS {database}.promoted_hours
(
    tenant LowCardinality(String),
    hour DateTime('UTC'),
    run LowCardinality(String)
)
ENGINE = MergeTree
ORDER BY (tenant, hour);

-- Of several promoted runs that have an hour, the one promoted last.
CREATE MATERIALIZED VIEW IF NOT EXISTS {database}.promoted_hours_refresh
REFRESH EVERY 1 MINUTE TO {database}.promoted_hours AS
SELECT tenant, hour, argMax(name, promoted_at) AS run
FROM (
    SELECT
        tenant, hour, h.run AS name, sum(answers) AS judged, any(p.changed_at) AS promoted_at
    FROM {database}.answer_hours AS h FINAL
    INNER JOIN (SELECT run, changed_at FROM {database}.promotions FINAL WHERE active) AS p ON p.run = h.run
    GROUP BY tenant, hour, name
) AS replayed
LEFT JOIN (
    SELECT tenant, hour, sum(answers) AS live
    FROM {database}.answer_hours FINAL
    WHERE run = 'live' AND (SELECT count() FROM {database}.promotions FINAL WHERE active) > 0
    GROUP BY tenant, hour
) AS judged_live USING (tenant, hour)
WHERE judged > 0 AND judged >= live
GROUP BY tenant, hour;
