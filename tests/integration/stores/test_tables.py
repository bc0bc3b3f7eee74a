"""Table classes: each one says of its table what ClickHouse says after all migrations."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from clickhouse_connect.driver.asyncclient import AsyncClient

from schemas.topics import FEEDBACK_ANALYTICS
from tests.harness.paths import DATA
from workers.delivery.records import Record
from workers.settings import Settings
from workers.stores.clickhouse.analytics_store import AnalyticsStore
from workers.stores.clickhouse.rows.recorded_rows import stored_rows
from workers.stores.tables.all_tables import BY_NAME, SUMS, TABLES
from workers.stores.tables.table_row import Column, described_columns, select_list

STORED = """
SELECT table, name, type, default_kind, default_expression FROM system.columns
WHERE database = {database:String} AND default_kind != 'ALIAS'
  AND table IN (SELECT name FROM system.tables WHERE database = {database:String} AND engine LIKE '%MergeTree')
ORDER BY table, position
"""


async def test_every_class_has_the_columns_of_its_migrated_table(
    migrated_client: AsyncClient, settings: Settings
) -> None:
    """Names, types, nullability, defaults and their order; a table without a class fails as well."""
    database = settings.clickhouse.database
    found: dict[str, list[Column]] = {}
    for table, name, kind, default_kind, default in (
        await migrated_client.query(STORED, parameters={"database": database})
    ).result_rows:
        assert default_kind in ("", "DEFAULT")
        found.setdefault(table, []).append(Column(name, kind, default))
    described = {table.table: list(described_columns(table)) for table in TABLES}
    assert {table: columns for table, columns in found.items() if table not in SUMS} == described
    assert set(SUMS) <= set(found)


async def test_rows_that_an_earlier_version_recorded_are_stored_in_every_column(
    migrated_client: AsyncClient, settings: Settings
) -> None:
    """They hold their null columns as well, and leave out columns with their defaults."""
    database = settings.clickhouse.database
    store = AnalyticsStore(migrated_client, database)
    values = (DATA / "rows_of_earlier_versions.jsonl").read_bytes().splitlines()
    for value in values:
        ((table, columns),) = stored_rows(Record(FEEDBACK_ANALYTICS.name, 0, 0, None, value, [], 0.0))
        await store.insert(table, [columns])
        row = BY_NAME[table]
        found = await migrated_client.query(f"SELECT {select_list(row)} FROM {database}.{table}")
        stored = [row.read(each).columns for each in found.named_results()]
        sent = {name: _comparable(each) for name, each in columns.items() if each is not None}
        assert sent in [{name: _comparable(one.get(name)) for name in sent} for one in stored]


def _comparable(value: Any) -> Any:
    """Return a value without the differences between JSON, Python and ClickHouse in writing it."""
    if isinstance(value, list | tuple):
        return [_comparable(each) for each in value]
    if isinstance(value, dict):
        return {name: _comparable(each) for name, each in value.items()}
    if isinstance(value, float):
        return round(value, 5)
    if isinstance(value, str | UUID | datetime) and str(value)[:2] == "20" and str(value)[4:5] == "-":
        return datetime.fromisoformat(str(value)).replace(tzinfo=UTC)
    return str(value) if isinstance(value, UUID) else value
