"""Provide ``touchstone ingest``, which sends answers from a file to the input topic."""

from shlex import quote
from typing import Annotated

import typer
import uvloop
from pydantic_core import from_json
from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from workers.cli.output import console, errors, print_json, read_settings
from workers.intake.file_ingest import IngestObserver, InputFormat, ingest_file
from workers.process.line_files import LineFile
from workers.settings.addresses import apply_local_defaults, find_addresses

SHOWN_REJECTS = 5
OTHER_FORMAT = (
    "no line is an answer as docs/usage/answers.md describes it; touchstone adapt reads records of gateways and "
    "traces (touchstone adapt --help lists the formats)"
)


def ingest(
    file: Annotated[str, typer.Argument(help="JSON lines, plain or gzip; - for standard input.")],
    form: Annotated[
        InputFormat, typer.Option("--format", help="Format of a line; touchstone adapt reads others.")
    ] = InputFormat.answers,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Send answers to the input topic; report invalid lines by number and keep them in a reject file.

    Exit code 0 if all were sent, 1 if lines were rejected.

    Examples:
      touchstone ingest examples/answers.jsonl
      zcat answers.jsonl.gz | touchstone ingest -
      touchstone ingest labelled.jsonl.gz --format labelled
    """
    settings = read_settings()
    addresses = find_addresses(settings, ["kafka"])
    progress = Progress(
        TextColumn("ingest"), BarColumn(), DownloadColumn(), TimeRemainingColumn(),
        console=errors, disable=as_json or not errors.is_terminal,
    )  # fmt: skip
    with progress:
        observer = _Printer(progress, progress.add_task("ingest"))
        result = uvloop.run(ingest_file(apply_local_defaults(settings, addresses), addresses, file, form, observer))
    if as_json:
        print_json(
            {
                "sent": result.sent,
                "rejected": result.rejected,
                "reject_file": result.reject_file and str(result.reject_file),
            }
        )
    else:
        console.print(f"{result.sent} answers sent, {result.rejected} lines rejected", highlight=False)
        if result.reject_file:
            console.print(f"rejected lines are in {result.reject_file}", highlight=False, markup=False, soft_wrap=True)
    if result.rejected and not result.sent:
        advice = advice_on(file, settings.files.max_line_bytes)
        errors.print(advice, highlight=False, markup=False, soft_wrap=True)
    if result.rejected:
        raise typer.Exit(1)


def advice_on(file: str, max_bytes: int) -> str:
    """Return the advice on a file of which no line is an answer.

    Args:
        file: path of the file, or ``-``.
        max_bytes: longest document that is read, bytes.
    """
    if file == "-":
        return OTHER_FORMAT
    with LineFile(file, max_bytes) as source:
        content = source.document() or b""
    try:
        document = from_json(content)
    except ValueError:
        return OTHER_FORMAT
    if isinstance(document, list) or b"\n" in content.strip():
        values = "'.[]'" if isinstance(document, list) else "."
        return (
            f"the file is one JSON document; send one object a line: jq -c {values} {quote(file)} | touchstone ingest -"
        )
    return OTHER_FORMAT


class _Printer(IngestObserver):
    """Show a progress bar and the first rejected lines."""

    def __init__(self, progress: Progress, task: TaskID) -> None:
        self._progress, self._task = progress, task
        self._rejected = 0

    def read(self, position: int, size: int | None) -> None:
        self._progress.update(self._task, completed=position, total=size)

    def rejected(self, number: int, reason: str) -> None:
        self._rejected += 1
        if self._rejected <= SHOWN_REJECTS:
            errors.print(f"line {number}: {reason}", highlight=False, markup=False, soft_wrap=True)
        elif self._rejected == SHOWN_REJECTS + 1:
            errors.print("further rejected lines are counted only", highlight=False)
