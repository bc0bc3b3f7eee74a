"""Provide ``touchstone runs``, which lists, promotes, demotes and deletes replays."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Annotated, TypeVar

import orjson
import typer
from rich.table import Table
from rich.text import Text

from schemas.topics import SHADOWED, shadow
from workers.cli.operator import operator
from workers.cli.output import console, print_json, printable, read_settings
from workers.delivery.topics.topic_administration import TopicAdministration
from workers.settings import Settings
from workers.settings.addresses import Addresses, apply_local_defaults, find_addresses
from workers.stores.clickhouse.analytics_store import AnalyticsStore, connect
from workers.stores.clickhouse.migrations import migrate_database
from workers.stores.queries.runs.replay_records import ReplayStore, StoredReplay
from workers.stores.queries.runs.run_queries import Promoted, PromotionChange, RunStore

T = TypeVar("T")

app = typer.Typer(help="List, promote, demote and delete replays.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="Name of the replay.", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


@app.command("list")
def list_runs(as_json: AsJson = False) -> None:
    """List the replays with their progress and the hours for which they are promoted.

    Example: touchstone runs list
    """

    async def ask(
        replays: ReplayStore, runs: RunStore
    ) -> tuple[list[StoredReplay], list[Promoted], list[PromotionChange]]:
        return await replays.all(), await runs.promoted(), await runs.changes()

    rows, promoted, changes = _with_stores(ask)
    by_run = {each.run: each for each in promoted}
    if as_json:
        print_json([_described(row, by_run.get(row.run), changes) for row in rows])
        return
    table = Table("run", "state", "evaluated", "version", "started", "promoted")
    for row in rows:
        cells = (
            row.run, row.state, str(row.counts.get("judged", 0)), row.pipeline_version,
            f"{row.started_at:%Y-%m-%d %H:%M}", _hours(by_run.get(row.run)),
        )  # fmt: skip
        table.add_row(*(Text(printable(cell, keep="")) for cell in cells))
    console.print(table)


@app.command()
def history(as_json: AsJson = False) -> None:
    """List who promoted and demoted which replay and when, also replays that were deleted since.

    Example: touchstone runs history
    """

    async def ask(_: ReplayStore, runs: RunStore) -> list[PromotionChange]:
        return await runs.changes()

    changes = _with_stores(ask)
    if as_json:
        print_json([asdict(each) for each in changes])
        return
    table = Table("time (UTC)", "run", "change", "by")
    for each in changes:
        cells = (f"{each.at:%Y-%m-%d %H:%M:%S}", each.run, "promoted" if each.promoted else "demoted", each.by)
        table.add_row(*(Text(printable(cell, keep="")) for cell in cells))
    console.print(table)


@app.command()
def promote(run: Name, as_json: AsJson = False) -> None:
    """Use the results of a replay as the current run, which dashboards show.

    A replay is promoted for each hour of a tenant in which it has evaluated all answers of the live
    run. Other hours stay live. Released answers and their audit do not change. Undo with: touchstone
    runs demote.

    Example: touchstone runs promote october-again
    """
    _set(run, active=True, as_json=as_json)


@app.command()
def demote(run: Name, as_json: AsJson = False) -> None:
    """Use the live results as the current run again.

    Example: touchstone runs demote october-again
    """
    _set(run, active=False, as_json=as_json)


@app.command()
def delete(run: Name, as_json: AsJson = False) -> None:
    """Remove a replay: its topics and its rows in ClickHouse. The live run cannot be removed.

    A running replay notices the deletion and ends.

    Example: touchstone runs delete october-again
    """

    async def known(replays: ReplayStore, _: RunStore) -> StoredReplay:
        return await _known(replays, run)

    async def remove(_: ReplayStore, runs: RunStore) -> dict[str, int]:
        return await runs.remove(run, datetime.now(UTC), operator())

    settings = read_settings(quiet=True)
    addresses = find_addresses(settings, ["kafka", "clickhouse"])
    _with_stores(known)
    # Delete the topics first: while ClickHouse still lists the replay, the command can be repeated.
    topics = asyncio.run(_delete_topics(apply_local_defaults(settings, addresses), addresses, run))
    removed = _with_stores(remove)
    if as_json:
        print_json({"run": run, "rows": removed, "topics": topics})
        return
    console.print(Text(f"{sum(removed.values())} rows and {len(topics)} topics of {printable(run, keep='')} removed"))


async def _delete_topics(settings: Settings, addresses: Addresses, run: str) -> list[str]:
    async with TopicAdministration(settings, addresses.kafka) as topics:
        return await topics.delete(shadow(topic, run) for topic in SHADOWED)


def _set(run: str, *, active: bool, as_json: bool) -> None:
    async def change(replays: ReplayStore, runs: RunStore) -> Promoted | None:
        row = await _known(replays, run)
        if active and row.state != "finished":
            raise typer.BadParameter(f"{run} is not finished; continue it with: touchstone replay --resume {run}")
        await runs.set_promoted(run, active, datetime.now(UTC), operator())
        return next((each for each in await runs.promoted() if each.run == run), None)

    promoted = _with_stores(change)
    if as_json:
        print_json({"run": run, "promoted": active, "hours": promoted.hours if promoted else 0})
        return
    change_made = f"promoted {_hours(promoted)}" if active else "no longer promoted"
    console.print(Text(f"{printable(run, keep='')} {change_made}"))


async def _known(replays: ReplayStore, run: str) -> StoredReplay:
    row = await replays.find(run)
    if row is None:
        raise typer.BadParameter(f"there is no replay {run}; list replays with: touchstone runs list")
    return row


def _with_stores(work: Callable[[ReplayStore, RunStore], Awaitable[T]]) -> T:
    settings = read_settings(quiet=True)
    url = find_addresses(settings, ["clickhouse"]).clickhouse

    async def run() -> T:
        await migrate_database(settings.clickhouse, url)
        client = await connect(settings.clickhouse, url)
        try:
            database = settings.clickhouse.database
            analytics = AnalyticsStore(client, database)
            return await work(ReplayStore(analytics, database), RunStore(analytics, database))
        finally:
            await client.close()

    return asyncio.run(run())


def _described(row: StoredReplay, promoted: Promoted | None, changes: Sequence[PromotionChange]) -> dict[str, object]:
    return {
        "run": row.run, "state": row.state, "pipeline_version": row.pipeline_version, "counts": row.counts,
        "options": orjson.loads(row.options), "started_at": row.started_at, "updated_at": row.updated_at,
        "promoted_hours": None if promoted is None else promoted.hours,
        "promotions": [
            {"promoted": each.promoted, "at": each.at, "by": each.by} for each in changes if each.run == row.run
        ],
    }  # fmt: skip


def _hours(promoted: Promoted | None) -> str:
    if promoted is None:
        return ""
    if promoted.first is None or promoted.last is None:
        return "for no hour: the replay has evaluated every answer in none"
    number = f"{promoted.hours} hour{'s' * (promoted.hours != 1)} of a tenant each"
    end = promoted.last + timedelta(hours=1)
    return f"for {number}, {promoted.first:%Y-%m-%d %H:%M} to {end:%Y-%m-%d %H:%M} UTC"
