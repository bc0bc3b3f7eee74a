"""A decision is explained from the row that ClickHouse keeps, as from the answer itself."""

from collections.abc import AsyncIterator

import pytest

from schemas.enriched import EnrichedAnswer
from schemas.export import example
from workers.cli.analysis.explain import _of_store
from workers.decision.explanation import explain
from workers.errors import TouchstoneError
from workers.settings import Settings
from workers.settings.addresses import Addresses
from workers.stores.clickhouse.analytics_store import AnalyticsStore, connect
from workers.stores.clickhouse.clickhouse_rows import enriched_rows
from workers.stores.clickhouse.migrations import migrate

ENRICHED = EnrichedAnswer.model_validate(example(EnrichedAnswer))


@pytest.fixture
async def known(addresses: Addresses, settings: Settings) -> AsyncIterator[Settings]:
    """Settings that lead to a ClickHouse which holds the example."""
    client = await connect(settings.clickhouse, addresses.clickhouse)
    await migrate(client, settings.clickhouse.database)
    store = AnalyticsStore(client, settings.clickhouse.database)
    await store.insert("answers", [row.columns for row in enriched_rows(ENRICHED) if row.table == "answers"])
    yield settings.model_copy(update={"clickhouse_url": addresses.clickhouse})
    await client.command(f"DROP DATABASE {settings.clickhouse.database}")
    await client.close()


async def test_the_row_tells_the_same_decision_by_the_same_facts(known: Settings) -> None:
    stored = await _of_store(ENRICHED.answer_id, "", known)
    whole = explain(ENRICHED, known.gate, known.grounding, known.decision)
    assert (stored.state, stored.reasons, stored.risk_mode) == (whole.state, whole.reasons, whole.risk_mode)
    assert [(row.fact, row.applies, row.effect) for row in stored.rows] == [
        (row.fact, row.applies, row.effect) for row in whole.rows
    ]
    assert {name: each["score"] for name, each in stored.characteristics.items()} == ENRICHED.evaluation.metrics


async def test_an_answer_that_nobody_knows_is_told(known: Settings) -> None:
    with pytest.raises(TouchstoneError, match="neither a file here nor an answer in ClickHouse"):
        await _of_store("nobody'; DROP TABLE answers --", "", known)
