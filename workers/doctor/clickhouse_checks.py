"""Examine ClickHouse: reach, version, clock, schema, rights."""

import time
from collections.abc import Iterator

from clickhouse_connect.driver.asyncclient import AsyncClient
from clickhouse_connect.driver.exceptions import Error

from workers.doctor.clocks import compare_clocks
from workers.doctor.findings import Finding, failure, of_message, ok, warning
from workers.doctor.supported_versions import compare
from workers.errors import StoreUnavailable
from workers.settings import Settings
from workers.stores.clickhouse.analytics_store import CLIENT_ERRORS, connect
from workers.stores.clickhouse.clickhouse_roles import INSERTED, READ_BY_WORKERS
from workers.stores.clickhouse.migrations import applied_migrations, excluding, missing_tables, read_migrations

MIGRATE = "run `touchstone migrate`"


async def examine_clickhouse(settings: Settings, url: str) -> list[Finding]:
    """Examine ClickHouse and its schema.

    Args:
        settings: user, password and database.
        url: http(s)://host:port.
    """
    try:
        client = await connect(settings.clickhouse, url)
    except StoreUnavailable as error:
        return [of_message("clickhouse", str(error))]
    try:
        return [
            ok("clickhouse", "responds, and accepts user and password"),
            *await _version_and_clock(client),
            *await _schema(client, settings.clickhouse.database),
        ]
    except CLIENT_ERRORS as error:
        text = f"ClickHouse fails to answer a query ({type(error).__name__})"
        return [failure("clickhouse", text, "read the log of the server")]
    finally:
        await client.close()


async def _version_and_clock(client: AsyncClient) -> list[Finding]:
    before = time.time()
    rows = await client.query("SELECT version(), toUnixTimestamp64Milli(now64(3))")
    version, clock = rows.result_rows[0]
    return [
        compare("clickhouse version", "ClickHouse", str(version)),
        compare_clocks("clickhouse clock", before, int(clock) / 1000, time.time()),
    ]


async def _schema(client: AsyncClient, database: str) -> list[Finding]:
    applied = await applied_migrations(client, database)
    known = {migration.version: migration for migration in read_migrations()}
    newest = max(known)
    refused = excluding(applied, newest)
    if refused is not None:
        text = (
            f"the schema of {database} is at version {max(applied)}, and {refused.name} allows no worker before "
            f"{refused.oldest_worker}; this version supports {newest}"
        )
        return [failure("clickhouse schema", text, "upgrade Touchstone")]
    behind = sorted(known.keys() - applied.keys())
    if behind:
        text = f"{database} lacks {len(behind)} of {len(known)} migrations, the first is {known[behind[0]].name}"
        return [failure("clickhouse schema", text, MIGRATE)]
    changed = [migration.name for version, migration in known.items() if migration.digest != applied[version].digest]
    if changed:
        text = f"{', '.join(changed)} was changed after it was applied to {database}"
        return [failure("clickhouse schema", text, "install the released version of Touchstone")]
    dropped = await missing_tables(client, database)
    if dropped:
        text = f"{database} lacks {', '.join(dropped)}"
        return [failure("clickhouse schema", text, "run `touchstone rebuild clickhouse`")]
    text = f"{database} is at version {max(applied)}"
    if max(applied) > newest:
        text += f", on which this version ({newest}) may run"
    return [ok("clickhouse schema", text), *await _rights(client, database)]


async def _rights(client: AsyncClient, database: str) -> list[Finding]:
    """Ask for every right in one statement, and one by one where some are missing."""
    wanted = list(_wanted(database))
    try:
        if await _granted(client, ", ".join(wanted)):
            return [ok("clickhouse rights", f"this user has the {len(wanted)} rights of a worker")]
        lacking = [right for right in wanted if not await _granted(client, right)]
    except Error:
        text = "the server does not tell the rights of this user"
        return [warning("clickhouse rights", text, "compare them with what `touchstone roles` prints")]
    remedy = "grant this user the roles that `touchstone roles` prints"
    return [failure("clickhouse rights", f"this user lacks {right}", remedy) for right in lacking]


def _wanted(database: str) -> Iterator[str]:
    yield from (f"INSERT ON {database}.{table}" for table in INSERTED)
    yield from (f"SELECT ON {database}.{table}" for table in READ_BY_WORKERS)


async def _granted(client: AsyncClient, rights: str) -> bool:
    return str(await client.command(f"CHECK GRANT {rights}")).strip() == "1"
