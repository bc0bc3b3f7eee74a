"""Query how a team shares the review queue: who has which request, and what each reviewer has decided."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from schemas.review import POLICY
from workers.stores.clickhouse.row_reading import Reading, Row, without_zone

MOST_VALUES = 200
"""Maximum number of values of a filter to offer."""

MOST_NAMES = 20
"""Maximum number of people or models whose decisions are counted apart over time."""

AcceptanceBy = Literal["reviewer", "model"]
Interval = Literal["day", "week"]
_NAMES: Mapping[AcceptanceBy, str] = {"reviewer": "decided_by", "model": "model_id"}
_STARTS: Mapping[Interval, str] = {"day": "toDate(decided_at, 'UTC')", "week": "toStartOfWeek(decided_at, 1, 'UTC')"}

NOBODY = "nobody"
"""Filter for unassigned requests."""

_OURS = "(empty({tenants:Array(String)}) OR tenant IN {tenants:Array(String)})"


@dataclass(frozen=True, slots=True)
class Facets:
    """Hold the filter values of the queue page.

    They are up to 200 each from open requests, with the people to whom these are assigned, and up to 200 queues to which
    requests were ever escalated.
    """

    tenants: list[str]
    models: list[str]
    reasons: list[str]
    signals: list[str]
    queues: list[str]
    assignees: list[str]


class ReviewTeamQueries(Reading):
    """Query assignments, escalations and the decisions of reviewers."""

    async def facets(self, tenants: Sequence[str]) -> Facets:
        """Return the filter values for some tenants, or for all if empty."""
        many = f"groupUniqArray({MOST_VALUES})"
        rows = await self.named_rows(
            f"SELECT {many}(tenant) AS tenants, {many}(model_id) AS models, groupUniqArrayArray({MOST_VALUES})(reasons)"
            f" AS reasons, groupUniqArrayArray({MOST_VALUES})(signals) AS signals, {many}(queue) AS queues"
            f" FROM {self._database}.review_queue WHERE state = 'open' AND {_OURS}",
            {"tenants": list(tenants)},
        )
        moved = await self.named_rows(
            f"SELECT DISTINCT queue FROM {self._database}.review_events WHERE kind = 'escalated' AND {_OURS}"
            f" LIMIT {MOST_VALUES}",
            {"tenants": list(tenants)},
        )
        given = self._assigned("person != ''", "tenant, review_id, person")
        assigned = await self.named_rows(
            f"SELECT DISTINCT person FROM {given} WHERE (tenant, review_id) IN (SELECT tenant, review_id"
            f" FROM {self._database}.review_queue FINAL WHERE state = 'open' AND {_OURS}) ORDER BY person LIMIT {MOST_VALUES}",
            {"tenants": list(tenants)},
        )
        found = {name: sorted(filter(None, values)) for name, values in rows[0].items()}
        found["assignees"] = [row["person"] for row in assigned]
        found["queues"] = sorted({*found["queues"], *(row["queue"] for row in moved)})
        return Facets(**found)

    async def assignees(self, names: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
        """Return the person of each assigned request, by tenant and review identifier."""
        if not names:
            return {}
        rows = await self.named_rows(
            f"SELECT tenant, review_id, argMax(assignee, occurred_at) AS person FROM {self._database}.review_events"
            " WHERE kind = 'given' AND review_id IN {reviews:Array(String)}"
            " AND (tenant, review_id) IN {names:Array(Tuple(String, String))} GROUP BY tenant, review_id",
            {"names": list(names), "reviews": [review_id for _, review_id in names]},
        )
        return {(row["tenant"], row["review_id"]): row["person"] for row in rows if row["person"]}

    async def escalations(self, names: Sequence[tuple[str, str]]) -> list[Row]:
        """Return the escalations of requests and those that were undone (``resumed``), in order of time.

        Returns:
            Rows with ``tenant``, ``review_id``, ``kind``, ``by``, ``at``, ``reason`` and ``verdicts`` (JSON, or empty).
        """
        if not names:
            return []
        return await self.named_rows(
            "SELECT tenant, review_id, kind, reviewer AS by, occurred_at AS at, reason, verdicts"
            f" FROM {self._database}.review_events FINAL"
            " WHERE kind IN ('escalated', 'resumed') AND queue != '' AND review_id IN {reviews:Array(String)}"
            " AND (tenant, review_id) IN {names:Array(Tuple(String, String))} ORDER BY occurred_at, kind",
            {"names": list(names), "reviews": [review_id for _, review_id in names]},
        )

    async def reviewers(self, tenants: Sequence[str], since: datetime) -> list[Row]:
        """Return what each person has decided since a time, the busiest first."""
        counted = "ruling IN ('final', 'second')"
        return await self.named_rows(
            "SELECT decided_by AS name, countIf(ruling = 'final') AS decided, countIf(ruling = 'second') AS second,"
            f" countIf(action = 'approve' AND {counted}) AS approved, countIf(action = 'correct' AND {counted}) AS corrected,"
            f" countIf(action = 'reject' AND {counted}) AS rejected,"
            f" quantileExactOrNullIf(0.5)(review_duration, review_duration > 0 AND {counted}) AS median_active_seconds"
            f" FROM {self._database}.review_decisions FINAL WHERE {_OURS} AND decided_by != '{POLICY}'"
            " AND decided_at >= {since:DateTime64(3, 'UTC')} GROUP BY name HAVING decided + second > 0"
            f" ORDER BY decided + second DESC, name LIMIT {MOST_VALUES}",
            {"tenants": list(tenants), "since": without_zone(since)},
        )

    async def decided_models(self, tenants: Sequence[str], since: datetime) -> list[str]:
        """Return the models on whose answers people have decided since a time, for some tenants or all if empty."""
        rows = await self.named_rows(
            f"SELECT DISTINCT toString(model_id) AS name FROM {self._database}.review_decisions WHERE {_OURS}"
            f" AND ruling = 'final' AND decided_by != '{POLICY}' AND decided_at >= {{since:DateTime64(3, 'UTC')}}"
            f" ORDER BY name LIMIT {MOST_VALUES}",
            {"tenants": list(tenants), "since": without_zone(since)},
        )
        return [row["name"] for row in rows]

    async def acceptance(
        self, tenants: Sequence[str], since: datetime, by: AcceptanceBy, interval: Interval, model: str
    ) -> list[Row]:
        """Count the final decisions of people by day or week (UTC, from Monday) and by reviewer or model.

        Args:
            tenants: tenants of the decisions; all if empty.
            since: earliest time of a decision.
            by: count decisions of each reviewer, or on each model.
            interval: length of an interval.
            model: model that wrote the answers; all if empty.

        Returns:
            Rows with ``date``, ``name``, ``approved``, ``corrected`` and ``rejected``, in order of time. The decisions
            of all but the ``MOST_NAMES`` with the most decisions have the name ``None``.
        """
        chosen = (
            f"FROM {self._database}.review_decisions FINAL WHERE {_OURS} AND ruling = 'final'"
            f" AND decided_by != '{POLICY}' AND decided_at >= {{since:DateTime64(3, 'UTC')}}"
            " AND ({model:String} = '' OR model_id = {model:String})"
        )
        name = f"toString({_NAMES[by]})"
        return await self.named_rows(
            f"SELECT {_STARTS[interval]} AS date, if({name} IN (SELECT {name} AS name {chosen} GROUP BY name"
            f" ORDER BY count() DESC, name LIMIT {MOST_NAMES}), {name}, NULL) AS name,"
            " countIf(action = 'approve') AS approved, countIf(action = 'correct') AS corrected,"
            f" countIf(action = 'reject') AS rejected {chosen} GROUP BY date, name ORDER BY date, name",
            {"tenants": list(tenants), "since": without_zone(since), "model": model},
        )

    def _assigned(self, condition: str, columns: str = "tenant, review_id") -> str:
        """Return the requests whose person fulfils a condition, as a subquery of tenant and review identifier."""
        return (
            f"(SELECT {columns} FROM (SELECT tenant, review_id, argMax(assignee, occurred_at) AS person"
            f" FROM {self._database}.review_events WHERE kind = 'given' GROUP BY tenant, review_id) WHERE {condition})"
        )

    def _of_assignee(self, assignee: str) -> str:
        """Return the condition that a request is assigned to a person, in any case, or unassigned."""
        if assignee.lower() == NOBODY:
            return "(q.tenant, q.review_id) NOT IN " + self._assigned("person != ''")
        return "(q.tenant, q.review_id) IN " + self._assigned("lowerUTF8(person) = lowerUTF8({assignee:String})")

    def _not_of_people(self) -> str:
        """Return the condition that a request is not assigned to one of some people."""
        people = "{not_of:Array(Tuple(String, String))}"
        return "(q.tenant, q.review_id) NOT IN " + self._assigned(
            f"(person, '') IN {people} OR (person, tenant) IN {people}"
        )

    def _of_reviewer(self) -> str:
        """Return the condition that a person, in any case, has decided a request or reviewed it independently."""
        return (
            f"(q.tenant, q.review_id) IN (SELECT tenant, review_id FROM {self._database}.review_decisions FINAL"
            " WHERE ruling IN ('final', 'second') AND lowerUTF8(decided_by) = lowerUTF8({reviewer_of:String}))"
        )
