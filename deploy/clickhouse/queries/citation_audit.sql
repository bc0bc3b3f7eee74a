-- What did an answer cite, and what could it not ground? (seed 004: citation_logs)
-- The latest answers with their citations and ungrounded claims; `below` leaves only those whose
-- grounding score is less, 2 leaves all. An audit is of what readers got: the current run is the live one here.
WITH
    -- The hour from which on there are enough: facts before it need not be read. The hour in which the time ends is
    -- read and not counted, because some of its answers may come after the end.
    (
        SELECT max(hour) FROM (
            SELECT hour, sum(answers) OVER (ORDER BY hour DESC) AS so_far
            FROM (
                SELECT
                    hour,
                    if({below:Float64} > 1, sum(h.answers), arraySum(arraySlice(
                        sumForEach(grounding_histogram), 1, toUInt32(floor({below:Float64} * 10))
                    ))) AS answers
                FROM {database:Identifier}.answer_hours AS h FINAL
                WHERE ({tenant:String} = '' OR tenant = {tenant:String})
                  AND run = if({run:String} = 'current', 'live', {run:String})
                  AND hour >= toStartOfHour({from:DateTime64(3, 'UTC')}) AND hour < toStartOfHour({to:DateTime64(3, 'UTC')})
                GROUP BY hour
            )
        )
        WHERE so_far >= {limit:UInt32}
    ) AS enough_since,
    chosen AS (
        SELECT tenant, toDate(completed_at) AS day, answer_id
        FROM {database:Identifier}.answer_facts FINAL
        WHERE ({tenant:String} = '' OR tenant = {tenant:String})
          AND run = if({run:String} = 'current', 'live', {run:String})
          AND (tenant, run, hour, answer_key) NOT IN (
              SELECT tenant, run, hour, answer_key FROM {database:Identifier}.answer_moves FINAL WHERE moved
          )
          AND hour >= greatest(toStartOfHour({from:DateTime64(3, 'UTC')}), enough_since)
          AND completed_at >= {from:DateTime64(3, 'UTC')} AND completed_at < {to:DateTime64(3, 'UTC')}
          AND ({below:Float64} > 1 OR grounding_score < {below:Float64})
        ORDER BY completed_at DESC, answer_id
        LIMIT {limit:UInt32}
    )
SELECT
    response_id, user_id, session_id, query_text, response_text, citations, citation_count, invalid_references,
    grounding_score, ungrounded_claims, state, response_seconds, grounding_seconds, validated_at, created_at
FROM (
    -- The best row of each by hand: FINAL would read the texts of all rows around them.
    SELECT *
    FROM {database:Identifier}.citation_logs
    WHERE run = if({run:String} = 'current', 'live', {run:String})
      AND (tenant, toDate(completed_at), response_id) IN (SELECT * FROM chosen)
    ORDER BY rank DESC
    LIMIT 1 BY tenant, response_id
)
ORDER BY created_at DESC, response_id
