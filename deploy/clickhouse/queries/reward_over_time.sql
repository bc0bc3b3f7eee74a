-- How does each model's reward develop?
-- Mean reward (0..1) by bucket of time and model.
SELECT
    toStartOfInterval(hour, toIntervalSecond({interval:UInt32}), 'UTC') AS time,
    model_id AS name,
    sum(h.answers) AS answers,
    sum(reward_sum) / answers AS reward
FROM {database:Identifier}.reward_hours AS h FINAL
WHERE ({tenant:String} = '' OR tenant = {tenant:String})
  AND hour >= toStartOfHour({from:DateTime64(3, 'UTC')}) AND hour < {to:DateTime64(3, 'UTC')}
GROUP BY time, name
HAVING answers > 0
ORDER BY time, name
