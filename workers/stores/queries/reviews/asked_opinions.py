"""Query the second opinions on decided requests that somebody asked for."""

from collections.abc import Sequence
from datetime import datetime

from workers.stores.clickhouse.row_reading import Reading, Row, without_zone
from workers.stores.queries.reviews.blind_reviews import ASKS

_NAMED = "review_id IN {reviews:Array(String)} AND (tenant, review_id) IN {names:Array(Tuple(String, String))}"


class AskedOpinionQueries(Reading):
    """Query second opinions that were asked for, and the people who reviewed a request."""

    async def asked_opinions(self, names: Sequence[tuple[str, str]], since: datetime) -> list[Row]:
        """Return the second opinions that are still asked for on some requests.

        Args:
            names: tenant and review identifier of each request.
            since: start of the time in which they were asked for, exclusive.

        Returns:
            Rows with ``tenant``, ``review_id``, ``person`` (empty for anyone), ``by`` and ``at``.
        """
        if not names:
            return []
        parameters = {
            "names": list(names), "reviews": [name for _, name in names], "decided_since": without_zone(since),
        }  # fmt: skip
        asks = ASKS.replace("{which}", f" AND {_NAMED}").replace("{{", "{").replace("}}", "}")
        reviews = (
            "(SELECT tenant, review_id, groupUniqArray(toString(decided_by)) AS people,"
            " maxIf(decided_at, ruling = 'second') AS reviewed_at"
            f" FROM {self._database}.review_decisions WHERE {_NAMED} GROUP BY tenant, review_id)"
        )
        return await self.named_rows(
            "SELECT tenant, review_id, toString(person) AS person, asker AS by, asked_at AS at"
            f" FROM {asks.replace('{database}', self._database)} AS asks"
            f" LEFT JOIN {reviews} AS reviewed USING (tenant, review_id)"
            " WHERE if(person = '', reviewed_at <= asked_at, NOT has(people, toString(person)))"
            " ORDER BY at, person",
            parameters,
        )

    async def reviewing(self, tenant: str, review_id: str) -> set[str]:
        """Return the people who decided a request, reviewed it independently, voted on it, or did so too late."""
        rows = await self.named_rows(
            f"SELECT DISTINCT toString(decided_by) AS name FROM {self._database}.review_decisions"
            " WHERE review_id = {review:String} AND tenant = {tenant:String}",
            {"review": review_id, "tenant": tenant},
        )
        return {row["name"] for row in rows}
