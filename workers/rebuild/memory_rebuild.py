"""Rebuild conversational memory: turns are embedded again, and their feedback is written again."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from schemas.identifiers import turn_id
from schemas.memory import ConversationTurn
from schemas.topics import FEEDBACK_REWARDS, MEMORY_TURNS
from workers.delivery.records import Record
from workers.rebuild.rebuild_result import MENDING_ROUNDS, ROUNDS, SETTLING_SECONDS, Progress, Rebuilt
from workers.rebuild.rebuild_sources import RecordSource
from workers.rebuild.rebuild_targets import Store
from workers.stores.clickhouse.rows.recorded_rows import turn_feedback_of
from workers.stores.clickhouse.staging import SHOWN, Differences
from workers.stores.lancedb.memory_store import FEEDBACK_TABLE, TABLE, MemoryStore, TurnFeedback, turn_text
from workers.stores.lancedb.remembered_turns import (
    NotedFeedback,
    StoredMemory,
    TurnState,
    checksum,
    hashed,
    turn_states,
)

TOPICS = (FEEDBACK_REWARDS, MEMORY_TURNS)
TURNS_AT_ONCE = 64
"""Turns that are embedded and written together; each write creates a file."""

TOLD_AT_ONCE = 500
"""Turns whose feedback is written by one statement, which names each turn."""

Embed = Callable[[Sequence[str]], Awaitable[dict[str, NDArray[np.float32]]]]


async def rebuild_memory(
    source: RecordSource,
    uri: str,
    open_memory: Callable[[], Awaitable[tuple[MemoryStore, Embed]]],
    progress: Progress,
    *,
    dry_run: bool = False,
) -> Rebuilt:
    """Restore turns and their feedback, and compare them with the source.

    Args:
        source: started source of records.
        uri: address of the memory.
        open_memory: returns the open store and the embedding function; called only if something must be written.
        progress: called after every step.
        dry_run: compare without writing.

    Raises:
        TouchstoneError: the broker or the memory does not respond, or there is nothing to rebuild from.
    """
    expected, stored = _Expected(), StoredMemory(uri)
    restored: Counter[str] = Counter()
    parts: dict[str, Differences] = {}
    for number in range(ROUNDS):
        # The last rounds read no new records, because the agent may not have written them yet.
        if number < (1 if dry_run else MENDING_ROUNDS):
            async for batch in source.read_on(TOPICS) if number else source.read(TOPICS):
                expected.take(batch)
            source.require([MEMORY_TURNS])
        else:
            await asyncio.sleep(SETTLING_SECONDS)
        comparison = _Comparison(expected, await stored.turns(), await stored.feedback())
        before, parts = parts, comparison.parts
        # A difference that neither writing nor waiting has changed is permanent.
        if not comparison.wrong or parts == before:
            break
        if dry_run or number >= MENDING_ROUNDS:
            continue
        store, embed = await open_memory()
        told = [expected.feedback[name] for name in sorted(comparison.wrong_feedback)]
        for start in range(0, len(told), TOLD_AT_ONCE):
            await store.rate(told[start : start + TOLD_AT_ONCE])
        restored[FEEDBACK_TABLE] += len(comparison.wrong_feedback)
        restored[TABLE] += len(comparison.wrong_turns)
        if comparison.wrong_turns:
            await _remember(source, expected, comparison.wrong_turns, store, embed, progress)
    return Rebuilt(
        Store.MEMORY, dict(source.records), source.erased, expected.unreadable, 0, +restored, parts,
        await source.erased_meanwhile(),
    )  # fmt: skip


async def _remember(
    source: RecordSource, expected: "_Expected", wanted: set[str], store: MemoryStore, embed: Embed, progress: Progress
) -> None:
    """Read the wanted turns a second time, since they may not all fit into memory, and write them."""
    waiting: dict[str, ConversationTurn] = {}
    done = 0

    async def write() -> None:
        nonlocal done
        texts = [turn_text(turn) for turn in waiting.values()]
        vectors = await embed(texts)
        await store.remember([(turn, vectors[text]) for turn, text in zip(waiting.values(), texts, strict=True)])
        done += len(waiting)
        waiting.clear()
        progress("turns", done, len(wanted))

    async for batch in source.read([MEMORY_TURNS]):
        turns = [turn for turn in _turns(batch) if turn is not None and _name(turn) in wanted]
        for turn, state in zip(turns, turn_states(turns), strict=True):
            if expected.turns[_name(turn)] == state:
                waiting[_name(turn)] = turn
        if len(waiting) >= TURNS_AT_ONCE:
            await write()
    if waiting:
        await write()


def _name(turn: ConversationTurn) -> str:
    """Return the current identifier of a turn; the record may contain one of an earlier version."""
    return turn_id(turn.tenant, turn.answer_id)


def _turns(records: Sequence[Record]) -> list[ConversationTurn | None]:
    """Parse the turns in records; ``None`` for an unreadable record."""
    found: list[ConversationTurn | None] = []
    for record in records:
        try:
            found.append(ConversationTurn.from_bytes(record.value))
        except ValueError:
            found.append(None)
    return found


class _Expected:
    """The expected content of the memory: of each turn and its feedback the highest revision."""

    def __init__(self) -> None:
        self.turns: dict[str, TurnState] = {}
        self.feedback: dict[str, TurnFeedback] = {}
        self.unreadable = 0

    def take(self, records: Sequence[Record]) -> None:
        """Add records of one topic."""
        if records and records[0].topic == MEMORY_TURNS.name:
            turns = [turn for turn in _turns(records) if turn is not None]
            self.unreadable += len(records) - len(turns)
            for turn, state in zip(turns, turn_states(turns), strict=True):
                known = self.turns.get(_name(turn))
                if known is None or state.revision >= known.revision:
                    self.turns[_name(turn)] = state
            return
        for record in records:
            try:
                noted = turn_feedback_of(record)
            except ValueError:
                self.unreadable += 1
                continue
            for each in noted:
                known_feedback = self.feedback.get(each.turn_id)
                if known_feedback is None or each.revision >= known_feedback.revision:
                    self.feedback[each.turn_id] = each


class _Comparison:
    """The stored content of the memory against the expected content."""

    def __init__(self, expected: _Expected, turns: dict[str, TurnState], feedback: dict[str, NotedFeedback]) -> None:
        self._expected = expected
        told = {name: NotedFeedback(each.user_feedback, each.revision) for name, each in expected.feedback.items()}
        self.wrong_feedback = {
            name
            for name, each in told.items()
            if (known := feedback.get(name)) is None or (known.revision <= each.revision and known != each)
        }
        newer_feedback = {
            name
            for name, each in told.items()
            if (known := feedback.get(name)) is not None and known.revision > each.revision
        }
        noted = {name: each.user_feedback for name, each in (told | feedback).items()}
        noted |= {name: told[name].user_feedback for name in self.wrong_feedback}
        # Feedback stored in a turn replaces the feedback that the turn arrived with.
        wanted = {
            name: TurnState(state.revision, state.contents, noted.get(name, state.user_feedback))
            for name, state in expected.turns.items()
        }
        newer_turns = {name for name, state in wanted.items() if _revision(turns, name) > state.revision}
        self.wrong_turns = {
            name for name, state in wanted.items() if name not in newer_turns and turns.get(name) != state
        }
        self.parts = {
            TABLE: _differences(wanted, turns, self.wrong_turns, newer_turns),
            FEEDBACK_TABLE: _differences(told, feedback, self.wrong_feedback, newer_feedback),
        }

    @property
    def wrong(self) -> bool:
        """Return true if anything is missing or different."""
        return bool(self.wrong_turns or self.wrong_feedback)


Row = TypeVar("Row", TurnState, NotedFeedback)


def _revision(turns: dict[str, TurnState], name: str) -> int:
    known = turns.get(name)
    return 0 if known is None else known.revision


def _differences(wanted: dict[str, Row], found: dict[str, Row], wrong: set[str], newer: set[str]) -> Differences:
    missing = wanted.keys() - found.keys()
    compared = wanted.keys() - newer
    return Differences(
        expected=len(wanted),
        found=len(wanted) - len(missing),
        missing=len(missing),
        different=len(wrong - missing),
        newer=len(newer),
        beyond=len(found.keys() - wanted.keys()),
        checksum=checksum(hashed([name, wanted[name]]) for name in compared),
        checksum_found=checksum(hashed([name, found[name]]) for name in compared & found.keys()),
        examples=tuple(sorted(wrong)[:SHOWN]),
    )
