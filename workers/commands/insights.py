"""``touchstone insights``: what bad answers have in common, and whether satisfaction moves."""

import asyncio
from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from schemas.feedback import FeedbackAggregation
from workers.addresses import adapted, find_addresses
from workers.commands.dead_letters import read_time
from workers.commands.output import console, errors, print_json, printable, read_settings


def insights(
    since: Annotated[
        str, typer.Option(help="Answered then or later: ISO 8601 (UTC if it names no zone) or 7d.")
    ] = "7d",
    tenant: Annotated[str, typer.Option(help="Of this tenant; all together by default.")] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print; write no rows and events.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Find what bad answers have in common: models, prompts, sources, query types, topics.

    A pattern needs 20 rated answers and is told only if chance would show it in one look of a hundred.

    Examples:
      touchstone insights --since 7d
      touchstone insights --since 30d --tenant acme --dry-run --json
    """
    # Here, not above: the model's libraries take seconds that other commands need not wait for.
    from workers.insights import find_insights
    from workers.steps.insight_events import Period

    settings = read_settings(quiet=True)
    now = datetime.now(UTC)
    period = Period(tenant, read_time(since, now, "--since") or now, now)
    addresses = find_addresses(settings, ["clickhouse"] if dry_run else ["clickhouse", "kafka"])
    with errors.status("reading rated answers"):
        found = asyncio.run(find_insights(adapted(settings, addresses), addresses, period, write=not dry_run))
    if as_json:
        shown = [message.model_dump(mode="json", exclude={"schema_version"}) for message in found.messages]
        print_json({"rated": found.rated, "bad": found.bad, "insights": shown})
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
    console.print(f"{found.rated} rated answers, {found.bad} bad, {len(found.messages)} insights", highlight=False)
