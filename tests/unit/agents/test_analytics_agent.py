"""A refused row keeps back the rows of its own table and no others."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from schemas.enriched import EnrichedAnswer
from schemas.export import example
from schemas.topics import FEEDBACK_ANALYTICS
from workers.agents.analytics import ANALYTICS
from workers.delivery.records import Record, WorkItem
from workers.errors import RejectedByStore
from workers.stores.clickhouse.rows.clickhouse_rows import enriched_rows
from workers.stores.tables.packed_rows import packed


class Store:
    """A store that refuses the rows of one table."""

    def __init__(self, refused: str) -> None:
        self.refused = refused
        self.rows: dict[str, int] = {}

    async def problem(self) -> None:
        return None

    async def insert(self, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
        if table == self.refused:
            raise RejectedByStore(f"ClickHouse refused rows for table {table}")
        self.rows[table] = len(rows)


@pytest.mark.parametrize("refused", ["answers", "claims", "sources"])
async def test_rows_of_other_tables_are_stored_and_the_record_is_told_as_refused(refused: str) -> None:
    rows = enriched_rows(EnrichedAnswer.model_validate(example(EnrichedAnswer)))
    (record,) = packed(rows)
    store = Store(refused)

    @asynccontextmanager
    async def clickhouse() -> AsyncIterator[Store]:
        yield store

    context: Any = SimpleNamespace(services=SimpleNamespace(clickhouse=clickhouse), require=lambda *_: None)
    async with AsyncExitStack() as stack:
        handle = await ANALYTICS.open(context, stack)
        with pytest.raises(RejectedByStore, match=refused):
            await handle([WorkItem(Record(FEEDBACK_ANALYTICS.name, 0, 0, None, record.to_bytes()))])
    tables = {row.table for row in rows}
    assert refused in tables
    assert set(store.rows) == tables - {refused}
