"""Days on which pipeline versions decided on answers: also those of before, of repeats, and of answers that are gone."""

from datetime import UTC, datetime
from typing import Any

from clickhouse_connect.driver.asyncclient import AsyncClient

from schemas.export import example
from schemas.feedback import AnalyticsRow
from workers.settings import Settings
from workers.settings.addresses import Addresses
from workers.stores.clickhouse.analytics_store import AnalyticsStore, connect
from workers.stores.clickhouse.migrations import migrate, read_migrations
from workers.stores.queries.version_queries import VersionStore

ROW: dict[str, Any] = AnalyticsRow.model_validate(example(AnalyticsRow)).columns


def answer(name: str, minute: int, day: int = 1, **columns: str) -> dict[str, Any]:
    at = f"2026-11-{day:02}T10:{minute:02}:00Z"
    return ROW | {"answer_id": name, "run": "live", "completed_at": at, "enriched_at": at} | columns


async def test_days_hold_answers_of_before_the_migration_repeats_once_and_answers_that_are_gone(
    settings: Settings, addresses: Addresses, empty_database: AsyncClient
) -> None:
    database = settings.clickhouse.database
    await migrate(empty_database, database, read_migrations()[:29])
    client = await connect(settings.clickhouse, addresses.clickhouse)
    try:
        store = AnalyticsStore(client, database)
        versions = VersionStore(store, database)
        await store.insert("answers", [answer("a", 1, pipeline_version="v1"), answer("b", 3, 2, pipeline_version="v1")])
        await migrate(client, database)
        for each in (answer("c", 2, 2, pipeline_version="v1"), answer("a", 1, pipeline_version="v1")):
            await store.insert("answers", [each])
        await store.insert("answers", [answer("d", 9, 3, pipeline_version="v2", run="replay-1")])
        await client.command(f"OPTIMIZE TABLE {database}.version_days FINAL")
        (found,) = await versions.used([], 10)
        assert (found.version, found.answers, found.parts, found.started_at) == ("v1", 3, None, None)
        assert found.first_used == datetime(2026, 11, 1, 10, 1, tzinfo=UTC)
        assert found.last_used == datetime(2026, 11, 2, 10, 3, tzinfo=UTC)
        for table in ("answers", "answer_texts"):
            await client.command(f"TRUNCATE TABLE {database}.{table}")
        (left,) = await versions.used([], 10)
        assert (left.answers, left.first_used, left.last_used) == (0, found.first_used, found.last_used)
        assert await versions.periods("v1", [], 10) == [(found.first_used, found.last_used)]
        assert await versions.used(["another"], 10) == []
    finally:
        await client.close()
