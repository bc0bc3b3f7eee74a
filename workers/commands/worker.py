"""``touchstone worker`` and ``touchstone migrate``."""

import asyncio
from typing import Annotated

import typer

from workers.addresses import adapted, find_addresses
from workers.commands.output import console, print_json, read_settings


def worker(
    agents: Annotated[
        str | None, typer.Option(help="Comma-separated agents; all by default. The groups are the same either way.")
    ] = None,
) -> None:
    """Run agents until SIGTERM; each has its own consumer group, together or alone.

    Examples:
      touchstone worker
      touchstone worker --agents grounding
      touchstone worker --agents citations,quality,assembly,release,signals,feedback,memory,analytics
    """
    from workers.app import Worker, chosen_agents, run_worker

    settings = read_settings()
    names = None if agents is None else [name.strip() for name in agents.split(",") if name.strip()]
    chosen_agents(names)
    addresses = find_addresses(settings)

    def ready(running: Worker) -> None:
        console.print(f"ready: metrics on http://{settings.http.host}:{running.metrics_port}/metrics", highlight=False)

    raise typer.Exit(asyncio.run(run_worker(adapted(settings, addresses), addresses, names, ready)))


def migrate_schema(as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False) -> None:
    """Bring ClickHouse's schema up to date; safe to repeat.

    Example: CLICKHOUSE_URL=http://clickhouse:8123 touchstone migrate
    """
    from workers.stores.analytics import connect
    from workers.stores.migrations import migrate

    settings = read_settings()

    async def run() -> list[str]:
        client = await connect(settings.clickhouse, find_addresses(settings, ["clickhouse"]).clickhouse)
        try:
            return await migrate(client, settings.clickhouse.database)
        finally:
            await client.close()

    applied = asyncio.run(run())
    if as_json:
        print_json({"applied": applied})
    else:
        console.print(f"{len(applied)} migrations applied" + (": " + ", ".join(applied) if applied else ""))
