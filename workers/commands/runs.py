"""``touchstone runs``: the replays there are, whose figures count, and removing one."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Annotated, TypeVar

import orjson
import typer
from rich.table import Table
from rich.text import Text

from workers.addresses import Addresses, adapted, find_addresses
from workers.commands.output import console, print_json, printable, read_settings
from workers.settings import Settings
from workers.stores.analytics import AnalyticsStore, connect
from workers.stores.migrations import migrate
from workers.stores.replays import ReplayRow, ReplayStore
from workers.stores.runs import Promoted, RunStore
from workers.topics import TopicAdministration

T = TypeVar("T")

app = typer.Typer(help="Replays: which there are, whose figures count, and removing one.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="Name of the replay.", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


@app.command("list")
def list_runs(as_json: AsJson = False) -> None:
    """List the replays, how far each has come, and for which hours its figures count.

    Example: touchstone runs list
    """

    async def ask(replays: ReplayStore, runs: RunStore) -> tuple[list[ReplayRow], list[Promoted]]:
        return await replays.all(), await runs.promoted()

    rows, promoted = _with_stores(ask)
    by_run = {each.run: each for each in promoted}
    if as_json:
        print_json([_described(row, by_run.get(row.run)) for row in rows])
        return
    table = Table("run", "state", "judged", "version", "begun", "figures count")
    for row in rows:
        cells = (
            row.run, row.state, str(row.counts.get("judged", 0)), row.pipeline_version,
            f"{row.started_at:%Y-%m-%d %H:%M}", _told(by_run.get(row.run)),
        )  # fmt: skip
        table.add_row(*(Text(printable(cell, keep="")) for cell in cells))
    console.print(table)


@app.command()
def promote(run: Name, as_json: AsJson = False) -> None:
    """Let the figures of a replay count wherever questions ask for the current run, as dashboards do.

    For every hour of a tenant in which it has judged each answer that the live run has; all other hours
    stay live. What readers got is not touched, nor is its audit. Taken back by: touchstone runs demote.

    Example: touchstone runs promote october-again
    """
    _set(run, active=True, as_json=as_json)


@app.command()
def demote(run: Name, as_json: AsJson = False) -> None:
    """Let the live figures count again.

    Example: touchstone runs demote october-again
    """
    _set(run, active=False, as_json=as_json)


@app.command()
def delete(run: Name, as_json: AsJson = False) -> None:
    """Remove a replay: its topics and its rows in ClickHouse. The live run cannot be removed.

    One that is at work notices, and ends.

    Example: touchstone runs delete october-again
    """

    async def known(replays: ReplayStore, _: RunStore) -> ReplayRow:
        return await _known(replays, run)

    async def remove(_: ReplayStore, runs: RunStore) -> dict[str, int]:
        return await runs.remove(run, datetime.now(UTC))

    settings = read_settings(quiet=True)
    addresses = find_addresses(settings, ["kafka", "clickhouse"])
    _with_stores(known)
    # The topics first: as long as ClickHouse knows of the replay, this can be done again.
    topics = asyncio.run(_delete_topics(adapted(settings, addresses), addresses, run))
    removed = _with_stores(remove)
    if as_json:
        print_json({"run": run, "rows": removed, "topics": topics})
        return
    console.print(Text(f"{sum(removed.values())} rows and {len(topics)} topics of {printable(run, keep='')} removed"))


async def _delete_topics(settings: Settings, addresses: Addresses, run: str) -> list[str]:
    from workers.replay.outputs import SHADOWED, shadow

    async with TopicAdministration(settings, addresses.kafka) as topics:
        return await topics.delete(shadow(topic, run) for topic in SHADOWED)


def _set(run: str, *, active: bool, as_json: bool) -> None:
    async def change(replays: ReplayStore, runs: RunStore) -> Promoted | None:
        row = await _known(replays, run)
        if active and row.state != "finished":
            raise typer.BadParameter(f"{run} is not finished; go on with: touchstone replay --resume {run}")
        await runs.set_promoted(run, active, datetime.now(UTC))
        return next((each for each in await runs.promoted() if each.run == run), None)

    promoted = _with_stores(change)
    if as_json:
        print_json({"run": run, "promoted": active, "hours": promoted.hours if promoted else 0})
        return
    told = f"counts: {_told(promoted)}" if active else "counts no longer"
    console.print(Text(f"{printable(run, keep='')} {told}"))


async def _known(replays: ReplayStore, run: str) -> ReplayRow:
    row = await replays.find(run)
    if row is None:
        raise typer.BadParameter(f"there is no replay {run}; `touchstone runs list` shows them")
    return row


def _with_stores(work: Callable[[ReplayStore, RunStore], Awaitable[T]]) -> T:
    settings = read_settings(quiet=True)
    url = find_addresses(settings, ["clickhouse"]).clickhouse

    async def run() -> T:
        client = await connect(settings.clickhouse, url)
        try:
            database = settings.clickhouse.database
            await migrate(client, database)
            analytics = AnalyticsStore(client, database)
            return await work(ReplayStore(analytics, database), RunStore(analytics, database))
        finally:
            await client.close()

    return asyncio.run(run())


def _described(row: ReplayRow, promoted: Promoted | None) -> dict[str, object]:
    return {
        "run": row.run, "state": row.state, "pipeline_version": row.pipeline_version, "counts": row.counts,
        "options": orjson.loads(row.options), "started_at": row.started_at, "updated_at": row.updated_at,
        "promoted_hours": None if promoted is None else promoted.hours,
    }  # fmt: skip


def _told(promoted: Promoted | None) -> str:
    if promoted is None:
        return ""
    if promoted.first is None or promoted.last is None:
        return "for no hour: in none it has judged every answer"
    return f"for {promoted.hours} hours, {promoted.first:%Y-%m-%d %H:%M} to {promoted.last:%Y-%m-%d %H:%M}"
