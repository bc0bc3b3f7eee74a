-- How do quality and risk develop by model, prompt version or query type?
-- Means of the scores (0..1) and the share of high risk, by bucket of time and by the column that
-- `by` names: model_id, prompt_version or query_type. Null where nothing was scored.
SELECT
    toStartOfInterval(hour, toIntervalSecond({interval:UInt32}), 'UTC') AS time,
    {by:Identifier} AS name,
    sum(h.answers) AS answers,
    sum(quality_sum) / nullIf(sum(quality_scored), 0) AS quality,
    sum(grounding_sum) / nullIf(sum(grounding_scored), 0) AS grounding,
    sum(gate_sum) / nullIf(sum(gate_scored), 0) AS gate,
    sum(risk_sum) / nullIf(sum(risk_scored), 0) AS risk,
    sum(risk_high) / nullIf(sum(risk_low + risk_medium + risk_high), 0) AS high_risk_share
FROM {database:Identifier}.answer_hours AS h FINAL
WHERE ({tenant:String} = '' OR tenant = {tenant:String})
  AND ({run:String} = 'current' OR run = {run:String})
  AND ({run:String} != 'current' OR if(
      run = 'live',
      (tenant, hour) NOT IN (SELECT tenant, hour FROM {database:Identifier}.promoted_hours),
      (tenant, hour, run) IN (SELECT tenant, hour, run FROM {database:Identifier}.promoted_hours)
  ))
  AND hour >= toStartOfHour({from:DateTime64(3, 'UTC')}) AND hour < {to:DateTime64(3, 'UTC')}
GROUP BY time, name
HAVING answers > 0
ORDER BY time, name
