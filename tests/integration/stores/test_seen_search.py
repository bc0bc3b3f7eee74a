"""A search for answers that readers saw reads the answers of its period, and of each decision a few short columns once."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from clickhouse_connect.driver.asyncclient import AsyncClient

from workers.settings import Settings
from workers.stores.clickhouse.row_reading import without_empty
from workers.stores.queries.answer_queries import COUNTED, AnswerFilter, Period, filter_values

ANSWERS, DECISIONS, GRANULE, DAYS = 216_000, 108_000, 8_192, 50
TEXT_BYTES = 2_000
"""Length of the JSON of each decision."""
NOW = datetime(2026, 11, 20, tzinfo=UTC)
DAY = AnswerFilter(tenants=["acme"], period=Period(NOW - timedelta(days=1), NOW))


@pytest.fixture
async def filled(migrated_client: AsyncClient, settings: Settings) -> AsyncClient:
    """Held answers of fifty days, and approvals of every second one."""
    database = settings.clickhouse.database
    at = f"toDateTime64('{NOW:%Y-%m-%d %H:%M:%S}', 3, 'UTC') - toIntervalMinute(1 + number % {DAYS * 1_440})"
    await migrated_client.command(f"""
        INSERT INTO {database}.answers (tenant, answer_id, run, rank, query, answer, completed_at, enriched_at, state)
        SELECT 'acme', leftPad(toString(number), 8, '0'), 'live', 4, 'How long?', 'A year.', {at}, {at}, 'held'
        FROM numbers({ANSWERS})""")
    await migrated_client.command(f"""
        INSERT INTO {database}.review_decisions
            (review_id, decision_id, answer_id, tenant, ruling, action, decided_by, review_duration, decided_at, decision)
        SELECT hex(cityHash64(number)), 'd', leftPad(toString(number * 2), 8, '0'), 'acme', 'final', 'approve', 'anna', 1,
               now64(3, 'UTC'), randomPrintableASCII({TEXT_BYTES})
        FROM numbers({DECISIONS})""")
    for table in ("answers", "review_decisions"):
        await migrated_client.command(f"OPTIMIZE TABLE {database}.{table} FINAL")
    return migrated_client


async def test_a_search_for_seen_answers_reads_its_period_and_each_decision_once(
    filled: AsyncClient, settings: Settings
) -> None:
    async def counted(chosen: AnswerFilter) -> tuple[int, int, int]:
        values = {"run": "live", **filter_values(chosen)}
        statement = without_empty(COUNTED, values).format(database=settings.clickhouse.database)
        used = {name: value for name, value in values.items() if f"{{{name}:" in statement}
        result = await filled.query(statement, parameters=used)
        return result.result_rows[0][0], int(result.summary["read_rows"]), int(result.summary["read_bytes"])

    of_a_day = ANSWERS // DAYS
    number, read, _ = await counted(DAY)
    assert number == of_a_day
    assert read <= of_a_day + 4 * GRANULE, "no decision, and the answers of the day"
    for seen in (True, False):
        number, read, size = await counted(replace(DAY, seen=seen))
        assert number == of_a_day // 2
        assert read <= DECISIONS + of_a_day + 4 * GRANULE, "each decision once"
        assert size < DECISIONS * TEXT_BYTES / 10, "their texts are not read"
