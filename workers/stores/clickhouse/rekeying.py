"""Give a table another sort key: copy it into a new table, and exchange both."""

import re
from uuid import uuid4

from clickhouse_connect.driver.asyncclient import AsyncClient

from workers.stores.clickhouse.replication import Render, as_written
from workers.stores.clickhouse.staging import PREFIX

REKEY = re.compile(r"REKEY \{database\}\.(?P<table>\w+) ORDER BY \((?P<key>[\w, ]+)\)")
"""Statement in a migration that gives a table another sort key."""

_KEY = re.compile(r"ORDER BY (\([^)]*\)|\w+)")


async def rekey(client: AsyncClient, database: str, table: str, key: str, render: Render = as_written) -> None:
    """Give a table another sort key, unless it has it already or was dropped.

    Rows that are written into the old table until the exchange are copied afterwards, and rows that are copied twice
    replace themselves. Several processes may do this at the same time: each has a table of its own, and one that
    comes second puts back the table of the first, to which later migrations may have added columns. A table that a
    killed process leaves behind is dropped by the next rebuild, a day later.

    Args:
        client: a client that may create and drop tables.
        database: name of the database.
        table: name of the table.
        key: columns of the sort key.
        render: renders the statement that creates a table.
    """
    own = f"{PREFIX}{uuid4().hex[:8]}_{table}"
    name, copy = f"{database}.{table}", f"{database}.{own}"
    found = await _key_and_engine(client, database, table)
    if found is None or found[0] == key:
        return  # A dropped table is created again by the same statements, this one among them.
    # Columns, indices and constraints are those of the table; the engine keeps its version, retention and settings.
    engine = _KEY.sub(f"ORDER BY ({key})", found[1], count=1)
    await client.command(render(f"CREATE TABLE {copy} AS {name} ENGINE = {engine}"))
    await _copy_rows(client, database, table, own)
    await client.command(f"EXCHANGE TABLES {name} AND {copy}")
    replaced = await _key_and_engine(client, database, own)
    if replaced is not None and replaced[0] == key:
        await client.command(f"EXCHANGE TABLES {name} AND {copy}")
    await _copy_rows(client, database, own, table)
    await client.command(f"DROP TABLE {copy} SYNC")


async def _key_and_engine(client: AsyncClient, database: str, table: str) -> tuple[str, str] | None:
    rows = await client.query(
        "SELECT sorting_key, engine_full FROM system.tables WHERE database = {database:String} AND name = {table:String}",
        parameters={"database": database, "table": table},
    )
    return (str(rows.result_rows[0][0]), str(rows.result_rows[0][1])) if rows.result_rows else None


async def _copy_rows(client: AsyncClient, database: str, source: str, target: str) -> None:
    # By name: while this process copies, another one may add a column to the table.
    rows = await client.query(
        "SELECT name FROM system.columns WHERE database = {database:String} AND table IN {tables:Array(String)} "
        "AND default_kind IN ('', 'DEFAULT') GROUP BY name HAVING count() = 2",
        parameters={"database": database, "tables": [source, target]},
    )
    columns = ", ".join(f"`{name}`" for (name,) in rows.result_rows)
    await client.command(
        f"INSERT INTO {database}.{target} ({columns}) SELECT {columns} FROM {database}.{source} "
        "SETTINGS insert_deduplicate = 0, max_partitions_per_insert_block = 0, min_insert_block_size_rows = 50000, "
        "min_insert_block_size_bytes = 50000000"
    )
