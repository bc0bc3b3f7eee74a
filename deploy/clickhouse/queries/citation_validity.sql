-- Are citations valid, and do they cover what is claimed?
-- Share of answers whose references all exist, and mean share of claims cited, by bucket of time.
SELECT
    toStartOfInterval(hour, toIntervalSecond({interval:UInt32}), 'UTC') AS time,
    sum(citations_judged) AS judged,
    sum(h.citations_valid) / nullIf(judged, 0) AS valid_share,
    sum(coverage_sum) / nullIf(sum(coverage_scored), 0) AS coverage,
    sum(h.citations) AS citations
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
HAVING judged > 0
ORDER BY time
