"""Provide ``touchstone forget``, which erases a person."""

import asyncio
from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.table import Table

from schemas.topics import SHADOW
from workers.cli.operator import operator
from workers.cli.output import console, errors, print_json, read_settings
from workers.settings.addresses import apply_local_defaults, find_addresses


def forget(
    user: Annotated[str, typer.Option("--user", help="user_id of the person, as in the answers.")],
    tenant: Annotated[str, typer.Option("--tenant", help="Tenant of the person.")] = "default",
    by: Annotated[
        str,
        typer.Option("--by", help="Who runs the erasure, as auditors see it; by default the account of this command."),
    ] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Remove a person from ClickHouse, memory and Redis, and from compacted topics.

    Records in other topics expire with their retention; the report gives the dates. Safe to repeat. Exit code 0
    also if nothing was found, which the command says: the erasure is recorded all the same.

    Example: touchstone forget --user user-17 --tenant acme
    """
    # Deferred: importing LanceDB takes a second, which other commands save.
    from workers.privacy.erasure import forget as forget_person

    settings = read_settings(quiet=True)
    if not yes:
        typer.confirm(f"Remove all data of user {user!r} of tenant {tenant!r} permanently?", abort=True, err=True)
    addresses = find_addresses(settings)
    done = asyncio.run(
        forget_person(
            apply_local_defaults(settings, addresses),
            addresses,
            tenant,
            user,
            lambda: datetime.now(UTC),
            by.strip() or operator(),
        )
    )
    if not done.found_anything:
        errors.print(
            f"nothing of user {user!r} of tenant {tenant!r} was found; check both names. Later records from before this "
            "moment are dropped all the same",
            highlight=False, markup=False, soft_wrap=True,
        )  # fmt: skip
    kept = {topic: f"{until:%Y-%m-%d %H:%M} UTC" for topic, until in done.kept_until.items()}
    if as_json:
        print_json({
            "digest": done.digest, "answers": done.answers, "rows": done.rows, "turns": done.turns,
            "queries": done.queries, "tombstones": done.tombstones, "kept_until": kept, "redis_file_rewritten": done.rewritten,
        })  # fmt: skip
        return
    table = Table("where", "removed")
    for name, count in done.rows.items():
        table.add_row(f"ClickHouse {name}", str(count))
    table.add_row("memory", str(done.turns))
    table.add_row("Redis", str(done.queries))
    table.add_row("tombstones", str(done.tombstones))
    console.print(table)
    console.print("These topics delete their records by retention, at the latest:", highlight=False)
    for topic, until in kept.items():
        console.print(f"  {topic:<22} {until}", highlight=False)
    if any(SHADOW in topic for topic in kept):
        console.print("`touchstone runs delete NAME` removes the topics of a replay at once.", highlight=False)
    if not done.rewritten:
        console.print("Files of Redis keep removed values until BGREWRITEAOF (AOF) or BGSAVE (RDB).", highlight=False)
