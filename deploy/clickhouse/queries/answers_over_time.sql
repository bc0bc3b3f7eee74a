-- How many answers come, and what becomes of them?
-- Answers by bucket of time and release state, those judged in part, and those with a failed call.
SELECT
    toStartOfInterval(hour, toIntervalSecond({interval:UInt32}), 'UTC') AS time,
    sum(h.answers) AS answers,
    sum(h.released) AS released,
    sum(h.warned) AS warned,
    sum(h.held) AS held,
    sum(h.fallback) AS fallback,
    sum(h.reviewed) AS sent_to_review,
    sum(h.degraded) AS degraded,
    sum(h.failed) AS failed
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
HAVING answers > 0
ORDER BY time
