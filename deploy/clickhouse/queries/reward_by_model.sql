-- Which model earns what, and how sure is that?
-- Mean reward (0..1) with its 95 % interval by the normal approximation, which below some 30 answers
-- is too narrow; the parts that the reward is made of beside it.
SELECT
    model_id AS name,
    sum(h.answers) AS answers,
    sum(reward_sum) / answers AS reward,
    1.96 * sqrt(greatest(0, sum(reward_squares) / answers - reward * reward) / answers) AS half_interval,
    greatest(0, reward - half_interval) AS reward_low,
    least(1, reward + half_interval) AS reward_high,
    sum(explicit_sum) / nullIf(sum(explicit_known), 0) AS explicit_reward,
    sum(implicit_sum) / nullIf(sum(implicit_known), 0) AS implicit_reward,
    sum(h.retried) / answers AS retry_share
FROM {database:Identifier}.reward_hours AS h FINAL
WHERE ({tenant:String} = '' OR tenant = {tenant:String})
  AND hour >= toStartOfHour({from:DateTime64(3, 'UTC')}) AND hour < {to:DateTime64(3, 'UTC')}
GROUP BY name
HAVING answers > 0
ORDER BY reward DESC, name
