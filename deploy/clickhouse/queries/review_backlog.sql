-- What is sent to review, and what waits?
-- Requests by bucket of the time of their answers: all, those whose reader waits, and those that nobody
-- has decided on. A vote or a second review decides nothing; a late decision came after the answer was final.
SELECT
    toStartOfInterval(completed_at, toIntervalSecond({interval:UInt32}), 'UTC') AS time,
    count() AS requested,
    countIf(held) AS held,
    countIf((tenant, review_id) NOT IN (
        SELECT tenant, review_id FROM {database:Identifier}.review_decisions
        WHERE ({tenant:String} = '' OR tenant = {tenant:String})
          AND ruling IN ('final', 'late', 'withdrawal') AND decided_at >= {from:DateTime64(3, 'UTC')}
    )) AS open
FROM {database:Identifier}.reviews FINAL
WHERE ({tenant:String} = '' OR tenant = {tenant:String})
  AND completed_at >= {from:DateTime64(3, 'UTC')} AND completed_at < {to:DateTime64(3, 'UTC')}
GROUP BY time
ORDER BY time
