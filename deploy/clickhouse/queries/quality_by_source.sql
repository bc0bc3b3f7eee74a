-- How do quality and risk develop by source?
-- Means over the answers that cite a source or rest a claim on it, by bucket of time, for the ten
-- sources of most answers. An answer with two sources counts for both.
-- The ten are found first, so that of all others no figures are read.
WITH leading AS (
    SELECT source
    FROM {database:Identifier}.source_hours AS h FINAL
    WHERE ({tenant:String} = '' OR tenant = {tenant:String})
      AND ({run:String} = 'current' OR run = {run:String})
      AND ({run:String} != 'current' OR if(
          run = 'live',
          (tenant, hour) NOT IN (SELECT tenant, hour FROM {database:Identifier}.promoted_hours),
          (tenant, hour, run) IN (SELECT tenant, hour, run FROM {database:Identifier}.promoted_hours)
      ))
      AND hour >= toStartOfHour({from:DateTime64(3, 'UTC')}) AND hour < {to:DateTime64(3, 'UTC')}
      AND source != ''
    GROUP BY source
    ORDER BY sum(h.answers) DESC, source
    LIMIT 10
)
SELECT
    toStartOfInterval(hour, toIntervalSecond({interval:UInt32}), 'UTC') AS time,
    source AS name,
    sum(h.answers) AS answers,
    sum(quality_sum) / nullIf(sum(quality_scored), 0) AS quality,
    sum(grounding_sum) / nullIf(sum(grounding_scored), 0) AS grounding,
    sum(risk_high) / nullIf(sum(risk_scored), 0) AS high_risk_share
FROM {database:Identifier}.source_hours AS h FINAL
PREWHERE source IN (SELECT source FROM leading)
WHERE ({tenant:String} = '' OR tenant = {tenant:String})
  AND ({run:String} = 'current' OR run = {run:String})
  AND ({run:String} != 'current' OR if(
      run = 'live',
      (tenant, hour) NOT IN (SELECT tenant, hour FROM {database:Identifier}.promoted_hours),
      (tenant, hour, run) IN (SELECT tenant, hour, run FROM {database:Identifier}.promoted_hours)
  ))
  AND hour >= toStartOfHour({from:DateTime64(3, 'UTC')}) AND hour < {to:DateTime64(3, 'UTC')}
  AND source != ''
GROUP BY time, name
HAVING answers > 0
ORDER BY time, name
