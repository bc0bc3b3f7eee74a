"""Store conversational memory in LanceDB, one row for each turn."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib import import_module
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from schemas.identifiers import turn_id
from schemas.memory import ConversationTurn
from workers.errors import StoreUnavailable
from workers.observability.logs import get_logger
from workers.stores.lancedb.memory_rows import TURN_COLUMNS, memory_row, memory_schema, question_digest
from workers.stores.lancedb.memory_upkeep import (
    COMPACT_EVERY,
    EARLIER_VERSIONS,
    UNINDEXED_ROWS,
    build_indices,
    digest_questions,
    remove_before,
    unindexed_rows,
)

TABLE = "episodic_memory"
FEEDBACK_TABLE = "turn_feedback"
"""Table of feedback on turns, including turns that are not stored yet."""
REMEMBERED = "response != ''"
"""Condition on turns: a withdrawn answer keeps its place without a response, so that an older turn cannot return."""

ANSWER = ("tenant", "answer_id")
"""Columns that identify a turn."""

CACHED_BYTES = 16 * 2**20
"""Limit in bytes of each of the two caches of a connection. The defaults of LanceDB are 1 and 6 GB. Every write
makes a version with its own file list, so they fill with unused versions: 0.17 MB for each write."""

REOPEN_EVERY = 200
"""Number of writes after which the store is opened again. Beside the caches a connection and its tables keep 8 kB of
every write. Source: measured, docs/decisions/0081-idle-reads-and-memory.md."""

ANSWER_COLUMNS = ["tenant", "query", "answer_id", "timestamp", "response"]
"""Columns of an earlier answer."""

FEW = 256
"""Maximum number of earlier answers that are read to find the latest ones of some questions."""

EARLIEST = datetime.min.replace(tzinfo=UTC)
"""Earliest time that Python can hold: a window before an answer may not begin before it."""

WINDOWS = (timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1))
"""Times before an answer, of which the shortest with enough answers is read. The index of time finds their turns."""

REFINED = 20
"""Candidates of the vector index for each wanted turn, which are compared by their vectors."""

READERS_NEED = timedelta(minutes=1)
"""Age up to which a removal keeps earlier versions of files: another process may be reading them.
The next compaction removes them."""

REWRITES = 20
"""Attempts at a compaction. The database gives up one that a removal or another compaction precedes; each attempt lost is
one that another process won."""

log = get_logger(__name__)


def turn_text(turn: ConversationTurn) -> str:
    """Return the text from which a turn's vector is computed."""
    return f"{turn.query} {turn.response}"


FEEDBACK_SCHEMA = pa.schema(
    [
        pa.field("turn_id", pa.string(), nullable=False),
        pa.field("user_feedback", pa.float64()),
        pa.field("revision", pa.int32()),
    ]
)


async def connect(uri: str, **arguments: Any) -> Any:
    """Connect to LanceDB with bounded caches.

    Args:
        uri: path or object store.
        arguments: arguments for the library.

    Raises:
        OSError, RuntimeError, ValueError: the place cannot be used.
    """
    # Deferred, and in a thread: the import takes two seconds of CPU. Code that only shares types with this module
    # does not spend them, and the event loop does not wait.
    lancedb = await asyncio.to_thread(import_module, "lancedb")
    session = lancedb.Session(index_cache_size_bytes=CACHED_BYTES, metadata_cache_size_bytes=CACHED_BYTES)
    return await lancedb.connect_async(uri, session=session, **arguments)


@dataclass(frozen=True, slots=True)
class TurnFeedback:
    """Feedback on an answer, for its turn. A higher revision replaces a lower one."""

    tenant: str
    answer_id: str
    user_feedback: float
    revision: int

    @property
    def turn_id(self) -> str:
        """Return the identifier of the turn."""
        return turn_id(self.tenant, self.answer_id)


@dataclass(frozen=True, slots=True)
class AskedBefore:
    """Hold a tenant's question, and the time before which answers to it were complete."""

    tenant: str
    query: str
    before: datetime

    def matches(self, row: Mapping[str, Any]) -> bool:
        """Return whether a row is an answer to this question before this time."""
        same = (row["tenant"], row["query"].lower()) == (self.tenant, self.query.lower())
        return same and bool(row["timestamp"] < self.before)


class MemoryStore:
    """Store of conversation turns, upserted by tenant and answer.

    Turns of earlier versions have identifiers without a tenant. They are found by tenant and answer, and get the
    current identifier with their next revision.

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
        self._compacted: dict[str, int] = {}
        self._writes = 0

    async def open(self) -> None:
        """Open the table, and create it if need be.

        Raises:
            StoreUnavailable: the path cannot be used, or holds the memory of another model.
        """
        try:
            database = await self._connected()
            self._table = await self._opened(database)
            self._feedback = await database.create_table(FEEDBACK_TABLE, schema=FEEDBACK_SCHEMA, exist_ok=True)
        except (OSError, RuntimeError, ValueError) as error:
            reason = await self._difference() or type(error).__name__
            raise StoreUnavailable(
                f"the memory at {self._uri} cannot be opened ({reason}); set TOUCHSTONE_MEMORY__URI to another "
                "address, or set the model with which it was created"
            ) from error

    async def _connected(self) -> Any:
        # An interval of zero shows writes of other processes at once. By default they stay unseen.
        return await connect(self._uri, read_consistency_interval=timedelta(0))

    async def _reopen_if_due(self) -> None:
        """Open both tables by a new connection after many writes. What still reads the earlier ones keeps them."""
        if self._writes < REOPEN_EVERY:
            return
        self._writes = 0
        try:
            database = await self._connected()
            table, feedback = await database.open_table(TABLE), await database.open_table(FEEDBACK_TABLE)
        except (OSError, RuntimeError, ValueError) as error:
            # The earlier tables can be used, and the writes are acknowledged.
            log.warning("memory_reopening_failed", error_class=type(error).__name__)
            return
        self._table, self._feedback = table, feedback

    async def _opened(self, database: Any) -> Any:
        """Open or create the table of turns, and add the column that earlier versions lack."""
        schema = memory_schema(self._dimensions)
        try:
            return await database.create_table(TABLE, schema=schema, exist_ok=True)
        except ValueError:
            table = await database.open_table(TABLE)
            if "question" not in (await table.schema()).names:
                # Two processes may do this in one moment: the second one fails, and finds the column.
                with suppress(OSError, RuntimeError, ValueError):
                    await table.add_columns([schema.field("question")])
            return await database.create_table(TABLE, schema=schema, exist_ok=True)

    async def _difference(self) -> str:
        """Describe how the existing table differs; empty if none can be opened."""
        try:
            table = await (await connect(self._uri)).open_table(TABLE)
            there = (await table.schema()).field("vector").type.list_size
        except (OSError, RuntimeError, ValueError, KeyError, AttributeError):
            return ""
        return f"its vectors have {there} dimensions, but the model's have {self._dimensions}"

    async def remember(
        self, turns: Sequence[tuple[ConversationTurn, NDArray[np.float32]]], feedback: Sequence[TurnFeedback] = ()
    ) -> None:
        """Write turns, and feedback into turns. A stored turn is replaced unless its revision is higher.

        Feedback on a turn that arrives later is kept for it. The feedback is written before turns are read, and the
        feedback is read after turns are written: of two concurrent processes, at least one sees the other's write.

        Args:
            turns: turns with their vectors, float32 of shape (dimensions,).
            feedback: feedback in any order, on turns of this call, stored and unknown ones.

        Raises:
            StoreUnavailable: the store did not acknowledge.
        """
        rows = {(turn.tenant, turn.answer_id): memory_row(turn, vector) for turn, vector in _latest(turns)}
        latest = {each.turn_id: each for each in sorted(feedback, key=lambda each: each.revision)}
        if not rows and not latest:
            return
        async with self._lock:
            # A write costs several times as much as a read, so one write takes both new and rated turns.
            changed = await self._rate(latest, rows) if latest else []
            all_written = await self._write_turns([*rows.values(), *changed])
            scores = await self._scores(list(rows)) if rows else {}
            behind = [
                answer
                for answer, row in rows.items()
                if (score := scores.get(row["turn_id"])) is not None
                and not (all_written and row["user_feedback"] == score)
            ]
            if behind:
                await self._write_turns(await self._unrated(behind, scores))
            await self._reopen_if_due()

    async def rate(self, feedback: Sequence[TurnFeedback]) -> None:
        """Store feedback on turns, and write it into the stored turns; see `remember`.

        Raises:
            StoreUnavailable: the store did not acknowledge.
        """
        await self.remember([], feedback)

    async def _rate(
        self, feedback: Mapping[str, TurnFeedback], rows: Mapping[tuple[str, str], dict[str, Any]]
    ) -> list[dict[str, Any]]:
        """Store feedback, add it to new rows, and return the rows of stored turns that change."""
        noted = [
            {"turn_id": name, "user_feedback": each.user_feedback, "revision": each.revision}
            for name, each in feedback.items()
        ]
        await self._upsert(self._feedback, pa.Table.from_pylist(noted, schema=FEEDBACK_SCHEMA), ["turn_id"])
        stored = [answer for each in feedback.values() if (answer := (each.tenant, each.answer_id)) not in rows]
        scores = await self._scores([*rows, *stored])
        for row in rows.values():
            row["user_feedback"] = scores.get(row["turn_id"], row["user_feedback"])
        return await self._unrated(stored, scores) if stored else []

    async def _write_turns(self, rows: Sequence[Mapping[str, Any]]) -> bool:
        """Write rows of turns. Return False if a stored turn with a higher revision stays."""
        if not rows:
            return True
        table = pa.Table.from_pylist(rows, schema=memory_schema(self._dimensions))
        return await self._upsert(self._table, table, ANSWER) == len(rows)

    async def _upsert(self, table: Any, rows: pa.Table, key: Sequence[str]) -> int:
        """Write rows, and return the number of those that were not below the stored revision."""
        try:
            result = await (
                table.merge_insert(list(key))
                .when_matched_update_all(where="target.revision <= source.revision")
                .when_not_matched_insert_all()
                .execute(rows)
            )
        except (OSError, RuntimeError) as error:
            raise StoreUnavailable(f"the memory did not acknowledge a write ({type(error).__name__})") from error
        self._writes += 1
        return int(result.num_inserted_rows + result.num_updated_rows)

    async def _scores(self, answers: Sequence[tuple[str, str]]) -> dict[str, float]:
        """Return the noted feedback on answers, given by tenant and identifier, by the identifier of the turn."""
        identifiers = ", ".join(_quoted(turn_id(*answer)) for answer in answers)
        noted = await self._read(self._feedback, f"turn_id IN ({identifiers})")
        return {row["turn_id"]: row["user_feedback"] for row in noted}

    async def _unrated(self, answers: Sequence[tuple[str, str]], scores: Mapping[str, float]) -> list[dict[str, Any]]:
        """Return the stored turns of answers that lack their feedback, with it."""
        return [
            row | {"user_feedback": score}
            for row in await self._read(self._table, _of_answers(answers))
            if (score := scores.get(turn_id(row["tenant"], row["answer_id"]))) not in (None, row["user_feedback"])
        ]

    async def _read(self, table: Any, condition: str) -> list[dict[str, Any]]:
        try:
            rows: list[dict[str, Any]] = (await table.query().where(condition).to_arrow()).to_pylist()
        except (OSError, RuntimeError) as error:
            raise StoreUnavailable(f"the memory did not respond ({type(error).__name__})") from error
        return rows

    async def count(self) -> int:
        """Count the stored turns."""
        return int(await self._table.count_rows())

    async def turns(self, session_id: str | None = None) -> list[dict[str, Any]]:
        """Return the stored turns of one session or of all, without vectors."""
        session = "" if session_id is None else f" AND session_id = {_quoted(session_id)}"
        query = self._table.query().where(REMEMBERED + session)
        rows: list[dict[str, Any]] = (await query.select(TURN_COLUMNS).to_arrow()).to_pylist()
        return rows

    async def same_questions(self, asked: Sequence[AskedBefore], limit: int) -> list[list[dict[str, Any]]]:
        """Find answers to the same questions that were complete before a time, ignoring case.

        Args:
            asked: questions with the upper limit of the time, exclusive.
            limit: maximum number of answers to each, the latest first.

        Returns:
            For each question ``answer_id``, ``timestamp`` and ``response`` of its answers; ties in the order of
            answer_id.

        Raises:
            StoreUnavailable: the table cannot be read.
        """
        if not asked:
            return []
        try:
            # Most questions were asked a few times: one query finds the answers to all of them. It does not name the
            # time, because the index of time would return all earlier turns.
            rows = await self._table.query().where(_asked(asked)).select(ANSWER_COLUMNS).limit(FEW + 1).to_arrow()
            if len(rows) <= FEW:
                found = sorted(rows.to_pylist(), key=lambda row: (-row["timestamp"].timestamp(), row["answer_id"]))
                return [[row for row in found if each.matches(row)][:limit] for each in asked]
            latest = {each: await self._latest_answers(each, limit) for each in dict.fromkeys(asked)}
            return [latest[each] for each in asked]
        except (OSError, RuntimeError, ValueError) as error:
            raise StoreUnavailable(f"the memory could not be read ({type(error).__name__})") from error

    async def _latest_answers(self, asked: AskedBefore, limit: int) -> list[dict[str, Any]]:
        """Find the latest answers to a question that was asked often: sorting reads the times of all that match."""
        ordering = import_module("lancedb.query").ColumnOrdering
        order = [ordering(column_name="timestamp", ascending=False), ordering(column_name="answer_id")]
        # The index of tenants would return all turns of the tenant; it has no part in a condition on a function.
        same = f"concat(tenant, '') = {_quoted(asked.tenant)} AND lower(query) = lower({_quoted(asked.query)})"
        earlier = f"{same} AND {REMEMBERED} AND timestamp < {_time(asked.before)}"
        conditions = [
            f"{earlier} AND timestamp >= {_time(asked.before - window)}"
            for window in WINDOWS if asked.before - EARLIEST > window
        ]  # fmt: skip
        rows: list[dict[str, Any]] = []
        for where in (*conditions, f"{_asked([asked])} AND {earlier}"):
            query = self._table.query().where(where).order_by(order).select(ANSWER_COLUMNS).limit(limit)
            rows = (await query.to_arrow()).to_pylist()
            if len(rows) == limit:
                break
        return rows

    async def nearest(
        self, tenant: str, vector: NDArray[np.float32], limit: int, *, user_id: str = "", session_id: str = ""
    ) -> list[dict[str, Any]]:
        """Find turns by meaning, the nearest first.

        Args:
            tenant: tenant of the turns.
            vector: vector of the searched text, float32 of shape (dimensions,).
            limit: maximum number of rows.
            user_id: restrict to this person, unless empty.
            session_id: restrict to this conversation, unless empty.

        Returns:
            The turns without vectors, each with ``similarity``, the cosine.

        Raises:
            StoreUnavailable: the table cannot be read.
        """
        conditions = {"tenant": tenant} | ({"user_id": user_id} if user_id else {})
        conditions |= {"session_id": session_id} if session_id else {}
        where = " AND ".join(f"{name} = {_quoted(value)}" for name, value in conditions.items())
        asked = limit
        try:
            while True:
                search = self._near(vector, where, asked, exact=bool(user_id or session_id))
                rows = (await search.select([*TURN_COLUMNS, "_distance"]).to_arrow()).to_pylist()
                # Withdrawn answers are dropped here: as a condition, LanceDB reads the texts of all turns for it.
                found = [row for row in rows if row["response"]]
                if len(found) >= limit or len(rows) < asked:
                    break
                asked *= 4
        except (OSError, RuntimeError, ValueError) as error:
            raise StoreUnavailable(f"the memory could not be read ({type(error).__name__})") from error
        return [row | {"similarity": 1.0 - row.pop("_distance")} for row in found[:limit]]

    def _near(self, vector: NDArray[np.float32], where: str, limit: int, *, exact: bool) -> Any:
        """Return the query for the turns nearest to a vector."""
        search = self._table.query().nearest_to(vector).distance_type("cosine").where(where).limit(limit)
        # Of one person or conversation there are few turns: all of them are compared. Else the index finds candidates,
        # and goes on until there are enough; they are compared by their vectors.
        return search.bypass_vector_index() if exact else search.maximum_nprobes(0).refine_factor(REFINED)

    async def keep_up(self, now: datetime, retention_days: int) -> list[str]:
        """Remove old turns, compact files, and build missing indices. Only one process should do this.

        Args:
            now: current time.
            retention_days: age of turns that are removed; 0 removes none.

        Returns:
            What was done, for the log.

        Raises:
            StoreUnavailable: the store did not acknowledge; the next round does the rest.
        """
        done = []
        try:
            async with self._lock:
                if await digest_questions(self._table, lambda rows: self._upsert(self._table, rows, ANSWER)):
                    done.append("digests")
                since = now - timedelta(days=retention_days)
                if retention_days and await remove_before(self._table, self._feedback, since):
                    done.append("retention")
            done += [f"index:{column}" for column in await build_indices(self._table, self._feedback)]
            if await self._compact([self._table, self._feedback] if done else await self._grown()):
                done.append("compaction")
        except (OSError, RuntimeError, ValueError) as error:
            raise StoreUnavailable(f"the upkeep of memory failed ({type(error).__name__})") from error
        return done

    async def compact(self) -> bool:
        """Compact new files and add their rows to the indices, if there are many. Only one process should do this.

        Returns:
            Whether there were many.

        Raises:
            StoreUnavailable: the store did not acknowledge; the next round does it.
        """
        try:
            return await self._compact(await self._grown())
        except (OSError, RuntimeError, ValueError) as error:
            raise StoreUnavailable(f"the upkeep of memory failed ({type(error).__name__})") from error

    async def _grown(self) -> list[Any]:
        """Return the tables that have many new files or rows."""
        return [
            table
            for table in (self._table, self._feedback)
            if await table.version() - self._compacted.get(table.name, 0) >= COMPACT_EVERY
            or await unindexed_rows(table) >= UNINDEXED_ROWS
        ]

    async def _compact(self, tables: Sequence[Any]) -> bool:
        async with self._lock:
            for table in tables:
                await _rewrite(table, EARLIER_VERSIONS)
                self._compacted[table.name] = await table.version()
        return bool(tables)

    async def close(self) -> None:
        """Close the table."""
        for table in (self._table, self._feedback):
            if table is not None:
                table.close()
        self._table = self._feedback = None


async def forget_turns(uri: str, tenant: str, user_id: str, answer_ids: Sequence[str]) -> int:
    """Remove a person's turns, and the earlier file versions that hold them.

    Args:
        uri: path or object store; a missing memory is empty.
        tenant: tenant of the person.
        user_id: identifier of the person.
        answer_ids: answers of the person, whose turns may lack a user identifier.

    Returns:
        Number of removed turns.

    Raises:
        StoreUnavailable: the store did not acknowledge.
    """
    ids = ", ".join(_quoted(turn_id(tenant, answer_id)) for answer_id in answer_ids) or "''"
    theirs = f"(tenant = {_quoted(tenant)} AND user_id = {_quoted(user_id)})"
    if answer_ids:
        theirs += f" OR {_of_answers([(tenant, answer_id) for answer_id in answer_ids])}"
    try:
        database = await connect(uri)
        present = set((await database.list_tables()).tables)
        count = 0
        for name, condition in ((TABLE, theirs), (FEEDBACK_TABLE, f"turn_id IN ({ids})")):
            if name in present:
                table = await database.open_table(name)
                count += await table.count_rows(condition) if name == TABLE else 0
                await table.delete(condition)
                await _rewrite(table, READERS_NEED)
    except (OSError, RuntimeError, ValueError) as error:
        raise StoreUnavailable(f"the memory did not acknowledge a removal ({type(error).__name__})") from error
    return count


async def _rewrite(table: Any, older_than: timedelta) -> None:
    """Compact a table and remove earlier versions; repeat it where another process's change came first."""
    for attempt in range(1, REWRITES + 1):
        try:
            await table.optimize(cleanup_older_than=older_than)
            return
        except RuntimeError as error:
            if "commit conflict" not in str(error) or attempt == REWRITES:
                raise
        await table.checkout_latest()


def _of_answers(answers: Sequence[tuple[str, str]]) -> str:
    """Return the condition that selects the turns of answers, given by tenant and identifier.

    The index of tenants would return all turns of the tenant; it has no part in a condition on a function.
    """
    by_tenant: dict[str, list[str]] = {}
    for tenant, answer_id in answers:
        by_tenant.setdefault(tenant, []).append(_quoted(answer_id))
    return " OR ".join(
        f"(concat(tenant, '') = {_quoted(tenant)} AND answer_id IN ({', '.join(ids)}))"
        for tenant, ids in by_tenant.items()
    )


def _asked(asked: Sequence[AskedBefore]) -> str:
    """Return the condition that selects answers to questions, and all turns whose question has no digest yet.

    Such turns are of earlier versions. A condition on their text within the OR would make LanceDB read all turns.
    """
    digests = ", ".join({f"'{question_digest(each.tenant, each.query)}'" for each in asked})
    return f"(question IN ({digests}) OR question IS NULL) AND {REMEMBERED}"


def _time(time: datetime) -> str:
    return f"TIMESTAMP '{time.astimezone(UTC).isoformat(' ', 'microseconds')}'"


def _quoted(text: str) -> str:
    """Quote a text as a literal of LanceDB's SQL, whose only escape is the doubled quote."""
    return "'" + text.replace("'", "''") + "'"


def _latest(
    turns: Sequence[tuple[ConversationTurn, NDArray[np.float32]]],
) -> list[tuple[ConversationTurn, NDArray[np.float32]]]:
    """Return one row for each turn: merge_insert refuses two source rows for one target."""
    best: dict[tuple[str, str], tuple[ConversationTurn, NDArray[np.float32]]] = {}
    for turn, vector in turns:
        known = best.get((turn.tenant, turn.answer_id))
        if known is None or turn.revision >= known[0].revision:
            best[turn.tenant, turn.answer_id] = (turn, vector)
    return list(best.values())
