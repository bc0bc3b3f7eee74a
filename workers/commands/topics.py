"""``touchstone topics``: create, check and list the topics of the registry."""

import asyncio
from typing import Annotated

import typer
from rich.table import Table

from schemas.topics import TOPICS
from workers.addresses import find_addresses
from workers.commands.output import console, print_json, read_settings
from workers.topics import TopicAdministration, TopicFinding

app = typer.Typer(help="Create, check and list topics.", no_args_is_help=True)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


@app.command()
def create(as_json: AsJson = False) -> None:
    """Create the topics that are missing.

    Example: KAFKA_BOOTSTRAP_SERVERS=kafka:9092 touchstone topics create
    """
    settings = read_settings()

    async def run() -> list[str]:
        async with TopicAdministration(settings, find_addresses(settings, ["kafka"]).kafka) as administration:
            return await administration.create()

    created = asyncio.run(run())
    if as_json:
        print_json({"created": created})
    else:
        console.print(f"{len(created)} topics created" + (": " + ", ".join(created) if created else ""))


@app.command()
def check(as_json: AsJson = False) -> None:
    """Compare the broker's topics with the registry; exit code 1 if something does not fit.

    Example: touchstone topics check --json
    """
    settings = read_settings()

    async def run() -> list[TopicFinding]:
        async with TopicAdministration(settings, find_addresses(settings, ["kafka"]).kafka) as administration:
            return await administration.check()

    findings = asyncio.run(run())
    if as_json:
        print_json([{"topic": f.name, "partitions": f.partitions, "problems": list(f.problems)} for f in findings])
    else:
        for finding in findings:
            mark = "[red]✗[/]" if finding.problems else "[green]✓[/]"
            console.print(f"{mark} {finding.name}  {'; '.join(finding.problems)}", highlight=False)
    if any(finding.problems for finding in findings):
        raise typer.Exit(1)


@app.command("list")
def list_topics(as_json: AsJson = False) -> None:
    """List the registry: what each topic carries and for whom.

    Example: touchstone topics list
    """
    settings = read_settings()
    if as_json:
        print_json(
            [
                {
                    "topic": settings.topic_name(topic.name),
                    "model": topic.model.__name__,
                    "key": topic.key,
                    "direction": topic.direction,
                    "purpose": topic.purpose,
                    "partitions": settings.kafka.partitions,
                    "retention_seconds": topic.retention.total_seconds() if topic.retention else None,
                    "cleanup": topic.cleanup,
                }
                for topic in TOPICS
            ]
        )
        return
    table = Table("topic", "model", "key", "direction", "kept", "purpose")
    for topic in TOPICS:
        kept = f"{topic.retention.days} days" if topic.retention else "for ever"
        kept = kept if topic.cleanup == "delete" else f"{kept}, compacted"
        table.add_row(
            settings.topic_name(topic.name), topic.model.__name__, topic.key, topic.direction, kept, topic.purpose
        )
    console.print(table)
