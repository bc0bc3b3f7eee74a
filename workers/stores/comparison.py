"""Two runs of the same answers, summed inside ClickHouse as far as can be.

Pairs are made by tenant, day of completion and answer, which is the order of the table: ClickHouse
aggregates them while it reads and holds none of them. What comes back is bounded by buckets,
slices and the answers that are listed, whatever the number of pairs; text and claims are read for
the answers listed alone.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from workers.comparison.errors import UnknownRun
from workers.comparison.results import (
    BINS,
    ChangedAnswer,
    Comparison,
    Levels,
    Side,
    side_by_side,
)
from workers.comparison.statistics import SAID, Agreement
from workers.comparison.tallies import BUCKETS, MEASURES, SCORES, Tally
from workers.steps.insights import BAD_REWARD
from workers.stores.answers import EARLIEST, LATEST
from workers.stores.feedback import without_zone
from workers.stores.reading import Reading, Row

DIMENSIONS = ("model", "source", "query_type")
"""What pairs can be sliced by."""

MAX_VALUES = 50
"""Values of a dimension that are looked at: those with most answers. Bounds what comes back: at most
150 slices of 200 buckets of 192 sums, 46 MB."""

ROWS_AT_ONCE = 1_000_000
"""Rows of both runs that one question reads, where a day does not have more: it bounds how long one takes."""

MAX_QUERY, MAX_ANSWER, MAX_CLAIM, MAX_CLAIMS = 500, 5_000, 1_000, 100
"""Code points of the texts of an answer that is listed, and its claims."""

DETAILS_AT_ONCE = 100
"""Answers whose texts and claims are read at once."""

MOVED = 1e-9
"""Difference from which a score has moved: less is how numbers are added."""

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
    """The clause that makes pairs of the rows for which a condition holds."""
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
_SUMS = ", ".join(
    _sum_of(expression)
    for expression in (
        _KNOWN, f"if({_KNOWN}, assumeNotNull(x), 0.)", f"if({_KNOWN}, assumeNotNull(y), 0.)", "ifNull(y - x, 0.)",
        f"ifNull(y - x > {MOVED}, 0)", f"ifNull(x - y > {MOVED}, 0)", "isNotNull(x) AND isNull(y)",
        "isNull(x) AND isNotNull(y)",
    )
)  # fmt: skip
"""In the order of ``PARTS``."""

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

# Who was decided by the policy at a deadline was judged by nobody; an approval with a warning says neither.
_DECISIONS = "{database}.review_decisions FINAL WHERE ruling = 'final' AND decided_by != 'policy'"
_DECIDED = f"SELECT answer_id FROM {_DECISIONS}"
_RATED = "{database}.rewards FINAL WHERE explicit_reward IS NOT NULL"

# A version is right if it lets pass what people found good, and objects to what they found bad.
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
{_paired(f"AND answer_id IN (SELECT answer_id FROM {_RATED}) AND answer_id NOT IN ({_DECIDED})")}
SELECT {_RIGHT}, count() AS cases
FROM paired INNER JOIN (
    SELECT tenant, answer_id, assumeNotNull(explicit_reward) > {BAD_REWARD} AS good FROM {_RATED}
) AS said USING (tenant, answer_id)
GROUP BY right_a, right_b
"""
# A row of a claim that a later judgement of the same run no longer makes has that one's version no more.
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
"""By what people say: what counts the cases in which each run was right."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to compare.

    Attributes:
        a, b: the runs.
        since, until: when the answers were complete; without bounds if ``None``.
        tenant: whose; all if empty.
        slices: dimensions, of ``DIMENSIONS``.
        top: most answers listed.
    """

    a: str
    b: str
    since: datetime | None = None
    until: datetime | None = None
    tenant: str = ""
    slices: Sequence[str] = ()
    top: int = 10

    def parameters(self) -> dict[str, Any]:
        """As those of every statement."""
        since, until = without_zone(self.since or EARLIEST), without_zone(self.until or LATEST)
        return {"a": self.a, "b": self.b, "tenant": self.tenant, "since": since, "until": until}


class ComparisonStore(Reading):
    """Reads two runs."""

    async def compare(self, wanted: Wanted) -> Comparison:
        """Two runs compared.

        Args:
            wanted: which, and by what.

        Raises:
            UnknownRun: a run has no answer at all; names those there are.
            StoreUnavailable: ClickHouse does not answer.
        """
        parameters = wanted.parameters()
        counted = await self.rows(RUNS, **parameters)
        await self._check_runs(wanted, {row["run"] for row in counted})
        versions_a, versions_b = (_versions(counted, run) for run in (wanted.a, wanted.b))
        found = Comparison(Side(wanted.a, versions_a, 0), Side(wanted.b, versions_b, 0))
        chosen: dict[str, list[str]] = {}
        for dimension in wanted.slices:
            values = [row["value"] for row in await self.rows(VALUES_OF[dimension], **parameters)]
            chosen[dimension] = values[:MAX_VALUES]
            found.left_out[dimension] = len(values) - len(chosen[dimension])
        for first, last in _stretches(counted):
            await self._add(found, parameters | {"first": first, "last": last}, chosen, wanted.top)
        found.a, found.b = (
            Side(side.run, side.versions, max(0, sum(side.versions.values()) - found.pairs))
            for side in (found.a, found.b)
        )
        found.answers = await self._detailed(wanted, found.answers)
        found.agreements = [await self._agreement(of, parameters) for of in SAID]
        return found

    async def _check_runs(self, wanted: Wanted, seen: set[str]) -> None:
        missing = [run for run in (wanted.a, wanted.b) if run not in seen]
        if not missing:
            return
        runs = [row["run"] for row in await self.rows(KNOWN_RUNS)]
        for run in missing:
            if run not in runs:
                raise UnknownRun(f"there is no run {run!r}; there are {', '.join(runs) or 'none yet'}")

    async def _add(self, found: Comparison, parameters: dict[str, Any], chosen: dict[str, list[str]], top: int) -> None:
        """Add a stretch of days."""
        for row in await self.rows(LEVELS, **parameters):
            found.levels[_levels(row)] += row["pairs"]
        named = {f"{dimension}s": chosen.get(dimension, []) for dimension in DIMENSIONS}
        for row in await self.rows(TALLIES, **parameters, **named):
            place = (row["dimension"], row["value"])
            tally = found.slices.setdefault(place, Tally()) if place[0] else found.overall
            tally.add(row["bucket"], row["pairs"], row["sums"])
        for row in await self.rows(DISTRIBUTIONS, **parameters):
            found.distributions[row["place"], row["bin_a"], row["bin_b"]] += row["pairs"]
        if top:
            changed = [_changed(row) for row in await self.rows(CHANGED, **parameters, limit=top)]
            found.answers = sorted([*found.answers, *changed], key=_place)[:top]

    async def _detailed(self, wanted: Wanted, answers: Sequence[ChangedAnswer]) -> list[ChangedAnswer]:
        """The answers with their texts and claims."""
        detailed: list[ChangedAnswer] = []
        for start in range(0, len(answers), DETAILS_AT_ONCE):
            part = answers[start : start + DETAILS_AT_ONCE]
            named = {
                "a": wanted.a, "b": wanted.b, "answers": [each.answer_id for each in part],
                "tenants": sorted({each.tenant for each in part}),
                "days": sorted({each.completed_at.astimezone(UTC).date() for each in part}),
            }  # fmt: skip
            texts = {_key(row): row for row in await self.rows(TEXTS, **named)}
            claims: dict[tuple[Any, ...], list[Row]] = {}
            for row in await self.rows(CLAIMS, **named):
                # What a later judgement of the run no longer says stays in the table under its version.
                if (text := texts.get(_key(row))) and text["pipeline_version"] == row["pipeline_version"]:
                    claims.setdefault(_key(row), []).append(row)
            detailed += [_with_texts(each, wanted, texts, claims) for each in part]
        return detailed

    async def _agreement(self, of: str, parameters: dict[str, Any]) -> Agreement:
        counts = {
            (bool(row["right_a"]), bool(row["right_b"])): row["cases"]
            for row in await self.rows(AGREEMENTS[of], **parameters)
        }
        kinds = ((True, True), (True, False), (False, True), (False, False))
        return Agreement(of, *(counts.get(kind, 0) for kind in kinds))


def _versions(rows: Sequence[Row], run: str) -> dict[str, int]:
    found: Counter[str] = Counter()
    for row in rows:
        if row["run"] == run:
            found[row["pipeline_version"]] += row["answers"]
    return dict(sorted(found.items()))


def _stretches(rows: Sequence[Row]) -> Iterator[tuple[date, date]]:
    """First and last days of stretches with few enough rows."""
    counts: Counter[date] = Counter()
    for row in rows:
        counts[row["day"]] += row["answers"]
    days: list[date] = []
    total = 0
    for day in sorted(counts):
        if days and total + counts[day] > ROWS_AT_ONCE:
            yield days[0], days[-1]
            days, total = [], 0
        days.append(day)
        total += counts[day]
    if days:
        yield days[0], days[-1]


def _levels(row: Row) -> Levels:
    return Levels(
        (row["state_a"], row["state_b"]), (row["risk_a"], row["risk_b"]),
        (bool(row["review_a"]), bool(row["review_b"])), bool(row["reasons"]), bool(row["moved"]),
    )  # fmt: skip


def _changed(row: Row) -> ChangedAnswer:
    scores = zip(SCORES, row["scores_a"], row["scores_b"], strict=True)
    levels = _levels(row | {"reasons": True, "moved": True})
    return ChangedAnswer(
        row["tenant"], row["answer_id"], row["completed"], row["change"], levels.state, levels.risk, levels.reviewed,
        (tuple(sorted(row["reasons_a"])), tuple(sorted(row["reasons_b"]))),
        {name: (a, b) for name, a, b in scores if _differ(a, b)},
    )  # fmt: skip


def _differ(a: float | None, b: float | None) -> bool:
    return a != b if a is None or b is None else abs(a - b) > MOVED


def _place(answer: ChangedAnswer) -> tuple[Any, ...]:
    return (-answer.change, answer.tenant, answer.answer_id, answer.completed_at)


def _key(row: Row) -> tuple[Any, ...]:
    return (row["tenant"], row["answer_id"], row["day"], row["run"])


def _with_texts(
    answer: ChangedAnswer, wanted: Wanted, texts: dict[tuple[Any, ...], Row], claims: dict[tuple[Any, ...], list[Row]]
) -> ChangedAnswer:
    place = (answer.tenant, answer.answer_id, answer.completed_at.astimezone(UTC).date())
    text = texts.get((*place, wanted.a), {"query": "", "answer": ""})
    of_runs = (claims.get((*place, run), []) for run in (wanted.a, wanted.b))
    return ChangedAnswer(
        answer.tenant, answer.answer_id, answer.completed_at, answer.change, answer.state, answer.risk,
        answer.reviewed, answer.reasons, answer.scores, text["query"], text["answer"], side_by_side(*of_runs),
    )  # fmt: skip
