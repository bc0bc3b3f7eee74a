"""Rows of earlier versions, whose keys had no tenant, under the keys of this version."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from clickhouse_connect.driver.asyncclient import AsyncClient

from tests.harness.variants import variants
from workers.settings import Settings
from workers.settings.addresses import Addresses
from workers.stores.clickhouse.analytics_store import AnalyticsStore, connect
from workers.stores.clickhouse.migrations import migrate, read_migrations, remake
from workers.stores.tables.all_tables import TABLES
from workers.stores.tables.table_row import column_names

AT = "2026-11-02 11:00:00.000"
WITHOUT_TENANT = {"dead_letters", "versions", "replays", "promotions", "schema_migrations"}
"""Tables without rows of a tenant: the place of a record, versions of the pipeline and runs."""
OWN_ROW = {"accesses"}
"""Tables whose key is a random identifier, so that no row ever replaces another."""

EARLIER = {
    "feedback": {"answer_id": "a", "feedback_id": "f", "occurred_at": AT, "kind": "explicit", "event": "{}"},
    "implicit_feedback": {
        "id": "5f6d1f3e-3c55-5d55-9c2b-0f0f7a9d6c01", "query_id": "a", "model_id": "m", "timestamp": AT, "revision": 1,
    },
    "rewards": {"answer_id": "a", "reward_id": "r", "model_id": "m", "reward": 1.0, "revision": 1, "answered_at": AT},
    "review_queue": {"review_id": "r", "answer_id": "a", "rank": 1, "state": "open"},
    "review_decisions": {"review_id": "r", "decision_id": "d", "answer_id": "a", "ruling": "final", "decided_at": AT},
    "review_events": {"review_id": "r", "event_id": "e", "answer_id": "a", "kind": "assigned", "occurred_at": AT},
}  # fmt: skip


@pytest.fixture
async def clients(settings: Settings, addresses: Addresses) -> AsyncIterator[list[AsyncClient]]:
    opened = [await connect(settings.clickhouse, addresses.clickhouse) for _ in range(3)]
    yield opened
    await opened[0].command(f"DROP DATABASE IF EXISTS {settings.clickhouse.database}")
    for client in opened:
        await client.close()


async def keys(client: AsyncClient, database: str) -> dict[str, list[str]]:
    sql = "SELECT name, sorting_key FROM system.tables WHERE database = {database:String} AND engine LIKE '%MergeTree'"
    found = await client.query(sql, parameters={"database": database})
    return {str(name): str(key).split(", ") for name, key in found.result_rows}


async def test_the_key_of_every_table_with_a_tenant_names_the_tenant(
    clients: list[AsyncClient], settings: Settings
) -> None:
    await migrate(clients[0], settings.clickhouse.database)
    found = await keys(clients[0], settings.clickhouse.database)
    for table in TABLES:
        if table.table not in WITHOUT_TENANT | OWN_ROW:
            assert "tenant" in found[table.table], table.table
        if table.table in WITHOUT_TENANT:
            assert "tenant" not in column_names(table), table.table


async def test_rows_of_an_earlier_version_stay_and_later_rows_of_another_tenant_leave_them_alone(
    clients: list[AsyncClient], settings: Settings
) -> None:
    """Several processes migrate at once, and a dropped view is made again later: nothing is lost or doubled."""
    client, database = clients[0], settings.clickhouse.database
    earlier = [migration for migration in read_migrations() if migration.version < 16]
    await migrate(client, database, earlier)
    store = AnalyticsStore(client, database)
    for table, row in EARLIER.items():
        await store.insert(table, [row | {"tenant": "acme"}])
    await asyncio.gather(*(migrate(each, database) for each in clients))
    for table, row in EARLIER.items():
        await store.insert(table, [row | {"tenant": "globex"}])
    await client.command(f"DROP VIEW {database}.reward_facts_of_rewards")
    assert await remake(client, database) == ["reward_facts_of_rewards"]
    for table in EARLIER:
        found = await client.query(f"SELECT tenant FROM {database}.{table} FINAL ORDER BY tenant")
        assert found.result_rows == [("acme",), ("globex",)], table
    facts = await client.query(f"SELECT tenant, answer_id FROM {database}.reward_facts FINAL ORDER BY tenant")
    assert facts.result_rows == [("acme", "a"), ("globex", "a")]
    left = await client.query(f"SHOW TABLES FROM {database} LIKE 'rebuild_%'")
    assert left.result_rows == []


async def test_a_table_that_was_dropped_before_has_its_key_when_it_is_made_again(
    clients: list[AsyncClient], settings: Settings
) -> None:
    client, database = clients[0], settings.clickhouse.database
    await migrate(client, database, [migration for migration in read_migrations() if migration.version < 16])
    await client.command(f"DROP TABLE {database}.feedback SYNC")
    assert await remake(client, database) == ["feedback"]
    assert "tenant" in (await keys(client, database))["feedback"]


class Overtaken:
    """A client before whose ``turn``-th statement about ``table`` another process migrates to the end."""

    def __init__(self, client: AsyncClient, other: AsyncClient, database: str, table: str, turn: int) -> None:
        self._client, self._other, self._database, self._table = client, other, database, table
        self._turns = turn
        self.overtaken = False

    def __getattr__(self, name: str) -> object:
        return getattr(self._client, name)

    async def command(self, cmd: str, **others: object) -> object:
        if cmd.startswith(("CREATE TABLE", "INSERT", "EXCHANGE", "DROP")) and f"_{self._table}" in cmd:
            self._turns -= 1
            if self._turns == 0:
                await migrate(self._other, self._database)
                self.overtaken = True
        return await self._client.command(cmd, **others)


TURNS = range(1, 6)
"""Statements before which the other process comes: the second one copies rows, the third one exchanges the tables."""


@pytest.mark.parametrize("turn", variants(TURNS, in_every_run=(2, 3)))
async def test_a_process_that_another_one_overtakes_keeps_its_columns_and_rows(
    clients: list[AsyncClient], settings: Settings, turn: int
) -> None:
    """The other one gives the table its key, adds columns to it and starts to work."""
    database, table = settings.clickhouse.database, "review_events"
    await migrate(clients[0], database, [migration for migration in read_migrations() if migration.version < 16])
    await AnalyticsStore(clients[0], database).insert(table, [EARLIER[table] | {"tenant": "acme"}])
    slow = Overtaken(clients[0], clients[1], database, table, turn)
    await migrate(slow, database)  # type: ignore[arg-type]
    assert slow.overtaken
    found = await clients[2].query(
        "SELECT name FROM system.columns WHERE database = {database:String} AND table = {table:String}",
        parameters={"database": database, "table": table},
    )
    assert {name for (name,) in found.result_rows} >= set(column_names(next(t for t in TABLES if t.table == table)))
    assert (await clients[2].query(f"SELECT tenant FROM {database}.{table} FINAL")).result_rows == [("acme",)]
    left = await clients[2].query(f"SHOW TABLES FROM {database} LIKE 'rebuild_%'")
    assert left.result_rows == []
