"""``touchstone``: everything an operator types."""

import sys
from typing import Annotated

import typer

from workers.allocator import bound_allocator
from workers.commands import (
    adapt,
    archive,
    bench,
    best,
    chaos,
    compare,
    console,
    dead_letters,
    demo,
    eval_quality,
    evaluate,
    explain,
    export,
    forget,
    golden,
    ingest,
    insights,
    local,
    rebuild,
    replay,
    runs,
    schemas,
    settings,
    topics,
    versions,
    worker,
)
from workers.commands.output import fail
from workers.delivery.errors import TouchstoneError
from workers.local.errors import LocalServiceError
from workers.versions import package_version

app = typer.Typer(
    name="touchstone",
    help="Judge the answers of an LLM gateway as they stream by: citations, hallucination risk, quality.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.command("demo")(demo.demo)
app.command("up")(local.up)
app.command("console")(console.console_command)
app.command("services")(local.services)
app.command("worker")(worker.worker)
app.command("ingest")(ingest.ingest)
app.command("adapt")(adapt.adapt)
app.command("forget")(forget.forget)
app.command("replay")(replay.replay)
app.command("rebuild")(rebuild.rebuild)
app.command("versions")(versions.versions)
app.command("compare")(compare.compare)
app.command("insights")(insights.insights)
app.command("chaos")(chaos.chaos)
app.command(
    "bench",
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "allow_interspersed_args": False},
)(bench.bench)
app.command("migrate")(worker.migrate_schema)
app.command("roles")(worker.roles)
app.command("explain")(explain.explain_command)
app.command("best")(best.best)
evaluate.app.command("quality")(eval_quality.quality)
app.command("settings")(settings.settings)
app.add_typer(evaluate.app, name="eval")
app.add_typer(evaluate.calibrate, name="calibrate")
app.add_typer(export.app, name="export")
app.add_typer(archive.app, name="archive")
app.add_typer(golden.app, name="golden")
app.add_typer(runs.app, name="runs")
app.add_typer(topics.app, name="topics")
app.add_typer(dead_letters.app, name="dlq")
app.add_typer(schemas.app, name="schemas")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"touchstone {package_version()}")
        raise typer.Exit


@app.callback()
def _options(
    _: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False,
) -> None:
    """Options of all commands; settings come from the environment (TOUCHSTONE_*) and .env."""


def main() -> None:
    """Run a command; errors that we know are told in words, without a traceback."""
    bound_allocator()
    try:
        app()
    except (TouchstoneError, LocalServiceError) as error:
        fail(str(error))
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
