"""LanceDB: conversational memory, one row a turn."""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from importlib import import_module
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from schemas.memory import ConversationTurn
from workers.delivery.errors import StoreUnavailable

TABLE = "episodic_memory"
FEEDBACK_TABLE = "turn_feedback"
"""What people thought of turns, also of those that are not there yet."""

COMPACT_EVERY = 200
"""Writes between two compactions: each write is a new file and a new version."""


CACHED_BYTES = 16 * 2**20
"""Limit of each of the two caches of a connection. LanceDB's own are 1 and 6 GB, and since every write makes a
version with a file list of its own, they fill with versions that nobody reads again: 0.17 MB with each write."""

READERS_NEED = timedelta(minutes=1)
"""Earlier versions of the files that are kept on a removal: another process may be reading them.
They go with the next compaction."""


def turn_text(turn: ConversationTurn) -> str:
    """What a turn's vector is made of."""
    return f"{turn.query} {turn.response}"


def memory_schema(dimensions: int) -> pa.Schema:
    """Columns of the table: the fields of seed 000 and what identifies the answer."""
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
        ]
    )


FEEDBACK_SCHEMA = pa.schema(
    [
        pa.field("turn_id", pa.string(), nullable=False),
        pa.field("user_feedback", pa.float64()),
        pa.field("revision", pa.int32()),
    ]
)


async def connect(uri: str, **arguments: Any) -> Any:
    """A connection to LanceDB whose caches are bounded.

    Args:
        uri: path or object store.
        arguments: for the library.

    Raises:
        OSError, RuntimeError, ValueError: the place cannot be used.
    """
    # When a memory is opened, and in a thread: the library takes two seconds of CPU, which agents, commands and replays
    # that only share types with this module need not spend, nor the loop wait for.
    lancedb = await asyncio.to_thread(import_module, "lancedb")
    session = lancedb.Session(index_cache_size_bytes=CACHED_BYTES, metadata_cache_size_bytes=CACHED_BYTES)
    return await lancedb.connect_async(uri, session=session, **arguments)


@dataclass(frozen=True, slots=True)
class TurnFeedback:
    """What a turn's answer earned; a higher revision replaces a lower one."""

    turn_id: str
    user_feedback: float
    revision: int


class MemoryStore:
    """Upserts conversation turns by their identifier.

    Args:
        uri: path or object store.
        dimensions: length of the vectors.
    """

    def __init__(self, uri: str, dimensions: int) -> None:
        self._uri = uri
        self._dimensions = dimensions
        self._table: Any = None
        self._feedback: Any = None
        self._lock = asyncio.Lock()
        self._writes = 0

    async def open(self) -> None:
        """Open the table, or create it.

        Raises:
            StoreUnavailable: the path cannot be used, or holds the memory of another model.
        """
        try:
            # What other processes write is seen at once; by default it would never be.
            database = await connect(self._uri, read_consistency_interval=timedelta(0))
            self._table = await database.create_table(TABLE, schema=memory_schema(self._dimensions), exist_ok=True)
            self._feedback = await database.create_table(FEEDBACK_TABLE, schema=FEEDBACK_SCHEMA, exist_ok=True)
        except (OSError, RuntimeError, ValueError) as error:
            reason = await self._difference() or type(error).__name__
            raise StoreUnavailable(
                f"the memory at {self._uri} cannot be opened ({reason}); "
                "set TOUCHSTONE_MEMORY__URI to another place, or go back to the model that it was made with"
            ) from error

    async def _difference(self) -> str:
        """How the table that is there differs; empty if none can be opened."""
        try:
            table = await (await connect(self._uri)).open_table(TABLE)
            there = (await table.schema()).field("vector").type.list_size
        except (OSError, RuntimeError, ValueError, KeyError, AttributeError):
            return ""
        return f"its vectors have {there} dimensions, the model's have {self._dimensions}"

    async def remember(self, turns: Sequence[tuple[ConversationTurn, NDArray[np.float32]]]) -> None:
        """Write turns; a turn that is there is replaced unless its revision is higher.

        Args:
            turns: each with its vector, float32 of shape (dimensions,).

        Raises:
            StoreUnavailable: not confirmed.
        """
        rows = pa.Table.from_pylist(
            [_row(turn, vector) for turn, vector in _latest(turns)], schema=memory_schema(self._dimensions)
        )
        if not rows.num_rows:
            return
        async with self._lock:
            await self._upsert(self._table, rows)
            await self._apply(rows["turn_id"].to_pylist())

    async def rate(self, feedback: Sequence[TurnFeedback]) -> None:
        """Note what people thought of turns, and tell the turns that are there.

        A turn may come later: it is told then. Both write first and look afterwards, so that of
        two processes that do so at once one sees the other.

        Args:
            feedback: in any order, of turns that are there or not.

        Raises:
            StoreUnavailable: not confirmed.
        """
        latest = {each.turn_id: each for each in sorted(feedback, key=lambda each: each.revision)}
        if not latest:
            return
        rows = pa.Table.from_pylist([asdict(each) for each in latest.values()], schema=FEEDBACK_SCHEMA)
        async with self._lock:
            await self._upsert(self._feedback, rows)
            await self._apply(list(latest))

    async def _upsert(self, table: Any, rows: pa.Table) -> None:
        try:
            await (
                table.merge_insert("turn_id")
                .when_matched_update_all(where="target.revision <= source.revision")
                .when_not_matched_insert_all()
                .execute(rows)
            )
            self._writes += 1
            if self._writes % COMPACT_EVERY == 0:
                for written in (self._table, self._feedback):
                    await written.optimize(cleanup_older_than=timedelta(hours=1))
        except (OSError, RuntimeError) as error:
            raise StoreUnavailable(f"the memory did not confirm a write ({type(error).__name__})") from error

    async def _apply(self, turn_ids: Sequence[str]) -> None:
        """Write into turns what is noted of them."""
        chosen = f"turn_id IN ({', '.join(map(_quoted, turn_ids))})"
        try:
            noted = (await self._feedback.query().where(chosen).to_arrow()).to_pylist()
            if not noted:
                return
            scores = {row["turn_id"]: row["user_feedback"] for row in noted}
            turns = await self._table.query().where(chosen).to_arrow()
        except (OSError, RuntimeError) as error:
            raise StoreUnavailable(f"the memory did not answer ({type(error).__name__})") from error
        rows = [
            row | {"user_feedback": scores[row["turn_id"]]} for row in turns.to_pylist() if row["turn_id"] in scores
        ]
        if rows:
            await self._upsert(self._table, pa.Table.from_pylist(rows, schema=memory_schema(self._dimensions)))

    async def count(self) -> int:
        """Turns remembered."""
        return int(await self._table.count_rows())

    async def turns(self, session_id: str | None = None) -> list[dict[str, Any]]:
        """Turns remembered, of one session or all, without vectors."""
        query = self._table.query()
        if session_id is not None:
            query = query.where(f"session_id = {_quoted(session_id)}")
        columns = [name for name in memory_schema(self._dimensions).names if name != "vector"]
        rows: list[dict[str, Any]] = (await query.select(columns).to_arrow()).to_pylist()
        return rows

    async def same_question(self, tenant: str, query: str, before: datetime, limit: int) -> list[dict[str, Any]]:
        """Answers to the same question, whatever its case, that were complete before a time.

        Args:
            tenant: whose.
            query: the question.
            before: earlier than this.
            limit: at most so many, the latest first.

        Returns:
            ``answer_id``, ``timestamp`` and ``response`` of each; ties in the order of answer_id.

        Raises:
            StoreUnavailable: the table cannot be read.
        """
        where = (
            f"tenant = {_quoted(tenant)} AND lower(query) = lower({_quoted(query)}) "
            f"AND timestamp < TIMESTAMP '{before.astimezone(UTC):%Y-%m-%d %H:%M:%S.%f}+00:00'"
        )
        try:
            found = await self._table.query().where(where).select(["answer_id", "timestamp", "response"]).to_arrow()
        except (OSError, RuntimeError, ValueError) as error:
            raise StoreUnavailable(f"the memory could not be read ({type(error).__name__})") from error
        rows: list[dict[str, Any]] = found.to_pylist()
        return sorted(rows, key=lambda row: (-row["timestamp"].timestamp(), row["answer_id"]))[:limit]

    async def nearest(
        self, tenant: str, vector: NDArray[np.float32], limit: int, *, user_id: str = "", session_id: str = ""
    ) -> list[dict[str, Any]]:
        """Turns by meaning, the nearest first.

        Args:
            tenant: whose.
            vector: of what is looked for, float32 of shape (dimensions,).
            limit: at most so many.
            user_id: only this person's, unless empty.
            session_id: only of this conversation, unless empty.

        Returns:
            The turns without vectors, each with ``similarity``, the cosine.

        Raises:
            StoreUnavailable: the table cannot be read.
        """
        conditions = {"tenant": tenant} | ({"user_id": user_id} if user_id else {})
        conditions |= {"session_id": session_id} if session_id else {}
        where = " AND ".join(f"{name} = {_quoted(value)}" for name, value in conditions.items())
        columns = [name for name in memory_schema(self._dimensions).names if name != "vector"]
        try:
            found = await (
                self._table.query()
                .nearest_to(vector)
                .distance_type("cosine")
                .where(where)
                .limit(limit)
                .select([*columns, "_distance"])
                .to_arrow()
            )
        except (OSError, RuntimeError, ValueError) as error:
            raise StoreUnavailable(f"the memory could not be read ({type(error).__name__})") from error
        return [row | {"similarity": 1.0 - row.pop("_distance")} for row in found.to_pylist()]

    async def close(self) -> None:
        """Let go of the table."""
        for table in (self._table, self._feedback):
            if table is not None:
                table.close()
        self._table = self._feedback = None


async def forget_turns(uri: str, tenant: str, user_id: str, turn_ids: Sequence[str]) -> int:
    """Remove a person's turns, and earlier versions of the files that hold them.

    Args:
        uri: path or object store; a memory that is not there holds nothing.
        tenant: whose person.
        user_id: who.
        turn_ids: turns that are known to be theirs, whether they name them or not.

    Returns:
        How many turns there were.

    Raises:
        StoreUnavailable: not confirmed.
    """
    ids = ", ".join(map(_quoted, turn_ids)) or "''"
    theirs = f"(tenant = {_quoted(tenant)} AND user_id = {_quoted(user_id)}) OR turn_id IN ({ids})"
    try:
        database = await connect(uri)
        present = set((await database.list_tables()).tables)
        count = 0
        for name, condition in ((TABLE, theirs), (FEEDBACK_TABLE, f"turn_id IN ({ids})")):
            if name in present:
                table = await database.open_table(name)
                count += await table.count_rows(condition) if name == TABLE else 0
                await table.delete(condition)
                await table.optimize(cleanup_older_than=READERS_NEED)
    except (OSError, RuntimeError, ValueError) as error:
        raise StoreUnavailable(f"the memory did not confirm a removal ({type(error).__name__})") from error
    return count


def _quoted(text: str) -> str:
    """A text as a literal of LanceDB's SQL, which knows no escapes but the doubled quote."""
    return "'" + text.replace("'", "''") + "'"


def _latest(
    turns: Sequence[tuple[ConversationTurn, NDArray[np.float32]]],
) -> list[tuple[ConversationTurn, NDArray[np.float32]]]:
    """One row a turn: merge_insert refuses two source rows for one target."""
    best: dict[str, tuple[ConversationTurn, NDArray[np.float32]]] = {}
    for turn, vector in turns:
        known = best.get(turn.turn_id)
        if known is None or turn.revision >= known[0].revision:
            best[turn.turn_id] = (turn, vector)
    return list(best.values())


def _row(turn: ConversationTurn, vector: NDArray[np.float32]) -> dict[str, Any]:
    fields = turn.model_dump(include=set(memory_schema(1).names))
    return fields | {"vector": vector}
