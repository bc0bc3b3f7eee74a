"""Give a table another sort key: copy it into a new table, and exchange both."""

import re
from uuid import uuid4

from clickhouse_connect.driver.asyncclient import AsyncClient

from workers.stores.clickhouse.staging import PREFIX

REKEY = re.compile(r"REKEY \{database\}\.(?P<table>\w+) ORDER BY \((?P<key>[\w, ]+)\)")
"""Statement in a migration that gives a table another sort key."""

_KEY = re.compile(r"ORDER BY (\([^)]*\)|\w+)")


async def rekey(client: AsyncClient, database: str, table: str, key: str) -> None:
    """Give a table another sort key, unless it has it already or was dropped.

    Rows that are written into the old table until the exchange are copied afterwards, and rows that are copied twice
    replace themselves. Several processes may do this at the same time: each has a table of its own. A table that a
    killed process leaves behind is dropped by the next rebuild, a day later.

    Args:
        client: a client that may create and drop tables.
        database: name of the database.
        table: name of the table.
        key: columns of the sort key.
    """
    name, copy = f"{database}.{table}", f"{database}.{PREFIX}{uuid4().hex[:8]}_{table}"
    rows = await client.query(
        "SELECT sorting_key, engine_full FROM system.tables WHERE database = {database:String} AND name = {table:String}",
        parameters={"database": database, "table": table},
    )
    if not rows.result_rows:
        return  # A dropped table is created again by the same statements, this one among them.
    current, engine = map(str, rows.result_rows[0])
    if current == key:
        return
    # Columns, indices and constraints are those of the table; the engine keeps its version, retention and settings.
    await client.command(f"CREATE TABLE {copy} AS {name} ENGINE = {_KEY.sub(f'ORDER BY ({key})', engine, count=1)}")
    await client.command(_copying(name, copy))
    await client.command(f"EXCHANGE TABLES {name} AND {copy}")
    await client.command(_copying(copy, name))
    await client.command(f"DROP TABLE {copy} SYNC")


def _copying(source: str, target: str) -> str:
    return (
        f"INSERT INTO {target} SELECT * FROM {source} SETTINGS insert_deduplicate = 0, "
        "max_partitions_per_insert_block = 0, min_insert_block_size_rows = 50000, min_insert_block_size_bytes = 50000000"
    )
