-- What is wrong with invalid references?
-- References that resolve to nothing, by reason.
SELECT
    reason.1 AS name,
    reason.2 AS count
FROM (
    SELECT arrayJoin(CAST(sumMap(h.invalid_references), 'Array(Tuple(String, UInt64))')) AS reason
    FROM {database:Identifier}.answer_hours AS h FINAL
    WHERE ({tenant:String} = '' OR tenant = {tenant:String})
      AND ({run:String} = 'current' OR run = {run:String})
      AND ({run:String} != 'current' OR if(
          run = 'live',
          (tenant, hour) NOT IN (SELECT tenant, hour FROM {database:Identifier}.promoted_hours),
          (tenant, hour, run) IN (SELECT tenant, hour, run FROM {database:Identifier}.promoted_hours)
      ))
      AND hour >= toStartOfHour({from:DateTime64(3, 'UTC')}) AND hour < {to:DateTime64(3, 'UTC')}
)
ORDER BY count DESC, name
