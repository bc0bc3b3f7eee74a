"""Labelled answers: one JSON object a line, plain or gzip."""

import gzip
import json
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from workers.delivery.errors import TouchstoneError


class UnreadableSet(TouchstoneError):
    """A file of labelled answers cannot be used."""


@dataclass(frozen=True, slots=True)
class LabelledRow:
    """A labelled answer.

    Attributes:
        id: of the row.
        set: name of the file without its endings.
        task: qa, summary, data2text, claim, dialogue, …
        query: what was asked; may be empty.
        contexts: what the model was given.
        answer: what it said.
        label: whether something in it is unsupported or contradicted.
        spans: where, code points of the answer; ``None`` if nobody marked it.
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
        """Digest of the contexts: rows that share them never stand on both sides of a split."""
        return blake2b("\0".join(self.contexts).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def read_labelled(paths: Iterable[Path]) -> list[LabelledRow]:
    """Read files of labelled answers.

    Raises:
        UnreadableSet: naming file, line and field, and what is expected.
    """
    return [row for path in paths for row in _read(path)]


def _read(path: Path) -> list[LabelledRow]:
    opened = gzip.open if path.suffix == ".gz" else open
    name = path.name.removesuffix(".gz").removesuffix(".jsonl")
    rows = []
    try:
        with opened(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    rows.append(_row(json.loads(line), name, f"{path} line {number}"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise UnreadableSet(
            f"{path} cannot be read as JSON lines ({error}); give files as .jsonl or .jsonl.gz"
        ) from error
    if not rows:
        raise UnreadableSet(f"{path} holds no rows")
    return rows


def _row(fields: dict[str, Any], name: str, place: str) -> LabelledRow:
    for needed in ("id", "contexts", "answer", "label"):
        if needed not in fields:
            raise UnreadableSet(
                f"{place}: field {needed} is missing; rows have id, contexts, answer and label (0 or 1)"
            )
    spans = fields.get("spans")
    return LabelledRow(
        id=str(fields["id"]),
        set=name,
        task=str(fields.get("task") or "unknown"),
        query=str(fields.get("query") or ""),
        contexts=tuple(str(text) for text in fields["contexts"]),
        answer=str(fields["answer"]),
        label=bool(fields["label"]),
        spans=None if spans is None else tuple((int(span[0]), int(span[1])) for span in spans),
    )
