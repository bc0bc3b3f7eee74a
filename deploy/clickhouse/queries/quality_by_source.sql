-- How do quality and risk develop by source?
-- Means over the answers that cite a source or rest a claim on it, by bucket of time, for the ten
-- sources of most answers. An answer with two sources counts for both.
WITH chosen AS (
    SELECT source FROM {database:Identifier}.source_hours FINAL
    WHERE ({tenant:String} = '' OR tenant = {tenant:String})
      AND run = {run:String}
      AND hour >= toStartOfHour({from:DateTime64(3, 'UTC')}) AND hour < {to:DateTime64(3, 'UTC')}
      AND source != ''
    GROUP BY source ORDER BY sum(answers) DESC, source LIMIT 10
)
SELECT
    toStartOfInterval(hour, toIntervalSecond({interval:UInt32}), 'UTC') AS time,
    source AS name,
    sum(h.answers) AS answers,
    sum(quality_sum) / nullIf(sum(quality_scored), 0) AS quality,
    sum(grounding_sum) / nullIf(sum(grounding_scored), 0) AS grounding,
    sum(risk_high) / sum(h.answers) AS high_risk_share
FROM {database:Identifier}.source_hours AS h FINAL
WHERE ({tenant:String} = '' OR tenant = {tenant:String})
  AND run = {run:String}
  AND hour >= toStartOfHour({from:DateTime64(3, 'UTC')}) AND hour < {to:DateTime64(3, 'UTC')}
  AND source IN (SELECT source FROM chosen)
GROUP BY time, name
HAVING answers > 0
ORDER BY time, name
