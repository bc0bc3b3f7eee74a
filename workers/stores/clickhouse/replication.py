"""Render the statements of the schema for a replicated database.

A database with the engine ``Replicated`` sends each statement to all of its replicas and lets one of them refresh a view,
but keeps the engines of tables as they are written: their rows would stay on one replica. ClickHouse Cloud replaces
the engines itself.
"""

import re
from collections.abc import Callable

from clickhouse_connect.driver.asyncclient import AsyncClient

Render = Callable[[str], str]

_ENGINE = re.compile(r"\bENGINE = (?=(?:Replacing|Aggregating)?MergeTree\b)")
_PLACE = re.compile(r"(\bReplicated\w*MergeTree)\('[^']*', '[^']*'(?:, )?")
_WINDOW = re.compile(r"\bnon_(?=replicated_deduplication_window\b)")


def as_written(statement: str) -> str:
    """Return the statement of a database without replicas."""
    return statement


def replicated(statement: str) -> str:
    """Return the statement with the replicated engines of its tables.

    A place in Keeper, which the server adds to an engine that it shows, is left out: the database refuses it, and the
    server chooses another one for another table.
    """
    statement = _PLACE.sub(r"\1(", statement).replace("MergeTree()", "MergeTree")
    return _WINDOW.sub("", _ENGINE.sub("ENGINE = Replicated", statement))


async def renderer(client: AsyncClient, database: str) -> Render:
    """Return the function that renders the statements of a database, by its engine."""
    found = await client.query(
        "SELECT engine FROM system.databases WHERE name = {database:String}", parameters={"database": database}
    )
    return replicated if [tuple(row) for row in found.result_rows] == [("Replicated",)] else as_written
