-- Have the scores drifted against the week before?
-- Distance between the distribution of each score in the time asked for and in the seven days before
-- it: Jensen-Shannon distance to base 2, 0 for equal and 1 for disjoint distributions. `drifted` asks
-- for at least 1,000 answers on each side and a distance over 0.1, which with 1,000 each happens by chance
-- to at most one in a thousand.
WITH counted AS (
    SELECT
        hour >= toStartOfHour({from:DateTime64(3, 'UTC')}) AS now,
        arrayResize(sumForEach(grounding_histogram), 10, 0) AS grounding,
        arrayResize(sumForEach(quality_histogram), 10, 0) AS quality,
        arrayResize(sumForEach(risk_histogram), 10, 0) AS risk
    FROM {database:Identifier}.answer_hours FINAL
    WHERE ({tenant:String} = '' OR tenant = {tenant:String})
      AND ({run:String} = 'current' OR run = {run:String})
      AND ({run:String} != 'current' OR if(
          run = 'live',
          (tenant, hour) NOT IN (SELECT tenant, hour FROM {database:Identifier}.promoted_hours),
          (tenant, hour, run) IN (SELECT tenant, hour, run FROM {database:Identifier}.promoted_hours)
      ))
      AND hour >= toStartOfHour({from:DateTime64(3, 'UTC')}) - toIntervalDay(7) AND hour < {to:DateTime64(3, 'UTC')}
    GROUP BY now
),
pairs AS (
    SELECT
        measure.1 AS name,
        groupArrayIf(measure.2, now)[1] AS current,
        groupArrayIf(measure.2, NOT now)[1] AS before
    FROM counted
    ARRAY JOIN [('grounding', grounding), ('quality', quality), ('risk', risk)] AS measure
    GROUP BY name
),
shares AS (
    SELECT
        name,
        arraySum(current) AS answers,
        arraySum(before) AS answers_before,
        arrayMap(count -> count / answers, current) AS p,
        arrayMap(count -> count / answers_before, before) AS q
    FROM pairs
    WHERE answers > 0 AND answers_before > 0
)
SELECT
    name,
    answers,
    answers_before,
    sqrt(greatest(0, arraySum(
        (a, b) -> if(a > 0, a * log2(2 * a / (a + b)), 0) / 2 + if(b > 0, b * log2(2 * b / (a + b)), 0) / 2, p, q
    ))) AS distance,
    distance > 0.1 AND answers >= 1000 AND answers_before >= 1000 AS drifted
FROM shares
ORDER BY distance DESC, name
