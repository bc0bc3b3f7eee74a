-- Which sources contradict what is said of them?
-- Claims by source of their evidence and verdict, the most contradicted first.
SELECT
    source AS name,
    sum(h.answers) AS answers,
    sum(h.citations) AS citations,
    sum(h.claims_supported) AS supported,
    sum(h.claims_contradicted) AS contradicted,
    sum(h.claims_unsupported) AS unsupported,
    contradicted / nullIf(supported + contradicted + unsupported, 0) AS contradicted_share
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
GROUP BY name
HAVING answers > 0
ORDER BY contradicted DESC, answers DESC, name
LIMIT {limit:UInt32}
