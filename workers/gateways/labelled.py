"""Rows of labelled data sets (answers with contexts and a human label) as answers to judge."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any


def labelled_answer(row: Mapping[str, Any], completed_at: datetime) -> dict[str, Any]:
    """A labelled row as the fields of a GeneratedAnswer; the label goes along in the metadata.

    Args:
        row: ``id, dataset, task, query, contexts [str], answer, label, spans, split``.
        completed_at: labelled rows have no times; the same one for every repeat keeps a
            repeat from adding rows.

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
    return {
        "answer_id": f"{dataset}:{row['id']}",
        "tenant": "labelled",
        "query": row.get("query") or "",
        "answer": row["answer"],
        "contexts": [
            {"chunk_id": f"{dataset}:{row['id']}:{number}", "content": text, "source_name": f"context {number}"}
            for number, text in enumerate(contexts, start=1)
        ],
        "query_type": row.get("task"),
        "completed_at": completed_at.isoformat(),
        "metadata": {name: row[name] for name in ("dataset", "task", "label", "spans", "split") if name in row},
    }
