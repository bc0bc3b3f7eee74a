"""Convert rows of labelled data sets (answers with contexts and a human label) to answers."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from schemas.base import MAX_SOURCE_LENGTH

_ENDS = ("\n", ". ", " ")
"""Separators after which a long context is cut; the first one that occurs in the second half of a piece is used."""


def labelled_answer(row: Mapping[str, Any], completed_at: datetime) -> dict[str, Any]:
    """Convert a labelled row to the fields of a ``GeneratedAnswer``, with the label in the metadata.

    A context longer than a chunk may be continues in further chunks after all contexts, so that references by number
    keep their meaning.

    Args:
        row: ``id, dataset, task, query, contexts [str], answer, label, spans, split``.
        completed_at: completion time, because labelled rows have none; use the same time in every run, so that a
            repeated run adds no rows.

    Returns:
        The fields as JSON values.

    Raises:
        ValueError: a field is missing or has the wrong type; the message names the field.
    """
    for name in ("id", "answer", "contexts"):
        if name not in row:
            raise ValueError(f"field {name} is missing; labelled rows have id, answer and contexts")
    if type(row["id"]) not in (str, int):
        raise ValueError("field id must be a text or a whole number")
    contexts = row["contexts"]
    if not isinstance(contexts, list) or not all(isinstance(text, str) for text in contexts):
        raise ValueError("field contexts must be a list of texts")
    dataset = str(row.get("dataset", "labelled"))
    pieces = [cut_context(text, MAX_SOURCE_LENGTH) for text in contexts]
    numbered = [(number, "", each[0]) for number, each in enumerate(pieces, start=1)] + [
        (number, f".{part}", text)
        for number, each in enumerate(pieces, start=1)
        for part, text in enumerate(each[1:], start=2)
    ]
    return {
        "answer_id": f"{dataset}:{row['id']}",
        "tenant": "labelled",
        "query": row.get("query") or "",
        "answer": row["answer"],
        "contexts": [
            {"chunk_id": f"{dataset}:{row['id']}:{number}{part}", "content": text, "source_name": f"context {number}"}
            for number, part, text in numbered
        ],
        "query_type": row.get("task"),
        "completed_at": completed_at.isoformat(),
        "metadata": {name: row[name] for name in ("dataset", "task", "label", "spans", "split") if name in row},
    }


def cut_context(text: str, most: int) -> list[str]:
    """Split a text into pieces, after a line, a sentence or a word where possible.

    Args:
        text: the text.
        most: maximum length of a piece, code points.
    """
    pieces = []
    while len(text) > most:
        found = (text.rfind(end, most // 2, most) + len(end) for end in _ENDS if text.rfind(end, most // 2, most) >= 0)
        at = min(next(found, most), most)
        pieces.append(text[:at])
        text = text[at:]
    return [*pieces, text] if text or not pieces else pieces
