"""A decision is explained from the row that ClickHouse keeps, as from the answer itself."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import pytest

from schemas.enriched import EnrichedAnswer
from schemas.export import example
from schemas.identifiers import review_ids
from workers.cli.analysis.explain import _of_store, _print
from workers.cli.output import console
from workers.decision.explanation import explain
from workers.errors import TouchstoneError
from workers.settings import Settings
from workers.settings.addresses import Addresses
from workers.stores.clickhouse.analytics_store import AnalyticsStore, connect
from workers.stores.clickhouse.clickhouse_rows import enriched_rows
from workers.stores.clickhouse.migrations import migrate
from workers.stores.tables.review_tables import DecisionRow, QueueRow

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


async def test_an_answer_is_explained_with_the_decision_of_its_review(known: Settings, addresses: Addresses) -> None:
    assert (await _of_store(ENRICHED.answer_id, "", known)).outcome is None
    decided_at = datetime(2026, 11, 3, 9, 30, tzinfo=UTC)
    review_id = review_ids(ENRICHED.tenant, ENRICHED.answer_id)[0]
    shared: dict[str, Any] = {"review_id": review_id, "answer_id": ENRICHED.answer_id, "tenant": ENRICHED.tenant}
    shared |= {"action": "approve", "decided_by": "reviewer-7", "decided_at": decided_at}
    place = QueueRow(**shared, rank=9, state="released", decision_id="d")
    decision = DecisionRow(
        **shared, decision_id="d", ruling="final", reason="checked the manual", review_duration=3.0, decision="{}"
    )
    client = await connect(known.clickhouse, addresses.clickhouse)
    store = AnalyticsStore(client, known.clickhouse.database)
    for row in (place, decision):
        await store.insert(row.table, [row.columns])
    await client.close()
    explained = await _of_store(ENRICHED.answer_id, "", known)
    assert explained.outcome is not None
    assert explained.outcome.model_dump() == {
        "state": "released",
        "action": "approve",
        "decided_by": "reviewer-7",
        "decided_at": decided_at,
        "reason": "checked the manual",
    }
    with console.capture() as printed:
        _print(explained)
    shown = " ".join(printed.get().split())
    assert "released since the review (approve by reviewer-7, 2026-11-03 09:30 UTC): checked the manual" in shown
    assert "in review" not in shown


@pytest.mark.parametrize("width", [40, 80])
async def test_names_of_facts_are_whole_in_a_narrow_terminal(
    known: Settings, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    explained = await _of_store(ENRICHED.answer_id, "", known)
    monkeypatch.setattr(console, "width", width)
    with console.capture() as printed:
        _print(explained)
    assert [row.fact for row in explained.rows if row.fact not in printed.get()] == []


async def test_an_answer_that_nobody_knows_is_told(known: Settings) -> None:
    with pytest.raises(TouchstoneError, match="neither a file here nor an answer in ClickHouse"):
        await _of_store("nobody'; DROP TABLE answers --", "", known)
