"""What ClickHouse knows of replays: their options, how far each has come, and what it has counted."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal

import orjson

from workers.stores.analytics import AnalyticsStore
from workers.stores.feedback import ask

State = Literal["running", "finished"]

COLUMNS = (
    "run", "revision", "pipeline_version", "options", "state", "bounds", "progress", "counts", "started_at", "updated_at",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ReplayRow:
    """One replay.

    Attributes:
        run: its name.
        pipeline_version: that judges.
        options: as JSON, so that going on means going on with the same.
        state: whether there is more to do.
        started_at: when it began, to the millisecond, as it comes back.
        updated_at: when it last stored answers.
        bounds: offsets behind the last ones, by partition.
        progress: offsets up to which all is stored, by partition.
        counts: answers read, judged, and left out by reason.
        revision: grows with each saving.
    """

    run: str
    pipeline_version: str
    options: str
    state: State
    started_at: datetime
    updated_at: datetime
    bounds: dict[int, int] = field(default_factory=dict)
    progress: dict[int, int] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    revision: int = 0


class ReplayStore:
    """Reads and writes replays.

    Args:
        analytics: connected store.
        database: where the tables are.
    """

    def __init__(self, analytics: AnalyticsStore, database: str) -> None:
        self._analytics = analytics
        self._select = f"SELECT {', '.join(COLUMNS)} FROM {database}.replays FINAL"

    async def find(self, run: str) -> ReplayRow | None:
        """The replay of that name, or ``None``.

        Raises:
            StoreUnavailable: ClickHouse does not answer.
        """
        rows = await ask(self._analytics, self._select + " WHERE run = {run:String}", {"run": run})
        return _row(rows[0]) if rows else None

    async def all(self) -> list[ReplayRow]:
        """All replays, the latest first.

        Raises:
            StoreUnavailable: ClickHouse does not answer.
        """
        return [_row(row) for row in await ask(self._analytics, self._select + " ORDER BY started_at DESC, run", {})]

    async def save(self, row: ReplayRow) -> ReplayRow:
        """Write a replay as it stands; returns it with its new revision.

        Raises:
            StoreUnavailable: ClickHouse did not confirm.
        """
        row = replace(row, revision=row.revision + 1)
        columns: dict[str, Any] = {name: getattr(row, name) for name in COLUMNS}
        for name in ("bounds", "progress", "counts"):
            columns[name] = orjson.dumps(columns[name], option=orjson.OPT_NON_STR_KEYS).decode()
        columns |= {name: columns[name].isoformat() for name in ("started_at", "updated_at")}
        await self._analytics.insert("replays", [columns])
        return row


def _row(values: Any) -> ReplayRow:
    known = dict(zip(COLUMNS, values, strict=True))
    for name in ("bounds", "progress"):
        known[name] = {int(partition): offset for partition, offset in orjson.loads(known[name]).items()}
    known["counts"] = orjson.loads(known["counts"])
    for name in ("started_at", "updated_at"):
        known[name] = known[name].replace(tzinfo=UTC)
    return ReplayRow(**known)
