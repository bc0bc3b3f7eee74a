-- Do reviewers agree with each other?
-- Pairs of decisions of different people on one answer: the share that agree, and Cohen's kappa over
-- approve, correct and reject, which is 0 for agreement by chance alone; null without pairs, and where
-- everybody always says the same.
WITH decided AS (
    SELECT tenant, answer_id, decided_by, action
    FROM {database:Identifier}.review_decisions FINAL
    WHERE ({tenant:String} = '' OR tenant = {tenant:String})
      AND decided_at >= {from:DateTime64(3, 'UTC')} AND decided_at < {to:DateTime64(3, 'UTC')}
      AND decided_by != 'policy' AND action IN ('approve', 'correct', 'reject')
),
several AS (
    SELECT tenant, answer_id FROM decided GROUP BY tenant, answer_id HAVING uniqExact(decided_by) > 1
),
twice AS (
    SELECT * FROM decided WHERE (tenant, answer_id) IN (SELECT tenant, answer_id FROM several)
),
counted AS (
    SELECT
        count() AS pairs,
        countIf(one.action = other.action) / nullIf(pairs, 0) AS agreement,
        (
            countIf(one.action = 'approve') * countIf(other.action = 'approve')
            + countIf(one.action = 'correct') * countIf(other.action = 'correct')
            + countIf(one.action = 'reject') * countIf(other.action = 'reject')
        ) / nullIf(pairs * pairs, 0) AS by_chance
    FROM twice AS one
    INNER JOIN twice AS other ON one.tenant = other.tenant AND one.answer_id = other.answer_id
    WHERE one.decided_by < other.decided_by
)
SELECT pairs, agreement, (agreement - by_chance) / nullIf(1 - by_chance, 0) AS kappa
FROM counted
