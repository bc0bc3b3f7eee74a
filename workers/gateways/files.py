"""Answers of files, as people keep them."""

import gzip
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from schemas.answers import GeneratedAnswer
from schemas.enriched import EnrichedAnswer
from workers.delivery.errors import TouchstoneError


def read_events(file: str) -> Iterator[GeneratedAnswer | EnrichedAnswer]:
    """Answers of a file: JSON lines or one JSON document, plain or gzip; ``-`` for standard input.

    An answer without a time counts as complete at the Unix epoch, so that the same file gives
    the same judgement; a name is made of its line.

    Raises:
        TouchstoneError: the file cannot be read, or a line is no answer; it names the line.
    """
    try:
        content = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        content = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
    except OSError as error:
        raise TouchstoneError(f"{file} cannot be read: {error.strerror or error}") from error
    for number, fields in enumerate(_documents(content, file), start=1):
        defaults = {"answer_id": f"line-{number}", "completed_at": datetime.fromtimestamp(0, UTC)}
        kind = EnrichedAnswer if "decision" in fields else GeneratedAnswer
        try:
            yield kind.model_validate(fields if kind is EnrichedAnswer else defaults | fields)
        except ValueError as error:
            raise TouchstoneError(f"{file}, answer {number}: {error}") from error


def _documents(content: bytes, file: str) -> Iterator[dict[str, Any]]:
    try:
        whole = from_json(content)
        documents = whole if isinstance(whole, list) else [whole]
    except ValueError:
        lines = [line for line in content.splitlines() if line.strip()]
        documents = []
        for number, line in enumerate(lines, start=1):
            try:
                documents.append(from_json(line))
            except ValueError as error:
                raise TouchstoneError(f"{file}, line {number}: {error}") from error
    for number, document in enumerate(documents, start=1):
        if not isinstance(document, dict):
            raise TouchstoneError(f"{file}, answer {number}: not a JSON object")
        yield document
