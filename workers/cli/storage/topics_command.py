"""Provide ``touchstone topics``, which creates, checks and lists the topics of the registry."""

import asyncio
from dataclasses import asdict
from datetime import timedelta
from typing import Annotated

import typer
from rich.table import Table

from schemas.topics import TOPICS
from workers.cli.output import console, print_json, read_settings
from workers.delivery.topics.access_rights import access_rights
from workers.delivery.topics.topic_administration import TopicAdministration
from workers.delivery.topics.topic_findings import TopicFinding
from workers.settings.addresses import find_addresses

app = typer.Typer(help="Create, check and list topics, and print the rights to them.", no_args_is_help=True)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


@app.command()
def create(as_json: AsJson = False) -> None:
    """Create missing topics, and wait until every partition has a leader.

    Example: KAFKA_BOOTSTRAP_SERVERS=kafka:9092 touchstone topics create
    """
    settings = read_settings()

    async def run() -> list[str]:
        async with TopicAdministration(settings, find_addresses(settings, ["kafka"]).kafka) as administration:
            return await administration.create(_tell_waiting)

    created = asyncio.run(run())
    if as_json:
        print_json({"created": created})
    else:
        console.print(f"{len(created)} topics created" + (": " + ", ".join(created) if created else ""))


@app.command()
def check(as_json: AsJson = False) -> None:
    """Compare the broker's topics with the registry and the settings; exit code 1 if there are differences.

    Problems (✗) keep workers from starting. Differences (≠) do not.

    Example: touchstone topics check --json
    """
    settings = read_settings()

    async def run() -> list[TopicFinding]:
        async with TopicAdministration(settings, find_addresses(settings, ["kafka"]).kafka) as administration:
            return await administration.check()

    findings = asyncio.run(run())
    if as_json:
        print_json(
            [
                {
                    "topic": finding.name,
                    "partitions": finding.partitions,
                    "problems": list(finding.problems),
                    "differences": list(finding.differences),
                }
                for finding in findings
            ]
        )
    else:
        for finding in findings:
            mark = "[red]✗[/]" if finding.problems else "[yellow]≠[/]" if finding.differences else "[green]✓[/]"
            found = "; ".join((*finding.problems, *finding.differences))
            console.print(f"{mark} {finding.name}  {found}", highlight=False)
    if any(finding.problems or finding.differences for finding in findings):
        raise typer.Exit(1)


@app.command()
def acls(
    worker: Annotated[str, typer.Option(help="User of the workers.")] = "worker",
    console_user: Annotated[str, typer.Option("--console", help="User of the console.")] = "console",
    gateway: Annotated[str, typer.Option(help="User of the gateway, and prefix of its consumer groups.")] = "gateway",
    operator: Annotated[str, typer.Option(help="User of the commands that operators run.")] = "operator",
    as_json: AsJson = False,
) -> None:
    """Print the least rights of each user as arguments of kafka-acls, one call a line.

    The command grants nothing. The rights follow the settings: prefixes, enabled agents, topics of gateways.

    Example: touchstone topics acls | xargs -L1 kafka-acls.sh --bootstrap-server kafka:9092 --command-config admin.properties
    """
    from workers.runtime.agent_choice import chosen_agents

    settings = read_settings()
    reads = [topic for agent in chosen_agents(None, settings) for topic in agent.reads]
    rights = access_rights(settings, reads, worker=worker, console=console_user, gateway=gateway, operator=operator)
    if as_json:
        print_json([asdict(right) for right in rights])
        return
    for right in rights:
        typer.echo(right.arguments())


def _tell_waiting(partitions: int) -> None:
    typer.echo(f"waiting for the leaders of {partitions} partitions", err=True)


@app.command("list")
def list_topics(as_json: AsJson = False) -> None:
    """List the topics of the registry with their contents and readers.

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
                    "retention_seconds": found.total_seconds()
                    if (found := settings.kafka.retention_of(topic))
                    else None,
                    "cleanup": topic.cleanup,
                }
                for topic in TOPICS
            ]
        )
        return
    table = Table("topic", "model", "key", "direction", "kept", "purpose")
    for topic in TOPICS:
        retention = settings.kafka.retention_of(topic)
        kept = f"{retention / timedelta(days=1):g} days" if retention else "for ever"
        kept = kept if topic.cleanup == "delete" else f"{kept}, compacted"
        table.add_row(
            settings.topic_name(topic.name), topic.model.__name__, topic.key, topic.direction, kept, topic.purpose
        )
    console.print(table)
