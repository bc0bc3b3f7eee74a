"""Define the columns of conversational memory, and make rows of turns."""

from hashlib import blake2b
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from schemas.identifiers import turn_id
from schemas.memory import ConversationTurn

DERIVED = ("vector", "question")
"""Columns that are computed from the others; readers of turns do not get them."""


def memory_schema(dimensions: int) -> pa.Schema:
    """Return the columns of the table: the fields of a turn, the identifiers of its answer, and what is derived."""
    return pa.schema(
        [
            pa.field("turn_id", pa.string(), nullable=False),
            pa.field("answer_id", pa.string(), nullable=False),
            pa.field("tenant", pa.string(), nullable=False),
            pa.field("timestamp", pa.timestamp("us", tz="UTC")),
            pa.field("user_id", pa.string()),
            pa.field("session_id", pa.string()),
            pa.field("query", pa.string()),
            pa.field("response", pa.string()),
            pa.field("context_chunks", pa.list_(pa.string())),
            pa.field("query_type", pa.string()),
            pa.field("quality_score", pa.float64()),
            pa.field("hallucination_risk", pa.string()),
            pa.field("grounding_score", pa.float64()),
            pa.field("user_feedback", pa.float64()),
            pa.field("revision", pa.int32()),
            pa.field("vector", pa.list_(pa.float32(), dimensions)),
            pa.field("question", pa.string()),
        ]
    )


TURN_COLUMNS = [name for name in memory_schema(1).names if name not in DERIVED]
"""Columns of a turn that readers get."""


def question_digest(tenant: str, query: str) -> str:
    """Return a digest of a tenant's question, ignoring case, for the index."""
    text = f"{tenant}\x1f{query.lower()}"
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def memory_row(turn: ConversationTurn, vector: NDArray[np.float32]) -> dict[str, Any]:
    """Return the row of a turn."""
    fields = turn.model_dump(include=set(TURN_COLUMNS))
    derived = {"vector": vector, "question": question_digest(turn.tenant, turn.query)}
    return fields | derived | {"turn_id": turn_id(turn.tenant, turn.answer_id)}
