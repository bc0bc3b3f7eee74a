"""Provide ``touchstone schemas``, which exports the contracts for other languages."""

from pathlib import Path
from typing import Annotated

import typer

from schemas.export import export_schemas
from workers.cli.output import console, print_json, read_settings

app = typer.Typer(help="Export the contracts of topics.", no_args_is_help=True)


@app.command()
def export(
    directory: Annotated[Path, typer.Argument(help="Folder for the files; created if it is missing.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Write JSON Schema for each model and one AsyncAPI 3 document with the Kafka bindings.

    Example: touchstone schemas export build/schemas
    """
    settings = read_settings(quiet=as_json)
    written = export_schemas(directory, prefix=settings.kafka.topic_prefix, partitions=settings.kafka.partitions)
    if as_json:
        print_json({"directory": str(directory), "files": [str(path) for path in written]})
        return
    console.print(f"{len(written)} files written to {directory}")
