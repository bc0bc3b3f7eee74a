"""ClickHouse's own backup: made, lost, restored and continued as the page on backups says."""

import json
import re
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
from tests.harness.paths import ROOT
from tests.integration.runtime.test_seen_versions import touchstone
from workers.runtime.agent_choice import AGENTS
from workers.settings.addresses import Addresses
from workers.stores.clickhouse.retention import FIGURES, TIMES
from workers.stores.clickhouse.rollups import refresh_rollups

PAGE = ROOT / "docs" / "operations" / "backups-and-rebuild.md"
ROW: dict[str, Any] = AnalyticsRow.model_validate(example(AnalyticsRow)).columns
TABLES = sorted({"versions", "replays", "promotions", *TIMES, *FIGURES} - {"answer_moves"})
NOT_MOVED = """
WHERE (tenant, run, hour, answer_key) NOT IN (
    SELECT tenant, run, hour, answer_key FROM {database}.answer_moves FINAL WHERE moved
)
"""
"""A rebuild does not bring back the fact of an hour that counts no more and whose row was replaced."""

NOW = datetime.now(UTC).replace(minute=20)


def statements(deployment: Deployment) -> dict[str, str]:
    """The statements of the page by their purpose, with the database and names of this test."""
    section = PAGE.read_text().partition("## ClickHouse backup\n")[2].partition("\n## ")[0]
    lines = "".join(re.findall(r"^```sql\n(.*?)^```", section, re.M | re.S)).splitlines()
    assert len(lines) == 5, lines
    texts = [line.rstrip(";").replace("touchstone", deployment.name) for line in lines]
    return dict(zip(("full", "increment", "drill", "end", "restore"), texts, strict=True))


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
    page, database = statements(deployment), deployment.name

    async def sent(first: int, count: int) -> None:
        await deployment.send(answers(first, count), FEEDBACK_ANALYTICS)

    async def stored(count: int) -> None:
        async def are_there() -> bool:
            sql = f"SELECT uniqExact(answer_id) FROM {database}.answers"
            return int(str(await client.command(sql))) == count

        await until(are_there, f"{count} answers", 120)

    worker = await deployment.start_worker(["analytics"])
    await sent(0, 12)
    await stored(12)
    await client.command(f"INSERT INTO {database}.promotions VALUES ('replay-1', true, now64(3))")
    await client.command(page["full"])
    await sent(12, 6)
    await stored(18)
    await client.command(page["increment"])
    await sent(18, 6)
    await stored(24)
    before = await contents(client, database)
    assert before["promotions"]
    assert int(str(await client.command(f"SELECT countIf(moved) FROM {database}.answer_moves FINAL"))) == 8
    assert len(before["answer_facts"]) == 24

    # The drill restores beside the database, and nothing in it reads the database.
    await client.command(page["drill"])
    apart = await client.query(
        f"SELECT name FROM system.tables WHERE database = '{database}_drill' AND position(create_table_query, '{database}.') > 0"
    )
    assert apart.result_rows == []
    assert len((await contents(client, f"{database}_drill"))["answer_places"]) < len(before["answer_places"])
    await client.command(page["end"])
    assert await contents(client, database) == before

    await worker.terminate()
    await client.command(f"DROP DATABASE {database} SYNC")
    await sent(24, 3)
    await client.command(page["restore"])
    code, output, errors = await touchstone(deployment, "rebuild", "clickhouse", "--json")
    assert (code, json.loads(output)["verified"]) == (0, True), errors
    await deployment.start_worker(["analytics"])
    await sent(27, 1)
    await stored(28)
    await deployment.caught_up(AGENTS["analytics"])
    after = await contents(client, database)
    late = tuple(f"'a-{number}'" for number in range(24, 28))
    for table in TABLES:
        if table == "answer_places":
            assert set(before[table]) < set(after[table])
        elif not table.endswith("_hours"):
            assert [row for row in after[table] if not any(name in row for name in late)] == before[table], table
    counted = await client.query(f"SELECT sum(answers) FROM {database}.answer_hours FINAL WHERE run = 'live'")
    assert counted.result_rows == [(28,)]
