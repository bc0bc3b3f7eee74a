"""Convert the records of a file to answers without sending them, to try a format or a mapping."""

from collections.abc import Iterator
from dataclasses import dataclass

from pydantic_core import from_json, to_json

from schemas.base import UnreadableEvent
from workers.delivery.records import Output
from workers.errors import PoisonError, TouchstoneError, describe
from workers.gateways.adapted import Adapted, Received, fitting
from workers.gateways.errors import NothingToJudge
from workers.gateways.formats import Format
from workers.intake.file_ingest import modification_time
from workers.intake.intake_outputs import taken_of
from workers.process.line_files import MAX_LINE_BYTES, LineFile, LongLine

WHOLE = frozenset({"otlp", "otlp-logs", "langfuse"})
"""Formats whose files contain one export instead of a list of records."""


@dataclass(frozen=True, slots=True)
class Conversion:
    """The result for one record of a file.

    Attributes:
        number: number of the record, from 1.
        answers: answers made of the record.
        problem: reason why the record could not be converted.
        skipped: reason why the record contains nothing to evaluate.
        refused: number of calls of an export that were refused, while others were converted.
    """

    number: int
    answers: tuple[Adapted, ...] = ()
    problem: str = ""
    skipped: str = ""
    refused: int = 0

    @property
    def complete(self) -> bool:
        """Return true if nothing of the record was refused."""
        return not (self.problem or self.refused)


def convert_file(file: str, form: Format, max_bytes: int, max_line_bytes: int = MAX_LINE_BYTES) -> Iterator[Conversion]:
    """Yield the conversion of each record.

    The answers carry the file's modification time where a record names no time, so that a repeat gives the same
    answers.

    Args:
        file: path of a JSON document, JSON lines or an OTLP export, plain or gzip; ``-`` for standard input.
        form: format of the records.
        max_bytes: size limit of an answer.
        max_line_bytes: longest line, and longest document, bytes after decompression.

    Raises:
        TouchstoneError: the file cannot be read.
    """
    try:
        received = Received(modification_time(file))
    except OSError as error:
        raise TouchstoneError(f"{file} cannot be read: {error.strerror or error}") from None
    with LineFile(file, max_line_bytes) as source:
        for number, value in enumerate(_records(source, form), 1):
            yield _convert(number, value, form, received, max_bytes)


def _records(source: LineFile, form: Format) -> Iterator[bytes]:
    """Yield the records of a file, as bytes for the format's adapter."""
    content = source.document()
    if content is None:
        if form.name in WHOLE:
            raise LongLine(f"{source.name}: {source.too_long()}")
        yield from _lines(source)
        return
    try:
        whole = from_json(content)
    except ValueError:
        is_binary = form.name in WHOLE and not content.lstrip().startswith(b"{")
        yield from ([content] if is_binary else _lines(source))
        return
    if isinstance(whole, list) and form.name not in WHOLE:
        yield from (to_json(each, inf_nan_mode="constants") for each in whole)
    else:
        yield content


def _lines(source: LineFile) -> Iterator[bytes]:
    return (line for line in source.lines() if line.strip())


def _convert(number: int, value: bytes, form: Format, received: Received, max_bytes: int) -> Conversion:
    def check_size(found: Adapted) -> list[Output]:
        fitting(found.answer, max_bytes)
        return []

    try:
        taken = taken_of(form.answers(value, received), check_size, in_part=form.in_part)
        return Conversion(number, taken.answers, refused=taken.refused)
    except NothingToJudge as nothing:
        return Conversion(number, skipped=nothing.reason)
    except (PoisonError, UnreadableEvent) as error:
        return Conversion(number, problem=describe(error))
