-- Which signs of failure are the most frequent?
-- Answers by failure signal, grounding issue and reason of the decision; an answer may show several.
SELECT
    sign.1 AS kind,
    sign.2 AS name,
    sign.3 AS answers,
    sign.3 / total AS share
FROM (
    SELECT
        sum(h.answers) AS total,
        arrayJoin(arrayConcat(
            arrayMap(pair -> ('signal', pair.1, pair.2), CAST(sumMap(h.signals), 'Array(Tuple(String, UInt64))')),
            arrayMap(pair -> ('issue', pair.1, pair.2), CAST(sumMap(h.issues), 'Array(Tuple(String, UInt64))')),
            arrayMap(pair -> ('reason', pair.1, pair.2), CAST(sumMap(h.reasons), 'Array(Tuple(String, UInt64))'))
        )) AS sign
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
ORDER BY answers DESC, kind, name
LIMIT {limit:UInt32}
