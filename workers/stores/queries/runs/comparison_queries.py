"""Compare two runs of the same answers, summed inside ClickHouse as far as possible.

Pairs have the same tenant, day of completion and answer. This is the order of the table, so
ClickHouse aggregates pairs while it reads and holds none of them. The size of the result depends on
buckets, slices and listed answers, and not on the number of pairs. Texts and claims are read for the
listed answers only.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from workers.comparison.comparison_errors import UnknownRun
from workers.comparison.results import (
    ChangedAnswer,
    Comparison,
    Levels,
    Side,
    side_by_side,
)
from workers.comparison.statistics import SAID, Agreement
from workers.comparison.tallies import SCORES, Tally
from workers.stores.clickhouse.row_reading import Reading, Row, in_parameters, without_zone
from workers.stores.queries.answer_queries import EARLIEST, LATEST
from workers.stores.queries.runs.comparison_statements import (
    AGREEMENTS,
    CHANGED,
    CLAIMS,
    DISTRIBUTIONS,
    EVALUATORS,
    KNOWN_RUNS,
    LEVELS,
    MOVED,
    RUNS,
    TALLIES,
    TEXTS,
    VALUES_OF,
)

DIMENSIONS = ("model", "source", "query_type")
"""Dimensions that pairs can be sliced by."""

MAX_VALUES = 50
"""Maximum number of values of a dimension, those with the most answers. They limit the result to 150 slices of 200
buckets of 192 sums, 46 MB.
"""

ROWS_AT_ONCE = 1_000_000
"""Rows of both runs that one query reads, unless one day has more. The number bounds the time of a query."""

DETAILS_AT_ONCE = 100
"""Number of answers whose texts and claims are read at once."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Request for a comparison.

    Attributes:
        a, b: the runs.
        since, until: range of completion times; unbounded if ``None``.
        tenant: tenant of the answers; all if empty.
        slices: dimensions from ``DIMENSIONS``.
        top: maximum number of listed answers.
    """

    a: str
    b: str
    since: datetime | None = None
    until: datetime | None = None
    tenant: str = ""
    slices: Sequence[str] = ()
    top: int = 10

    def parameters(self) -> dict[str, Any]:
        """Return the query parameters that all statements share."""
        since, until = without_zone(self.since or EARLIEST), without_zone(self.until or LATEST)
        return {"a": self.a, "b": self.b, "tenant": self.tenant, "since": since, "until": until}


class ComparisonStore(Reading):
    """Store that compares two runs."""

    async def compare(self, wanted: Wanted) -> Comparison:
        """Compare two runs.

        Args:
            wanted: runs, filter and slices.

        Raises:
            UnknownRun: a run has no answer at all; the message lists the known runs.
            StoreUnavailable: ClickHouse does not respond.
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
                raise UnknownRun(f"unknown run {run!r}; choose one of: {', '.join(runs) or 'none yet'}")

    async def _add(self, found: Comparison, parameters: dict[str, Any], chosen: dict[str, list[str]], top: int) -> None:
        """Add the pairs of some days to a comparison."""
        for row in await self.rows(LEVELS, **parameters):
            found.levels[_levels(row)] += row["pairs"]
        named = {f"{dimension}s": chosen.get(dimension, []) for dimension in DIMENSIONS}
        for row in await self.rows(TALLIES, **parameters, **named):
            place = (row["dimension"], row["value"])
            tally = found.slices.setdefault(place, Tally()) if place[0] else found.overall
            tally.add(row["bucket"], row["pairs"], row["sums"])
        for row in await self.rows(EVALUATORS, **parameters):
            tally = found.evaluators.setdefault(row["measure"], Tally.of_one_measure())
            tally.add(row["bucket"], row["pairs"], [[value] for value in row["sums"]])
        for row in await self.rows(DISTRIBUTIONS, **parameters):
            found.distributions[row["place"], row["bin_a"], row["bin_b"]] += row["pairs"]
        if top:
            changed = [_changed(row) for row in await self.rows(CHANGED, **parameters, limit=top)]
            found.answers = sorted([*found.answers, *changed], key=_place)[:top]

    async def _detailed(self, wanted: Wanted, answers: Sequence[ChangedAnswer]) -> list[ChangedAnswer]:
        """Return the answers with their texts and claims."""
        detailed: list[ChangedAnswer] = []
        for part in _parts(answers):
            named = {
                "a": wanted.a, "b": wanted.b, "answers": [each.answer_id for each in part],
                "tenants": sorted({each.tenant for each in part}),
                "days": sorted({each.completed_at.astimezone(UTC).date() for each in part}),
            }  # fmt: skip
            texts = {_key(row): row for row in await self.rows(TEXTS, **named)}
            claims: dict[tuple[Any, ...], list[Row]] = {}
            for row in await self.rows(CLAIMS, **named):
                # Claims that a later evaluation of the run no longer makes stay in the table under the old version.
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


def _parts(answers: Sequence[ChangedAnswer]) -> Iterator[list[ChangedAnswer]]:
    for start in range(0, len(answers), DETAILS_AT_ONCE):
        part = answers[start : start + DETAILS_AT_ONCE]
        yield from in_parameters(part, lambda each: (each.tenant, each.answer_id))


def _versions(rows: Sequence[Row], run: str) -> dict[str, int]:
    found: Counter[str] = Counter()
    for row in rows:
        if row["run"] == run:
            found[row["pipeline_version"]] += row["answers"]
    return dict(sorted(found.items()))


def _stretches(rows: Sequence[Row]) -> Iterator[tuple[date, date]]:
    """Yield first and last days of periods within ``ROWS_AT_ONCE``."""
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
