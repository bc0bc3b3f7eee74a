"""A search in corrected texts reads the answers that were corrected, and not all others."""

from typing import Any

from clickhouse_connect.driver.asyncclient import AsyncClient

from workers.settings import Settings
from workers.stores.queries.reviews.blind_reviews import due_values
from workers.stores.queries.reviews.corrected_texts import corrected_answers

ANSWERS, GRANULE = 200_000, 8_192


async def test_a_search_in_corrections_reads_corrected_answers_alone(
    migrated_client: AsyncClient, settings: Settings
) -> None:
    database = settings.clickhouse.database
    await migrated_client.command(f"""
        INSERT INTO {database}.answers (tenant, answer_id, run, rank, query, answer, completed_at, enriched_at, state)
        SELECT 'acme', leftPad(toString(number), 8, '0'), 'live', 4, 'How long?', 'Twelve months.',
               toDateTime64('2026-11-02 10:00:00', 3, 'UTC'), toDateTime64('2026-11-02 10:00:00', 3, 'UTC'), 'held'
        FROM numbers({ANSWERS})""")
    await migrated_client.command(f"OPTIMIZE TABLE {database}.answers FINAL")
    await migrated_client.command(f"""
        INSERT INTO {database}.review_decisions
            (review_id, decision_id, answer_id, tenant, ruling, action, decided_by, review_duration, decided_at, decision)
        SELECT 'r', 'd', '00000007', 'acme', 'final', 'correct', 'anna', 1, now64(3, 'UTC'),
               '{{"corrected_answer": "Two years, says the contract."}}'""")

    async def found(text: str, *words: str) -> tuple[list[str], int]:
        parameters: dict[str, Any] = {"text": text, "words": list(words), "tenants": ["acme"], **due_values(None)}
        statement = f"SELECT answer_id FROM {corrected_answers('text')}".format(database=database)
        used = {name: value for name, value in parameters.items() if f"{{{name}:" in statement}
        result = await migrated_client.query(statement, parameters=used)
        return [name for (name,) in result.result_rows], int(result.summary["read_rows"])

    for words in (("years", "CONTRACT"), ("how long", "two years")):
        names, read = await found(" ".join(words), *words)
        assert names == ["00000007"]
        assert read <= 2 * GRANULE, "of 200,000 answers"
    assert (await found("years", "submarine"))[0] == []
    names, read = await found("", " ")
    assert (names, read <= GRANULE) == ([], True), "no text, no search"
