"""Summarise turns of conversational memory, so that all of them fit into memory for a comparison."""

from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa

from schemas.identifiers import turn_id
from schemas.memory import ConversationTurn
from workers.errors import StoreUnavailable
from workers.stores.lancedb.memory_rows import DERIVED, memory_schema
from workers.stores.lancedb.memory_store import FEEDBACK_TABLE, TABLE, connect

TOLD_BY_OTHERS = ("turn_id", "user_feedback", *DERIVED)
"""Columns of a turn that are derived: from its tenant and answer, from rewards, and from its texts."""

COLUMNS = [name for name in memory_schema(1).names if name not in TOLD_BY_OTHERS]
SCHEMA = pa.schema([memory_schema(1).field(name) for name in COLUMNS])


@dataclass(frozen=True, slots=True)
class TurnState:
    """Summarise a turn.

    Attributes:
        revision: revision of the turn; the highest one counts.
        contents: hash of all columns except vector and feedback.
        user_feedback: the feedback on the turn.
    """

    revision: int
    contents: int
    user_feedback: float | None


@dataclass(frozen=True, slots=True)
class NotedFeedback:
    """Hold the feedback that is noted for a turn.

    Attributes:
        user_feedback: the feedback.
        revision: revision of the feedback; the highest one counts.
    """

    user_feedback: float
    revision: int


def turn_states(turns: Sequence[ConversationTurn]) -> list[TurnState]:
    """Return the summaries of turns in the types of the store."""
    rows = pa.Table.from_pylist([turn.model_dump(include=set(COLUMNS)) for turn in turns], schema=SCHEMA).to_pylist()
    return [_state(row, turn.user_feedback) for row, turn in zip(rows, turns, strict=True)]


class StoredMemory:
    """Read an existing memory. An absent memory holds nothing.

    Args:
        uri: path or object store.
    """

    def __init__(self, uri: str) -> None:
        self._uri = uri

    async def turns(self) -> dict[str, TurnState]:
        """Return every turn by its current identifier.

        Raises:
            StoreUnavailable: the memory cannot be read.
        """
        return {
            turn_id(row["tenant"], row["answer_id"]): _state(
                {name: row[name] for name in COLUMNS}, row["user_feedback"]
            )
            async for row in self._rows(TABLE, [*COLUMNS, "user_feedback"])
        }

    async def feedback(self) -> dict[str, NotedFeedback]:
        """Return the noted feedback by turn identifier.

        Raises:
            StoreUnavailable: the memory cannot be read.
        """
        names = ["turn_id", "user_feedback", "revision"]
        return {row.pop("turn_id"): NotedFeedback(**row) async for row in self._rows(FEEDBACK_TABLE, names)}

    async def _rows(self, table: str, columns: list[str]) -> AsyncIterator[dict[str, Any]]:
        if "://" not in self._uri and not Path(self._uri).exists():  # noqa: ASYNC240 - one look at a local folder
            return  # connecting would create the memory
        try:
            database = await connect(self._uri)
            if table not in (await database.list_tables()).tables:
                return
            opened = await database.open_table(table)
            async for batch in await opened.query().select(columns).to_batches():
                for row in batch.to_pylist():
                    yield row
        except (OSError, RuntimeError, ValueError) as error:
            raise StoreUnavailable(f"the memory at {self._uri} cannot be read ({type(error).__name__})") from error


def checksum(hashes: Iterable[int]) -> int:
    """Sum hashes in 64 bits. The order does not matter."""
    return sum(hashes) % 2**64


def hashed(value: Any) -> int:
    """Hash a value as JSON to 64 bits."""
    return int.from_bytes(blake2b(orjson.dumps(value), digest_size=8).digest())


def _state(row: dict[str, Any], user_feedback: float | None) -> TurnState:
    return TurnState(row["revision"], hashed(row), user_feedback)
