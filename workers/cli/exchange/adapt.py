"""Provide ``touchstone adapt``, which converts records of other formats to answers without sending them."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic_core import from_json, to_json
from rich.table import Table
from rich.text import Text

from workers.cli.output import console, errors, print_json, printable, printable_json, read_settings
from workers.errors import TouchstoneError
from workers.gateways.adapted import fitting
from workers.gateways.formats import BUILTIN, Format
from workers.gateways.mapped import UnusableMapping, adapter, read_mapping
from workers.intake.file_conversion import Conversion, convert_file
from workers.settings import Settings

SHOWN = 200
"""Longest displayed value, code points."""


def adapt(
    file: Annotated[
        str, typer.Argument(help="JSON, JSON lines or an OTLP export, plain or gzip; - for standard input.")
    ],
    form: Annotated[
        str | None,
        typer.Option("--format", help=f"Of the records: {', '.join(BUILTIN)}, or one of your mappings or plug-ins."),
    ] = None,
    mapping: Annotated[Path | None, typer.Option(help="Mapping file to test.")] = None,
    as_trial: Annotated[bool, typer.Option("--try", help="Show mapped, kept and missing fields.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Convert records of other formats to answers, as JSON lines for `touchstone ingest -`; nothing is sent.

    Exit code 0 if all were converted, 1 if a record or a call of an export could not be converted.

    Examples:
      touchstone adapt --format litellm calls.jsonl | touchstone ingest -
      touchstone adapt --try --format otlp export.json
      touchstone adapt --try --mapping bot.toml records.jsonl --json
    """
    settings = read_settings(quiet=True)
    found = list(
        convert_file(
            file, _format(form, mapping, settings), settings.kafka.max_input_bytes, settings.files.max_line_bytes
        )
    )
    if not found:
        raise TouchstoneError(f"{file} contains no records")
    if as_trial and not as_json:
        for each in found:
            _show(each)
    elif as_json:
        print_json([_as_json(each) for each in found])
    else:
        _write(found, settings)
    if not all(each.complete for each in found):
        raise typer.Exit(1)


def _format(form: str | None, mapping: Path | None, settings: Settings) -> Format:
    if (form is None) == (mapping is None):
        raise typer.BadParameter(f"give --format ({', '.join(BUILTIN)}) or --mapping FILE")
    if mapping is None:
        return settings.gateways.format_named(form or "")
    try:
        read = read_mapping(mapping.read_bytes(), mapping.name)
    except OSError as error:
        raise TouchstoneError(f"{mapping} cannot be read: {error.strerror}") from None
    except UnusableMapping as error:
        raise TouchstoneError(str(error)) from None
    return Format(read.name, str(mapping), adapter(read))


def _write(found: list[Conversion], settings: Settings) -> None:
    """Write answers as lines; problems and skipped records go to standard error."""
    for conversion in found:
        for each in conversion.answers:
            _, value = fitting(each.answer, settings.kafka.max_input_bytes)
            sys.stdout.write(printable_json(value.decode()) + "\n")
        if problem := _problem(conversion):
            errors.print(
                f"record {conversion.number}: {printable(problem)}", highlight=False, markup=False, soft_wrap=True
            )


def _problem(conversion: Conversion) -> str:
    """Describe the part of a record that did not become answers; empty if there is none."""
    if conversion.refused:
        return (
            f"{conversion.refused} of its calls cannot be accepted: the answer is too long, or too large with "
            "its contexts"
        )
    return conversion.problem or (f"nothing to judge ({conversion.skipped})" if conversion.skipped else "")


def _as_json(conversion: Conversion) -> dict[str, Any]:
    return {
        "record": conversion.number,
        "problem": conversion.problem or None,
        "skipped": conversion.skipped or None,
        "refused": conversion.refused,
        "answers": [
            {
                "answer": from_json(each.answer.model_dump_json(exclude_defaults=True)),
                "feedback": [from_json(event.model_dump_json(exclude_defaults=True)) for event in each.feedback],
                "kept": each.kept,
                "missing": each.missing,
                "cut": each.answer.metadata.get("gateway", {}).get("cut", []),
            }
            for each in conversion.answers
        ],
    }


def _show(conversion: Conversion) -> None:
    console.print(Text(f"record {conversion.number}", style="bold"))
    if problem := _problem(conversion):
        _line(problem)
    for each in conversion.answers:
        table = Table("field", "value")
        fields = from_json(each.answer.model_dump_json(exclude_defaults=True, exclude={"metadata"}))
        for name, value in fields.items():
            table.add_row(name, Text(printable(_shortened(value), keep="")))
        for event in each.feedback:
            execution = event.execution.model_dump(mode="json", exclude_none=True) if event.execution else {}
            table.add_row(f"feedback ({event.kind})", Text(printable(_shortened(execution), keep="")))
        console.print(table)
        _line(f"kept: {', '.join(each.kept) or 'nothing'}")
        _line(f"missing: {', '.join(each.missing) or 'nothing'}")


def _shortened(value: Any) -> str:
    text = value if isinstance(value, str) else to_json(value).decode()
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def _line(text: str) -> None:
    console.print(Text(printable(text, keep="")), soft_wrap=True)
