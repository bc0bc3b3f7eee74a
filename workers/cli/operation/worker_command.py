"""Provide ``touchstone worker``, ``touchstone migrate`` and ``touchstone roles``."""

from typing import Annotated

import typer
import uvloop

from workers.cli.output import console, print_json, read_settings
from workers.process.ending import run_service
from workers.settings.addresses import apply_local_defaults, find_addresses


def worker(
    agents: Annotated[
        str | None,
        typer.Option(
            help="Comma-separated agents to run; by default all enabled agents. The consumer groups are the same "
            "either way."
        ),
    ] = None,
    without: Annotated[
        str | None, typer.Option(help="Comma-separated agents not to run, because other workers run them.")
    ] = None,
) -> None:
    """Run agents until SIGTERM; each agent has its own consumer group.

    Without a list of agents the evaluation runs in a process of its own if two cores are available
    (TOUCHSTONE_EVALUATORS__PROCESSES).

    Examples:
      touchstone worker
      touchstone worker --agents citations,grounding,quality
      touchstone worker --without citations,grounding,quality
    """
    from workers.pipeline.versions import rules_digest
    from workers.runtime.agent_choice import agents_without, chosen_agents
    from workers.runtime.worker import Worker, run_worker

    if agents is not None and without is not None:
        raise typer.BadParameter("give --agents or --without, not both")
    settings = read_settings()
    names = None if agents is None else _names(agents)
    if without is not None:
        names = agents_without(_names(without), settings)
    chosen_agents(names, settings)
    rules_digest()  # here, where a signal still ends the process at once: it takes seconds
    addresses = find_addresses(settings)

    def ready(running: Worker) -> None:
        console.print(f"ready: metrics on http://{settings.http.host}:{running.metrics_port}/metrics", highlight=False)

    run_service(run_worker(apply_local_defaults(settings, addresses), addresses, names, ready))


def _names(listed: str) -> list[str]:
    return [name.strip() for name in listed.split(",") if name.strip()]


def migrate_schema(
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; exit code 1 if there are changes to make.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Migrate ClickHouse's schema and retention, and list every migration; safe to repeat.

    Examples:
      CLICKHOUSE_URL=http://clickhouse:8123 touchstone migrate
      touchstone migrate --check --json
    """
    from workers.stores.clickhouse.analytics_store import connect
    from workers.stores.clickhouse.migrations import (
        AppliedMigration,
        applied_migrations,
        migrate_database,
        read_migrations,
    )
    from workers.stores.clickhouse.retention import apply_retention

    settings = read_settings()
    database = settings.clickhouse.database

    async def run() -> tuple[dict[int, AppliedMigration], list[str]]:
        url = find_addresses(settings, ["clickhouse"]).clickhouse
        client = await connect(settings.clickhouse, url)
        try:
            before = await applied_migrations(client, database)
            if check:
                return before, []
            await migrate_database(settings.clickhouse, url)
            return before, await apply_retention(client, database, settings.retention)
        finally:
            await client.close()

    before, retained = uvloop.run(run())
    migrations = read_migrations()
    new = [migration.name for migration in migrations if migration.version not in before]
    if as_json:
        versions = [
            {
                "version": migration.version,
                "name": migration.name,
                "applied": not check or migration.version in before,
                "oldest_worker": migration.oldest_worker,
            }
            for migration in migrations
        ]
        done = {"pending": new} if check else {"applied": new, "retention_changed": retained}
        print_json({"database": database, **done, "versions": versions})
    else:
        for migration in migrations:
            state = "present" if migration.version in before else "pending" if check else "applied now"
            oldest = "" if state == "present" else f", oldest worker {migration.oldest_worker}"
            console.print(f"{migration.version:4}  {migration.name}  {state}{oldest}", highlight=False)
        for version in sorted(before.keys() - {migration.version for migration in migrations}):
            console.print(f"{version:4}  {before[version].name}  of a later version", highlight=False)
        if retained:
            console.print(f"retention set for {', '.join(retained)}", highlight=False)
    if check and new:
        raise typer.Exit(1)


def roles(
    tenant: Annotated[list[str] | None, typer.Option(help="Tenant that gets its own reader role; repeatable.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Print the SQL of ClickHouse's roles and row policies, for an administrator to run.

    The roles migrator, writer, eraser, promoter and reader get the least privileges they need. A tenant's reader
    sees only the rows of that tenant. The command grants nothing: create users and grant roles by hand.

    Examples:
      touchstone roles --tenant acme --tenant globex
      touchstone roles --tenant acme | clickhouse-client --user admin --multiquery
    """
    from workers.stores.clickhouse.clickhouse_roles import role_statements

    statements = role_statements(read_settings().clickhouse.database, tenant or [])
    if as_json:
        print_json(statements)
    else:
        typer.echo(";\n".join(statements) + ";")
