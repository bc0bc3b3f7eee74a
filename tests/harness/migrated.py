"""Databases with all tables, at a tenth of the cost of migrating each: what a migration leaves, copied and used again."""

import re
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from clickhouse_connect.driver.asyncclient import AsyncClient
from clickhouse_connect.driver.exceptions import Error

from workers.stores.clickhouse.migrations import migrate
from workers.stores.tables.operation_tables import MigrationRow

DEFINITIONS = """
SELECT name, create_table_query FROM system.tables WHERE database = {database:String}
ORDER BY engine LIKE '%View', name
"""

USED = """
SELECT name, create_table_query, name IN (SELECT table FROM system.parts WHERE database = {database:String})
    OR name IN (SELECT table FROM system.mutations WHERE database = {database:String})
FROM system.tables WHERE database = {database:String}
"""
"""Tables with their definitions, and whether they hold or have just held rows."""

_START_OF_QUERY = re.compile(r"\)(?=( DEFINER = \S+ SQL SECURITY \w+)? AS )")


@dataclass(slots=True)
class Schema:
    """A migrated database: its statements, with its name before every name, and its registered migrations.

    Attributes:
        name: of the database.
        tables: statements by the name of the table.
        views: statements of views that an insert fills, by name.
        refreshed: statements of views that refresh themselves, by name.
        columns: of the registered migrations.
        registered: rows of the migrations.
    """

    name: str
    tables: dict[str, str] = field(default_factory=dict)
    views: dict[str, str] = field(default_factory=dict)
    refreshed: dict[str, str] = field(default_factory=dict)
    columns: list[str] = field(default_factory=list)
    registered: list[Any] = field(default_factory=list)

    def named(self, statement: str, database: str) -> str:
        """Return the statement for a database of this name."""
        return statement.replace(f"{self.name}.", f"{database}.")


async def make_tables(client: AsyncClient, database: str, *, refreshed: bool = True) -> None:
    """Create a database as a migration leaves it.

    Only the first of a process is migrated; `tests/integration/stores/test_migrated.py` compares both. Return the database
    in the end: its views refresh themselves, and ten databases take 2.6 s of CPU a minute.

    Args:
        client: of the server.
        database: its name.
        refreshed: whether it has the views that refresh the hourly figures each minute, half of the cost.
    """
    if await client.command(f"EXISTS DATABASE {database}"):
        await migrate(client, database)
        return
    schema = await _migrated_once(client)
    if not await _taken(client, schema, database):
        await client.command(f"CREATE DATABASE {database}")
        for statement in schema.tables.values():
            await client.command(schema.named(statement, database))
        await _register(client, schema, database)
    for statement in (*schema.views.values(), *(schema.refreshed.values() if refreshed else ())):
        await client.command(schema.named(statement, database))


async def return_tables(client: AsyncClient, database: str) -> None:
    """Give a database of :func:`make_tables` back, if it is still there. Another test takes its unused tables."""
    if _first and (free := _free.get(client.url)) is not None and len(free) < _MAX_FREE:
        schema, name = _first[0], f"free_{uuid4().hex}"
        views = ", ".join(f"{database}.{view}" for view in (*schema.views, *schema.refreshed))
        with suppress(Error):
            await client.command(f"DROP TABLE IF EXISTS {views}")
            await client.command(f"RENAME DATABASE {database} TO {name}")
            free.append(name)
            return
    await client.command(f"DROP DATABASE IF EXISTS {database}")


_first: list[Schema] = []
"""The schema of this process, once it was migrated."""

_free: dict[str, list[str]] = {}
"""Databases without views that earlier tests have left, by the address of their server."""

_MAX_FREE = 4


async def _migrated_once(client: AsyncClient) -> Schema:
    if not _first:
        name = f"migrated_{uuid4().hex}"
        await migrate(client, name)
        statements = await client.query(DEFINITIONS, parameters={"database": name})
        rows = await client.query(f"SELECT * FROM {name}.{MigrationRow.table} FINAL")
        await client.command(f"DROP DATABASE {name}")
        schema = Schema(name, columns=list(rows.column_names), registered=list(rows.result_rows))
        for table, statement in statements.result_rows:
            if not statement.startswith("CREATE MATERIALIZED VIEW"):
                schema.tables[table] = statement
            elif " REFRESH EVERY " in statement:
                schema.refreshed[table] = _unfilled(statement)
            else:
                schema.views[table] = statement
        _first.append(schema)
    return _first[0]


def _unfilled(statement: str) -> str:
    """Return a statement whose view waits for its time: to look through the empty tables at once is a quarter of the cost."""
    return _START_OF_QUERY.sub(") EMPTY", statement, count=1)


async def _taken(client: AsyncClient, schema: Schema, database: str) -> bool:
    """Give a free database its new name, and make each table again that an earlier test has filled or changed."""
    free = _free.setdefault(client.url, [])
    if not free:
        return False
    name = free.pop()
    try:
        found = (await client.query(USED, parameters={"database": name})).result_rows
        if {table for table, _, _ in found} != set(schema.tables):
            await client.command(f"DROP DATABASE IF EXISTS {name}")
            return False
        used = [
            table
            for table, definition, filled in found
            if definition != schema.named(schema.tables[table], name)
            or (filled and not (table == MigrationRow.table and await _registers_alone(client, schema, name)))
        ]
        for table in used:
            await client.command(f"DROP TABLE {name}.{table}")
            await client.command(schema.named(schema.tables[table], name))
        if MigrationRow.table in used:
            await _register(client, schema, name)
        await client.command(f"RENAME DATABASE {name} TO {database}")
    except Error:
        return False
    return True


async def _register(client: AsyncClient, schema: Schema, database: str) -> None:
    await client.insert(MigrationRow.table, schema.registered, column_names=schema.columns, database=database)


async def _registers_alone(client: AsyncClient, schema: Schema, database: str) -> bool:
    rows = await client.query(f"SELECT * FROM {database}.{MigrationRow.table} ORDER BY version")
    return sorted(rows.result_rows) == sorted(schema.registered)
