"""Provide ``touchstone insights``, which finds common properties of bad answers and trends of satisfaction."""

import asyncio
from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from schemas.feedback import FeedbackAggregation
from workers.cli.output import console, errors, print_json, printable, read_settings
from workers.cli.time_option import read_time
from workers.settings.addresses import apply_local_defaults, find_addresses


def insights(
    since: Annotated[
        str,
        typer.Option(
            help="Only answers of this time or later: ISO 8601 (UTC without a time zone) or an age such as 7d."
        ),
    ] = "7d",
    tenant: Annotated[str, typer.Option(help="Only answers of this tenant; by default all tenants together.")] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print; write no rows and no events.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Find what bad answers have in common: models, prompts, sources, query types, topics.

    Answers that readers rated badly and answers that reviewers corrected or rejected are searched apart.
    A pattern needs 20 rated answers and is reported if its p-value is at most 0.01.

    Examples:
      touchstone insights --since 7d
      touchstone insights --since 30d --tenant acme --dry-run --json
    """
    # Deferred: importing the model's libraries takes seconds, which other commands save.
    from workers.feedback.insight_events import Period
    from workers.measurement.insight_search import find_insights

    settings = read_settings(quiet=True)
    now = datetime.now(UTC)
    period = Period(tenant, read_time(since, now, "--since") or now, now)
    addresses = find_addresses(settings, ["clickhouse"] if dry_run else ["clickhouse", "kafka"])
    with errors.status("reading rated answers"):
        found = asyncio.run(
            find_insights(apply_local_defaults(settings, addresses), addresses, period, write=not dry_run)
        )
    if as_json:
        shown = [message.model_dump(mode="json", exclude={"schema_version"}) for message in found.messages]
        counts = {name: getattr(found, name) for name in ("rated", "bad", "reviewed", "reviewed_bad")}
        print_json(counts | {"insights": shown})
        return
    table = Table("priority", "pattern", "impact", "type", "what to do")
    for message in found.messages:
        payload = message.payload
        if isinstance(payload, FeedbackAggregation):
            cells = (message.processing_priority, payload.pattern, f"{payload.impact_score:.2f}", payload.feedback_type,
                     payload.suggested_improvement)  # fmt: skip
            table.add_row(*(Text(printable(cell, keep="")) for cell in cells))
    if found.messages:
        console.print(table)
    console.print(
        f"{found.rated} answers that readers rated, {found.bad} bad; {found.reviewed} answers that reviewers decided or voted on, "
        f"{found.reviewed_bad} bad; {len(found.messages)} insights",
        highlight=False,
    )
