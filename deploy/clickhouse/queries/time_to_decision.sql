-- How long do answers wait for a decision?
-- Hours from the answer to the first final decision on it, by bucket of time of the decision. Not from the
-- request: that one is made anew when a record is delivered again.
WITH decided AS (
    SELECT tenant, review_id, min(decided_at) AS first_at
    FROM {database:Identifier}.review_decisions
    WHERE ({tenant:String} = '' OR tenant = {tenant:String})
      AND ruling = 'final' AND decided_at < {to:DateTime64(3, 'UTC')}
    GROUP BY tenant, review_id
    HAVING first_at >= {from:DateTime64(3, 'UTC')}
)
SELECT
    toStartOfInterval(first_at, toIntervalSecond({interval:UInt32}), 'UTC') AS time,
    count() AS decisions,
    quantileExact(0.5)(waited) AS median_hours,
    quantileExact(0.95)(waited) AS p95_hours
FROM (
    SELECT decided.first_at AS first_at, dateDiff('millisecond', requested.answered_at, first_at) / 3600000 AS waited
    FROM (
        SELECT tenant, review_id, any(completed_at) AS answered_at
        FROM {database:Identifier}.reviews
        WHERE ({tenant:String} = '' OR tenant = {tenant:String})
          AND completed_at < {to:DateTime64(3, 'UTC')}
        GROUP BY tenant, review_id
    ) AS requested
    INNER JOIN decided USING (tenant, review_id)
)
GROUP BY time
ORDER BY time
