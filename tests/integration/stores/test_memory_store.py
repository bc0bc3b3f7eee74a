"""Conversational memory in a real LanceDB: one row a turn, the highest revision, whatever comes again."""

import asyncio
import ctypes
import random
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from structlog.testing import capture_logs

from schemas.export import example
from schemas.identifiers import turn_id
from schemas.memory import ConversationTurn
from workers.agents.tasks import memory_keeper
from workers.agents.tasks.memory_keeper import ALL_UPKEEP_EVERY, MemoryKeeper
from workers.errors import StoreUnavailable
from workers.settings import Settings
from workers.stores.lancedb import memory_store, memory_upkeep
from workers.stores.lancedb.memory_rows import memory_row, memory_schema, question_digest
from workers.stores.lancedb.memory_store import (
    CACHED_BYTES,
    TABLE,
    AskedBefore,
    MemoryStore,
    TurnFeedback,
    connect,
    forget_turns,
)
from workers.stores.lancedb.memory_upkeep import COMPACT_EVERY, unindexed_rows

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
async def test_versions_that_nobody_reads_again_do_not_stay_in_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundred writes would keep 9 MiB with caches that are large enough."""
    assert CACHED_BYTES <= 16 * 2**20
    monkeypatch.setattr(memory_store, "CACHED_BYTES", 2 * 2**20)
    store = MemoryStore(str(tmp_path / "memory"), 4)
    await store.open()
    await store.remember([(turn("turn_0"), VECTOR)])
    before = _bytes_in_use()
    for number in range(100):
        await store.remember([(turn(f"turn_{number}"), VECTOR)])
    assert _bytes_in_use() - before < 2 * memory_store.CACHED_BYTES
    await store.close()


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="another C library tells nothing")
async def test_what_a_connection_keeps_of_its_writes_is_given_back(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_store, "REOPEN_EVERY", 100)

    async def write(count: int) -> int:
        for number in range(count):
            await store.remember([(turn(f"turn_{number}"), VECTOR)])
        return _bytes_in_use()

    settled = await write(100)
    assert await write(300) - settled < 3 * 2**20
    assert await store.count() == 300


async def test_readers_and_writers_go_on_while_the_store_is_opened_again(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_store, "REOPEN_EVERY", 1)
    first = store._table

    async def write(number: int) -> None:
        await store.remember([(turn(f"turn_{number}"), VECTOR)])
        await store.rate([TurnFeedback(TENANT, f"turn_{number}", 0.25, 1)])

    async def read() -> None:
        for _ in range(20):
            await store.turns()

    await asyncio.gather(*(write(number) for number in range(15)), read(), read())
    assert store._table is not first
    assert {row["answer_id"]: row["user_feedback"] for row in await store.turns()} == {
        f"turn_{number}": 0.25 for number in range(15)
    }


async def test_a_store_that_cannot_be_opened_again_is_used_as_it_is(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refused(*_: Any, **__: Any) -> Any:
        raise OSError("too many open files")

    monkeypatch.setattr(memory_store, "REOPEN_EVERY", 1)
    monkeypatch.setattr(memory_store, "connect", refused)
    with capture_logs() as logs:
        for number in range(3):
            await store.remember([(turn(f"turn_{number}"), VECTOR)])
    assert await store.count() == 3
    assert [line["event"] for line in logs] == ["memory_reopening_failed"] * 3


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


NOW = datetime(2026, 11, 20, tzinfo=UTC)


def scans(plan: str) -> bool:
    """Return True if a plan reads every row instead of asking an index."""
    return "ScalarIndexQuery" not in plan and "ANN" not in plan


async def fragments(store: MemoryStore) -> int:
    return int((await store._table.stats())["fragment_stats"]["num_fragments"])


async def test_many_writes_are_compacted_by_the_keeper_alone_and_stay(
    store: MemoryStore,
) -> None:
    for number in range(12):
        await store.remember([(turn(f"turn_{number}"), VECTOR)])
    assert await fragments(store) >= 12
    assert "compaction" in await store.keep_up(NOW, 0)
    assert await fragments(store) == 1
    assert await store.count() == 12
    assert await store.keep_up(NOW, 0) == [], "nothing has changed"


async def test_turns_are_looked_up_by_indices_which_the_keeper_builds(store: MemoryStore) -> None:
    await store.remember([(turn(f"turn_{number}", query=f"Question {number}?"), VECTOR) for number in range(50)])
    assert {"index:question", "index:turn_id", "index:session_id", "compaction"} <= set(await store.keep_up(NOW, 0))
    later = turn("turn_50", query="QUESTION 7?", timestamp=datetime(2026, 11, 1, tzinfo=UTC))
    await store.remember([(later, VECTOR)])
    for where in (
        f"(question = '{question_digest(TENANT, 'Question 7?')}' OR question IS NULL) AND tenant = '{TENANT}'",
        "timestamp < TIMESTAMP '2026-01-01 00:00:00+00:00'",
        f"turn_id = '{turn_id(TENANT, 'turn_3')}'",
        f"tenant = '{TENANT}' AND answer_id IN ('turn_3', 'turn_4')",
        "session_id = 's'",
    ):
        assert not scans(await store._table.query().where(where).explain_plan())
    asked = memory_store._asked([AskedBefore(TENANT, f"Question {number}?", NOW) for number in range(3)])
    plan = await store._table.query().where(asked).explain_plan()
    assert "@question_idx" in plan and plan.count("_idx") == plan.count("@question_idx"), (
        "other indices return too much"
    )
    [found] = await store.same_questions([AskedBefore(TENANT, "question 7?", NOW)], 5)
    assert {row["answer_id"] for row in found} == {"turn_7", "turn_50"}, "the last one is in no index yet"


@pytest.mark.parametrize("dimensions", [16, 4])
async def test_vectors_get_an_index_once_there_are_many_and_small_groups_are_found_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dimensions: int
) -> None:
    store = MemoryStore(str(tmp_path / "memory"), dimensions)
    await store.open()
    monkeypatch.setattr(memory_upkeep, "VECTORS_FROM", 2_000)
    rng = np.random.default_rng(4)
    vectors = rng.standard_normal((3_000, dimensions)).astype(np.float32)
    turns = [
        (
            turn(f"turn_{n}", tenant="small" if n % 500 == 3 else TENANT, session_id=f"s{n % 1_000}", user_id=None),
            vectors[n],
        )
        for n in range(3_000)
    ]
    await store.remember(turns[:1_900])
    assert "index:vector" not in await store.keep_up(NOW, 0)
    await store.remember(turns[1_900:])
    assert "index:vector" in await store.keep_up(NOW, 0)
    plan = await store._near(vectors[0], f"tenant = '{TENANT}'", 10, exact=False).explain_plan(True)
    assert "ANN" in plan
    exact = vectors @ vectors[5] / np.linalg.norm(vectors, axis=1) / np.linalg.norm(vectors[5])
    best = [f"turn_{n}" for n in np.argsort(-exact) if n % 500 != 3][:10]
    found = await store.nearest(TENANT, vectors[5], 10)
    assert found[0]["answer_id"] == "turn_5"
    assert len({row["answer_id"] for row in found} & set(best)) >= 8
    assert [row["similarity"] for row in found] == pytest.approx(
        [float(exact[int(row["answer_id"][5:])]) for row in found], abs=1e-4
    )
    # A tenant or a conversation of few turns, wherever its vectors are, is found whole.
    assert len(await store.nearest("small", vectors[5], 10)) == 6
    assert {row["answer_id"] for row in await store.nearest(TENANT, vectors[5], 10, session_id="s8")} == {
        "turn_8", "turn_1008", "turn_2008",
    }  # fmt: skip
    await store.close()


@pytest.mark.parametrize("indexed", [False, True])
async def test_a_search_by_meaning_leaves_withdrawn_answers_out_without_reading_all_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, indexed: bool
) -> None:
    store = MemoryStore(str(tmp_path / "memory"), 4)
    await store.open()
    monkeypatch.setattr(memory_upkeep, "VECTORS_FROM", 500)
    vectors = np.zeros((600, 4), np.float32)
    vectors[:, 0], vectors[:, 1] = 1, np.linspace(0, 1, 600)
    # The sixty nearest are withdrawn, and so are all of one person.
    withdrawn = [n < 60 or n % 100 == 70 for n in range(600)]
    turns = [
        turn(f"turn_{n}", user_id="gone" if n % 100 == 70 else None, **({"response": ""} if withdrawn[n] else {}))
        for n in range(600)
    ]
    await store.remember(list(zip(turns, vectors, strict=True)))
    conditions: list[str] = []
    near = store._near

    def noted(vector: Any, where: str, limit: int, *, exact: bool) -> Any:
        conditions.append(where)
        return near(vector, where, limit, exact=exact)

    monkeypatch.setattr(store, "_near", noted)
    if indexed:
        assert "index:vector" in await store.keep_up(NOW, 0)
    found = await store.nearest(TENANT, vectors[0], 5)
    assert [row["answer_id"] for row in found] == [f"turn_{n}" for n in range(60, 65)]
    assert await store.nearest(TENANT, vectors[0], 5, user_id="gone") == []
    assert not any("response" in where for where in conditions)
    await store.close()


async def test_turns_older_than_the_retention_are_removed_with_their_feedback(store: MemoryStore) -> None:
    old, young = datetime(2026, 8, 1, tzinfo=UTC), datetime(2026, 11, 1, tzinfo=UTC)
    await store.remember([(turn("old", timestamp=old), VECTOR), (turn("young", timestamp=young), VECTOR)])
    await store.rate([TurnFeedback(TENANT, name, 0.5, 1) for name in ("old", "young")])
    assert "retention" not in await store.keep_up(NOW, 0)
    assert "retention" in await store.keep_up(NOW, 90)
    assert [row["answer_id"] for row in await store.turns()] == ["young"]
    assert await store._feedback.count_rows() == 1
    assert "retention" not in await store.keep_up(NOW, 90)


async def test_a_memory_of_an_earlier_version_gets_digests_and_keeps_its_turns(tmp_path: Path) -> None:
    place = str(tmp_path / "memory")
    database = await connect(place)
    schema = memory_schema(4)
    earlier = await database.create_table(TABLE, schema=schema.remove(schema.get_field_index("question")))
    rows = [memory_row(turn(f"turn_{n}", query=f"Question {n % 2}?"), VECTOR) for n in range(5)]
    await earlier.add([{name: value for name, value in row.items() if name != "question"} for row in rows])
    asked = [AskedBefore(TENANT, "question 1?", datetime(2027, 1, 1, tzinfo=UTC))]
    stores = [MemoryStore(place, 4) for _ in range(3)]
    await asyncio.gather(*(store.open() for store in stores))
    first, second, third = stores
    try:
        assert [len(found) for found in await first.same_questions(asked, 5)] == [2]
        assert "digests" in await second.keep_up(NOW, 0)
        assert [len(found) for found in await third.same_questions(asked, 5)] == [2]
        assert await first._table.count_rows("question IS NULL") == 0
        assert await first.count() == 5
    finally:
        for store in stores:
            await store.close()


async def test_turns_that_are_written_while_memory_is_kept_up_are_not_lost(tmp_path: Path) -> None:
    writer, keeper = (MemoryStore(str(tmp_path / "memory"), 4) for _ in range(2))
    await writer.open()
    await keeper.open()
    written = asyncio.Event()

    async def keep() -> None:
        while not written.is_set():
            with suppress(StoreUnavailable):  # the next round does the rest
                await keeper.keep_up(NOW, 30)

    async with asyncio.TaskGroup() as group:
        group.create_task(keep())
        for number in range(25):
            name = f"turn_{number}"
            when = datetime(2026, 11, 19, tzinfo=UTC) if number % 2 else datetime(2026, 1, 1, tzinfo=UTC)
            await writer.remember([(turn(name, timestamp=when), VECTOR)])
        written.set()
    await keeper.keep_up(NOW, 30)
    assert sorted(int(row["answer_id"][5:]) for row in await writer.turns()) == list(range(1, 25, 2))
    await writer.close()
    await keeper.close()


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
        [rows] = await store.same_questions([AskedBefore("a", asked, before)], limit)
        return [row["response"] for row in rows]

    assert await found(datetime(2026, 11, 3, tzinfo=UTC)) == ["second", "first"]
    assert await found(datetime(2026, 11, 3, tzinfo=UTC), limit=1) == ["second"]
    assert await found(datetime(2026, 11, 2, tzinfo=UTC)) == ["first"]
    assert await found(datetime(2026, 11, 1, tzinfo=UTC)) == []


@pytest.mark.parametrize("few", [1, 40, 256])
async def test_the_latest_answers_are_found_however_often_a_question_was_asked(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(memory_store, "FEW", few)
    chance = random.Random(8)
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    seconds = [0, 0, 0, 30, 30, 3_000, 80_000, 80_000, 2_000_000, 20_000_000]
    turns = [
        turn(
            f"turn_{number}", tenant=chance.choice(["a", "b"]), query=chance.choice(["Often?", "OFTEN?", "Rare?"]),
            timestamp=begin + timedelta(seconds=chance.choice(seconds)),
            response="" if number % 7 == 0 else f"response {number}",
        )
        for number in range(60)
    ]  # fmt: skip
    await store.remember([(each, VECTOR) for each in turns])
    await store.keep_up(NOW, 0)
    asked = [
        AskedBefore(tenant, query, begin + timedelta(seconds=second + after))
        for tenant in ("a", "b") for query in ("often?", "Rare?", "never?") for second in sorted(set(seconds)) for after in (0, 1)
    ]  # fmt: skip
    found = await store.same_questions(asked, 3)
    for each, rows in zip(asked, found, strict=True):
        right = [
            one for one in turns
            if one.tenant == each.tenant and one.query.lower() == each.query.lower()
            and one.timestamp < each.before and one.response
        ]  # fmt: skip
        right.sort(key=lambda one: (-one.timestamp.timestamp(), one.answer_id))
        assert [row["answer_id"] for row in rows] == [one.answer_id for one in right[:3]], each


async def test_equal_questions_of_a_batch_are_looked_up_once(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_store, "FEW", 2)
    for number in range(4):
        asked_at = NOW - timedelta(hours=number)
        await store.remember([(turn(f"turn_{number}", query="Popular?", timestamp=asked_at), VECTOR)])
    looked_up: list[AskedBefore] = []
    latest = store._latest_answers

    async def noted(asked: AskedBefore, limit: int) -> list[dict[str, Any]]:
        looked_up.append(asked)
        return await latest(asked, limit)

    monkeypatch.setattr(store, "_latest_answers", noted)
    now, before = AskedBefore(TENANT, "popular?", NOW), AskedBefore(TENANT, "popular?", NOW - timedelta(hours=2))
    found = await store.same_questions([now, before, now, now], 2)
    assert [[row["answer_id"] for row in rows] for rows in found] == [
        ["turn_1", "turn_2"], ["turn_3"], ["turn_1", "turn_2"], ["turn_1", "turn_2"],
    ]  # fmt: skip
    assert looked_up == [now, before]


async def test_new_rows_are_indexed_once_there_are_many(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_store, "UNINDEXED_ROWS", 10)
    assert not await store.compact(), "there is no index yet"
    await store.remember([(turn("turn_1"), VECTOR)])
    await store.keep_up(NOW, 0)
    await store.remember([(turn(f"turn_{number}"), VECTOR) for number in range(9)])
    assert not await store.compact()
    await store.remember([(turn(f"turn_{number}"), VECTOR) for number in range(20)])
    assert await store.compact()
    for index in await store._table.list_indices():
        assert (await store._table.index_stats(index.name)).num_unindexed_rows == 0, index.name
    assert not await store.compact()
    await store.rate([TurnFeedback(TENANT, f"later_{number}", 0.5, 1) for number in range(20)])
    assert await store.compact(), "feedback is looked up as well"
    assert await store.count() == 20


async def test_new_files_are_compacted_once_there_are_many(store: MemoryStore) -> None:
    await store.remember([(turn("turn_0"), VECTOR)])
    await store.keep_up(NOW, 0)
    for number in range(COMPACT_EVERY - 1):
        await store.remember([(turn(f"turn_{number}"), VECTOR)])
    assert not await store.compact()
    await store.rate([TurnFeedback(TENANT, "later", 0.5, 1)])
    assert not await store.compact(), "each table has files of its own"
    await store.remember([(turn("last"), VECTOR)])
    assert await store.compact()
    assert await fragments(store) == 1
    assert not await store.compact()


async def test_the_index_of_vectors_is_built_again_before_its_segments_slow_searches(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_upkeep, "VECTORS_FROM", 300)
    monkeypatch.setattr(memory_upkeep, "VECTOR_SEGMENTS", 4)
    monkeypatch.setattr(memory_store, "UNINDEXED_ROWS", 1)

    async def segments() -> list[int]:
        return [index.num_segments for index in await store._table.list_indices() if index.columns == ["vector"]]

    rng = np.random.default_rng(3)
    vectors = rng.standard_normal((303, 4)).astype(np.float32)
    await store.remember([(turn(f"turn_{number}"), vectors[number]) for number in range(300)])
    await store.keep_up(NOW, 0)
    for number in range(300, 303):
        assert await store.keep_up(NOW, 0) == []
        await store.remember([(turn(f"turn_{number}"), vectors[number])])
        assert await store.compact()
    assert await segments() == [4] and await fragments(store) == 4, "files of different segments stay apart"
    assert {"index:vector", "compaction"} <= set(await store.keep_up(NOW, 0))
    assert await segments() == [1] and await fragments(store) == 1
    [first, *_] = await store.nearest(TENANT, vectors[302], 5)
    assert first["answer_id"] == "turn_302"


async def test_the_keeper_rests_in_proportion_to_what_a_round_took(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, rounds = [0.0], 0

    async def takes_three_seconds() -> bool:
        nonlocal rounds
        rounds += 1
        clock[0] += 3.0
        return True

    monkeypatch.setattr(memory_keeper, "monotonic", lambda: clock[0])
    monkeypatch.setattr(store, "compact", takes_three_seconds)
    monkeypatch.setattr(memory_keeper, "ALL_UPKEEP_EVERY", 1_000)
    context: Any = SimpleNamespace(now=lambda: NOW, settings=Settings(_env_file=None))
    keeper = MemoryKeeper(context, store)
    while clock[0] < 600.0:
        await keeper._round()
        clock[0] += 2.0
    assert rounds == 40, "3 of 15 seconds are upkeep"


async def test_the_keeper_indexes_new_turns_between_two_rounds_of_all_upkeep(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_store, "UNINDEXED_ROWS", 10)
    monkeypatch.setattr(memory_keeper, "REST", 0)
    context: Any = SimpleNamespace(now=lambda: NOW, settings=Settings(_env_file=None))
    keeper = MemoryKeeper(context, store)
    for _ in range(ALL_UPKEEP_EVERY):
        assert not await store._table.list_indices()
        await keeper._round()
    assert await store._table.list_indices(), "the last round builds them"
    await store.remember([(turn(f"turn_{number}"), VECTOR) for number in range(10)])
    assert await unindexed_rows(store._table) == 10
    await keeper._round()
    assert await unindexed_rows(store._table) == 0


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


async def test_new_and_rated_turns_of_a_batch_are_one_write(store: MemoryStore) -> None:
    """A write costs several times as much as a read, so the number of writes is the cost of a batch."""
    await store.remember([(turn(), VECTOR), (turn("turn_2"), VECTOR)])
    before = await store._table.version()
    await store.remember(
        [(turn("turn_3"), VECTOR), (turn("turn_4"), VECTOR)],
        [TurnFeedback(TENANT, name, 0.6, 1) for name in ("turn_1", "turn_3", "unknown")],
    )
    assert await store._table.version() == before + 1
    assert await feedback(store) == {"turn_1": 0.6, "turn_2": None, "turn_3": 0.6, "turn_4": None}
    await store.remember([(turn("unknown"), VECTOR)])
    assert (await feedback(store))["unknown"] == 0.6


async def test_feedback_that_comes_again_writes_no_turn(store: MemoryStore) -> None:
    await store.remember([(turn(), VECTOR)], [TurnFeedback(TENANT, "turn_1", 0.6, 1)])
    before = await store._table.version()
    await store.rate([TurnFeedback(TENANT, "turn_1", 0.6, 1)])
    assert await store._table.version() == before
    await store.rate([TurnFeedback(TENANT, "turn_1", 0.1, 2)])
    assert await feedback(store) == {"turn_1": 0.1}


async def test_feedback_that_comes_with_an_earlier_revision_is_on_the_stored_turn(store: MemoryStore) -> None:
    await store.remember([(turn(revision=100, response="corrected"), VECTOR)])
    await store.remember([(turn(revision=3), VECTOR)], [TurnFeedback(TENANT, "turn_1", 0.6, 1)])
    assert await feedback(store) == {"turn_1": 0.6}
    assert await responses(store) == {"turn_1": "corrected"}


async def test_a_batch_gives_a_turn_its_latest_feedback_and_not_its_own_older_one(store: MemoryStore) -> None:
    await store.rate([TurnFeedback(TENANT, "turn_1", 0.9, 5)])
    await store.remember([(turn(), VECTOR)], [TurnFeedback(TENANT, "turn_1", 0.2, 1)])
    assert await feedback(store) == {"turn_1": 0.9}


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
        both = turn(f"both_{number}"), turn(f"other_{number}")
        await asyncio.gather(
            one.remember([(both[0], VECTOR)], [TurnFeedback(TENANT, both[1].answer_id, 0.5, 1)]),
            other.remember([(both[1], VECTOR)], [TurnFeedback(TENANT, both[0].answer_id, 0.5, 1)]),
        )
    assert set((await feedback(one)).values()) == {0.5}
    assert await one.count() == 24
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


async def test_people_are_forgotten_while_other_processes_compact_the_same_table(store: MemoryStore) -> None:
    """Two compactions of one version are a conflict, of which the database gives up one."""
    people = [f"user-{number}" for number in range(6)]
    for person in people:
        turns = [turn(f"{person}-{number}", user_id=person) for number in range(3)]
        await store.remember([(each, VECTOR) for each in turns])
    removed = await asyncio.gather(*(forget_turns(store._uri, TENANT, person, []) for person in people[1:]))
    assert removed == [3] * 5
    assert {row["user_id"] for row in await store.turns()} == {people[0]}
