-- How much does each reviewer do, and how?
-- Final decisions and second reviews by reviewer with their kinds and active time; a deadline's decisions have the author policy.
SELECT
    decided_by AS name,
    count() AS decisions,
    countIf(action = 'approve') AS approved,
    countIf(action = 'correct') AS corrected,
    countIf(action = 'reject') AS rejected,
    sum(review_duration) AS active_seconds,
    quantileExact(0.5)(review_duration) AS median_seconds
FROM {database:Identifier}.review_decisions FINAL
WHERE ({tenant:String} = '' OR tenant = {tenant:String})
  AND decided_at >= {from:DateTime64(3, 'UTC')} AND decided_at < {to:DateTime64(3, 'UTC')}
  AND ruling IN ('final', 'second')
GROUP BY name
ORDER BY decisions DESC, name
