"""Promote, demote and remove runs other than the live one."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import from_json, to_json

from workers.errors import StoreUnavailable
from workers.stores.clickhouse.analytics_store import CLIENT_ERRORS
from workers.stores.clickhouse.rollups import refresh_rollups
from workers.stores.clickhouse.row_reading import Reading, ask
from workers.stores.tables.all_tables import OF_RUN
from workers.stores.tables.operation_tables import PromotionRow

REFRESH = "promoted_hours_refresh"
"""View that assigns each hour to a run."""

_OF = " WHERE run = {run:String}"
HOURS = "SELECT run, count(), min(hour), max(hour) FROM {database}.promoted_hours GROUP BY run"
PROMOTED = "SELECT run, changed_at FROM {database}.promotions FINAL WHERE active"
CHANGES = "SELECT run, active, changed_at, changes FROM {database}.promotions FINAL ORDER BY run"


@dataclass(frozen=True, slots=True)
class Promoted:
    """A promoted run.

    Attributes:
        run: name of the run.
        since: time of the promotion.
        hours: number of hours of tenants for which the run is used; in other hours it has not evaluated every answer.
        first, last: the earliest and the latest of these hours.
    """

    run: str
    since: datetime
    hours: int
    first: datetime | None
    last: datetime | None


@dataclass(frozen=True, slots=True)
class PromotionChange:
    """A promotion or demotion of a run.

    Attributes:
        run: name of the run; it may have been removed since.
        promoted: true for a promotion.
        at: its time, UTC.
        by: user of the command; empty if an earlier version changed it.
    """

    run: str
    promoted: bool
    at: datetime
    by: str


_CHANGE = TypeAdapter(PromotionChange)


class RunStore(Reading):
    """Store that promotes, demotes and removes runs."""

    async def promoted(self) -> list[Promoted]:
        """Return the promoted runs, the latest first. The latest takes precedence in an hour that several have.

        Raises:
            StoreUnavailable: ClickHouse does not respond.
        """
        hours = {row[0]: row for row in await self._ask(HOURS)}
        found = [
            Promoted(run, since, *((hours[run][1], hours[run][2], hours[run][3]) if run in hours else (0, None, None)))
            for run, since in await self._ask(PROMOTED)
        ]
        return sorted(found, key=lambda each: each.since, reverse=True)

    async def changes(self) -> list[PromotionChange]:
        """Return the promotions and demotions of all runs, also of removed ones, the earliest first.

        Of changes by earlier versions the last one of each run is known, without its user.

        Raises:
            StoreUnavailable: ClickHouse does not respond.
        """
        found = []
        for run, active, changed_at, changes in await self._ask(CHANGES):
            kept = (
                from_json(changes)
                if changes
                else [{"promoted": active, "at": changed_at.replace(tzinfo=UTC), "by": ""}]
            )
            found += [_CHANGE.validate_python({"run": run, **each}) for each in kept]
        return sorted(found, key=lambda each: (each.at, each.run))

    async def set_promoted(self, run: str, active: bool, now: datetime, by: str = "") -> None:
        """Promote or demote a run, record it, and wait until the figures are refreshed.

        Raises:
            StoreUnavailable: ClickHouse does not acknowledge.
        """
        changes = [each for each in await self.changes() if each.run == run]
        changes.append(PromotionChange(run, active, now, by))
        history = to_json([{"promoted": each.promoted, "at": each.at, "by": each.by} for each in changes]).decode()
        await self._analytics.store([PromotionRow(run=run, active=active, changed_at=now, changes=history)])
        await self._refresh()

    async def remove(self, run: str, now: datetime, by: str = "") -> dict[str, int]:
        """Remove all rows of a run, and demote the run first if it is promoted.

        Args:
            run: its name.
            now: time of the demotion.
            by: user of the command.

        Returns:
            Rows removed, by table; counted with all their revisions.

        Raises:
            StoreUnavailable: ClickHouse does not acknowledge; run it again.
        """
        if any(each.run == run for each in await self.promoted()):
            await self.set_promoted(run, False, now, by)
        removed = {}
        for table in OF_RUN:
            place = f"{self._database}.{table}"
            counted = await ask(self._analytics, f"SELECT count() FROM {place}{_OF}", {"run": run})
            removed[table] = int(counted[0][0])
            if removed[table]:
                await self._do(f"ALTER TABLE {place} DELETE{_OF} SETTINGS mutations_sync = 2", run)
        await self._refresh()
        return removed

    async def _refresh(self) -> None:
        try:
            await refresh_rollups(self._analytics.client, self._database)
            for statement in ("WAIT", "REFRESH", "WAIT"):
                await self._analytics.client.command(f"SYSTEM {statement} VIEW {self._database}.{REFRESH}")
        except CLIENT_ERRORS as error:
            raise StoreUnavailable(
                f"ClickHouse did not refresh its figures ({type(error).__name__}); run the command again"
            ) from error

    async def _do(self, statement: str, run: str) -> None:
        try:
            await self._analytics.client.command(statement, parameters={"run": run})
        except CLIENT_ERRORS as error:
            raise StoreUnavailable(
                f"ClickHouse did not remove rows of {run} ({type(error).__name__}); run the command again"
            ) from error

    async def _ask(self, sql: str) -> Sequence[Sequence[Any]]:
        return await ask(self._analytics, sql.format(database=self._database), {})
