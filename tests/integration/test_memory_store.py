"""Conversational memory in a real LanceDB: one row a turn, the highest revision, whatever comes again."""

import asyncio
import ctypes
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from schemas.export import example
from schemas.identifiers import turn_id
from schemas.memory import ConversationTurn
from workers.errors import StoreUnavailable
from workers.stores.lancedb.memory_store import (
    CACHED_BYTES,
    MemoryStore,
    TurnFeedback,
    forget_turns,
    memory_schema,
)

TENANT = "acme"
VECTOR = np.full(4, 0.5, dtype=np.float32)


def turn(identifier: str = "turn_1", **changes: Any) -> ConversationTurn:
    fields = {"turn_id": turn_id(TENANT, identifier), "answer_id": identifier, "tenant": TENANT}
    return ConversationTurn.model_validate(example(ConversationTurn) | fields | changes)


class _Statistics(ctypes.Structure):
    """mallinfo2(3)."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in (
            "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost",
        )
    )  # fmt: skip


def _bytes_in_use() -> int:
    """What was allocated from the C library and not freed."""
    look: Any = ctypes.CDLL(None).mallinfo2
    look.restype = _Statistics
    statistics = look()
    return int(statistics.uordblks + statistics.hblkhd)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[MemoryStore]:
    opened = MemoryStore(str(tmp_path / "memory"), 4)
    await opened.open()
    yield opened
    await opened.close()


async def responses(store: MemoryStore) -> dict[str, str]:
    return {row["answer_id"]: row["response"] for row in await store.turns()}


async def test_a_turn_comes_back_as_it_was(store: MemoryStore) -> None:
    sent = turn(response="Größe\n👩‍👩‍👧‍👦 'quoted' \x00", quality_score=None)
    await store.remember([(sent, VECTOR)])
    (row,) = await store.turns()
    assert "vector" not in row
    assert row == {name: getattr(sent, name) for name in row}
    assert row["timestamp"] == datetime(2026, 11, 2, 8, 14, 6, tzinfo=UTC)


async def test_a_turn_that_comes_again_is_one(store: MemoryStore) -> None:
    for _ in range(3):
        await store.remember([(turn(), VECTOR), (turn("turn_2"), VECTOR)])
    assert await store.count() == 2


async def test_the_highest_revision_stays_in_any_order(store: MemoryStore) -> None:
    for revision in (4, 100, 3):
        await store.remember([(turn(revision=revision, response=f"revision {revision}"), VECTOR)])
    assert await responses(store) == {"turn_1": "revision 100"}


async def test_the_same_revision_replaces(store: MemoryStore) -> None:
    """A repeat after a rolling deployment: the later judgement counts."""
    for response in ("first", "second"):
        await store.remember([(turn(response=response), VECTOR)])
    assert await responses(store) == {"turn_1": "second"}


async def test_one_batch_may_hold_a_turn_many_times(store: MemoryStore) -> None:
    batch = [turn(revision=revision, response=str(revision)) for revision in (2, 5, 3)]
    batch += [turn("turn_2", response="a"), turn("turn_2", response="b")]
    await store.remember([(each, VECTOR) for each in batch])
    assert await responses(store) == {"turn_1": "5", "turn_2": "b"}


async def test_nothing_is_no_write(store: MemoryStore) -> None:
    await store.remember([])
    assert await store.count() == 0


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="another C library tells nothing")
async def test_versions_that_nobody_reads_again_do_not_stay_in_the_process(store: MemoryStore) -> None:
    await store.remember([(turn("turn_0"), VECTOR)])
    before = _bytes_in_use()
    for number in range(400):
        await store.remember([(turn(f"turn_{number}"), VECTOR)])
    assert _bytes_in_use() - before < 2 * CACHED_BYTES


async def test_writers_at_once_lose_nothing(store: MemoryStore) -> None:
    writes = [store.remember([(turn(f"turn_{n % 7}", revision=n + 1), VECTOR)]) for n in range(21)]
    await asyncio.gather(*writes)
    assert {row["answer_id"]: row["revision"] for row in await store.turns()} == {f"turn_{n}": n + 15 for n in range(7)}


async def test_what_was_remembered_is_there_after_a_restart(tmp_path: Path) -> None:
    for number in range(3):
        store = MemoryStore(str(tmp_path / "memory"), 4)
        await store.open()
        await store.remember([(turn("turn_1", revision=number + 1), VECTOR), (turn(f"turn_{number}x"), VECTOR)])
        await store.close()
    store = MemoryStore(str(tmp_path / "memory"), 4)
    await store.open()
    assert await store.count() == 4
    await store.close()


async def test_two_processes_may_write_to_one_memory(tmp_path: Path) -> None:
    stores = [MemoryStore(str(tmp_path / "memory"), 4) for _ in range(2)]
    for store in stores:
        await store.open()
    for number, store in enumerate(stores):
        await store.remember([(turn(f"turn_{number}"), VECTOR), (turn("both", revision=number + 1), VECTOR)])
    await stores[0].close()
    await stores[1].close()
    store = MemoryStore(str(tmp_path / "memory"), 4)
    await store.open()
    assert {row["answer_id"]: row["revision"] for row in await store.turns()} == {
        "turn_0": 4, "turn_1": 4, "both": 2,
    }  # fmt: skip
    await store.close()


@pytest.mark.parametrize(
    "session", ["o'brien", "x' OR '1'='1", "\\", '"', "日本 %_", "a\nb", "''", "; DROP TABLE x --"]
)
async def test_sessions_are_told_apart_whatever_their_names(store: MemoryStore, session: str) -> None:
    await store.remember([
        (turn("turn_1", session_id=session), VECTOR), (turn("turn_2", session_id="other"), VECTOR),
        (turn("turn_3", session_id=None), VECTOR),
    ])  # fmt: skip
    assert [row["answer_id"] for row in await store.turns(session)] == ["turn_1"]
    assert len(await store.turns()) == 3


async def test_many_writes_are_compacted_and_stay(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workers.stores.lancedb.memory_store.COMPACT_EVERY", 5)
    for number in range(12):
        await store.remember([(turn(f"turn_{number}"), VECTOR)])
    assert await store.count() == 12


async def test_the_memory_of_another_model_is_refused_with_the_remedy(store: MemoryStore, tmp_path: Path) -> None:
    await store.remember([(turn(), VECTOR)])
    other = MemoryStore(str(tmp_path / "memory"), 8)
    with pytest.raises(StoreUnavailable, match=r"vectors have 4 dimensions, but the model's have 8.*MEMORY__URI"):
        await other.open()
    assert await store.count() == 1


async def test_a_place_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no directory")
    store = MemoryStore(str(tmp_path / "file"), 4)
    with pytest.raises(StoreUnavailable, match="file cannot be opened"):
        await store.open()
    await store.close()


async def test_the_same_question_is_found_by_tenant_and_time_whatever_its_case(store: MemoryStore) -> None:
    asked = "What's the limit; or '1'='1' --\x00?"
    await store.remember(
        [
            (turn("turn_1", query=asked, tenant="a", response="first", timestamp=datetime(2026, 11, 1, tzinfo=UTC)), VECTOR),
            (turn("turn_2", query=asked.upper(), tenant="a", response="second", timestamp=datetime(2026, 11, 2, tzinfo=UTC)), VECTOR),
            (turn("turn_3", query=asked, tenant="b", response="other tenant"), VECTOR),
            (turn("turn_4", query="What is it?", tenant="a", response="other question"), VECTOR),
        ]
    )  # fmt: skip

    async def found(before: datetime, limit: int = 3) -> list[str]:
        return [row["response"] for row in await store.same_question("a", asked, before, limit)]

    assert await found(datetime(2026, 11, 3, tzinfo=UTC)) == ["second", "first"]
    assert await found(datetime(2026, 11, 3, tzinfo=UTC), limit=1) == ["second"]
    assert await found(datetime(2026, 11, 2, tzinfo=UTC)) == ["first"]
    assert await found(datetime(2026, 11, 1, tzinfo=UTC)) == []


# --- what people thought --------------------------------------------------------------------


async def feedback(store: MemoryStore) -> dict[str, float | None]:
    return {row["answer_id"]: row["user_feedback"] for row in await store.turns()}


async def test_a_turn_gets_what_people_thought_of_it(store: MemoryStore) -> None:
    await store.remember([(turn(), VECTOR), (turn("turn_2"), VECTOR)])
    await store.rate([TurnFeedback(TENANT, "turn_1", 0.9, 2)])
    assert await feedback(store) == {"turn_1": 0.9, "turn_2": None}
    assert await responses(store) == {name: turn().response for name in ("turn_1", "turn_2")}


async def test_feedback_that_comes_before_the_turn_waits_for_it(store: MemoryStore) -> None:
    await store.rate([TurnFeedback(TENANT, "turn_1", 0.4, 1)])
    assert await store.count() == 0
    await store.remember([(turn(), VECTOR)])
    assert await feedback(store) == {"turn_1": 0.4}


async def test_the_latest_revision_of_feedback_counts_in_any_order(store: MemoryStore) -> None:
    await store.remember([(turn(), VECTOR)])
    await store.rate([TurnFeedback(TENANT, "turn_1", 0.2, 3), TurnFeedback(TENANT, "turn_1", 0.9, 2)])
    await store.rate([TurnFeedback(TENANT, "turn_1", 0.7, 1)])
    assert await feedback(store) == {"turn_1": 0.2}


async def test_a_turn_that_comes_again_keeps_its_feedback(store: MemoryStore) -> None:
    await store.remember([(turn(), VECTOR)])
    await store.rate([TurnFeedback(TENANT, "turn_1", 0.8, 1)])
    await store.remember([(turn(revision=100, response="corrected"), VECTOR)])
    assert await feedback(store) == {"turn_1": 0.8}
    assert await responses(store) == {"turn_1": "corrected"}


async def test_two_processes_that_write_turn_and_feedback_at_once_lose_neither(tmp_path: Path) -> None:
    one, other = (MemoryStore(str(tmp_path / "memory"), 4) for _ in range(2))
    await one.open()
    await other.open()
    for number in range(8):
        identifier = f"turn_{number}"
        await asyncio.gather(
            one.remember([(turn(identifier), VECTOR)]), other.rate([TurnFeedback(TENANT, identifier, 0.5, 1)])
        )
    assert await feedback(one) == {f"turn_{number}": 0.5 for number in range(8)}
    await one.close()
    await other.close()


async def test_a_turn_of_an_earlier_version_is_replaced_and_rated_and_that_of_another_tenant_is_not(
    store: MemoryStore,
) -> None:
    """Identifiers had no tenant then: both turns have the same."""
    first = turn_id("default", "a-1")
    for tenant in ("acme", "default"):
        row = turn("a-1", tenant=tenant, response=f"{tenant} before").model_dump(include=set(memory_schema(4).names))
        await store._table.add(
            pa.Table.from_pylist([row | {"turn_id": first, "vector": VECTOR}], schema=memory_schema(4))
        )
    await store.rate([TurnFeedback("acme", "a-1", 0.25, 1)])
    told = {row["tenant"]: row["user_feedback"] for row in await store.turns()}
    assert (told["acme"], told["default"]) == (0.25, turn().user_feedback)
    await store.remember([(turn("a-1", response="corrected", revision=100), VECTOR)])
    turns = {row["tenant"]: (row["turn_id"], row["response"], row["user_feedback"]) for row in await store.turns()}
    assert turns["acme"] == (turn_id("acme", "a-1"), "corrected", 0.25)
    assert turns["default"][:2] == (first, "default before")
    assert await forget_turns(store._uri, "acme", "nobody", ["a-1"]) == 1
    assert [row["tenant"] for row in await store.turns()] == ["default"]
