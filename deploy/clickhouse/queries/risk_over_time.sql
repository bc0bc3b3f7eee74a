-- How much of what is answered is risky?
-- Answers by hallucination risk and bucket of time; those without context have none.
SELECT
    toStartOfInterval(hour, toIntervalSecond({interval:UInt32}), 'UTC') AS time,
    sum(h.risk_low) AS low,
    sum(h.risk_medium) AS medium,
    sum(h.risk_high) AS high,
    sum(h.answers) - low - medium - high AS not_judged
FROM {database:Identifier}.answer_hours AS h FINAL
WHERE ({tenant:String} = '' OR tenant = {tenant:String})
  AND ({run:String} = 'current' OR run = {run:String})
  AND ({run:String} != 'current' OR if(
      run = 'live',
      (tenant, hour) NOT IN (SELECT tenant, hour FROM {database:Identifier}.promoted_hours),
      (tenant, hour, run) IN (SELECT tenant, hour, run FROM {database:Identifier}.promoted_hours)
  ))
  AND hour >= toStartOfHour({from:DateTime64(3, 'UTC')}) AND hour < {to:DateTime64(3, 'UTC')}
GROUP BY time
HAVING sum(h.answers) > 0
ORDER BY time
