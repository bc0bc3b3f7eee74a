"""``touchstone schemas``: the contracts for other languages."""

from pathlib import Path
from typing import Annotated

import typer

from schemas.export import export_schemas
from workers.commands.output import console, read_settings

app = typer.Typer(help="Export the contracts.", no_args_is_help=True)


@app.command()
def export(
    directory: Annotated[Path, typer.Argument(help="Where the files go; made if it is not there.")],
) -> None:
    """Write JSON Schema for each model and one AsyncAPI 3 document with the Kafka bindings.

    Example: touchstone schemas export build/schemas
    """
    settings = read_settings()
    written = export_schemas(directory, prefix=settings.kafka.topic_prefix, partitions=settings.kafka.partitions)
    console.print(f"{len(written)} files written to {directory}")
