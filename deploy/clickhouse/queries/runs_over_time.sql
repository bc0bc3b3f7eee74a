-- How do the live run and replays of the same time differ?
-- Means of the scores (0..1) and the share of high risk, by bucket of time and run: live, and each replay that
-- has judged answers of that time. Null where nothing was scored.
SELECT
    toStartOfInterval(hour, toIntervalSecond({interval:UInt32}), 'UTC') AS time,
    run AS name,
    sum(h.answers) AS answers,
    sum(quality_sum) / nullIf(sum(quality_scored), 0) AS quality,
    sum(grounding_sum) / nullIf(sum(grounding_scored), 0) AS grounding,
    sum(gate_sum) / nullIf(sum(gate_scored), 0) AS gate,
    sum(risk_sum) / nullIf(sum(risk_scored), 0) AS risk,
    sum(risk_high) / nullIf(sum(risk_low + risk_medium + risk_high), 0) AS high_risk_share
FROM {database:Identifier}.answer_hours AS h FINAL
WHERE ({tenant:String} = '' OR tenant = {tenant:String})
  AND hour >= toStartOfHour({from:DateTime64(3, 'UTC')}) AND hour < {to:DateTime64(3, 'UTC')}
GROUP BY time, name
HAVING answers > 0
ORDER BY time, name
