"""SQL statements that compare two runs. Callers fill in ``{database}``.

Parameters: a and b are the runs; tenant, since and until choose answers; first and last are the days that one
query reads; answers, tenants and days choose the listed answers.
"""

from workers.comparison.results import BINS
from workers.comparison.tallies import BUCKETS, MEASURES, SCORES
from workers.feedback.patterns import BAD_REWARD

MAX_QUERY, MAX_ANSWER, MAX_CLAIM, MAX_CLAIMS = 500, 5_000, 1_000, 100
"""Maximum number of code points of the texts of a listed answer, and of its claims."""

MOVED = 1e-9
"""Difference above which a score has moved. Smaller differences come from the order of additions."""

_EXPRESSIONS = {name: name for name in SCORES} | {
    "released": "state = 'released'", "warned": "state = 'warned'", "held": "state = 'held'",
    "fallback": "state = 'fallback'", "reviewed": "review", "high_risk": "hallucination_risk = 'high'",
    "passes_validation": "passes_validation", "citations_valid": "citations_valid", "degraded": "degraded",
}  # fmt: skip
_VALUES = ", ".join(f"toNullable(toFloat64({_EXPRESSIONS[name]}))" for name in MEASURES)

_CHOSEN = """
run IN ({{a:String}}, {{b:String}}) AND ({{tenant:String}} = '' OR tenant = {{tenant:String}})
AND completed_at >= {{since:DateTime64(3, 'UTC')}} AND completed_at < {{until:DateTime64(3, 'UTC')}}
"""
_DAYS = "AND toDate(completed_at) BETWEEN {{first:Date}} AND {{last:Date}}"


def _paired(condition: str) -> str:
    """Return the clause that pairs the rows for which a condition holds."""
    return f"""
WITH paired AS (
    SELECT tenant, toDate(completed_at) AS day, answer_id,
           {_both("values")}, {_both("state")}, {_both("review")}, {_both("risk")}, {_both("reasons")}, {_both("source_names")},
           anyIf(completed_at, run = {{{{a:String}}}}) AS completed, anyIf(model_id, run = {{{{a:String}}}}) AS model,
           anyIf(query_type, run = {{{{a:String}}}}) AS type, anyIf(session_id, run = {{{{a:String}}}}) AS session
    FROM (
        SELECT tenant, completed_at, answer_id, run, state, review, reasons, source_names, model_id, query_type, session_id,
               ifNull(hallucination_risk, 'unknown')::String AS risk, [{_VALUES}] AS values
        FROM {{database}}.answers FINAL WHERE {_CHOSEN} {condition}
    )
    GROUP BY tenant, toDate(completed_at), answer_id
    HAVING countIf(run = {{{{a:String}}}}) > 0 AND countIf(run = {{{{b:String}}}}) > 0
)
"""


def _both(column: str) -> str:
    return ", ".join(f"anyIf({column}, run = {{{{{side}:String}}}}) AS {column}_{side}" for side in "ab")


_SETTINGS = "SETTINGS optimize_aggregation_in_order = 1"

_SCORES = [f"arraySlice(values_{side}, 1, {len(SCORES)})" for side in "ab"]
_LARGEST = f"""
ifNull(arrayMax(arrayMap(
    (x, y) -> multiIf(isNull(x) AND isNull(y), 0., isNull(x) OR isNull(y), 1., abs(assumeNotNull(y - x)) > {MOVED},
                      abs(assumeNotNull(y - x)), 0.), {_SCORES[0]}, {_SCORES[1]})), 0.)
"""


_REASONS = "arraySort(reasons_a) != arraySort(reasons_b)"


def _sum_of(expression: str) -> str:
    return f"sumForEach(arrayMap((x, y) -> toFloat64({expression}), values_a, values_b))"


_KNOWN = "isNotNull(x) AND isNotNull(y)"
_PARTS = (
    _KNOWN, f"if({_KNOWN}, assumeNotNull(x), 0.)", f"if({_KNOWN}, assumeNotNull(y), 0.)", "ifNull(y - x, 0.)",
    f"ifNull(y - x > {MOVED}, 0)", f"ifNull(x - y > {MOVED}, 0)", "isNotNull(x) AND isNull(y)",
    "isNull(x) AND isNotNull(y)",
)  # fmt: skip
"""Summed expressions of the values x in A and y in B, in the order of ``PARTS``."""
_SUMS = ", ".join(map(_sum_of, _PARTS))

RUNS = f"""
SELECT run, toDate(completed_at) AS day, pipeline_version, count() AS answers
FROM {{database}}.answers FINAL WHERE {_CHOSEN} GROUP BY run, day, pipeline_version
"""
KNOWN_RUNS = "SELECT DISTINCT run FROM {database}.answers ORDER BY run LIMIT 100"

LEVELS = f"""
{_paired(_DAYS)}
SELECT state_a, state_b, risk_a, risk_b, review_a, review_b, {_REASONS} AS reasons, {_LARGEST} > 0 AS moved,
       count() AS pairs
FROM paired GROUP BY state_a, state_b, risk_a, risk_b, review_a, review_b, reasons, moved {_SETTINGS}
"""

TALLIES = f"""
{_paired(_DAYS)}
SELECT slice.1 AS dimension, slice.2 AS value,
       sipHash64(tenant, if(session = '', answer_id, session)) % {BUCKETS} AS bucket, count() AS pairs, [{_SUMS}] AS sums
FROM paired
ARRAY JOIN arrayFilter(
    each -> each.1 = '' OR has(multiIf(each.1 = 'model', {{{{models:Array(String)}}}},
                                       each.1 = 'source', {{{{sources:Array(String)}}}},
                                       {{{{query_types:Array(String)}}}}), each.2),
    arrayConcat(
        [('', ''), ('model', model::String), ('query_type', type::String)],
        arrayMap(name -> ('source', name::String), arrayDistinct(arrayConcat(source_names_a, source_names_b)))
    )
) AS slice
GROUP BY dimension, value, bucket {_SETTINGS}
"""

EVALUATORS = f"""
{_paired(_DAYS)}
SELECT concat('evaluations.', evaluator, '.', name) AS measure,
       sipHash64(tenant, if(session = '', answer_id, session)) % {BUCKETS} AS bucket, count() AS pairs,
       [{", ".join(f"sum(toFloat64({expression}))" for expression in _PARTS)}] AS sums
FROM (
    SELECT tenant, toDate(completed_at) AS day, answer_id, evaluator, name,
           anyIf(value, run = {{{{a:String}}}}) AS x, anyIf(value, run = {{{{b:String}}}}) AS y
    FROM {{database}}.scores FINAL WHERE {_CHOSEN} {_DAYS}
    GROUP BY tenant, day, answer_id, evaluator, name
) AS scored
INNER JOIN paired USING (tenant, day, answer_id)
GROUP BY measure, bucket
"""

DISTRIBUTIONS = f"""
{_paired(_DAYS)}
SELECT place, toUInt8(least({BINS - 1}, greatest(0, floor(assumeNotNull(one) * {BINS})))) AS bin_a,
       toUInt8(least({BINS - 1}, greatest(0, floor(assumeNotNull(other) * {BINS})))) AS bin_b, count() AS pairs
FROM paired ARRAY JOIN {_SCORES[0]} AS one, {_SCORES[1]} AS other, range({len(SCORES)}) AS place
WHERE isNotNull(one) AND isNotNull(other) GROUP BY place, bin_a, bin_b {_SETTINGS}
"""

CHANGED = f"""
{_paired(_DAYS)}
SELECT tenant, day, answer_id, completed, state_a, state_b, risk_a, risk_b, review_a, review_b, reasons_a, reasons_b,
       {_SCORES[0]} AS scores_a, {_SCORES[1]} AS scores_b,
       2 * (state_a != state_b OR review_a != review_b) + (risk_a != risk_b) + 0.1 * ({_REASONS}) + {_LARGEST} AS change
FROM paired WHERE change > 0 ORDER BY change DESC, tenant, answer_id, day LIMIT {{{{limit:UInt32}}}} {_SETTINGS}
"""

VALUES_OF = {
    "model": f"""
SELECT model_id::String AS value, count() AS answers FROM {{database}}.answers FINAL
WHERE {_CHOSEN} GROUP BY value ORDER BY answers DESC, value""",
    "query_type": f"""
SELECT query_type::String AS value, count() AS answers FROM {{database}}.answers FINAL
WHERE {_CHOSEN} AND query_type != '' GROUP BY value ORDER BY answers DESC, value""",
    "source": f"""
SELECT arrayJoin(source_names)::String AS value, count() AS answers FROM {{database}}.answers FINAL
WHERE {_CHOSEN} GROUP BY value ORDER BY answers DESC, value""",
}

_LISTED = """
{{database}}.{table} FINAL WHERE run IN ({{{{a:String}}}}, {{{{b:String}}}}) AND answer_id IN {{{{answers:Array(String)}}}}
AND tenant IN {{{{tenants:Array(String)}}}} AND toDate(completed_at) IN {{{{days:Array(Date)}}}}
"""
TEXTS = f"""
SELECT tenant, answer_id, toDate(completed_at) AS day, run, pipeline_version,
       leftUTF8(query, {MAX_QUERY}) AS query, leftUTF8(answer, {MAX_ANSWER}) AS answer
FROM {_LISTED.format(table="answers")}
"""
CLAIMS = f"""
SELECT tenant, answer_id, toDate(completed_at) AS day, run, pipeline_version, start, end,
       leftUTF8(text, {MAX_CLAIM}) AS text, verdict, score
FROM {_LISTED.format(table="claims")} ORDER BY start, end LIMIT {MAX_CLAIMS} BY tenant, answer_id, day, run
"""

# An answer that the policy decided after a deadline was not reviewed. An approval with a warning is neither good nor
# bad.
# A withdrawn decision says nothing either.
_DECISIONS = (
    "{database}.review_decisions FINAL WHERE ruling = 'final' AND decided_by != 'policy' AND (tenant, review_id) NOT IN"
    " (SELECT tenant, review_id FROM {database}.review_decisions WHERE ruling = 'withdrawal')"
)
_DECIDED = f"SELECT answer_id FROM {_DECISIONS}"
# A reward also holds what reviewers decided, so that only answers without a decision of a person have the rating of
# readers alone. Withdrawals and withdrawn decisions count for this.
_DECIDED_PAIRS = (
    "SELECT tenant, answer_id FROM {database}.review_decisions"
    " WHERE ruling IN ('final', 'withdrawal') AND decided_by != 'policy'"
)
_RATED = "{database}.rewards FINAL WHERE explicit_reward IS NOT NULL"

# A version is right if it releases answers that people found good, and no answer that they found bad.
_RIGHT = "(state_a = 'released') = good AS right_a, (state_b = 'released') = good AS right_b"
DECISIONS = f"""
{_paired(f"AND answer_id IN ({_DECIDED})")}
SELECT {_RIGHT}, count() AS cases
FROM paired INNER JOIN (
    SELECT tenant, answer_id, any(action = 'approve') AS good FROM {_DECISIONS}
    AND action IN ('approve', 'reject', 'correct') AND NOT (action = 'approve' AND JSONExtractBool(decision, 'with_warning'))
    GROUP BY tenant, answer_id
) AS said USING (tenant, answer_id)
GROUP BY right_a, right_b
"""
RATINGS = f"""
{_paired(f"AND answer_id IN (SELECT answer_id FROM {_RATED}) AND (tenant, answer_id) NOT IN ({_DECIDED_PAIRS})")}
SELECT {_RIGHT}, count() AS cases
FROM paired INNER JOIN (
    SELECT tenant, answer_id, assumeNotNull(explicit_reward) > {BAD_REWARD} AS good FROM {_RATED}
) AS said USING (tenant, answer_id)
GROUP BY right_a, right_b
"""
# A later evaluation of the same run may drop a claim. The row of the claim then keeps the earlier version.
CLAIM_VERDICTS = f"""
SELECT (verdict_a = 'supported' AND said = 'supported') OR (verdict_a IN ('contradicted', 'unsupported') AND said != 'supported') AS right_a,
       (verdict_b = 'supported' AND said = 'supported') OR (verdict_b IN ('contradicted', 'unsupported') AND said != 'supported') AS right_b,
       count() AS cases
FROM (
    SELECT tenant, answer_id, toDate(completed_at) AS day, claim_id, {_both("verdict")}
    FROM {{database}}.claims FINAL
    WHERE {_CHOSEN} AND answer_id IN ({_DECIDED}) AND (tenant, answer_id, run, pipeline_version) IN (
        SELECT tenant, answer_id, run, pipeline_version FROM {{database}}.answers FINAL
        WHERE {_CHOSEN} AND answer_id IN ({_DECIDED})
    )
    GROUP BY tenant, day, answer_id, claim_id
    HAVING countIf(run = {{{{a:String}}}}) > 0 AND countIf(run = {{{{b:String}}}}) > 0
) AS judged
INNER JOIN (
    SELECT tenant, answer_id, each.1 AS claim_id, any(each.2) AS said
    FROM (SELECT tenant, answer_id, decision FROM {_DECISIONS})
    ARRAY JOIN JSONExtract(decision, 'claim_verdicts', 'Array(Tuple(claim_id String, verdict String))') AS each
    WHERE each.2 IN ('supported', 'contradicted', 'unsupported')
    GROUP BY tenant, answer_id, claim_id
) AS people USING (tenant, answer_id, claim_id)
GROUP BY right_a, right_b
"""
AGREEMENTS = {"claims": CLAIM_VERDICTS, "decisions": DECISIONS, "ratings": RATINGS}
"""Statements that count the cases in which each run agreed with people, by kind of their feedback."""
