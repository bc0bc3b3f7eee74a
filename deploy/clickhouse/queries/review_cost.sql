-- What does review cost?
-- Active hours of reviewers and what they cost at `hourly_cost` (any currency), by bucket of time, and
-- the cost of each answer that was corrected or rejected. Final decisions and second reviews.
SELECT
    toStartOfInterval(decided_at, toIntervalSecond({interval:UInt32}), 'UTC') AS time,
    count() AS decisions,
    sum(review_duration) / 3600 AS active_hours,
    active_hours * {hourly_cost:Float64} AS cost,
    cost / nullIf(countIf(action IN ('correct', 'reject')), 0) AS cost_of_a_finding
FROM {database:Identifier}.review_decisions FINAL
WHERE ({tenant:String} = '' OR tenant = {tenant:String})
  AND decided_at >= {from:DateTime64(3, 'UTC')} AND decided_at < {to:DateTime64(3, 'UTC')}
  AND ruling IN ('final', 'second') AND decided_by != 'policy'
GROUP BY time
ORDER BY time
