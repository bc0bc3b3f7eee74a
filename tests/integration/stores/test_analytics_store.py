"""ClickHouse: confirmed inserts that may be repeated, the best result wins, and a schema that only grows."""

import asyncio
import base64
import random
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from clickhouse_connect.driver.asyncclient import AsyncClient

from schemas.export import example
from schemas.feedback import AnalyticsRow
from tests.harness.migrated import make_tables
from tests.harness.tcp_servers import TcpServer, never_answer
from workers.errors import RejectedByStore, StoreUnavailable
from workers.local.services import LocalServices
from workers.settings import ClickHouseSettings, Settings
from workers.settings.addresses import Addresses
from workers.stores.clickhouse.analytics_store import AnalyticsStore, connect
from workers.stores.clickhouse.migrations import MigrationError, migrate, read_migrations
from workers.stores.clickhouse.retention import FIGURES

ROW: dict[str, Any] = AnalyticsRow.model_validate(example(AnalyticsRow)).columns


def answer(answer_id: str = "a-1", *, rank: int = 4, **changes: Any) -> dict[str, Any]:
    return ROW | {"answer_id": answer_id, "rank": rank, "degraded": rank < 4} | changes


@pytest.fixture
def client(empty_database: AsyncClient) -> AsyncClient:
    return empty_database


@pytest.fixture
def store(analytics: AnalyticsStore) -> AnalyticsStore:
    return analytics


async def stored(client: AsyncClient, database: str, columns: str, table: str = "answers") -> list[Any]:
    result = await client.query(f"SELECT {columns} FROM {database}.{table} FINAL ORDER BY ALL")
    return [row[0] if len(row) == 1 else tuple(row) for row in result.result_rows]


# --- rows -----------------------------------------------------------------------------------


async def test_the_most_complete_result_wins_in_any_order(
    store: AnalyticsStore, migrated_client: AsyncClient, database: str
) -> None:
    """A degraded result after a complete one does not win, and a complete one after it does."""
    orders = list(permutations((1, 2, 4)))
    for place in range(3):
        for number, order in enumerate(orders):
            rank = order[place]
            await store.insert("answers", [answer(f"a-{number}", rank=rank, state=f"state-{rank}")])
    found = await stored(migrated_client, database, "answer_id, rank, state, degraded")
    assert found == [(f"a-{number}", 4, "state-4", False) for number in range(len(orders))]


async def test_of_two_versions_the_later_of_the_same_rank_wins(
    store: AnalyticsStore, migrated_client: AsyncClient, database: str
) -> None:
    """A rolling deployment doubles nothing: the version is no part of the key."""
    for version in ("2026.11.1-aaaaaaaa", "2026.12.1-bbbbbbbb"):
        await store.insert("answers", [answer(pipeline_version=version)])
    assert await stored(migrated_client, database, "pipeline_version") == ["2026.12.1-bbbbbbbb"]


async def test_a_replay_stands_beside_the_live_result(
    store: AnalyticsStore, migrated_client: AsyncClient, database: str
) -> None:
    await store.insert("answers", [answer(), answer(run="replay-7")])
    assert await stored(migrated_client, database, "run") == ["live", "replay-7"]


async def test_the_same_rows_are_one_insert_however_often_they_come(
    store: AnalyticsStore, migrated_client: AsyncClient, database: str
) -> None:
    """Also without FINAL: the token lets ClickHouse forget what it has already taken."""
    rows = [answer(f"a-{number}") for number in range(50)]
    for _ in range(3):
        await store.insert("answers", rows)
    assert await migrated_client.command(f"SELECT count() FROM {database}.answers") == 50
    random.Random(7).shuffle(rows)
    await store.insert("answers", rows[:20])
    assert len(await stored(migrated_client, database, "answer_id")) == 50


async def test_inserts_at_once_are_all_there(
    store: AnalyticsStore, migrated_client: AsyncClient, database: str
) -> None:
    await asyncio.gather(*(store.insert("answers", [answer(f"{batch}-{n}") for n in range(20)]) for batch in range(10)))
    assert len(await stored(migrated_client, database, "answer_id")) == 200


async def test_a_backlog_over_many_months_is_one_insert(
    store: AnalyticsStore, migrated_client: AsyncClient, database: str
) -> None:
    """More than a hundred partitions, which ClickHouse refuses by default; waiting would never end."""
    months = [f"{2000 + number // 12}-{number % 12 + 1:02}-15T00:00:00Z" for number in range(150)]
    await store.insert("answers", [answer(f"a-{when}", completed_at=when) for when in months])
    assert len(await stored(migrated_client, database, "answer_id")) == 150


async def test_no_rows_are_no_insert(store: AnalyticsStore, migrated_client: AsyncClient, database: str) -> None:
    await store.insert("answers", [])
    assert await stored(migrated_client, database, "answer_id") == []


async def test_times_lists_nulls_and_texts_come_back(
    store: AnalyticsStore, migrated_client: AsyncClient, database: str
) -> None:
    text = "Größe „2 GiB“ 👩‍👩‍👧‍👦\n\ttab \\ ' \" \u2028 \x00 ; -- {x:String}"
    await store.insert(
        "answers",
        [
            answer(
                "full", answer=text, reasons=["a", "b,c", "d'e"], signals=[], requested_at="2026-11-02T09:14:03.123+01:00",
                completed_at="2026-11-02T08:14:06.999999+00:00", grounding_score=1 / 3, citations_valid=True,
            ),
            answer("none", requested_at=None, grounding_score=None, hallucination_risk=None, citations_valid=None),
        ],
    )  # fmt: skip
    columns = "answer_id, answer, reasons, signals, requested_at, completed_at, grounding_score, citations_valid"
    full, none = await stored(migrated_client, database, columns)
    assert full[1:4] == (text, ["a", "b,c", "d'e"], [])
    assert full[4].isoformat(timespec="milliseconds") == "2026-11-02T08:14:03.123"
    assert full[5].isoformat(timespec="milliseconds") == "2026-11-02T08:14:06.999"
    assert full[6:] == (1 / 3, True)
    assert none[4] is None
    assert none[6:] == (None, None)


async def test_a_large_batch_fits(store: AnalyticsStore, migrated_client: AsyncClient, database: str) -> None:
    await store.insert("answers", [answer(f"a-{n}", answer="x" * 20_000) for n in range(500)])
    assert await migrated_client.command(f"SELECT sum(length(answer)) FROM {database}.answers FINAL") == 10_000_000


@pytest.mark.parametrize(
    ("table", "wrong"),
    [
        ("answers", {"no_such_column": 1}),
        ("answers", {"rank": "four"}),
        ("answers", {"rank": -1}),
        ("answers", {"rank": 2**70}),
        ("answers", {"completed_at": "yesterday"}),
        ("answers", {"grounding_score": "high"}),
        ("answers", {"reasons": "no list"}),
        ("answers", {"reasons": {"a": 1}}),
        ("answers", {"claims_total": 2**64}),
        ("no_such_table", {}),
    ],
    ids=str,
)
async def test_what_never_fits_is_rejected_without_its_values(
    store: AnalyticsStore, migrated_client: AsyncClient, database: str, table: str, wrong: dict[str, Any]
) -> None:
    with pytest.raises(RejectedByStore) as caught:
        await store.insert(table, [answer(), answer("a-2") | wrong])
    assert table in str(caught.value)
    if wrong == {"claims_total": 2**64}:
        assert "claims_total" in str(caught.value) and "64 bits" in str(caught.value)
    assert "yesterday" not in str(caught.value)
    assert await stored(migrated_client, database, "answer_id") == [], "a rejected insert leaves nothing behind"


async def test_what_the_table_itself_refuses_is_not_confirmed(
    store: AnalyticsStore, migrated_client: AsyncClient, database: str
) -> None:
    """Parsed and then refused by the storage: success here would lose the rows for good."""
    await migrated_client.command(f"ALTER TABLE {database}.answers ADD CONSTRAINT small CHECK rank < 3")
    with pytest.raises((RejectedByStore, StoreUnavailable)):
        await store.insert("answers", [answer()])


async def test_after_a_rejection_the_next_insert_works(
    store: AnalyticsStore, migrated_client: AsyncClient, database: str
) -> None:
    with pytest.raises(RejectedByStore):
        await store.insert("answers", [answer(completed_at="never")])
    await store.insert("answers", [answer()])
    assert await stored(migrated_client, database, "answer_id") == ["a-1"]


# --- the server is away ----------------------------------------------------------------------


async def test_a_server_that_goes_away_is_unavailable_and_comes_back(tmp_path: Path) -> None:
    settings = ClickHouseSettings(database="x")
    services = LocalServices(tmp_path, kafka=False, redis=False)
    found = await services.start()
    assert found.clickhouse_url
    client = await connect(settings, found.clickhouse_url)
    try:
        await make_tables(client, "x", refreshed=False)
        store = AnalyticsStore(client, "x")
        await store.insert("answers", [answer("before")])
        await services.stop()
        with pytest.raises(StoreUnavailable) as caught:
            await store.insert("answers", [answer("during")])
        assert "answers" in str(caught.value)
    finally:
        await client.close()
        await services.stop()


async def test_a_server_that_never_replies_is_unavailable_in_time(store: AnalyticsStore, settings: Settings) -> None:
    """A timeout below a second is one, and not none."""
    short = settings.clickhouse.model_copy(update={"timeout_seconds": 0.4})
    async with TcpServer(never_answer) as server, asyncio.timeout(120):
        with pytest.raises(StoreUnavailable, match=f"127.0.0.1:{server.port}.*CLICKHOUSE_URL"):
            await connect(short, f"http://127.0.0.1:{server.port}")


@pytest.mark.parametrize(
    "url", ["clickhouse:8123", "127.0.0.1:8123", "ftp://user:hunter2@host", "http://", "http://user:hunter2@h:x", ""]
)
async def test_an_address_that_is_no_url_is_told_without_its_password(url: str) -> None:
    with pytest.raises(StoreUnavailable, match=r"http\(s\)://host:port") as caught:
        await connect(ClickHouseSettings(), url)
    assert "hunter2" not in str(caught.value)


async def test_nobody_at_the_address_is_told() -> None:
    with pytest.raises(StoreUnavailable, match=r"127\.0\.0\.1:1.*CLICKHOUSE_URL"):
        await connect(ClickHouseSettings(), "http://default:hunter2@127.0.0.1:1")


# --- the schema ------------------------------------------------------------------------------


async def test_a_fresh_schema_has_every_table_and_is_made_once(client: AsyncClient, database: str) -> None:
    names = [migration.name for migration in read_migrations()]
    assert await migrate(client, database) == names
    assert await migrate(client, database) == []
    tables = await client.query(f"SHOW TABLES FROM {database}")
    assert {row[0] for row in tables.result_rows} >= {
        "answers", "claims", "citations", "reviews", "alerts", "dead_letters", "schema_migrations",
    }  # fmt: skip


async def test_every_table_keeps_the_highest_of_its_versions_and_remembers_inserts(
    store: AnalyticsStore, migrated_client: AsyncClient, database: str
) -> None:
    engines = await migrated_client.query(
        f"SELECT name, engine_full FROM system.tables WHERE database = '{database}' AND name != 'schema_migrations' "
        "AND engine NOT LIKE '%View' AND NOT startsWith(name, '.tmp')"
    )
    for name, engine in engines.result_rows:
        if name == "promoted_hours":
            continue  # made anew as a whole each minute
        # The minimum and the maximum of times do not change with a repeat.
        assert engine.startswith("AggregatingMergeTree" if name == "version_days" else "ReplacingMergeTree"), name
        # Facts and figures are filled by views, and replace what comes twice.
        assert (name not in FIGURES) == ("non_replicated_deduplication_window" in engine), name


async def test_two_that_migrate_at_once_agree(settings: Settings, addresses: Addresses, client: AsyncClient) -> None:
    database = settings.clickhouse.database
    others = [await connect(settings.clickhouse, addresses.clickhouse) for _ in range(2)]
    try:
        await asyncio.gather(*(migrate(other, database) for other in others))
    finally:
        for other in others:
            await other.close()
    assert await migrate(client, database) == []
    versions = await stored(client, database, "version", "schema_migrations")
    assert versions == [migration.version for migration in read_migrations()]


async def test_a_run_that_was_cut_off_is_simply_repeated(client: AsyncClient, database: str) -> None:
    first, *_ = migrations = read_migrations()[:4]
    broken = replace(first, statements=(*first.statements[:2], "CREATE TABLE {database}.x (this is no SQL"))
    with pytest.raises(MigrationError, match=f"(?is){database}.*syntax"):
        await migrate(client, database, [broken])
    assert await migrate(client, database, migrations) == [migration.name for migration in migrations]


async def test_a_changed_file_is_refused_by_name(client: AsyncClient, database: str) -> None:
    first, *rest = read_migrations()[:3]
    await migrate(client, database, [first, *rest])
    with pytest.raises(MigrationError, match=f"{first.name} was changed.*put the change into a new migration"):
        await migrate(client, database, [replace(first, digest="0" * 64), *rest])


def test_two_files_with_one_number_are_refused(tmp_path: Path) -> None:
    for name in ("0001_a.sql", "0001_b.sql"):
        (tmp_path / name).write_text("SELECT 1;\n")
    with pytest.raises(MigrationError, match="renumber"):
        read_migrations(tmp_path)
    (tmp_path / "0001_b.sql").rename(tmp_path / "b.sql")
    with pytest.raises(MigrationError, match=r"b\.sql must begin with a number"):
        read_migrations(tmp_path)


def test_comments_and_the_last_semicolon_are_no_statements(tmp_path: Path) -> None:
    (tmp_path / "0001_a.sql").write_text("-- one; two;\nSELECT 1;\n\n-- three\nSELECT ';'\n  , 2;\n-- end\n")
    (migration,) = read_migrations(tmp_path)
    assert migration.statements == ("SELECT 1", "SELECT ';'\n  , 2")


async def test_a_dead_letter_keeps_its_bytes(
    store: AnalyticsStore, migrated_client: AsyncClient, database: str
) -> None:
    value = base64.b64encode(bytes(range(256))).decode()
    await store.insert(
        "dead_letters",
        [
            {
                "dead_letter_id": "d", "topic": "answers.generated", "partition": 2, "offset": 2**40, "agent": "assembly",
                "error_class": "X", "error": "e", "attempts": 1, "failed_at": "2026-11-02T08:00:00Z",
                "pipeline_version": "v", "value_base64": value, "key_base64": "", "headers": "[]",
            }
        ],
    )  # fmt: skip
    assert await stored(migrated_client, database, "offset, value_base64", "dead_letters") == [(2**40, value)]
