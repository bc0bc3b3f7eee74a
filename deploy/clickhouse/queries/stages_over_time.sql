-- Do judgements get slower?
-- 95th percentile of the seconds that each stage took for an answer, by bucket of time.
SELECT
    toStartOfInterval(hour, toIntervalSecond({interval:UInt32}), 'UTC') AS time,
    stage AS name,
    quantilesDDMerge(0.01, 0.5, 0.95, 0.99)(h.seconds)[2] AS p95_seconds
FROM {database:Identifier}.stage_hours AS h FINAL
WHERE ({tenant:String} = '' OR tenant = {tenant:String})
  AND ({run:String} = 'current' OR run = {run:String})
  AND ({run:String} != 'current' OR if(
      run = 'live',
      (tenant, hour) NOT IN (SELECT tenant, hour FROM {database:Identifier}.promoted_hours),
      (tenant, hour, run) IN (SELECT tenant, hour, run FROM {database:Identifier}.promoted_hours)
  ))
  AND hour >= toStartOfHour({from:DateTime64(3, 'UTC')}) AND hour < {to:DateTime64(3, 'UTC')}
GROUP BY time, name
HAVING sum(h.answers) > 0
ORDER BY time, name
