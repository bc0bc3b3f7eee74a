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
    ChangedAnswer,
    Comparison,
    Levels,
    Side,
    side_by_side,
)
from workers.comparison.statistics import SAID, Agreement
from workers.comparison.tallies import SCORES, Tally
from workers.stores.answers import EARLIEST, LATEST
from workers.stores.comparison_statements import (
    AGREEMENTS,
    CHANGED,
    CLAIMS,
    DISTRIBUTIONS,
    KNOWN_RUNS,
    LEVELS,
    MOVED,
    RUNS,
    TALLIES,
    TEXTS,
    VALUES_OF,
)
from workers.stores.feedback import without_zone
from workers.stores.reading import Reading, Row

DIMENSIONS = ("model", "source", "query_type")
"""What pairs can be sliced by."""

MAX_VALUES = 50
"""Values of a dimension that are looked at: those with most answers. Bounds what comes back: at most
150 slices of 200 buckets of 192 sums, 46 MB."""

ROWS_AT_ONCE = 1_000_000
"""Rows of both runs that one question reads, where a day does not have more: it bounds how long one takes."""

DETAILS_AT_ONCE = 100
"""Answers whose texts and claims are read at once."""


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
