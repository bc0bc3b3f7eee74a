"""Runs beside the live one: which there are, whose figures count, and removing one."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from clickhouse_connect.driver.exceptions import Error

from workers.delivery.errors import StoreUnavailable
from workers.stores.analytics import AnalyticsStore
from workers.stores.feedback import ask
from workers.stores.rollups import refresh_rollups

OF_RUN = (
    "claims", "citations", "citations_by_id", "citation_logs", "answer_facts", "answer_hours", "source_hours",
    "stage_hours", "worst_hours", "answers", "promotions", "replays",
)  # fmt: skip
"""Tables with rows of a run; last the one that tells that there is a replay, so that a removal that is cut off
is seen, and done again."""

REFRESH = "promoted_hours_refresh"
"""The view that decides whose an hour is."""

_OF = " WHERE run = {run:String}"
HOURS = "SELECT run, count(), min(hour), max(hour) FROM {database}.promoted_hours GROUP BY run"
PROMOTED = "SELECT run, changed_at FROM {database}.promotions FINAL WHERE active"


@dataclass(frozen=True, slots=True)
class Promoted:
    """A run whose figures count.

    Attributes:
        run: its name.
        since: when it was promoted.
        hours: hours of tenants that are its; in all others it has not judged every answer.
        first, last: the earliest and the latest of these hours.
    """

    run: str
    since: datetime
    hours: int
    first: datetime | None
    last: datetime | None


class RunStore:
    """Promotes, demotes and removes runs.

    Args:
        analytics: connected store, whose user may alter tables and refresh views.
        database: where the tables are.
    """

    def __init__(self, analytics: AnalyticsStore, database: str) -> None:
        self._analytics = analytics
        self._database = database

    async def promoted(self) -> list[Promoted]:
        """The promoted runs, the latest first; it goes before the others where several have an hour.

        Raises:
            StoreUnavailable: ClickHouse does not answer.
        """
        hours = {row[0]: row for row in await self._ask(HOURS)}
        found = [
            Promoted(run, since, *((hours[run][1], hours[run][2], hours[run][3]) if run in hours else (0, None, None)))
            for run, since in await self._ask(PROMOTED)
        ]
        return sorted(found, key=lambda each: each.since, reverse=True)

    async def set_promoted(self, run: str, active: bool, now: datetime) -> None:
        """Let a run's figures count, or no longer; figures follow before this returns.

        Raises:
            StoreUnavailable: ClickHouse does not confirm.
        """
        columns = {"run": run, "active": active, "changed_at": now.isoformat()}
        await self._analytics.insert("promotions", [columns])
        await self._refresh()

    async def remove(self, run: str, now: datetime) -> dict[str, int]:
        """Remove all rows of a run; its figures count no longer before the first is gone.

        Args:
            run: its name.
            now: when.

        Returns:
            Rows removed, by table; counted with all their revisions.

        Raises:
            StoreUnavailable: ClickHouse does not confirm; run it again.
        """
        if any(each.run == run for each in await self.promoted()):
            await self.set_promoted(run, False, now)
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
        except (Error, OSError, TimeoutError, asyncio.IncompleteReadError) as error:
            raise StoreUnavailable(f"ClickHouse did not refresh its figures ({type(error).__name__})") from error

    async def _do(self, statement: str, run: str) -> None:
        try:
            await self._analytics.client.command(statement, parameters={"run": run})
        except (Error, OSError, TimeoutError, asyncio.IncompleteReadError) as error:
            raise StoreUnavailable(f"ClickHouse did not remove rows of {run} ({type(error).__name__})") from error

    async def _ask(self, sql: str) -> Sequence[Sequence[Any]]:
        return await ask(self._analytics, sql.format(database=self._database), {})
