-- How are grounding scores distributed?
-- Answers by grounding score, in ten bins of 0.1; `up_to` is the upper end of the bin.
SELECT
    bin / 10 AS score_from,
    (bin + 1) / 10 AS up_to,
    count AS answers
FROM (
    SELECT arrayResize(sumForEach(grounding_histogram), 10, 0) AS counts
    FROM {database:Identifier}.answer_hours FINAL
    WHERE ({tenant:String} = '' OR tenant = {tenant:String})
      AND ({run:String} = 'current' OR run = {run:String})
      AND ({run:String} != 'current' OR if(
          run = 'live',
          (tenant, hour) NOT IN (SELECT tenant, hour FROM {database:Identifier}.promoted_hours),
          (tenant, hour, run) IN (SELECT tenant, hour, run FROM {database:Identifier}.promoted_hours)
      ))
      AND hour >= toStartOfHour({from:DateTime64(3, 'UTC')}) AND hour < {to:DateTime64(3, 'UTC')}
)
ARRAY JOIN counts AS count, range(10) AS bin
ORDER BY bin
