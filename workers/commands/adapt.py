"""``touchstone adapt``: records of other formats as answers, without sending anything."""

import gzip
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic_core import from_json, to_json
from rich.table import Table
from rich.text import Text

from schemas.base import UnreadableEvent
from workers.commands.output import console, errors, print_json, printable, read_settings
from workers.delivery.errors import PoisonError, TouchstoneError, describe
from workers.delivery.records import Output
from workers.gateways.adapted import Adapted, Received, fitting
from workers.gateways.errors import NothingToJudge
from workers.gateways.formats import FORMATS, Format
from workers.gateways.mapped import UnusableMapping, adapter, read_mapping
from workers.gateways.outputs import taken_of
from workers.settings import Settings

SHOWN = 200
"""Longest value that is shown, code points."""
WHOLE = frozenset({"otlp", "otlp-logs", "langfuse"})
"""Formats whose files hold one export and no list of records."""


@dataclass(frozen=True, slots=True)
class Tried:
    """What became of one record of a file.

    Attributes:
        number: of the record, from 1.
        answers: made of it.
        problem: why none was.
        skipped: why there is nothing to judge.
        refused: how many calls of an export cannot be taken, while others are.
    """

    number: int
    answers: tuple[Adapted, ...] = ()
    problem: str = ""
    skipped: str = ""
    refused: int = 0


def adapt(
    file: Annotated[
        str, typer.Argument(help="JSON, JSON lines or an OTLP export, plain or gzip; - for standard input.")
    ],
    form: Annotated[
        str | None, typer.Option("--format", help=f"Of the records: {', '.join(FORMATS)}, or one of your mappings.")
    ] = None,
    mapping: Annotated[Path | None, typer.Option(help="A mapping file to try.")] = None,
    as_trial: Annotated[bool, typer.Option("--try", help="Show what was mapped, kept aside and is missing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Turn records of other formats into answers, as JSON lines for `touchstone ingest -`; nothing is sent.

    Exit code 0 if all were turned, 1 if a record could not be, or a call of an export.

    Examples:
      touchstone adapt --format litellm calls.jsonl | touchstone ingest -
      touchstone adapt --try --format otlp export.json
      touchstone adapt --try --mapping bot.toml records.jsonl --json
    """
    settings = read_settings(quiet=True)
    how = _format(form, mapping, settings)
    found = [
        _tried(number, value, how, _received(file), settings) for number, value in enumerate(_values(file, how), 1)
    ]
    if not found:
        raise TouchstoneError(f"{file} holds no record")
    if as_trial and not as_json:
        for each in found:
            _show(each)
    elif as_json:
        print_json([_told(each) for each in found])
    else:
        _write(found, settings)
    if any(each.problem or each.refused for each in found):
        raise typer.Exit(1)


def _format(form: str | None, mapping: Path | None, settings: Settings) -> Format:
    if (form is None) == (mapping is None):
        raise typer.BadParameter(f"give --format ({', '.join(FORMATS)}) or --mapping FILE")
    if mapping is None:
        try:
            return settings.gateways.format_named(form or "")
        except KeyError as error:
            raise TouchstoneError(str(error.args[0])) from None
    try:
        read = read_mapping(mapping.read_bytes(), mapping.name)
    except OSError as error:
        raise TouchstoneError(f"{mapping} cannot be read: {error.strerror}") from None
    except UnusableMapping as error:
        raise TouchstoneError(str(error)) from None
    return Format(read.name, str(mapping), adapter(read))


def _received(file: str) -> Received:
    """The file's time, so that a repeat gives the same answers."""
    return Received(datetime.now(UTC) if file == "-" else datetime.fromtimestamp(Path(file).stat().st_mtime, UTC))


def _values(file: str, how: Format) -> Iterator[bytes]:
    """The records of a file, as bytes that the format reads."""
    try:
        content = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        content = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
    except (OSError, EOFError) as error:
        raise TouchstoneError(f"{file} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    try:
        whole = from_json(content)
    except ValueError:
        lines = [line for line in content.splitlines() if line.strip()]
        is_binary = how.name in WHOLE and not content.lstrip().startswith(b"{")
        yield from ([content] if is_binary else lines)
        return
    if isinstance(whole, list) and how.name not in WHOLE:
        yield from (to_json(each, inf_nan_mode="constants") for each in whole)
    else:
        yield content


def _tried(number: int, value: bytes, how: Format, received: Received, settings: Settings) -> Tried:
    def fits(found: Adapted) -> list[Output]:
        fitting(found.answer, settings.kafka.max_input_bytes)
        return []

    try:
        taken = taken_of(how.answers(value, received), fits, in_part=how.in_part)
        return Tried(number, taken.answers, refused=taken.refused)
    except NothingToJudge as nothing:
        return Tried(number, skipped=nothing.reason)
    except (PoisonError, UnreadableEvent) as error:
        return Tried(number, problem=describe(error))


def _write(found: list[Tried], settings: Settings) -> None:
    """Answers as lines; what is wrong and what is skipped goes to standard error."""
    for tried in found:
        for each in tried.answers:
            _, value = fitting(each.answer, settings.kafka.max_input_bytes)
            sys.stdout.write(value.decode() + "\n")
        if said := _said(tried):
            errors.print(f"record {tried.number}: {printable(said)}", highlight=False, markup=False, soft_wrap=True)


def _said(tried: Tried) -> str:
    """What became of a record besides its answers, in words; nothing where all of it became answers."""
    if tried.refused:
        return (
            f"{tried.refused} of its calls cannot be taken: an answer that is too long, or too large with its contexts"
        )
    return tried.problem or (f"nothing to judge ({tried.skipped})" if tried.skipped else "")


def _told(tried: Tried) -> dict[str, Any]:
    return {
        "record": tried.number,
        "problem": tried.problem or None,
        "skipped": tried.skipped or None,
        "refused": tried.refused,
        "answers": [
            {
                "answer": from_json(each.answer.model_dump_json(exclude_defaults=True)),
                "feedback": [from_json(event.model_dump_json(exclude_defaults=True)) for event in each.feedback],
                "kept": each.kept,
                "missing": each.missing,
                "cut": each.answer.metadata.get("gateway", {}).get("cut", []),
            }
            for each in tried.answers
        ],
    }


def _show(tried: Tried) -> None:
    console.print(Text(f"record {tried.number}", style="bold"))
    if said := _said(tried):
        _line(said)
    for each in tried.answers:
        table = Table("field", "value")
        told = from_json(each.answer.model_dump_json(exclude_defaults=True, exclude={"metadata"}))
        for name, value in told.items():
            table.add_row(name, Text(printable(_shortened(value), keep="")))
        for event in each.feedback:
            execution = event.execution.model_dump(mode="json", exclude_none=True) if event.execution else {}
            table.add_row(f"feedback ({event.kind})", Text(printable(_shortened(execution), keep="")))
        console.print(table)
        _line(f"kept aside: {', '.join(each.kept) or 'nothing'}")
        _line(f"missing: {', '.join(each.missing) or 'nothing'}")


def _shortened(value: Any) -> str:
    text = value if isinstance(value, str) else to_json(value).decode()
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def _line(text: str) -> None:
    console.print(Text(printable(text, keep="")), soft_wrap=True)
