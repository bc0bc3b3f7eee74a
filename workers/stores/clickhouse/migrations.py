"""Migrate the ClickHouse schema. Numbered files are applied once and never changed.

A worker's number is that of its newest migration. Each migration states the oldest worker that may run on it; a worker
starts on a newer schema unless a migration of it excludes this worker.
"""

import re
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from clickhouse_connect.driver.asyncclient import AsyncClient
from clickhouse_connect.driver.exceptions import Error

from workers.errors import TouchstoneError
from workers.observability.logs import get_logger
from workers.process.paths import deploy_directory
from workers.settings import ClickHouseSettings
from workers.stores.clickhouse.analytics_store import connect
from workers.stores.clickhouse.rekeying import REKEY, rekey
from workers.stores.clickhouse.replication import Render, renderer
from workers.stores.tables.operation_tables import MigrationRow

log = get_logger(__name__)

_STATED = re.compile(r"^-- Oldest worker: (\d+)$", re.MULTILINE)
_STATED_SINCE = 19
"""First migration that must state its oldest worker. Earlier files cannot be changed: their oldest worker is their own
number."""
_CONTRACTING = re.compile(
    r"\b(?:DROP|RENAME|REKEY|EXCHANGE|TRUNCATE|DELETE\s+(?:FROM|WHERE)|MODIFY\s+COLUMN)\b", re.IGNORECASE
)
"""Statements that take away something that an earlier worker may use."""

_CREATED = re.compile(r"CREATE (?:TABLE|MATERIALIZED VIEW) IF NOT EXISTS \{database\}\.(\w+)")

_TABLE = re.compile(r"CREATE TABLE IF NOT EXISTS \{database\}\.(\w+)")

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
OLDEST_WORKER = "ALTER TABLE {database}.schema_migrations ADD COLUMN IF NOT EXISTS oldest_worker UInt32 DEFAULT 0"


STATEMENT_SECONDS = 1_200.0
"""Maximum silence of the server during a statement. Its headers of progress come a little more often, and a client takes
128 of them: a copy of a large table may take a day and a half."""


class MigrationError(TouchstoneError):
    """Report that the schema cannot be brought up to date, why, and what to do."""


@dataclass(frozen=True, slots=True)
class Migration:
    """Describe a numbered file of statements.

    Attributes:
        version: number at the start of the file's name.
        name: the file's name.
        statements: in order, with ``{database}`` still to be filled in.
        digest: SHA-256 of the file.
        oldest_worker: number of the oldest worker that may run once this is applied.
    """

    version: int
    name: str
    statements: tuple[str, ...]
    digest: str
    oldest_worker: int


@dataclass(frozen=True, slots=True)
class AppliedMigration:
    """Describe a migration recorded in the database, possibly by a newer version.

    Attributes:
        name: the file's name.
        digest: SHA-256 of the file.
        oldest_worker: number of the oldest worker that may run on it.
    """

    name: str
    digest: str
    oldest_worker: int


def read_migrations(directory: Path | None = None) -> list[Migration]:
    """Return the migrations of this version, in order.

    Raises:
        MigrationError: two files have one number, a name has none, or a file states no oldest worker or a wrong one.
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
    oldest = _oldest_worker(int(number), path.name, text, statements)
    return Migration(int(number), path.name, statements, sha256(text.encode()).hexdigest(), oldest)


def _oldest_worker(version: int, name: str, text: str, statements: tuple[str, ...]) -> int:
    stated = _STATED.search(text)
    if stated is None:
        if version >= _STATED_SINCE:
            raise MigrationError(
                f"migration {name} must state the oldest worker that may run on it, as in `-- Oldest worker: {version - 1}`"
            )
        return version
    oldest = int(stated[1])
    if oldest > version:
        raise MigrationError(f"migration {name} states the oldest worker {oldest}, which is later than itself")
    for statement in statements if oldest < version else ():
        if taking := _CONTRACTING.search(statement):
            raise MigrationError(
                f"migration {name} contains {taking[0]}, which breaks older workers; state "
                f"`-- Oldest worker: {version}`, or move {taking[0]} to a later migration"
            )
    return oldest


def excluding(applied: dict[int, AppliedMigration], newest: int) -> AppliedMigration | None:
    """Return the applied migration on which the worker ``newest`` may not run, or ``None``.

    Args:
        applied: migrations of the database by version.
        newest: number of the worker, that of its newest migration.
    """
    later = [applied[version] for version in sorted(applied) if version > newest]
    return next((migration for migration in later if migration.oldest_worker > newest), None)


async def migrate(client: AsyncClient, database: str, migrations: list[Migration] | None = None) -> list[str]:
    """Bring the schema up to date. Repeated and concurrent runs are safe.

    Args:
        client: a client that may create databases and tables.
        database: name of the database.
        migrations: those of this version by default.

    Returns:
        Names of the migrations applied now.

    Raises:
        MigrationError: an applied file was changed since, the schema excludes workers of this version,
            or ClickHouse refuses a statement.
    """
    try:
        return await _migrate(client, database, read_migrations() if migrations is None else migrations)
    except Error as error:
        # Migration statements hold no values of records, so the error may be shown.
        raise MigrationError(f"the schema of database {database} cannot be brought up to date: {error}") from error


async def migrate_database(settings: ClickHouseSettings, url: str) -> list[str]:
    """Bring the schema up to date with a client of its own, whose statements may take a day.

    Args:
        settings: user, password and database.
        url: http(s)://host:port.

    Returns:
        Names of the migrations applied now.

    Raises:
        StoreUnavailable: no server responds at this address.
        MigrationError: as of :func:`migrate`.
    """
    client = await connect(settings.model_copy(update={"timeout_seconds": STATEMENT_SECONDS}), url)
    try:
        return await migrate(client, settings.database)
    finally:
        await client.close()


async def applied_migrations(client: AsyncClient, database: str) -> dict[int, AppliedMigration]:
    """Return the applied migrations by version; none if the database does not exist.

    Args:
        client: connected client.
        database: name of the database.
    """
    if not await client.command(f"EXISTS TABLE {database}.schema_migrations"):
        return {}
    # Rows of earlier versions have no oldest worker, and their tables no column for it until the next migration.
    found = await client.query(f"SELECT * FROM {database}.schema_migrations FINAL")
    return {
        int(row["version"]): AppliedMigration(
            str(row["name"]), str(row["digest"]), int(row.get("oldest_worker") or row["version"])
        )
        for row in found.named_results()
    }


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
        MigrationError: as of ``migrate``, or tables are missing in a schema that later workers have made.
    """
    await migrate(client, database)
    missing = await missing_tables(client, database)
    if missing:
        latest = max(await applied_migrations(client, database))
        if latest > read_migrations()[-1].version:
            # These statements would create the tables without what later migrations add.
            raise MigrationError(
                f"{', '.join(missing)} cannot be created again: the schema of database {database} is at version "
                f"{latest}; run the command of that version"
            )
        try:
            render = await renderer(client, database)
            statements = [statement for migration in read_migrations() for statement in migration.statements]
            # Missing tables first: an earlier statement may insert rows, and a view needs the table that it fills.
            lost = [each for each in statements if (made := _TABLE.match(each)) and made[1] in missing]
            for statement in (*lost, *statements):
                await _run(client, database, statement, render)
        except Error as error:
            raise MigrationError(f"{', '.join(missing)} cannot be created again: {error}") from error
    return missing


async def _run(client: AsyncClient, database: str, statement: str, render: Render) -> None:
    rekeying = REKEY.fullmatch(statement)
    if rekeying is None:
        await client.command(render(statement.format(database=database)))
    else:
        await rekey(client, database, rekeying["table"], rekeying["key"], render)


async def _migrate(client: AsyncClient, database: str, migrations: list[Migration]) -> list[str]:
    # Existing objects are not created again: a writer may not create any, and need not.
    if not await client.command(f"EXISTS DATABASE {database}"):
        await client.command(f"CREATE DATABASE IF NOT EXISTS {database}")
    applied = await applied_migrations(client, database)
    render = await renderer(client, database)
    if not applied:
        await client.command(render(REGISTER.format(database=database)))
    _accept(database, applied, max((migration.version for migration in migrations), default=0))
    done: list[str] = []
    for migration in migrations:
        known = applied.get(migration.version)
        if known is None:
            if not done:
                await client.command(OLDEST_WORKER.format(database=database))
            # Every statement is IF NOT EXISTS, so an interrupted run can be repeated.
            for statement in migration.statements:
                await _run(client, database, statement, render)
            row = MigrationRow(
                version=migration.version,
                name=migration.name,
                digest=migration.digest,
                oldest_worker=migration.oldest_worker,
            )
            values = row.columns
            await client.insert(row.table, [list(values.values())], column_names=list(values), database=database)
            done.append(migration.name)
        elif known.digest != migration.digest:
            raise MigrationError(
                f"migration {migration.name} was changed after it was applied to database {database}; restore the "
                "file and put the change into a new migration"
            )
    return done


def _accept(database: str, applied: dict[int, AppliedMigration], newest: int) -> None:
    if not applied or max(applied) <= newest:
        return
    refused = excluding(applied, newest)
    if refused is not None:
        raise MigrationError(
            f"the schema of database {database} is at version {max(applied)}, and {refused.name} allows no worker "
            f"before {refused.oldest_worker}, but this worker supports versions up to {newest}; upgrade the worker"
        )
    log.info("newer_schema_accepted", database=database, schema=max(applied), supported=newest)
