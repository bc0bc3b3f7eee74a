-- Do reviewers agree with each other?
-- Pairs of a final decision and second reviews by different people on one answer: the share that agree, and Cohen's kappa over
-- approve, correct and reject, which is 0 for agreement by chance alone; null without pairs, and where
-- everybody always says the same.
WITH counted AS (
    SELECT
        count() AS pairs,
        countIf(pair.1 = pair.2) / nullIf(pairs, 0) AS agreement,
        (
            countIf(pair.1 = 'approve') * countIf(pair.2 = 'approve')
            + countIf(pair.1 = 'correct') * countIf(pair.2 = 'correct')
            + countIf(pair.1 = 'reject') * countIf(pair.2 = 'reject')
        ) / nullIf(pairs * pairs, 0) AS by_chance
    FROM (
        SELECT
            -- A set, so that a row that came twice is in it once; in the order of the reviewers' names.
            arraySort(groupUniqArray((decided_by::String, action::String))) AS said,
            arrayJoin(arrayFlatten(arrayMap(
                (one, place) -> arrayMap(
                    other -> (one.2, other.2), arrayFilter(other -> other.1 != one.1, arraySlice(said, place + 1))
                ),
                said, arrayEnumerate(said)
            ))) AS pair
        FROM {database:Identifier}.review_decisions
        WHERE ({tenant:String} = '' OR tenant = {tenant:String})
          AND decided_at >= {from:DateTime64(3, 'UTC')} AND decided_at < {to:DateTime64(3, 'UTC')}
          AND ruling IN ('final', 'second') AND decided_by != 'policy' AND action IN ('approve', 'correct', 'reject')
        GROUP BY tenant, answer_id
        HAVING length(said) > 1
    )
)
SELECT pairs, agreement, (agreement - by_chance) / nullIf(1 - by_chance, 0) AS kappa
FROM counted
