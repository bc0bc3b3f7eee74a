"""Provide ``touchstone backup``, which backs up the ClickHouse database, restores it and drills a restore."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC
from typing import Annotated, TypeVar

import typer
from clickhouse_connect.driver.asyncclient import AsyncClient
from rich.table import Table

from workers.cli.output import console, fail, print_json, read_settings
from workers.settings.addresses import find_addresses
from workers.stores.clickhouse.analytics_store import connect
from workers.stores.clickhouse.backups import (
    STATEMENT_SECONDS,
    Drill,
    check_place,
    drill_backup,
    restore_backup,
    write_backup,
)
from workers.stores.clickhouse.migrations import migrate_database

app = typer.Typer(help="Back up ClickHouse by its own backups, restore and drill.", no_args_is_help=True)

T = TypeVar("T")


def _place(value: str | None) -> str | None:
    try:
        return None if value is None else check_place(value)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


Place = Annotated[
    str,
    typer.Argument(
        metavar="PLACE", callback=_place, show_default=False,
        help="Place as ClickHouse writes it, in quotation marks: \"File('name')\", \"Disk('backups', 'name')\".",
    ),
]  # fmt: skip
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


@app.command()
def write(
    place: Place,
    base: Annotated[
        str | None,
        typer.Option("--base", metavar="PLACE", callback=_place, help="Leave out what this earlier backup has."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write a backup of the database; workers go on meanwhile.

    Examples:
      touchstone backup write "File('touchstone-full')"
      touchstone backup write "File('touchstone-1')" --base "File('touchstone-full')"
    """
    _with_client(lambda client, database: write_backup(client, database, place, base))
    if as_json:
        print_json({"written": True})
    else:
        console.print("backup written; try it with: touchstone backup drill", highlight=False)


@app.command()
def drill(place: Place, as_json: AsJson = False) -> None:
    """Restore a backup beside the database, bring its schema up to date, count its rows, and drop it.

    Exit codes: 0 usable, 1 a table is missing or this version cannot use the schema, 2 wrong usage.

    Example: touchstone backup drill "File('touchstone-1')"
    """
    found = _with_client(lambda client, database: drill_backup(client, database, place))
    newest = found.newest.replace(tzinfo=UTC) if found.newest else None
    if as_json:
        tables = [{"name": each.name, "restored": each.restored, "present": each.present} for each in found.tables]
        print_json({
            "usable": not found.missing, "newest_answer": newest and newest.isoformat(), "migrations": found.migrations,
            "missing": found.missing, "tables": tables,
        })  # fmt: skip
    else:
        _print(found)
        console.print(f"newest answer {newest:%Y-%m-%d %H:%M:%S} UTC" if newest else "no answers", highlight=False)
    if found.missing:
        fail(f"the backup lacks {', '.join(found.missing)}; write a full backup and drill again")


@app.command()
def restore(place: Place, as_json: AsJson = False) -> None:
    """Restore a lost database from a backup, and bring its schema up to date. The database must not exist.

    Example: touchstone backup restore "File('touchstone-1')"
    """
    _with_client(lambda client, database: restore_backup(client, database, place))
    settings = read_settings(quiet=True)
    applied = asyncio.run(migrate_database(settings.clickhouse, find_addresses(settings, ["clickhouse"]).clickhouse))
    if as_json:
        print_json({"restored": True, "migrations": applied})
    else:
        console.print(
            "restored; now run `touchstone rebuild clickhouse`, and `touchstone forget` for each person who was erased since "
            "the backup",
            highlight=False, soft_wrap=True,
        )  # fmt: skip


def _with_client(work: Callable[[AsyncClient, str], Awaitable[T]]) -> T:
    settings = read_settings(quiet=True)
    url = find_addresses(settings, ["clickhouse"]).clickhouse
    patient = settings.clickhouse.model_copy(update={"timeout_seconds": STATEMENT_SECONDS})

    async def run() -> T:
        client = await connect(patient, url)
        try:
            return await work(client, settings.clickhouse.database)
        finally:
            await client.close()

    return asyncio.run(run())


def _print(found: Drill) -> None:
    table = Table("table", "rows in the backup", "rows now")
    for each in found.tables:
        table.add_row(each.name, *("–" if rows is None else f"{rows:,}" for rows in (each.restored, each.present)))
    console.print(table)
