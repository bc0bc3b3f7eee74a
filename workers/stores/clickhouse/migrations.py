"""Migrate the ClickHouse schema. Numbered files are applied once and never changed."""

import re
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from clickhouse_connect.driver.asyncclient import AsyncClient
from clickhouse_connect.driver.exceptions import Error

from workers.errors import TouchstoneError
from workers.process.paths import deploy_directory
from workers.stores.clickhouse.rekeying import REKEY, rekey
from workers.stores.tables.operation_tables import MigrationRow

_CREATED = re.compile(r"CREATE (?:TABLE|MATERIALIZED VIEW) IF NOT EXISTS \{database\}\.(\w+)")

REGISTER = """
CREATE TABLE IF NOT EXISTS {database}.schema_migrations
(
    version UInt32,
    name String,
    digest String,
    applied_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree(applied_at)
ORDER BY version
"""


class MigrationError(TouchstoneError):
    """Report that the schema cannot be brought up to date, why, and what to do."""


@dataclass(frozen=True, slots=True)
class Migration:
    """Numbered file of statements.

    Attributes:
        version: number at the start of the file's name.
        name: the file's name.
        statements: in order, with ``{database}`` still to be filled in.
        digest: SHA-256 of the file.
    """

    version: int
    name: str
    statements: tuple[str, ...]
    digest: str


def read_migrations(directory: Path | None = None) -> list[Migration]:
    """Return the migrations of this version, in order.

    Raises:
        MigrationError: two files have one number, or a name has none.
    """
    migrations = [_read(path) for path in sorted((directory or deploy_directory() / "clickhouse").glob("*.sql"))]
    versions = [migration.version for migration in migrations]
    if len(set(versions)) != len(versions):
        raise MigrationError(f"two migrations have the same number among {versions}; renumber the later one")
    return migrations


def _read(path: Path) -> Migration:
    number, _, _ = path.name.partition("_")
    if not number.isdigit():
        raise MigrationError(f"migration {path.name} must begin with a number, as in 0001_answers.sql")
    text = path.read_text(encoding="utf-8")
    code = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("--"))
    statements = tuple(part.strip() for part in code.split(";\n") if part.strip().rstrip(";"))
    statements = tuple(statement.rstrip(";").strip() for statement in statements)
    return Migration(int(number), path.name, statements, sha256(text.encode()).hexdigest())


async def migrate(client: AsyncClient, database: str, migrations: list[Migration] | None = None) -> list[str]:
    """Bring the schema up to date. Repeated and concurrent runs are safe.

    Args:
        client: a client that may create databases and tables.
        database: name of the database.
        migrations: those of this version by default.

    Returns:
        Names of the migrations applied now.

    Raises:
        MigrationError: an applied file was changed since, the schema is newer than this version,
            or ClickHouse refuses a statement.
    """
    try:
        return await _migrate(client, database, read_migrations() if migrations is None else migrations)
    except Error as error:
        # Migration statements hold no values of records, so the error may be shown.
        raise MigrationError(f"the schema of database {database} cannot be brought up to date: {error}") from error


async def applied_migrations(client: AsyncClient, database: str) -> dict[int, str]:
    """Return the digests of the applied migrations by version; none if the database does not exist.

    Args:
        client: connected client.
        database: name of the database.
    """
    if not await client.command(f"EXISTS TABLE {database}.schema_migrations"):
        return {}
    rows = (await client.query(f"SELECT version, digest FROM {database}.schema_migrations FINAL")).result_rows
    return {int(version): str(digest) for version, digest in rows}


async def missing_tables(client: AsyncClient, database: str) -> list[str]:
    """Return the names of dropped tables and views of applied migrations.

    Raises:
        MigrationError: ClickHouse does not respond.
    """
    created = {name for migration in read_migrations() for name in _CREATED.findall("\n".join(migration.statements))}
    try:
        rows = await client.query(
            "SELECT name FROM system.tables WHERE database = {database:String}", parameters={"database": database}
        )
    except Error as error:
        raise MigrationError(f"the tables of database {database} cannot be listed: {error}") from error
    return sorted(created - {str(name) for (name,) in rows.result_rows})


async def remake(client: AsyncClient, database: str) -> list[str]:
    """Bring the schema up to date, and create dropped tables and views again. Every statement may be repeated.

    Args:
        client: a client that may create databases and tables.
        database: name of the database.

    Returns:
        Names of the tables and views made now that had been dropped.

    Raises:
        MigrationError: as of ``migrate``.
    """
    await migrate(client, database)
    missing = await missing_tables(client, database)
    if missing:
        try:
            for migration in read_migrations():
                for statement in migration.statements:
                    await _run(client, database, statement)
        except Error as error:
            raise MigrationError(f"{', '.join(missing)} cannot be created again: {error}") from error
    return missing


async def _run(client: AsyncClient, database: str, statement: str) -> None:
    rekeying = REKEY.fullmatch(statement)
    if rekeying is None:
        await client.command(statement.format(database=database))
    else:
        await rekey(client, database, rekeying["table"], rekeying["key"])


async def _migrate(client: AsyncClient, database: str, migrations: list[Migration]) -> list[str]:
    # Existing objects are not created again: a writer may not create any, and need not.
    if not await client.command(f"EXISTS DATABASE {database}"):
        await client.command(f"CREATE DATABASE IF NOT EXISTS {database}")
    applied = await applied_migrations(client, database)
    if not applied:
        await client.command(REGISTER.format(database=database))
    newest = max((migration.version for migration in migrations), default=0)
    if applied and max(applied) > newest:
        raise MigrationError(
            f"the schema of database {database} is at version {max(applied)}, but this worker supports versions "
            f"up to {newest}; upgrade the worker"
        )
    done = []
    for migration in migrations:
        known = applied.get(migration.version)
        if known is None:
            # Every statement is IF NOT EXISTS, so an interrupted run can be repeated.
            for statement in migration.statements:
                await _run(client, database, statement)
            row = MigrationRow(version=migration.version, name=migration.name, digest=migration.digest)
            values = row.columns
            await client.insert(row.table, [list(values.values())], column_names=list(values), database=database)
            done.append(migration.name)
        elif known != migration.digest:
            raise MigrationError(
                f"migration {migration.name} was changed after it was applied to database {database}; restore the "
                "file and put the change into a new migration"
            )
    return done
