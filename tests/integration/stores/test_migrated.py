"""The databases of tests are those that a migration makes."""

from typing import Any

from clickhouse_connect.driver.asyncclient import AsyncClient

from tests.harness.migrated import make_tables, return_tables
from workers.stores.clickhouse.migrations import applied_migrations, migrate, missing_tables


async def described(client: AsyncClient, database: str) -> dict[str, list[tuple[Any, ...]]]:
    """Tables with engine, keys and settings, columns with defaults and codecs, indices, and views with their targets."""
    found = {}
    for table, chosen in {
        "tables": "name, engine, engine_full, create_table_query, as_select, partition_key, sorting_key, primary_key, "
        # A refresh of answer_moves writes that it has looked, each minute.
        "sampling_key, storage_policy, if(name = 'answer_moves', 0, total_rows)",
        "columns": "table, name, position, type, default_kind, default_expression, compression_codec, is_in_sorting_key",
        "data_skipping_indices": "table, name, type_full, expr, granularity",
        "view_refreshes": "view",
    }.items():
        sql = f"SELECT {chosen} FROM system.{table} WHERE database = {{database:String}} ORDER BY ALL"
        rows = (await client.query(sql, parameters={"database": database})).result_rows
        found[table] = [
            tuple(value.replace(database, "db") if isinstance(value, str) else value for value in row) for row in rows
        ]
    return found


async def identity(client: AsyncClient, database: str, table: str) -> Any:
    return await client.command(f"SELECT uuid FROM system.tables WHERE database = '{database}' AND name = '{table}'")


async def test_a_copy_is_what_a_migration_makes_also_after_its_use_by_another_test(
    empty_database: AsyncClient, database: str
) -> None:
    copy, again = f"{database}_copy", f"{database}_again"
    await migrate(empty_database, database)
    await make_tables(empty_database, copy)
    try:
        migrated = await described(empty_database, database)
        assert {kind: len(rows) > 5 for kind, rows in migrated.items()} == {
            "tables": True, "columns": True, "data_skipping_indices": True, "view_refreshes": True,
        }  # fmt: skip
        assert await described(empty_database, copy) == migrated

        unused = await identity(empty_database, copy, "alerts")
        await empty_database.command(f"INSERT INTO {copy}.answers (answer_id, completed_at) VALUES ('a', now())")
        await empty_database.command(f"INSERT INTO {copy}.schema_migrations (version) VALUES (1000)")
        await empty_database.command(f"ALTER TABLE {copy}.claims MODIFY SETTING merge_with_ttl_timeout = 3")
        await return_tables(empty_database, copy)
        await make_tables(empty_database, again)
        assert await identity(empty_database, again, "alerts") == unused, "the same database is used again"
        assert await described(empty_database, again) == migrated
        assert await applied_migrations(empty_database, again) == await applied_migrations(empty_database, database)
        assert await migrate(empty_database, again) == await missing_tables(empty_database, again) == []

        await empty_database.command(f"DROP TABLE {again}.sources")
        await return_tables(empty_database, again)
        await make_tables(empty_database, copy, refreshed=False)
        themselves = {view for (view,) in migrated["view_refreshes"]}
        assert await described(empty_database, copy) == {
            "tables": [row for row in migrated["tables"] if row[0] not in themselves],
            "columns": [row for row in migrated["columns"] if row[0] not in themselves],
            "data_skipping_indices": migrated["data_skipping_indices"],
            "view_refreshes": [],
        }
    finally:
        for name in (copy, again):
            await return_tables(empty_database, name)
