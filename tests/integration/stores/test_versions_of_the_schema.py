"""Two versions of Touchstone on one schema: the older one goes on, unless a migration excludes it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from clickhouse_connect.driver.asyncclient import AsyncClient
from structlog.testing import capture_logs

from schemas.export import example
from schemas.feedback import AnalyticsRow
from workers.errors import RejectedByStore
from workers.services.openers import open_clickhouse
from workers.settings import Settings
from workers.settings.addresses import Addresses
from workers.stores.clickhouse import migrations as migrations_module
from workers.stores.clickhouse.analytics_store import AnalyticsStore
from workers.stores.clickhouse.migrations import (
    Migration,
    MigrationError,
    applied_migrations,
    migrate,
    read_migrations,
    remake,
)
from workers.stores.queries.answer_queries import AnswerStore

ROW: dict[str, Any] = AnalyticsRow.model_validate(example(AnalyticsRow)).columns
KNOWN = read_migrations()
OWN = KNOWN[-1].version
REGISTERED = [replace(KNOWN[-1], statements=())]
"""The migrations where only the register matters: the whole schema takes seconds."""
EXPAND = Migration(
    OWN + 1,
    "9001_expand.sql",
    ("ALTER TABLE {database}.answers ADD COLUMN IF NOT EXISTS tone LowCardinality(String) DEFAULT 'plain'",),
    "e" * 64,
    OWN,
)
CONTRACT = Migration(
    OWN + 2,
    "9002_contract.sql",
    ("ALTER TABLE {database}.answers DROP COLUMN IF EXISTS session_id",),
    "c" * 64,
    OWN + 2,
)


@pytest.fixture
def client(empty_database: AsyncClient) -> AsyncClient:
    return empty_database


async def test_an_older_worker_starts_on_an_expanded_schema_and_both_versions_write_and_read(
    client: AsyncClient, settings: Settings, addresses: Addresses, database: str
) -> None:
    await migrate(client, database)
    assert await migrate(client, database, [*KNOWN, EXPAND]) == [EXPAND.name]
    newer = AnalyticsStore(client, database)
    with capture_logs() as lines:
        async with open_clickhouse(settings, addresses.clickhouse) as older:
            # Rows of the newer version also reach an older worker, because both read one topic.
            await newer.insert("answers", [ROW | {"answer_id": "of-newer", "tone": "warm"}])
            await older.insert("answers", [ROW | {"answer_id": "of-older"}])
            await older.insert("answers", [ROW | {"answer_id": "passed-on", "tone": "cool"}])
            for name in ("of-newer", "of-older", "passed-on"):
                assert await AnswerStore(older, database).answer([ROW["tenant"]], name) is not None
    (line,) = [each for each in lines if each["event"] == "newer_schema_accepted"]
    assert (line["schema"], line["supported"]) == (EXPAND.version, OWN)
    found = await client.query(f"SELECT answer_id, tone FROM {database}.answers FINAL ORDER BY answer_id")
    assert found.result_rows == [("of-newer", "warm"), ("of-older", "plain"), ("passed-on", "cool")]


async def test_an_older_worker_refuses_a_contracted_schema_and_a_newer_one_runs(
    client: AsyncClient, settings: Settings, addresses: Addresses, database: str
) -> None:
    await migrate(client, database, [*KNOWN, EXPAND, CONTRACT])
    with pytest.raises(
        MigrationError, match=rf"9002_contract\.sql allows no worker before {OWN + 2}.*upgrade the work"
    ):
        async with open_clickhouse(settings, addresses.clickhouse):
            pass
    # The reason for the refusal: rows of the older version have no place there.
    store = AnalyticsStore(client, database)
    with pytest.raises(RejectedByStore):
        await store.insert("answers", [ROW | {"answer_id": "of-older"}])
    row = {name: value for name, value in ROW.items() if name != "session_id"}
    await store.insert("answers", [row | {"answer_id": "of-newer", "tone": "warm"}])
    assert await migrate(client, database, [*KNOWN, EXPAND, CONTRACT]) == []


async def test_a_newer_worker_migrates_an_older_schema_while_an_older_worker_writes(
    client: AsyncClient, settings: Settings, addresses: Addresses, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_clickhouse(settings, addresses.clickhouse) as older:
        await older.insert("answers", [ROW | {"answer_id": "before"}])
        monkeypatch.setattr(migrations_module, "read_migrations", lambda: [*KNOWN, EXPAND])
        async with open_clickhouse(settings, addresses.clickhouse) as newer:
            await older.insert("answers", [ROW | {"answer_id": "meanwhile"}])
            await newer.insert("answers", [ROW | {"answer_id": "newer", "tone": "warm"}])
    found = await client.query(f"SELECT answer_id, tone FROM {database}.answers FINAL ORDER BY answer_id")
    assert found.result_rows == [("before", "plain"), ("meanwhile", "plain"), ("newer", "warm")]


async def test_a_later_expanding_migration_does_not_readmit_an_excluded_worker(
    client: AsyncClient, database: str
) -> None:
    breaking = replace(EXPAND, statements=(), oldest_worker=EXPAND.version)
    expanding = replace(CONTRACT, statements=(), oldest_worker=EXPAND.version)
    await migrate(client, database, [*REGISTERED, breaking, expanding])
    with pytest.raises(MigrationError, match="9001_expand"):
        await migrate(client, database, REGISTERED)
    assert await migrate(client, database, [*REGISTERED, breaking]) == []


async def test_a_register_of_an_earlier_version_is_read_and_gets_its_column(client: AsyncClient, database: str) -> None:
    await migrate(client, database, REGISTERED)
    await client.command(f"ALTER TABLE {database}.schema_migrations DROP COLUMN oldest_worker")
    assert await migrate(client, database, REGISTERED) == []
    assert (await applied_migrations(client, database))[OWN].oldest_worker == OWN
    await migrate(client, database, [*REGISTERED, replace(EXPAND, statements=(), oldest_worker=OWN - 1)])
    applied = await applied_migrations(client, database)
    assert (applied[OWN].oldest_worker, applied[EXPAND.version].oldest_worker) == (OWN, OWN - 1)


async def test_an_older_worker_does_not_create_tables_of_a_newer_schema_again(
    client: AsyncClient, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await migrate(client, database, [KNOWN[0], replace(EXPAND, oldest_worker=1)])
    await client.command(f"DROP TABLE {database}.answers SYNC")
    monkeypatch.setattr(migrations_module, "read_migrations", lambda: [KNOWN[0]])
    with pytest.raises(MigrationError, match=f"answers cannot be created again.*version {EXPAND.version}"):
        await remake(client, database)
    assert not await client.command(f"EXISTS TABLE {database}.answers")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT 1;\n", "must state the oldest worker"),
        ("-- Oldest worker: 20\nSELECT 1;\n", "later than itself"),
        ("-- Oldest worker: 18\nALTER TABLE {database}.answers DROP COLUMN model_id;\n", "contains DROP"),
        ("-- Oldest worker: 18\nALTER TABLE {database}.answers DELETE WHERE 1;\n", "contains DELETE WHERE"),
        ("-- Oldest worker: 18\nREKEY {database}.answers ORDER BY (tenant);\n", "contains REKEY"),
        ("-- Oldest worker: 18\nALTER TABLE {database}.a\n    modify  column b String;\n", "contains modify  column"),
    ],
)
def test_a_file_that_excludes_workers_without_saying_so_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "0019_a.sql").write_text(text)
    with pytest.raises(MigrationError, match=message):
        read_migrations(tmp_path)


def test_a_new_table_whose_rows_expire_takes_nothing_away(tmp_path: Path) -> None:
    created = "CREATE TABLE IF NOT EXISTS {database}.a (t DateTime) ENGINE = MergeTree ORDER BY t TTL t + INTERVAL 1 DAY DELETE"
    (tmp_path / "0019_a.sql").write_text(f"-- Oldest worker: 18\n{created};\n")
    assert [each.oldest_worker for each in read_migrations(tmp_path)] == [18]


def test_a_file_states_its_oldest_worker(tmp_path: Path) -> None:
    (tmp_path / "0019_a.sql").write_text("-- Adds.\n-- Oldest worker: 17\nSELECT 1;\n")
    (tmp_path / "0020_b.sql").write_text("-- Oldest worker: 20\nALTER TABLE {database}.a DROP COLUMN b;\n")
    assert [each.oldest_worker for each in read_migrations(tmp_path)] == [17, 20]
