"""ClickHouse's own backup: written, drilled, lost, restored and continued by the commands of the page on backups."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from clickhouse_connect.driver.asyncclient import AsyncClient

from schemas.export import example
from schemas.feedback import AnalyticsRow
from schemas.topics import FEEDBACK_ANALYTICS
from tests.harness.deployment import Deployment, until
from tests.integration.runtime.test_seen_versions import touchstone
from workers.runtime.agent_choice import AGENTS
from workers.settings.addresses import Addresses
from workers.stores.clickhouse.retention import FIGURES, TIMES
from workers.stores.clickhouse.rollups import refresh_rollups

ROW: dict[str, Any] = AnalyticsRow.model_validate(example(AnalyticsRow)).columns
TABLES = sorted({"versions", "replays", "promotions", *TIMES, *FIGURES} - {"answer_moves", "answer_texts"})
"""A rebuild writes the last text of each answer, so that texts between two backups are lost with the database."""
NOT_MOVED = """
WHERE (tenant, run, hour, answer_key) NOT IN (
    SELECT tenant, run, hour, answer_key FROM {database}.answer_moves FINAL WHERE moved
)
"""
"""A rebuild does not bring back the fact of an hour that counts no more and whose row was replaced."""

NOW = datetime.now(UTC).replace(minute=20)


def answers(first: int, count: int) -> list[tuple[bytes, bytes]]:
    """Rows of answers and claims on their topic; each third answer comes again in another hour."""
    found = []
    for number in range(first, first + count):
        for again in range(1 + (number % 3 == 0)):
            at = NOW - timedelta(hours=2 * number + again)
            evaluated = NOW + timedelta(seconds=again)
            shared = {"answer_id": f"a-{number}", "completed_at": at.isoformat(), "enriched_at": evaluated.isoformat()}
            columns = ROW | shared | {"rank": 4}
            found.append((f"a-{number}".encode(), AnalyticsRow(table="answers", columns=columns).to_bytes()))
    return found


async def contents(client: AsyncClient, database: str) -> dict[str, list[str]]:
    """Every row of every table, without the times of inserts and refreshes."""
    await refresh_rollups(client, database)
    found = {}
    for table in TABLES:
        columns = await client.query(
            "SELECT name FROM system.columns WHERE database = {d:String} AND table = {t:String} AND default_kind != 'ALIAS' "
            "AND name NOT IN ('inserted_at', 'computed_at', 'received_at', 'stored_at', 'started_at') AND type NOT LIKE 'Aggregate%'",
            parameters={"d": database, "t": table},
        )
        names = ", ".join(name for (name,) in columns.result_rows)
        final = "" if table == "promoted_hours" else "FINAL"
        where = NOT_MOVED.format(database=database) if table in ("answer_facts", "answer_places") else ""
        rows = await client.query(f"SELECT {names} FROM {database}.{table} {final} {where}")
        found[table] = sorted(map(str, rows.result_rows))
    return found


async def run_backup(deployment: Deployment, *arguments: str, code: int = 0) -> Any:
    """Run the command, which must end with this code; return its JSON, or its message."""
    ended, output, errors = await touchstone(deployment, "backup", *arguments, "--json")
    assert ended == code, errors
    return errors if code else json.loads(output)


@pytest.fixture
async def deployment(addresses: Addresses, tmp_path: Path) -> AsyncIterator[Deployment]:
    deployment = Deployment(addresses, tmp_path, partitions=2)
    await deployment.prepare()
    yield deployment
    await deployment.close()


async def test_a_lost_database_is_restored_and_continued_with_the_same_rows_in_every_table(
    deployment: Deployment, client: AsyncClient
) -> None:
    """Rows come before both backups, after them, and while the database is away; one table has no topic."""
    database = deployment.name
    full, increment = f"File('{database}-full')", f"File('{database}-1')"

    async def sent(first: int, count: int) -> None:
        await deployment.send(answers(first, count), FEEDBACK_ANALYTICS)

    async def stored(count: int) -> None:
        async def are_there() -> bool:
            sql = f"SELECT uniqExact(answer_id) FROM {database}.answers"
            return int(str(await client.command(sql))) == count

        await until(are_there, f"{count} answers", 120)
        await deployment.caught_up(AGENTS["analytics"])

    async def backup(*arguments: str, code: int = 0) -> Any:
        return await run_backup(deployment, *arguments, code=code)

    worker = await deployment.start_worker(["analytics"])
    await sent(0, 12)
    await stored(12)
    await client.command(
        f"INSERT INTO {database}.promotions (run, active, changed_at) VALUES ('replay-1', true, now64(3))"
    )
    await backup("write", full)
    await sent(12, 6)
    await stored(18)
    await backup("write", increment, "--base", full)
    await sent(18, 6)
    await stored(24)
    before = await contents(client, database)
    assert before["promotions"]
    assert int(str(await client.command(f"SELECT countIf(moved) FROM {database}.answer_moves FINAL"))) == 8
    assert len(before["answer_facts"]) == 24

    drilled = await backup("drill", increment)
    counted = {each["name"]: (each["restored"], each["present"]) for each in drilled["tables"]}
    assert drilled["usable"]
    assert drilled["newest_answer"].startswith((NOW + timedelta(seconds=1)).isoformat()[:13])
    assert counted["answer_places"][0] < counted["answer_places"][1]
    assert counted["promotions"] == (1, 1)
    left = await client.query(f"SELECT name FROM system.databases WHERE startsWith(name, '{database}_')")
    assert left.result_rows == []
    assert await contents(client, database) == before

    assert "DROP DATABASE" in await backup("restore", increment, code=1)
    assert "was not restored" in await backup("drill", "File('no-backup')", code=1)
    assert "was not written" in await backup("write", increment, code=1)
    await worker.terminate()
    await client.command(f"DROP DATABASE {database} SYNC")
    await sent(24, 3)
    assert (await backup("restore", increment))["restored"]
    code, output, errors = await touchstone(deployment, "rebuild", "clickhouse", "--json")
    assert (code, json.loads(output)["verified"]) == (0, True), errors
    await deployment.start_worker(["analytics"])
    await sent(27, 1)
    await stored(28)
    after = await contents(client, database)
    late = tuple(f"'a-{number}'" for number in range(24, 28))
    for table in TABLES:
        if table == "answer_places":
            assert set(before[table]) < set(after[table])
        elif not table.endswith("_hours"):
            assert [row for row in after[table] if not any(name in row for name in late)] == before[table], table
    counted = await client.query(f"SELECT sum(answers) FROM {database}.answer_hours FINAL WHERE run = 'live'")
    assert counted.result_rows == [(28,)]


async def test_a_backup_without_a_table_fails_its_drill(deployment: Deployment, client: AsyncClient) -> None:
    place = f"File('{deployment.name}-partial')"
    await client.command(f"DROP TABLE {deployment.name}.alerts SYNC")
    await run_backup(deployment, "write", place)
    assert "the backup lacks alerts; write a full backup" in await run_backup(deployment, "drill", place, code=1)


async def test_a_place_that_clickhouse_does_not_know_is_wrong_usage(deployment: Deployment) -> None:
    for place in ("touchstone-full", "Null", "File('a'); DROP DATABASE touchstone"):
        assert "expected a place of ClickHouse" in await run_backup(deployment, "write", place, code=2)
