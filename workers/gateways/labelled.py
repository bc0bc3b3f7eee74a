"""Rows of labelled data sets (answers with contexts and a human label) as answers to judge."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from schemas.base import MAX_SOURCE_LENGTH

_ENDS = ("\n", ". ", " ")
"""Behind these a long context is cut, the first that there is in the second half of a piece."""


def labelled_answer(row: Mapping[str, Any], completed_at: datetime) -> dict[str, Any]:
    """A labelled row as the fields of a GeneratedAnswer; the label goes along in the metadata.

    Args:
        row: ``id, dataset, task, query, contexts [str], answer, label, spans, split``.
        completed_at: labelled rows have no times; the same one for every repeat keeps a
            repeat from adding rows.

    A context longer than a chunk may be goes on behind the others, so that references by number
    still lead where they did.

    Raises:
        ValueError: naming the field that is missing.
    """
    for name in ("id", "answer", "contexts"):
        if name not in row:
            raise ValueError(f"field {name} is missing; labelled rows have id, answer and contexts")
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
    """A text in pieces of at most so many code points; behind a line, a sentence or a word, where there is one."""
    pieces = []
    while len(text) > most:
        found = (text.rfind(end, most // 2, most) + len(end) for end in _ENDS if text.rfind(end, most // 2, most) >= 0)
        at = min(next(found, most), most)
        pieces.append(text[:at])
        text = text[at:]
    return [*pieces, text] if text or not pieces else pieces
