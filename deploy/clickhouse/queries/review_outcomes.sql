-- Was the worker right to send answers to review?
-- First final decisions of people by model of the answer: what they approved needed no review, what they
-- corrected or rejected did.
SELECT
    model_id AS name,
    count() AS reviewed,
    countIf(first = 'approve') AS approved,
    countIf(first = 'correct') AS corrected,
    countIf(first = 'reject') AS rejected,
    (corrected + rejected) / reviewed AS needed_share
FROM (
    -- The first of several is the same however often each came.
    SELECT any(d.model_id) AS model_id, argMin(action, (decided_at, decision_id)) AS first
    FROM {database:Identifier}.review_decisions AS d
    WHERE ({tenant:String} = '' OR tenant = {tenant:String})
      AND ruling = 'final' AND decided_at < {to:DateTime64(3, 'UTC')}
      AND decided_by != 'policy' AND action IN ('approve', 'correct', 'reject')
    GROUP BY tenant, answer_id
    HAVING min(decided_at) >= {from:DateTime64(3, 'UTC')}
)
GROUP BY name
ORDER BY needed_share DESC, name
