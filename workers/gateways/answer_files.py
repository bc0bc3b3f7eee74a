"""Read answers from files."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError
from pydantic_core import from_json

from schemas.answers import GeneratedAnswer
from schemas.base import unreadable
from schemas.enriched import EnrichedAnswer
from workers.errors import TouchstoneError
from workers.gateways.adapted import digest_identifier
from workers.process.line_files import MAX_LINE_BYTES, LineFile


def read_events(
    file: str, max_line_bytes: int = MAX_LINE_BYTES, *, by_content: bool = False
) -> Iterator[GeneratedAnswer | EnrichedAnswer]:
    """Yield the answers of a file: JSON lines or one JSON document, plain or gzip.

    An answer without a time counts as complete at the Unix epoch, so that the same file gives the same results. An
    answer without an identifier gets one from its position in the file, or from its content.

    Args:
        file: path of the file; ``-`` for standard input.
        max_line_bytes: longest line, and longest document, bytes after decompression.
        by_content: name answers by their content, so that those of two files have different identifiers.

    Raises:
        TouchstoneError: the file cannot be read, or an entry is not a valid answer; the message names its number.
    """
    for number, fields in enumerate(_documents(file, max_line_bytes), start=1):
        name = digest_identifier(fields, None) if by_content else f"line-{number}"
        defaults = {"answer_id": name, "completed_at": datetime.fromtimestamp(0, UTC)}
        kind = EnrichedAnswer if "decision" in fields else GeneratedAnswer
        try:
            yield kind.model_validate(fields if kind is EnrichedAnswer else defaults | fields)
        except ValidationError as error:
            raise TouchstoneError(f"{file}, answer {number}: {unreadable(kind, error)}") from None


def _documents(file: str, max_line_bytes: int) -> Iterator[dict[str, Any]]:
    with LineFile(file, max_line_bytes) as source:
        content = source.document()
        try:
            # Content beyond the bound is not one document, but may be lines.
            whole = from_json(b"" if content is None else content)
            documents = iter(whole if isinstance(whole, list) else [whole])
        except ValueError:
            documents = _lines(source)
        for number, document in enumerate(documents, start=1):
            if not isinstance(document, dict):
                raise TouchstoneError(f"{file}, answer {number}: not a JSON object")
            yield document


def _lines(source: LineFile) -> Iterator[Any]:
    for number, line in enumerate(source.lines(), start=1):
        if line.strip():
            try:
                yield from_json(line)
            except ValueError as error:
                raise TouchstoneError(
                    f"{source.name}, line {number}: not valid JSON ({error}); write one answer a line"
                ) from error
