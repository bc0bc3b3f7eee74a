"""Facts and figures by the hour: right whatever is repeated, late, moved or refreshed in between."""

import random
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import pytest
from clickhouse_connect.driver.asyncclient import AsyncClient

from schemas.export import example
from schemas.feedback import AnalyticsRow
from tests.harness.migrated import make_tables
from workers.settings import Settings
from workers.settings.addresses import Addresses
from workers.stores.clickhouse.analytics_store import AnalyticsStore, connect
from workers.stores.clickhouse.migrations import migrate, read_migrations
from workers.stores.clickhouse.rollups import REFRESHED, refresh_rollups
from workers.stores.queries.run_queries import REFRESH

ROW: dict[str, Any] = AnalyticsRow.model_validate(example(AnalyticsRow)).columns
NEW_COLUMNS = {
    "validation_score", "citations_total", "invalid_references", "source_names", "source_citations", "source_supported",
    "source_contradicted", "source_unsupported",
}  # fmt: skip


def answer(answer_id: str, hour: int = 10, **changes: Any) -> dict[str, Any]:
    return ROW | {"answer_id": answer_id, "rank": 4, "completed_at": f"2026-11-02T{hour:02}:20:00Z"} | changes


@pytest.fixture
async def client(settings: Settings, addresses: Addresses) -> AsyncIterator[AsyncClient]:
    opened = await connect(settings.clickhouse, addresses.clickhouse)
    await opened.command(f"CREATE DATABASE {settings.clickhouse.database}")
    opened.database = settings.clickhouse.database
    yield opened
    opened.database = None
    await opened.command(f"DROP DATABASE IF EXISTS {settings.clickhouse.database}")
    await opened.close()


@pytest.fixture
async def store(client: AsyncClient, settings: Settings) -> AnalyticsStore:
    await make_tables(client, settings.clickhouse.database)
    return AnalyticsStore(client, settings.clickhouse.database)


async def by_model(client: AsyncClient, settings: Settings) -> dict[Any, int]:
    await refresh_rollups(client, settings.clickhouse.database)
    sql = "SELECT run, hour, model_id, sum(answers) FROM answer_hours FINAL GROUP BY ALL HAVING sum(answers) > 0"
    return {(run, hour.hour, model): count for run, hour, model, count in (await client.query(sql)).result_rows}


async def test_an_answer_that_comes_again_as_another_models_is_counted_once_where_it_is_now(
    store: AnalyticsStore, client: AsyncClient, settings: Settings
) -> None:
    named = {"source_names": ["Wiki"], "source_citations": [1], "source_supported": [1]}
    zero = {"source_contradicted": [0], "source_unsupported": [0]}
    await store.insert("answers", [answer("a", model_id="small", grounding_score=0.5) | named | zero])
    assert await by_model(client, settings) == {("live", 10, "small"): 1}
    await store.insert(
        "answers", [answer("a", model_id="large", grounding_score=None) | named | zero | {"source_names": ["Book"]}]
    )
    assert await by_model(client, settings) == {("live", 10, "large"): 1}
    sources = await client.query("SELECT source, answers FROM source_hours FINAL WHERE answers > 0")
    assert sources.result_rows == [("Book", 1)]
    worst = await client.query("SELECT answer_id FROM worst_hours FINAL WHERE answer_id != ''")
    assert worst.result_rows == []


async def test_a_repeat_fills_the_facts_that_the_first_insert_missed(
    store: AnalyticsStore, client: AsyncClient, settings: Settings
) -> None:
    """The raw rows are there and known by their token, and the facts are not: a crash in between."""
    rows = [answer("a"), answer("b")]
    await store.insert("answers", rows)
    await client.command("TRUNCATE TABLE answer_facts")
    await store.insert("answers", rows)
    assert await client.command("SELECT count() FROM answers") == 2, "the token was not recognised"
    assert await client.command("SELECT count() FROM answer_facts FINAL") == 2


@pytest.mark.parametrize("seed", range(3))
async def test_in_any_order_with_repeats_and_refreshes_in_between_each_answer_counts_once(
    store: AnalyticsStore, client: AsyncClient, settings: Settings, seed: int
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
            await refresh_rollups(client, settings.clickhouse.database)
    assert await by_model(client, settings) == expected


async def test_a_reward_that_moves_is_taken_out_of_where_it_was(
    store: AnalyticsStore, client: AsyncClient, settings: Settings
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
        await refresh_rollups(client, settings.clickhouse.database)
    assert (await client.query(figures)).result_rows == [("acme", 1, 0.9)]


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


async def test_figures_are_refreshed_without_anybody_asking(store: AnalyticsStore, client: AsyncClient) -> None:
    """ClickHouse does it each minute; that the views are scheduled is enough to know here."""
    rows = await client.query(
        "SELECT view, exception FROM system.view_refreshes WHERE database = currentDatabase() ORDER BY view"
    )
    assert rows.result_rows == [(name, "") for name in sorted([*REFRESHED, REFRESH])]
