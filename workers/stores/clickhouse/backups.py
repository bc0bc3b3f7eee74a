"""Back up the ClickHouse database by ClickHouse's own statements, restore it, and drill a restore."""

import re
from dataclasses import dataclass
from datetime import datetime
from uuid import uuid4

from clickhouse_connect.driver.asyncclient import AsyncClient
from clickhouse_connect.driver.exceptions import Error

from workers.errors import TouchstoneError
from workers.stores.clickhouse.migrations import migrate, missing_tables

STATEMENT_SECONDS = 86_400.0
"""Timeout of one backup or restore: the server answers when all files are copied."""

_PLACE = re.compile(r"(?:File|Disk|S3|AzureBlobStorage)\([^;]+\)")


class BackupError(TouchstoneError):
    """Report that a backup cannot be written or restored, why, and what to do."""


@dataclass(frozen=True, slots=True)
class RestoredTable:
    """Describe a table that a drill has restored.

    Attributes:
        name: name of the table.
        restored: rows in the backup; ``None`` if the backup lacks the table.
        present: rows in the database now; ``None`` if the database lacks the table.
    """

    name: str
    restored: int | None
    present: int | None


@dataclass(frozen=True, slots=True)
class Drill:
    """Describe what a restored backup contains.

    Attributes:
        tables: every table of the backup or of the database, by name.
        migrations: migrations of this version that the backup lacked, and that were applied to it.
        missing: tables and views that the backup lacks although its schema has them.
        newest: time of evaluation of the newest answer in the backup; ``None`` without answers.
    """

    tables: list[RestoredTable]
    migrations: list[str]
    missing: list[str]
    newest: datetime | None


def check_place(place: str) -> str:
    """Return the place of a backup if it is one of ClickHouse's.

    Args:
        place: for example ``File('name')``, ``Disk('backups', 'name')`` or ``S3(named_collection, 'name')``.

    Raises:
        ValueError: it is none.
    """
    if not _PLACE.fullmatch(place.strip()):
        raise ValueError("expected a place of ClickHouse, such as \"File('name')\" or \"Disk('backups', 'name')\"")
    return place.strip()


async def write_backup(client: AsyncClient, database: str, place: str, base: str | None = None) -> None:
    """Copy the database to a place of the server.

    Args:
        client: a client of a user with the privilege ``BACKUP``.
        database: name of the database.
        place: where the backup goes; nothing may be there yet.
        base: an earlier backup, whose files are left out.

    Raises:
        BackupError: the server refuses the statement.
    """
    settings = f" SETTINGS base_backup = {base}" if base else ""
    await _run(client, f"BACKUP DATABASE {database} TO {place}{settings}", "the backup was not written")


async def restore_backup(client: AsyncClient, database: str, place: str) -> None:
    """Restore the database, which must not exist.

    Args:
        client: a client of a user with the rights of the migrator.
        database: name of the database.
        place: place of the backup.

    Raises:
        BackupError: the database exists, or the server refuses the statement.
    """
    if await client.command(f"EXISTS DATABASE {database}"):
        raise BackupError(
            f"database {database} exists, and a restore would mix its rows with those of the backup; stop the workers and run "
            f"DROP DATABASE {database} SYNC first"
        )
    await _run(client, f"RESTORE DATABASE {database} FROM {place}", "the backup was not restored")


async def drill_backup(client: AsyncClient, database: str, place: str) -> Drill:
    """Restore a backup beside the database, bring its schema up to date, and drop it, also after an error.

    Args:
        client: a client of a user with the rights of the migrator, who may drop the restored database.
        database: name of the database, which stays untouched.
        place: place of the backup.

    Raises:
        BackupError: the server refuses the restore.
        MigrationError: this version cannot use the schema of the backup.
    """
    apart = f"{database}_drill_{uuid4().hex[:8]}"
    try:
        await _run(client, f"RESTORE DATABASE {database} AS {apart} FROM {place}", "the backup was not restored")
        restored, present = await _rows(client, apart), await _rows(client, database)
        migrations = await migrate(client, apart)
        return Drill(
            tables=[
                RestoredTable(name, restored.get(name), present.get(name)) for name in sorted({*restored, *present})
            ],
            migrations=migrations,
            missing=await missing_tables(client, apart),
            newest=await _newest(client, apart, restored),
        )
    finally:
        await client.command(f"DROP DATABASE IF EXISTS {apart} SYNC")


async def _run(client: AsyncClient, statement: str, failure: str) -> None:
    try:
        await client.command(statement)
    except Error as error:
        # The statement may contain the key of an object store.
        reason = str(error).replace(statement, "the statement")
        raise BackupError(f"{failure}: {reason}") from None


async def _rows(client: AsyncClient, database: str) -> dict[str, int]:
    found = await client.query(
        "SELECT name, total_rows FROM system.tables "
        "WHERE database = {database:String} AND engine LIKE '%MergeTree' AND name NOT LIKE '.%'",
        parameters={"database": database},
    )
    return {str(name): int(rows or 0) for name, rows in found.result_rows}


async def _newest(client: AsyncClient, database: str, tables: dict[str, int]) -> datetime | None:
    if not tables.get("answers"):
        return None
    found = await client.query(f"SELECT max(enriched_at) FROM {database}.answers")
    newest: datetime = found.result_rows[0][0]
    return newest
