"""Read and write the state of replays in ClickHouse: options, progress and counts."""

from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Literal

import orjson

from workers.stores.clickhouse.row_reading import Reading, Row
from workers.stores.tables.operation_tables import ReplayRow
from workers.stores.tables.table_row import column_names, select_rows

State = Literal["running", "finished"]

COUNTED = ("bounds", "progress", "counts")
"""Columns that hold JSON."""


@dataclass(frozen=True, slots=True)
class StoredReplay:
    """State of a replay.

    Attributes:
        run: name of the replay.
        pipeline_version: version that evaluates.
        options: options as JSON, for a resumed replay.
        state: running or finished.
        started_at: start time in milliseconds, as ClickHouse returns it.
        updated_at: time at which it last stored answers.
        bounds: offsets after the last ones to read, by partition.
        progress: offsets before which everything is stored, by partition.
        counts: numbers of answers read, evaluated, and left out by reason.
        revision: number that grows with each save.
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


class ReplayStore(Reading):
    """Store of replays."""

    async def find(self, run: str) -> StoredReplay | None:
        """Return the replay of that name, or ``None``.

        Raises:
            StoreUnavailable: ClickHouse does not respond.
        """
        rows = await self.rows(select_rows(ReplayRow) + " WHERE run = {{run:String}}", run=run)
        return _stored(rows[0]) if rows else None

    async def all(self) -> list[StoredReplay]:
        """Return all replays, the latest first.

        Raises:
            StoreUnavailable: ClickHouse does not respond.
        """
        return [_stored(row) for row in await self.rows(select_rows(ReplayRow) + " ORDER BY started_at DESC, run")]

    async def save(self, row: StoredReplay) -> StoredReplay:
        """Write the state of a replay, and return it with its new revision.

        Raises:
            StoreUnavailable: ClickHouse did not acknowledge.
        """
        row = replace(row, revision=row.revision + 1)
        columns = {name: getattr(row, name) for name in column_names(ReplayRow)}
        columns |= {name: orjson.dumps(columns[name], option=orjson.OPT_NON_STR_KEYS).decode() for name in COUNTED}
        await self._analytics.store([ReplayRow(**columns)])
        return row


def _stored(found: Row) -> StoredReplay:
    known = asdict(ReplayRow.read(found)) | {name: orjson.loads(found[name]) for name in COUNTED}
    for name in ("bounds", "progress"):
        known[name] = {int(partition): offset for partition, offset in known[name].items()}
    return StoredReplay(**known)
