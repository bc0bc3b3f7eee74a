"""What conversational memory holds, told so shortly that all of it can be compared."""

from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa

from schemas.memory import ConversationTurn
from workers.delivery.errors import StoreUnavailable
from workers.stores.memory import FEEDBACK_TABLE, TABLE, TurnFeedback, connect, memory_schema

TOLD_BY_OTHERS = ("user_feedback", "vector")
"""Columns of a turn that are made of something else: of rewards, and of its texts."""

COLUMNS = [name for name in memory_schema(1).names if name not in TOLD_BY_OTHERS]
SCHEMA = pa.schema([memory_schema(1).field(name) for name in COLUMNS])


@dataclass(frozen=True, slots=True)
class TurnState:
    """One turn in short.

    Attributes:
        revision: the higher one counts.
        contents: a hash of all that it holds but vector and feedback.
        user_feedback: what people thought of it.
    """

    revision: int
    contents: int
    user_feedback: float | None


def turn_states(turns: Sequence[ConversationTurn]) -> list[TurnState]:
    """How turns would be stored; in the types of the store."""
    rows = pa.Table.from_pylist([turn.model_dump(include=set(COLUMNS)) for turn in turns], schema=SCHEMA).to_pylist()
    return [_state(row, turn.user_feedback) for row, turn in zip(rows, turns, strict=True)]


class StoredMemory:
    """Reads a memory as it is; one that is not there holds nothing.

    Args:
        uri: path or object store.
    """

    def __init__(self, uri: str) -> None:
        self._uri = uri

    async def turns(self) -> dict[str, TurnState]:
        """Every turn by its identifier.

        Raises:
            StoreUnavailable: the memory cannot be read.
        """
        return {
            row["turn_id"]: _state({name: row[name] for name in COLUMNS}, row["user_feedback"])
            async for row in self._rows(TABLE, [*COLUMNS, "user_feedback"])
        }

    async def feedback(self) -> dict[str, TurnFeedback]:
        """What is noted of turns, by their identifiers.

        Raises:
            StoreUnavailable: the memory cannot be read.
        """
        names = ["turn_id", "user_feedback", "revision"]
        return {row["turn_id"]: TurnFeedback(**row) async for row in self._rows(FEEDBACK_TABLE, names)}

    async def _rows(self, table: str, columns: list[str]) -> AsyncIterator[dict[str, Any]]:
        if "://" not in self._uri and not Path(self._uri).exists():  # noqa: ASYNC240 - one look at a local folder
            return  # to connect would make it
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
    """Sum of hashes, whatever their order, in 64 bits."""
    return sum(hashes) % 2**64


def hashed(value: Any) -> int:
    """64 bits of a value as JSON."""
    return int.from_bytes(blake2b(orjson.dumps(value), digest_size=8).digest())


def _state(row: dict[str, Any], user_feedback: float | None) -> TurnState:
    return TurnState(row["revision"], hashed(row), user_feedback)
