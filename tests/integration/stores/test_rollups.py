"""Facts and figures by the hour: right whatever is repeated, late, moved or refreshed in between."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import pytest
from clickhouse_connect.driver.asyncclient import AsyncClient

from schemas.export import example
from schemas.feedback import AnalyticsRow
from tests.harness.migrated import make_tables, return_tables
from workers.settings import Settings
from workers.settings.addresses import Addresses
from workers.stores.clickhouse.analytics_store import AnalyticsStore, connect
from workers.stores.clickhouse.migrations import migrate, read_migrations
from workers.stores.clickhouse.rollups import REFRESHED, refresh_rollups
from workers.stores.queries.answer_queries import AnswerFilter, AnswerStore
from workers.stores.queries.overview_queries import OverviewStore
from workers.stores.queries.runs.run_queries import REFRESH, RunStore

ROW: dict[str, Any] = AnalyticsRow.model_validate(example(AnalyticsRow)).columns
NEW_COLUMNS = {
    "validation_score", "citations_total", "invalid_references", "source_names", "source_citations", "source_supported",
    "source_contradicted", "source_unsupported",
}  # fmt: skip


def answer(answer_id: str, hour: int = 10, **changes: Any) -> dict[str, Any]:
    return ROW | {"answer_id": answer_id, "rank": 4, "completed_at": f"2026-11-02T{hour:02}:20:00Z"} | changes


@pytest.fixture
async def client(settings: Settings, addresses: Addresses) -> AsyncIterator[AsyncClient]:
    """A client whose database exists without tables."""
    opened = await connect(settings.clickhouse, addresses.clickhouse)
    await opened.command(f"CREATE DATABASE {settings.clickhouse.database}")
    opened.database = settings.clickhouse.database
    yield opened
    opened.database = None
    await opened.command(f"DROP DATABASE IF EXISTS {settings.clickhouse.database}")
    await opened.close()


@pytest.fixture
async def migrated(settings: Settings, addresses: Addresses) -> AsyncIterator[AsyncClient]:
    """A client whose database has all tables and views."""
    opened = await connect(settings.clickhouse, addresses.clickhouse)
    await make_tables(opened, settings.clickhouse.database)
    opened.database = settings.clickhouse.database
    yield opened
    opened.database = None
    await return_tables(opened, settings.clickhouse.database)
    await opened.close()


@pytest.fixture
async def store(migrated: AsyncClient, settings: Settings) -> AnalyticsStore:
    return AnalyticsStore(migrated, settings.clickhouse.database)


async def by_model(client: AsyncClient, settings: Settings) -> dict[Any, int]:
    await refresh_rollups(client, settings.clickhouse.database)
    sql = "SELECT run, hour, model_id, sum(answers) FROM answer_hours FINAL GROUP BY ALL HAVING sum(answers) > 0"
    return {(run, hour.hour, model): count for run, hour, model, count in (await client.query(sql)).result_rows}


async def test_an_answer_that_comes_again_as_another_models_is_counted_once_where_it_is_now(
    store: AnalyticsStore, migrated: AsyncClient, settings: Settings
) -> None:
    named = {"source_names": ["Wiki"], "source_citations": [1], "source_supported": [1]}
    zero = {"source_contradicted": [0], "source_unsupported": [0]}
    await store.insert("answers", [answer("a", model_id="small", grounding_score=0.5) | named | zero])
    assert await by_model(migrated, settings) == {("live", 10, "small"): 1}
    await store.insert(
        "answers", [answer("a", model_id="large", grounding_score=None) | named | zero | {"source_names": ["Book"]}]
    )
    assert await by_model(migrated, settings) == {("live", 10, "large"): 1}
    sources = await migrated.query("SELECT source, answers FROM source_hours FINAL WHERE answers > 0")
    assert sources.result_rows == [("Book", 1)]
    worst = await migrated.query("SELECT answer_id FROM worst_hours FINAL WHERE answer_id != ''")
    assert worst.result_rows == []


async def test_a_repeat_fills_the_facts_that_the_first_insert_missed(
    store: AnalyticsStore, migrated: AsyncClient, settings: Settings
) -> None:
    """The raw rows are there and known by their token, and the facts are not: a crash in between."""
    rows = [answer("a"), answer("b")]
    await store.insert("answers", rows)
    await migrated.command("TRUNCATE TABLE answer_facts")
    await store.insert("answers", rows)
    assert await migrated.command("SELECT count() FROM answers") == 2, "the token was not recognised"
    assert await migrated.command("SELECT count() FROM answer_facts FINAL") == 2


@pytest.mark.parametrize("seed", range(3))
async def test_in_any_order_with_repeats_and_refreshes_in_between_each_answer_counts_once(
    store: AnalyticsStore, migrated: AsyncClient, settings: Settings, seed: int
) -> None:
    chooser = random.Random(seed)
    rows = [
        answer(f"a-{number}", chooser.choice((9, 10, 23)), rank=rank, run=run, model_id=f"m-{rank}")
        for number in range(12)
        for run in ("live", "replay-1")
        for rank in chooser.sample((1, 2, 4), chooser.randint(1, 3))
    ]
    # The hour is the answer's, whichever result comes.
    hours = {row["answer_id"]: row["completed_at"] for row in rows}
    rows = [row | {"completed_at": hours[row["answer_id"]]} for row in rows]
    best = {}
    for row in sorted(rows, key=lambda row: row["rank"]):
        best[row["answer_id"], row["run"]] = row
    expected = Counter((row["run"], int(row["completed_at"][11:13]), row["model_id"]) for row in best.values())
    arrivals = chooser.sample(rows, len(rows)) + chooser.sample(rows, len(rows) // 2)
    for start in range(0, len(arrivals), 9):
        await store.insert("answers", arrivals[start : start + 9])
        if chooser.random() < 0.4:
            await refresh_rollups(migrated, settings.clickhouse.database)
    assert await by_model(migrated, settings) == expected


def revision(answer_id: str, at: str, evaluated: int, **changes: Any) -> dict[str, Any]:
    """An answer as it came for the n-th time, with the completion time that it had then."""
    return answer(answer_id) | {"completed_at": at, "enriched_at": f"2026-11-05T10:00:{evaluated:02}Z"} | changes


MOVES = {
    "another hour of the day": ("2026-11-02T09:10:00Z", "2026-11-02T11:20:00Z"),
    "another day": ("2026-11-02T09:10:00Z", "2026-11-04T09:10:00Z"),
    "another year": ("2026-11-02T09:10:00Z", "2025-11-02T09:10:00Z"),
}


ORDERS = {"in order": (0, 1), "late": (1, 0), "repeated": (0, 1, 0)}


async def test_an_answer_that_comes_again_with_another_hour_counts_in_the_hour_of_its_newest_revision(
    store: AnalyticsStore, migrated: AsyncClient, settings: Settings
) -> None:
    """Whatever arrives first, with a refresh after each arrival: both hours are right in every figure."""
    named = {"source_names": ["Wiki"], "source_citations": [1], "source_supported": [1]}
    named |= {"source_contradicted": [0], "source_unsupported": [0], "latency_seconds": 1.0, "grounding_score": 0.4}
    chosen = [(f"{move} {order}", MOVES[move], ORDERS[order]) for move in MOVES for order in ORDERS]
    for arrival in range(3):
        rows = [
            revision(name, times[order[arrival]], order[arrival], **named)
            for name, times, order in chosen
            if arrival < len(order)
        ]
        await store.insert("answers", rows)
        await refresh_rollups(migrated, settings.clickhouse.database)
    expected = Counter(times[1][:13].replace("T", " ") + ":00:00" for _, times, _ in chosen)
    for table, counted, condition in (
        ("answer_hours", "sum(answers)", "1"), ("source_hours", "sum(answers)", "source = 'Wiki'"),
        ("stage_hours", "sum(answers)", "stage = 'model'"), ("worst_hours", "count()", "answer_id != ''"),
    ):  # fmt: skip
        found = await migrated.query(
            f"SELECT toString(hour), {counted} AS n FROM {table} FINAL WHERE {condition} AND run = 'live' "
            "GROUP BY hour HAVING n > 0"
        )
        assert dict(found.result_rows) == expected, table
    answers = AnswerStore(store, settings.clickhouse.database)
    listed = await answers.listed(AnswerFilter(), 50)
    assert sorted(row["answer_id"] for row in listed) == sorted(name for name, _, _ in chosen)
    assert await answers.count(AnswerFilter()) == len(chosen)
    for name, times, _ in chosen:
        if times[0][:10] != times[1][:10]:
            found_answer = await answers.answer([], name)
            assert found_answer is not None
            assert found_answer.answer["completed_at"] == datetime.fromisoformat(times[1])
    overview = OverviewStore(store, settings.clickhouse.database)
    evaluated = datetime(2026, 11, 5, tzinfo=UTC), datetime(2026, 11, 6, tzinfo=UTC)
    assert (await overview.overview([], *evaluated, {})).totals["answers"] == len(chosen)


async def test_an_answer_that_moves_back_counts_where_it_was_first_and_a_degraded_one_stays_away(
    store: AnalyticsStore, migrated: AsyncClient, settings: Settings
) -> None:
    for number, (hour, rank, expected) in enumerate(((9, 4, 9), (11, 4, 11), (9, 4, 9), (12, 2, 9))):
        await store.insert("answers", [revision("a", f"2026-11-02T{hour:02}:10:00Z", number, rank=rank)])
        assert await by_model(migrated, settings) == {("live", expected, ROW["model_id"]): 1}


async def test_two_writers_at_once_leave_each_answer_in_one_hour(
    store: AnalyticsStore, migrated: AsyncClient, settings: Settings, addresses: Addresses
) -> None:
    """Neither insert sees the rows of the other one."""
    other = await connect(settings.clickhouse, addresses.clickhouse)
    try:
        second = AnalyticsStore(other, settings.clickhouse.database)
        other.database = settings.clickhouse.database
        names = [f"a-{number}" for number in range(20)]
        first = [revision(name, "2026-11-02T09:10:00Z", 0) for name in names]
        later = [revision(name, "2026-11-03T11:10:00Z", 1) for name in names]
        for start in range(0, len(names), 5):
            await asyncio.gather(
                second.insert("answers", later[start : start + 5]), store.insert("answers", first[start : start + 5]),
                refresh_rollups(migrated, settings.clickhouse.database),
            )  # fmt: skip
    finally:
        other.database = None
        await other.close()
    assert await by_model(migrated, settings) == {("live", 11, ROW["model_id"]): len(names)}


async def test_each_run_and_tenant_has_hours_of_its_own(
    store: AnalyticsStore, migrated: AsyncClient, settings: Settings
) -> None:
    """The answer of a replay or of another tenant does not move the live one."""
    await store.insert("answers", [
        revision("a", "2026-11-02T09:10:00Z", 0), revision("a", "2026-11-02T11:10:00Z", 1, run="replay-1"),
        revision("a", "2026-11-02T12:10:00Z", 2, tenant="other"),
    ])  # fmt: skip
    model = ROW["model_id"]
    assert await by_model(migrated, settings) == {
        ("live", 9, model): 1,
        ("live", 12, model): 1,
        ("replay-1", 11, model): 1,
    }


async def test_a_promoted_replay_has_the_hour_to_which_its_answer_has_moved(
    store: AnalyticsStore, migrated: AsyncClient, settings: Settings
) -> None:
    """The replay has read both records of the answer, as the live run has."""
    for number, hour in enumerate((9, 11)):
        rows = [revision("a", f"2026-11-02T{hour:02}:10:00Z", number, run=run) for run in ("live", "replay-1")]
        await store.insert("answers", rows)
    await RunStore(store, settings.clickhouse.database).set_promoted(
        "replay-1", True, datetime(2026, 11, 6, tzinfo=UTC)
    )
    promoted = await migrated.query("SELECT toHour(hour), run FROM promoted_hours")
    assert promoted.result_rows == [(11, "replay-1")]


async def test_answers_that_had_moved_before_the_schema_knew_of_it_count_once_after_the_migration(
    client: AsyncClient, settings: Settings
) -> None:
    database = settings.clickhouse.database
    migrations = read_migrations()
    await migrate(client, database, [migration for migration in migrations if migration.version <= 23])
    store = AnalyticsStore(client, database)
    for hour in (9, 11):
        await store.insert(
            "answers", [revision("a", f"2026-11-02T{hour:02}:10:00Z", hour), revision("b", "2026-11-02T09:10:00Z", 0)]
        )
    await client.command(f"SYSTEM REFRESH VIEW {database}.answer_hours_refresh")
    await client.command(f"SYSTEM WAIT VIEW {database}.answer_hours_refresh")
    counted = "SELECT sum(answers) FROM answer_hours FINAL"
    assert await client.command(counted) == 3, "nothing was counted twice before"
    await migrate(client, database)
    model = ROW["model_id"]
    assert await by_model(client, settings) == {("live", 9, model): 1, ("live", 11, model): 1}
    # A worker of the version before inserts into the same tables.
    await store.insert("answers", [revision("b", "2026-11-02T13:10:00Z", 30)])
    assert await by_model(client, settings) == {("live", 11, model): 1, ("live", 13, model): 1}


async def test_a_reward_that_moves_is_taken_out_of_where_it_was(
    store: AnalyticsStore, migrated: AsyncClient, settings: Settings
) -> None:
    """Feedback came before its answer, under no tenant's name; the later revision arrives first or last."""
    common = {"reward_id": "r", "answer_id": "a", "error_occurred": False, "retry_detected": False}
    early = common | {
        "tenant": "default", "model_id": "unknown", "reward": 0.4, "revision": 1,
        "answered_at": "2026-11-02T13:00:00Z", "computed_at": "2026-11-02T14:00:00Z", "elsewhere": [],
    }  # fmt: skip
    late = early | {
        "tenant": "acme", "model_id": "small", "reward": 0.9, "revision": 2, "answered_at": "2026-11-02T10:05:00Z",
        "elsewhere": [{"tenant": "default", "answered_at": "2026-11-02T13:00:00Z"}],
    }  # fmt: skip
    figures = (
        "SELECT tenant, sum(answers), sum(reward_sum) FROM reward_hours FINAL GROUP BY tenant HAVING sum(answers) > 0"
    )
    for rows in ([early], [late], [early]):
        await store.insert("rewards", rows)
        await refresh_rollups(migrated, settings.clickhouse.database)
    assert (await migrated.query(figures)).result_rows == [("acme", 1, 0.9)]


async def test_what_was_there_before_the_facts_has_facts(client: AsyncClient, settings: Settings) -> None:
    """A database of an earlier version is brought up to date with its rows."""
    database = settings.clickhouse.database
    migrations = read_migrations()
    await migrate(client, database, [migration for migration in migrations if migration.version <= 3])
    old = [{name: value for name, value in answer(f"a-{n}").items() if name not in NEW_COLUMNS} for n in range(5)]
    await AnalyticsStore(client, database).insert("answers", old)
    await migrate(client, database)
    assert sum((await by_model(client, settings)).values()) == 5
    assert await client.command("SELECT count() FROM answers FINAL") == 5


async def test_figures_are_refreshed_without_anybody_asking(store: AnalyticsStore, migrated: AsyncClient) -> None:
    """ClickHouse does it each minute; that the views are scheduled is enough to know here."""
    rows = await migrated.query(
        "SELECT view, exception FROM system.view_refreshes WHERE database = currentDatabase() ORDER BY view"
    )
    assert rows.result_rows == [(name, "") for name in sorted([*REFRESHED, REFRESH])]
