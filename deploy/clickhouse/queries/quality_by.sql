-- Which model, prompt version or query type makes answers worse?
-- The same figures over the whole time, the worst grounding first, with what passes validation.
SELECT
    {by:Identifier} AS name,
    sum(h.answers) AS answers,
    sum(quality_sum) / nullIf(sum(quality_scored), 0) AS quality,
    sum(grounding_sum) / nullIf(sum(grounding_scored), 0) AS grounding,
    sum(gate_sum) / nullIf(sum(gate_scored), 0) AS gate,
    sum(validation_sum) / nullIf(sum(validation_scored), 0) AS validation,
    sum(passed) / nullIf(sum(validated), 0) AS passed_share,
    sum(risk_high) / nullIf(sum(risk_low + risk_medium + risk_high), 0) AS high_risk_share,
    sum(h.reviewed) / sum(h.answers) AS review_share
FROM {database:Identifier}.answer_hours AS h FINAL
WHERE ({tenant:String} = '' OR tenant = {tenant:String})
  AND ({run:String} = 'current' OR run = {run:String})
  AND ({run:String} != 'current' OR if(
      run = 'live',
      (tenant, hour) NOT IN (SELECT tenant, hour FROM {database:Identifier}.promoted_hours),
      (tenant, hour, run) IN (SELECT tenant, hour, run FROM {database:Identifier}.promoted_hours)
  ))
  AND hour >= toStartOfHour({from:DateTime64(3, 'UTC')}) AND hour < {to:DateTime64(3, 'UTC')}
GROUP BY name
HAVING answers > 0
ORDER BY grounding, name
