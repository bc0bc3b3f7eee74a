-- Do people ask again, and are they satisfied?
-- Share of answers after which the same was asked again, share with a failed call, mean satisfaction
-- (0..1, by behaviour) and shares by tolerance of latency, by bucket of time.
SELECT
    toStartOfInterval(hour, toIntervalSecond({interval:UInt32}), 'UTC') AS time,
    sum(h.answers) AS answers,
    sum(h.retried) / nullIf(answers, 0) AS retry_share,
    sum(h.failed) / nullIf(answers, 0) AS failed_share,
    sum(satisfaction_sum) / nullIf(sum(satisfaction_known), 0) AS satisfaction,
    sum(explicit_sum) / nullIf(sum(explicit_known), 0) AS explicit_reward,
    sum(latency_low) / nullIf(sum(latency_high + latency_medium + latency_low), 0) AS too_slow_share
FROM {database:Identifier}.reward_hours AS h FINAL
WHERE ({tenant:String} = '' OR tenant = {tenant:String})
  AND hour >= toStartOfHour({from:DateTime64(3, 'UTC')}) AND hour < {to:DateTime64(3, 'UTC')}
GROUP BY time
HAVING answers > 0
ORDER BY time
