-- A promoted replay has an hour if it has each answer that the live run has now. The sums by hour stay as they were after
-- an erasure, so that the answers themselves are compared.
-- Oldest worker: 18

ALTER TABLE {database}.promoted_hours_refresh MODIFY QUERY
WITH
    promoted AS (SELECT run, changed_at FROM {database}.promotions FINAL WHERE active),
    lived AS (
        SELECT tenant, hour, answer_key FROM {database}.answer_facts FINAL
        WHERE run = 'live' AND (tenant, hour) IN (
            SELECT tenant, hour FROM {database}.answer_facts WHERE run IN (SELECT run FROM promoted)
        )
    )
SELECT tenant, hour, argMax(name, changed_at) AS run
FROM (
    SELECT tenant, hour, f.run AS name, countIf((tenant, hour, answer_key) IN (SELECT tenant, hour, answer_key FROM lived)) AS judged
    FROM {database}.answer_facts AS f FINAL
    WHERE f.run IN (SELECT run FROM promoted)
    GROUP BY tenant, hour, name
) AS replayed
INNER JOIN (SELECT run AS name, changed_at FROM promoted) AS p USING (name)
LEFT JOIN (SELECT tenant, hour, count() AS live FROM lived GROUP BY tenant, hour) AS l USING (tenant, hour)
WHERE judged >= live
GROUP BY tenant, hour;
