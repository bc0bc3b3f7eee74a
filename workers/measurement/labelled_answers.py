"""Read labelled answers: one JSON object a line, plain or gzip."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from workers.errors import TouchstoneError
from workers.process.line_files import MAX_LINE_BYTES, LineFile

LABELS = {"1": True, "0": False, "true": True, "false": False, "1.0": True, "0.0": False}
"""Values of a label as texts in lower case; files written from tables have texts."""


class UnreadableSet(TouchstoneError):
    """Report an unusable file of labelled answers."""


@dataclass(frozen=True, slots=True)
class LabelledRow:
    """Hold a labelled answer.

    Attributes:
        id: identifier of the row.
        set: name of the file without its endings.
        task: qa, summary, data2text, claim, dialogue, …
        query: the query; may be empty.
        contexts: sources given to the model.
        answer: text of the answer.
        label: True if any content is unsupported or contradicted.
        spans: positions of that content in code points; ``None`` if they are not marked.
    """

    id: str
    set: str
    task: str
    query: str
    contexts: tuple[str, ...]
    answer: str
    label: bool
    spans: tuple[tuple[int, int], ...] | None

    @property
    def source(self) -> str:
        """Return the digest of the contexts; rows that share them are always on one side of a split."""
        return blake2b("\0".join(self.contexts).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def read_labelled(paths: Iterable[Path], max_line_bytes: int = MAX_LINE_BYTES) -> list[LabelledRow]:
    """Read files of labelled answers.

    Args:
        paths: the files.
        max_line_bytes: longest line, bytes after decompression.

    Raises:
        UnreadableSet: the file is invalid; the message names file, line, field and the expected value.
        TouchstoneError: the file cannot be read.
    """
    return [row for path in paths for row in _read(path, max_line_bytes)]


def _read(path: Path, max_line_bytes: int) -> list[LabelledRow]:
    name = path.name.removesuffix(".gz").removesuffix(".jsonl")
    rows = []
    try:
        with LineFile(str(path), max_line_bytes) as source:
            for number, line in enumerate(source.lines(), 1):
                if line.strip():
                    rows.append(_row(json.loads(line), name, f"{path} line {number}"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise UnreadableSet(
            f"{path} cannot be read as JSON lines ({error}); give a .jsonl or .jsonl.gz file"
        ) from error
    if not rows:
        raise UnreadableSet(f"{path} contains no rows")
    return rows


def _row(fields: Any, name: str, place: str) -> LabelledRow:
    if not isinstance(fields, dict):
        raise UnreadableSet(f"{place}: the line is no object; rows have id, contexts, answer and label (0 or 1)")
    for needed in ("id", "contexts", "answer", "label"):
        if needed not in fields:
            raise UnreadableSet(
                f"{place}: field {needed} is missing; rows have id, contexts, answer and label (0 or 1)"
            )
    return LabelledRow(
        id=_identifier(fields["id"], place),
        set=name,
        task=_text(fields, "task", place) or "unknown",
        query=_text(fields, "query", place) or "",
        contexts=_contexts(fields["contexts"], place),
        answer=_answer(fields, place),
        label=read_label(fields["label"], place),
        spans=None if fields.get("spans") is None else _spans(fields["spans"], place),
    )


def _identifier(given: Any, place: str) -> str:
    if type(given) not in (str, int):
        raise UnreadableSet(f"{place}: field id is {_shown(given)}; give a text or a whole number")
    return str(given)


def _text(fields: Mapping[str, Any], name: str, place: str) -> str | None:
    given = fields.get(name)
    if given is not None and not isinstance(given, str):
        raise UnreadableSet(f"{place}: field {name} is {_shown(given)}; give a text")
    return given


def _answer(fields: Mapping[str, Any], place: str) -> str:
    if (given := _text(fields, "answer", place)) is None:
        raise UnreadableSet(f"{place}: field answer is null; give a text")
    return given


def _shown(given: Any) -> str:
    return "null" if given is None else repr(given)[:40]


def _contexts(given: Any, place: str) -> tuple[str, ...]:
    if not isinstance(given, list) or not all(isinstance(text, str) for text in given):
        raise UnreadableSet(f"{place}: field contexts is no list of texts; give each source as one text of the list")
    return tuple(given)


def read_label(given: Any, place: str) -> bool:
    """Return the label of a row, which may be a number or a text.

    Args:
        given: the value.
        place: file and line, for the message.

    Raises:
        UnreadableSet: the value is no label.
    """
    found = LABELS.get(given.strip().lower() if isinstance(given, str) else str(given).lower())
    if found is None:
        raise UnreadableSet(f"{place}: field label is {str(given)[:40]!r}; give 1 for unsupported content, 0 for none")
    return found


def _spans(given: Any, place: str) -> tuple[tuple[int, int], ...]:
    spans = given if isinstance(given, list) else [given]
    for span in spans:
        pair = isinstance(span, list) and len(span) >= 2 and all(type(offset) is int for offset in span[:2])
        if not pair or not 0 <= span[0] <= span[1]:
            raise UnreadableSet(
                f"{place}: field spans has {str(span)[:40]!r}; give pairs of start and end in code points, such as [[0, 12]]"
            )
    return tuple((span[0], span[1]) for span in spans)
