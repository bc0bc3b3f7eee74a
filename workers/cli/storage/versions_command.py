"""Provide ``touchstone versions``, which lists the pipeline versions with stored results and their differences."""

import asyncio
from datetime import datetime
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from workers.cli.output import console, print_json, printable, read_settings
from workers.pipeline.versions import differences, pipeline_version, version_parts
from workers.settings import Settings
from workers.settings.addresses import find_addresses
from workers.stores.clickhouse.analytics_store import AnalyticsStore, connect
from workers.stores.clickhouse.migrations import migrate_database
from workers.stores.queries.version_queries import SeenVersion, VersionStore


def versions(
    against: Annotated[
        str | None,
        typer.Option("--against", help="Version to compare with; by default the version of the current settings."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """List the pipeline versions with stored results, and their differences from the current version.

    Examples:
      touchstone versions
      touchstone versions --against 2026.11-grounding1-999a75 --json
    """
    settings = read_settings(quiet=True)
    seen = asyncio.run(_seen(settings))
    present = pipeline_version(settings)
    parts = _parts_of(against, seen) if against else version_parts(settings)
    changes = {each.version: None if each.parts is None else differences(parts, each.parts) for each in seen}
    if as_json:
        print_json({
            "present": present, "against": against or present,
            "versions": [
                {"version": each.version, "answers": each.answers, "first": each.first, "last": each.last,
                 "started_at": each.started_at, "parts": each.parts, "differs": changes[each.version]}
                for each in seen
            ],
        })  # fmt: skip
        return
    table = Table("version", "answers", "from", "to")
    for each in seen:
        cells = (each.version, str(each.answers), _minute(each.first), _minute(each.last))
        table.add_row(*(Text(printable(cell, keep="")) for cell in cells))
    console.print(table)
    console.print(f"compared with {against or f'{present}, the version of the current settings'}:", highlight=False)
    for each in seen:
        for line in _lines(each.version, changes[each.version]):
            console.print(Text(printable(line, keep="")), soft_wrap=True)


async def _seen(settings: Settings) -> list[SeenVersion]:
    url = find_addresses(settings, ["clickhouse"]).clickhouse
    await migrate_database(settings.clickhouse, url)
    client = await connect(settings.clickhouse, url)
    try:
        database = settings.clickhouse.database
        return await VersionStore(AnalyticsStore(client, database), database).seen()
    finally:
        await client.close()


def _parts_of(version: str, seen: list[SeenVersion]) -> dict[str, str]:
    for each in seen:
        if each.version == version and each.parts is not None:
            return each.parts
    raise typer.BadParameter(
        f"version {version!r} is unknown; list versions with: touchstone versions", param_hint="--against"
    )


def _minute(time: datetime | None) -> str:
    return f"{time:%Y-%m-%d %H:%M}" if time else ""


def _lines(version: str, changes: dict[str, list[str | None]] | None) -> list[str]:
    if changes is None:
        return [f"{version}: unknown components; no worker has published them"]
    return [f"{version}: {name} {new or 'absent'} instead of {old or 'absent'}" for name, (old, new) in changes.items()]
