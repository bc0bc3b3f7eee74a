"""Read the pipeline versions that ClickHouse has seen."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from workers.stores.clickhouse.row_reading import Reading, ask
from workers.stores.queries.answer_queries import Place, place_values

SEEN = """
SELECT version, any(parts), sum(answers), minOrNull(first), maxOrNull(last), maxOrNull(started)
FROM (
    SELECT version, parts, toUInt64(0) AS answers, NULL AS first, NULL AS last, toNullable(started_at) AS started
    FROM {database}.versions FINAL
    UNION ALL
    SELECT pipeline_version, NULL, count(), min(completed_at), max(completed_at), NULL
    FROM {database}.answers FINAL GROUP BY pipeline_version
)
GROUP BY version
ORDER BY maxOrNull(last) DESC NULLS LAST, maxOrNull(started) DESC, version
"""


START = Place()
_OURS = "(empty({{tenants:Array(String)}}) OR tenant IN {{tenants:Array(String)}})"
USED = f"""
SELECT pipeline_version AS version, min(first_at) AS first_used, max(last_at) AS last_used,
       toUnixTimestamp64Milli(first_used) AS first_ms
FROM {{database}}.version_days
WHERE {_OURS} AND ({{{{version:String}}}} = '' OR pipeline_version = {{{{version:String}}}})
GROUP BY version
HAVING {{{{after:String}}}} = '' OR (first_used, version) < (fromUnixTimestamp64Milli({{{{after_ms:Int64}}}}, 'UTC'), {{{{after:String}}}})
ORDER BY first_used DESC, version DESC LIMIT {{{{limit:UInt32}}}}
"""
COUNTED = f"""
SELECT pipeline_version AS version, uniqExact(tenant, answer_id) AS answers FROM {{database}}.answer_texts
WHERE {_OURS} AND pipeline_version IN {{{{versions:Array(String)}}}} GROUP BY version
"""
STARTED = """
SELECT version, parts, started_at FROM {database}.versions FINAL WHERE version IN {{versions:Array(String)}}
"""
# A period ends where another version was used. Rows are days, so that versions that alternate within a day show once.
PERIODS = f"""
SELECT min(first_at) AS since, max(last_at) AS until FROM (
    SELECT *, sum(is_other) OVER (ORDER BY first_at, version) AS period FROM (
        SELECT pipeline_version AS version, day, min(version_days.first_at) AS first_at, max(version_days.last_at) AS last_at,
               version != lagInFrame(version) OVER (ORDER BY first_at, version) AS is_other
        FROM {{database}}.version_days WHERE {_OURS} GROUP BY version, day
    )
) WHERE version = {{{{version:String}}}} GROUP BY period ORDER BY since DESC LIMIT {{{{limit:UInt32}}}}
"""
NUMBER = f"SELECT uniqExact(pipeline_version) AS number FROM {{database}}.version_days WHERE {_OURS}"
TENANTS = (
    f"SELECT DISTINCT tenant FROM {{database}}.version_days WHERE {_OURS} ORDER BY tenant LIMIT {{{{limit:UInt32}}}}"
)
MOST_TENANTS = 10_000
"""Maximum number of tenants that are offered as a filter."""


@dataclass(frozen=True, slots=True)
class UsedVersion:
    """Hold a pipeline version that decided on answers.

    Attributes:
        version: name of the version.
        first_used: time of its first decision on an answer.
        last_used: time of the last one.
        first_ms: time of the first one in milliseconds since 1970, for cursors.
        answers: number of stored answers of which a text was decided by it.
        parts: parts by name; ``None`` if no worker of this version has reported them.
        started_at: time at which a worker of this version last started.
    """

    version: str
    first_used: datetime
    last_used: datetime
    first_ms: int
    answers: int
    parts: dict[str, str] | None
    started_at: datetime | None


@dataclass(frozen=True, slots=True)
class SeenVersion:
    """Pipeline version, its parts and its answers.

    Attributes:
        version: name of the version.
        parts: parts by name; ``None`` if no worker of this version has reported them.
        answers: number of answers whose current row has this version.
        first, last: completion times of the earliest and the latest of them.
        started_at: time at which a worker of this version last started.
    """

    version: str
    parts: dict[str, str] | None
    answers: int
    first: datetime | None
    last: datetime | None
    started_at: datetime | None


class VersionStore(Reading):
    """Store of the versions seen."""

    async def seen(self) -> list[SeenVersion]:
        """Return all versions, the one with the latest answer first.

        Raises:
            StoreUnavailable: ClickHouse does not respond.
        """
        return [
            SeenVersion(version, None if parts is None else _parts(parts), answers, first, last, started)
            for version, parts, answers, first, last, started in await ask(
                self._analytics, SEEN.format(database=self._database), {}
            )
        ]

    async def used(
        self, tenants: Sequence[str], limit: int, after: Place = START, version: str = ""
    ) -> list[UsedVersion]:
        """Return versions that decided on answers, the one with the latest first decision first.

        Args:
            tenants: tenants of the answers; all if empty.
            limit: maximum number of versions.
            after: version after which the list continues.
            version: only this version; all if empty.

        Raises:
            StoreUnavailable: ClickHouse does not respond.
        """
        rows = await self.rows(USED, tenants=list(tenants), limit=limit, version=version, **place_values(after))
        versions = [row["version"] for row in rows]
        counted, started = await asyncio.gather(
            self.rows(COUNTED, tenants=list(tenants), versions=versions), self.rows(STARTED, versions=versions)
        )
        answers = {row["version"]: row["answers"] for row in counted}
        starts = {row["version"]: row for row in started}
        return [
            UsedVersion(
                **row,
                answers=answers.get(row["version"], 0),
                parts=_parts(starts[row["version"]]["parts"]) if row["version"] in starts else None,
                started_at=starts[row["version"]]["started_at"] if row["version"] in starts else None,
            )
            for row in rows
        ]

    async def periods(self, version: str, tenants: Sequence[str], limit: int) -> list[tuple[datetime, datetime]]:
        """Return the periods in which a version decided on answers and no other one between, the latest first.

        Raises:
            StoreUnavailable: ClickHouse does not respond.
        """
        rows = await self.rows(PERIODS, version=version, tenants=list(tenants), limit=limit)
        return [(row["since"], row["until"]) for row in rows]

    async def number(self, tenants: Sequence[str]) -> int:
        """Return the number of versions that decided on answers of tenants.

        Raises:
            StoreUnavailable: ClickHouse does not respond.
        """
        (row,) = await self.rows(NUMBER, tenants=list(tenants))
        return int(row["number"])

    async def tenants(self, tenants: Sequence[str]) -> list[str]:
        """Return those of some tenants, or of all, who have answers on which a version decided.

        Raises:
            StoreUnavailable: ClickHouse does not respond.
        """
        return [row["tenant"] for row in await self.rows(TENANTS, tenants=list(tenants), limit=MOST_TENANTS)]


def _parts(text: str) -> dict[str, str]:
    content: dict[str, Any] = orjson.loads(text)
    return {name: str(value) for name, value in content.items()}
