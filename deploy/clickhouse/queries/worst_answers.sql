-- Which answers rest on the least?
-- The twenty answers of the lowest grounding score, to be opened in the console.
SELECT
    answer_id, tenant, completed_at, model_id, prompt_version, state, hallucination_risk, grounding_score, quality_score,
    claims_contradicted, claims_unsupported
FROM {database:Identifier}.worst_hours FINAL
WHERE ({tenant:String} = '' OR tenant = {tenant:String})
  AND ({run:String} = 'current' OR run = {run:String})
  AND ({run:String} != 'current' OR if(
      run = 'live',
      (tenant, hour) NOT IN (SELECT tenant, hour FROM {database:Identifier}.promoted_hours),
      (tenant, hour, run) IN (SELECT tenant, hour, run FROM {database:Identifier}.promoted_hours)
  ))
  AND hour >= toStartOfHour({from:DateTime64(3, 'UTC')}) AND hour < {to:DateTime64(3, 'UTC')}
  AND answer_id != ''
ORDER BY grounding_score, answer_id
LIMIT 20
