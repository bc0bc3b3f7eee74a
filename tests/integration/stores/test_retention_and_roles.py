"""Retention as the settings say, and roles that fit the schema."""

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from clickhouse_connect.driver.asyncclient import AsyncClient

from schemas.answers import GeneratedAnswer
from schemas.base import UnreadableEvent
from schemas.export import example
from schemas.feedback import AnalyticsRow
from schemas.review import ReviewDecision
from workers.settings import RetentionSettings, Settings
from workers.settings.addresses import Addresses
from workers.stores.clickhouse.analytics_store import AnalyticsStore, connect
from workers.stores.clickhouse.clickhouse_roles import BY_TENANT, INSERTED, READ_BY_WORKERS, role_statements
from workers.stores.clickhouse.migrations import MigrationError, migrate
from workers.stores.clickhouse.retention import apply_retention, ttl_expressions
from workers.stores.clickhouse.rows.review_rows import closing_row, withdrawing_row
from workers.stores.queries.runs.replay_records import ReplayStore
from workers.stores.queries.runs.run_queries import RunStore
from workers.stores.tables.answer_tables import SourceRow

KEPT_FOR_EVER = {"replays", "promotions", "promoted_hours", "schema_migrations", "versions", "version_days"}


@pytest.fixture
def refreshed_figures() -> bool:
    return True


@pytest.fixture
def client(migrated_client: AsyncClient) -> AsyncClient:
    return migrated_client


async def tables(client: AsyncClient, database: str, condition: str = "1") -> set[str]:
    """Names of the tables; without those that a refresh fills before it puts them in the old ones' place."""
    sql = f"""
        SELECT name FROM system.tables
        WHERE database = {{database:String}} AND engine NOT LIKE '%View' AND name NOT LIKE '.tmp%' AND ({condition})
    """
    return {name for (name,) in (await client.query(sql, parameters={"database": database})).result_rows}


async def test_every_table_has_the_retention_of_the_settings_and_a_second_time_changes_nothing(
    client: AsyncClient, database: str
) -> None:
    settings = RetentionSettings()
    assert set(await apply_retention(client, database, settings)) == await tables(client, database) - KEPT_FOR_EVER
    assert await apply_retention(client, database, settings) == []
    assert await tables(client, database, "engine_full NOT LIKE '% TTL %'") == KEPT_FOR_EVER


async def test_rows_past_their_days_go_and_others_stay(client: AsyncClient, database: str) -> None:
    await client.command(
        f"INSERT INTO {database}.dead_letters (dead_letter_id, failed_at) VALUES "
        "('old', now() - toIntervalDay(31)), ('young', now() - toIntervalDay(29))"
    )
    await apply_retention(client, database, RetentionSettings())
    await client.command(f"OPTIMIZE TABLE {database}.dead_letters FINAL")
    kept = await client.query(f"SELECT dead_letter_id FROM {database}.dead_letters")
    assert kept.result_rows == [("young",)]


async def test_a_review_that_was_decided_does_not_become_open_again_by_its_retention(
    client: AsyncClient, settings: Settings
) -> None:
    """Its closing row alone is merged, as long as the request's is in another part."""
    database = settings.clickhouse.database
    decision = ReviewDecision.model_validate(example(ReviewDecision))
    withdrawn = decision.model_copy(update={"review_id": "withdrawn", "releasable": None})
    await apply_retention(client, database, RetentionSettings())
    rows = [closing_row(decision).columns, withdrawing_row(withdrawn).columns]
    await AnalyticsStore(client, database).insert("review_queue", rows)
    await client.command(f"OPTIMIZE TABLE {database}.review_queue FINAL")
    kept = await client.query(f"SELECT state FROM {database}.review_queue ORDER BY state")
    assert kept.result_rows == [("replaced",), ("withdrawn",)]


async def test_zero_days_keep_rows_for_ever(client: AsyncClient, database: str) -> None:
    assert ttl_expressions(RetentionSettings(answers=0))["answers"] == ""
    await apply_retention(client, database, RetentionSettings())
    assert await apply_retention(client, database, RetentionSettings(answers=0)) == [
        "answers",
        "scores",
        "answer_texts",
    ]
    assert "answers" in await tables(client, database, "engine_full NOT LIKE '% TTL %'")


async def test_a_refusal_is_told_without_a_traceback(client: AsyncClient, database: str) -> None:
    await client.command(f"ALTER TABLE {database}.insights RENAME COLUMN until TO till")
    with pytest.raises(MigrationError, match="retention"):
        await apply_retention(client, database, RetentionSettings())


async def test_a_table_that_was_dropped_is_named_with_the_command_that_restores_it(
    client: AsyncClient, database: str
) -> None:
    await client.command(f"DROP TABLE {database}.insights")
    with pytest.raises(MigrationError, match=r"lacks insights,.*touchstone rebuild clickhouse"):
        await apply_retention(client, database, RetentionSettings())


async def test_a_source_that_is_cited_again_is_kept_from_then_on(client: AsyncClient, database: str) -> None:
    """A repeat has the same bytes, and ClickHouse drops equal inserts of most tables."""
    store = AnalyticsStore(client, database)
    source = SourceRow(tenant="acme", source_digest="d", content="Loki needs 2 GiB.")
    await store.store([source])
    await client.command(
        f"ALTER TABLE {database}.sources UPDATE stored_at = now() - toIntervalDay(366) WHERE 1 SETTINGS mutations_sync = 2"
    )
    await store.store([source])
    await apply_retention(client, database, RetentionSettings())
    await client.command(f"OPTIMIZE TABLE {database}.sources FINAL")
    kept = await client.query(f"SELECT content, stored_at > now() - toIntervalHour(1) FROM {database}.sources")
    assert kept.result_rows == [("Loki needs 2 GiB.", 1)]


# --- roles -----------------------------------------------------------------------------------


async def test_every_statement_of_the_roles_is_one_that_clickhouse_reads(client: AsyncClient, database: str) -> None:
    """The local engine has no access control; that it parses them is what can be known here."""
    for statement in role_statements(database, ["acme", "o'brien `x`"]):
        await client.query(f"EXPLAIN AST {statement}")


async def test_policies_cover_every_table_with_a_tenant_and_readers_see_no_other(
    client: AsyncClient, database: str
) -> None:
    sql = "SELECT DISTINCT table FROM system.columns WHERE database = {database:String} AND name = 'tenant'"
    found = (await client.query(sql, parameters={"database": database})).result_rows
    of_tenants = {name for (name,) in found} & await tables(client, database)
    assert set(BY_TENANT) == of_tenants
    statements = role_statements(database, ["acme"])
    read = {
        line.split(f"{database}.")[1].split()[0]
        for line in statements
        if line.endswith("`touchstone_reader_acme`") and line.startswith("GRANT SELECT")
    }
    assert read == of_tenants
    policies = [line for line in statements if "USING tenant = 'acme' TO `touchstone_reader_acme`" in line]
    assert len(policies) == len(of_tenants)


async def test_a_writer_inserts_rows_and_defines_nothing(client: AsyncClient, database: str) -> None:
    granted = [line for line in role_statements(database) if line.endswith("TO touchstone_writer")]
    assert {line.split()[1] for line in granted if line.startswith("GRANT")} == {"INSERT", "SELECT"}
    assert set(INSERTED) | set(READ_BY_WORKERS) <= await tables(client, database)


async def test_the_promoter_may_do_each_statement_of_runs(
    client: AsyncClient, database: str, settings: Settings, addresses: Addresses, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The statements are noted on their way to the server; the local engine has no access control."""
    noted: list[str] = []
    analytics = AnalyticsStore(client, database)
    for name in ("query", "command"):
        run = getattr(client, name)

        async def note(statement: str, *args: Any, run: Any = run, **named: Any) -> Any:
            noted.append(statement)
            return await run(statement, *args, **named)

        monkeypatch.setattr(client, name, note)
    row = AnalyticsRow.model_validate(example(AnalyticsRow)).columns | {"run": "october"}
    await analytics.insert("answers", [row])
    runs, replays = RunStore(analytics, database), ReplayStore(analytics, database)
    await runs.set_promoted("october", True, datetime.now(UTC))
    assert [each.run for each in await runs.promoted()] == ["october"]
    await replays.all()
    assert (await runs.remove("october", datetime.now(UTC)))["answers"] == 1
    granted = [line for line in role_statements(database) if line.endswith("TO touchstone_promoter")]
    assert f"GRANT INSERT ON {database}.promotions TO touchstone_promoter" in granted
    assert f"GRANT SELECT ON {database}.schema_migrations TO touchstone_promoter" in granted

    def tables_with(right: str) -> set[str]:
        return {line.split(f"{database}.")[1].split()[0] for line in granted if right in line.partition(" ON ")[0]}

    said = "\n".join(noted)
    assert set(re.findall(rf"FROM {database}\.(\w+)", said)) <= tables_with("SELECT")
    assert set(re.findall(rf"ALTER TABLE {database}\.(\w+) DELETE", said)) <= tables_with("ALTER DELETE")
    assert "SYSTEM REFRESH VIEW" in said and tables_with("SYSTEM VIEWS") == {"*"}
    verbs = {statement.split()[0] for statement in noted}
    assert verbs <= {"SELECT", "SYSTEM", "ALTER"}, verbs


async def test_a_schema_that_is_there_needs_no_right_to_create(
    client: AsyncClient, database: str, settings: Settings, addresses: Addresses
) -> None:
    """A worker looks on each start; its role may not create anything."""
    writer = await connect(settings.clickhouse, addresses.clickhouse)
    try:
        writer.set_client_setting("readonly", 2)
        assert await migrate(writer, database) == []
    finally:
        await writer.close()


# --- times that stores can count -------------------------------------------------------------


@pytest.mark.parametrize("year", [1969, 2101])
def test_an_answer_of_a_year_whose_days_wrap_is_refused_by_name(year: int) -> None:
    """ClickHouse's Date begins in 1970: 1950 would be filed under a day of 2129, where no question finds it."""
    event = GeneratedAnswer.model_validate(example(GeneratedAnswer)).model_copy()
    value = event.to_bytes().replace(event.completed_at.isoformat()[:4].encode() + b"-", f"{year}-".encode())
    with pytest.raises(UnreadableEvent, match=r"completed_at.*1970\.\.2100"):
        GeneratedAnswer.from_bytes(value)
