"""Rebuilding conversational memory: turns are embedded again, and told again what people thought of them."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from schemas.memory import ConversationTurn
from schemas.topics import FEEDBACK_REWARDS, MEMORY_TURNS
from workers.delivery.records import Record
from workers.replay.rebuilding import MENDING_ROUNDS, ROUNDS, SETTLING_SECONDS, Progress, Rebuilt
from workers.replay.rebuilding_records import RecordSource
from workers.replay.rebuilding_targets import Store
from workers.stores.memory import FEEDBACK_TABLE, TABLE, MemoryStore, TurnFeedback, turn_text
from workers.stores.recorded import turn_feedback_of
from workers.stores.remembered import StoredMemory, TurnState, checksum, hashed, turn_states
from workers.stores.staging import SHOWN, Differences

TOPICS = (FEEDBACK_REWARDS, MEMORY_TURNS)
TURNS_AT_ONCE = 64
"""Turns that are embedded and written together; each write is a new file."""

TOLD_AT_ONCE = 500
"""Turns that are told together what people thought of them: the statement names each."""

Embed = Callable[[Sequence[str]], Awaitable[dict[str, NDArray[np.float32]]]]


async def rebuild_memory(
    source: RecordSource,
    uri: str,
    open_memory: Callable[[], Awaitable[tuple[MemoryStore, Embed]]],
    progress: Progress,
    *,
    dry_run: bool = False,
) -> Rebuilt:
    """Restore turns and what is noted of them, and compare them with the source.

    Args:
        source: records, started.
        uri: of the memory.
        open_memory: gives the open store and the model; called only if something is to be written.
        progress: told of every step.
        dry_run: compare only.

    Raises:
        TouchstoneError: the broker or the memory does not answer, or there is nothing to rebuild from.
    """
    expected, stored = _Expected(), StoredMemory(uri)
    restored: Counter[str] = Counter()
    parts: dict[str, Differences] = {}
    for number in range(ROUNDS):
        # The last looks read no further: what came since, the agent may still be about to write.
        if number < (1 if dry_run else MENDING_ROUNDS):
            async for batch in source.read_on(TOPICS) if number else source.read(TOPICS):
                expected.take(batch)
            source.require([MEMORY_TURNS])
        else:
            await asyncio.sleep(SETTLING_SECONDS)
        comparison = _Comparison(expected, await stored.turns(), await stored.feedback())
        before, parts = parts, comparison.parts
        # What neither writing nor waiting changes will stay so.
        if not comparison.wrong or parts == before:
            break
        if dry_run or number >= MENDING_ROUNDS:
            continue
        store, embed = await open_memory()
        told = [expected.feedback[turn_id] for turn_id in sorted(comparison.wrong_feedback)]
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
    """Read the turns that are wanted once more, since not all of them need fit into memory, and write them."""
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
        turns = [turn for turn in _turns(batch) if turn is not None and turn.turn_id in wanted]
        for turn, state in zip(turns, turn_states(turns), strict=True):
            if expected.turns[turn.turn_id] == state:
                waiting[turn.turn_id] = turn
        if len(waiting) >= TURNS_AT_ONCE:
            await write()
    if waiting:
        await write()


def _turns(records: Sequence[Record]) -> list[ConversationTurn | None]:
    """The turns in records; ``None`` for one that nobody can read."""
    found: list[ConversationTurn | None] = []
    for record in records:
        try:
            found.append(ConversationTurn.from_bytes(record.value))
        except ValueError:
            found.append(None)
    return found


class _Expected:
    """What the memory should hold by the records: of each turn and its feedback the highest revision."""

    def __init__(self) -> None:
        self.turns: dict[str, TurnState] = {}
        self.feedback: dict[str, TurnFeedback] = {}
        self.unreadable = 0

    def take(self, records: Sequence[Record]) -> None:
        """Take up records of one topic."""
        if records and records[0].topic == MEMORY_TURNS.name:
            turns = [turn for turn in _turns(records) if turn is not None]
            self.unreadable += len(records) - len(turns)
            for turn, state in zip(turns, turn_states(turns), strict=True):
                known = self.turns.get(turn.turn_id)
                if known is None or state.revision >= known.revision:
                    self.turns[turn.turn_id] = state
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
    """What the memory holds against what it should hold."""

    def __init__(self, expected: _Expected, turns: dict[str, TurnState], feedback: dict[str, TurnFeedback]) -> None:
        self._expected = expected
        self.wrong_feedback = {
            turn_id
            for turn_id, each in expected.feedback.items()
            if (known := feedback.get(turn_id)) is None or (known.revision <= each.revision and known != each)
        }
        newer_feedback = {
            turn_id
            for turn_id, each in expected.feedback.items()
            if (known := feedback.get(turn_id)) is not None and known.revision > each.revision
        }
        noted = {turn_id: each.user_feedback for turn_id, each in (expected.feedback | feedback).items()}
        noted |= {turn_id: expected.feedback[turn_id].user_feedback for turn_id in self.wrong_feedback}
        # What is noted of a turn stands in it, in place of what came with it.
        wanted = {
            turn_id: TurnState(state.revision, state.contents, noted.get(turn_id, state.user_feedback))
            for turn_id, state in expected.turns.items()
        }
        newer_turns = {turn_id for turn_id, state in wanted.items() if _revision(turns, turn_id) > state.revision}
        self.wrong_turns = {
            turn_id for turn_id, state in wanted.items() if turn_id not in newer_turns and turns.get(turn_id) != state
        }
        self.parts = {
            TABLE: _differences(wanted, turns, self.wrong_turns, newer_turns),
            FEEDBACK_TABLE: _differences(expected.feedback, feedback, self.wrong_feedback, newer_feedback),
        }

    @property
    def wrong(self) -> bool:
        """Whether anything is missing or different."""
        return bool(self.wrong_turns or self.wrong_feedback)


Row = TypeVar("Row", TurnState, TurnFeedback)


def _revision(turns: dict[str, TurnState], turn_id: str) -> int:
    known = turns.get(turn_id)
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
        checksum=checksum(hashed([turn_id, wanted[turn_id]]) for turn_id in compared),
        checksum_found=checksum(hashed([turn_id, found[turn_id]]) for turn_id in compared & found.keys()),
        examples=tuple(sorted(wrong)[:SHOWN]),
    )
