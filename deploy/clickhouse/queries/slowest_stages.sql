-- Which stages are the slowest?
-- Seconds that a stage took for an answer: the model's own answering and each judgement; quantiles
-- are right to two percent.
SELECT
    name, answers, mean_seconds,
    quantiles[1] AS median_seconds, quantiles[2] AS p95_seconds, quantiles[3] AS p99_seconds, max_seconds
FROM (
    SELECT
        stage AS name,
        sum(h.answers) AS answers,
        sum(seconds_sum) / answers AS mean_seconds,
        quantilesDDMerge(0.01, 0.5, 0.95, 0.99)(h.seconds) AS quantiles,
        max(seconds_max) AS max_seconds
    FROM {database:Identifier}.stage_hours AS h FINAL
    WHERE ({tenant:String} = '' OR tenant = {tenant:String})
      AND ({run:String} = 'current' OR run = {run:String})
      AND ({run:String} != 'current' OR if(
          run = 'live',
          (tenant, hour) NOT IN (SELECT tenant, hour FROM {database:Identifier}.promoted_hours),
          (tenant, hour, run) IN (SELECT tenant, hour, run FROM {database:Identifier}.promoted_hours)
      ))
      AND hour >= toStartOfHour({from:DateTime64(3, 'UTC')}) AND hour < {to:DateTime64(3, 'UTC')}
    GROUP BY stage
    HAVING answers > 0
)
ORDER BY p95_seconds DESC, name
