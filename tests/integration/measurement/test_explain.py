"""A decision is explained from the row that ClickHouse keeps, as from the answer itself."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from schemas.enriched import EnrichedAnswer
from schemas.export import example
from schemas.identifiers import fact_id
from schemas.review import POLICY
from tests.harness.migrated import make_tables, return_tables
from tests.harness.reviews import review_request, store_decision
from workers.cli.analysis.explain import _of_file, _of_store, _print
from workers.cli.output import console
from workers.decision.explanation import explain
from workers.errors import TouchstoneError
from workers.settings import Settings
from workers.settings.addresses import Addresses
from workers.stores.clickhouse.analytics_store import AnalyticsStore, connect
from workers.stores.clickhouse.rows.clickhouse_rows import enriched_rows

ENRICHED = EnrichedAnswer.model_validate(example(EnrichedAnswer))


@pytest.fixture
async def known(addresses: Addresses, settings: Settings) -> AsyncIterator[Settings]:
    """Settings that lead to a ClickHouse which holds the example."""
    client = await connect(settings.clickhouse, addresses.clickhouse)
    await make_tables(client, settings.clickhouse.database, refreshed=False)
    store = AnalyticsStore(client, settings.clickhouse.database)
    for table in ("answers", "claims"):
        await store.insert(table, [row.columns for row in enriched_rows(ENRICHED) if row.table == table])
    yield settings.model_copy(update={"clickhouse_url": addresses.clickhouse})
    await return_tables(client, settings.clickhouse.database)
    await client.close()


async def test_the_row_tells_the_same_decision_by_the_same_facts(known: Settings) -> None:
    stored = await _of_store(ENRICHED.answer_id, "", known)
    whole = explain(ENRICHED, known.gate, known.grounding, known.decision)
    assert (stored.state, stored.reasons, stored.risk_mode) == (whole.state, whole.reasons, whole.risk_mode)
    assert [(row.fact, row.applies, row.effect) for row in stored.rows] == [
        (row.fact, row.applies, row.effect) for row in whole.rows
    ]
    assert {name: each["score"] for name, each in stored.characteristics.items()} == ENRICHED.evaluation.metrics


async def test_the_claims_are_shown_with_verdict_and_evidence_from_a_file_and_from_the_store(
    known: Settings, tmp_path: Path
) -> None:
    assert ENRICHED.grounding is not None
    file = tmp_path / "enriched.json"
    file.write_text(ENRICHED.model_dump_json())
    (of_file,), stored = _of_file(str(file), "", known), await _of_store(ENRICHED.answer_id, "", known)
    assert of_file.claims == stored.claims
    assert [each.text for each in stored.claims] == [claim.text for claim in ENRICHED.grounding.claims] != []
    with console.capture() as printed:
        _print(stored)
    text = " ".join(printed.get().split())
    for claim in ENRICHED.grounding.claims:
        assert f"{claim.verdict} " in text and claim.text in text
        assert claim.evidence is None or f"{claim.evidence.chunk_id}: {claim.evidence.excerpt}" in text


REQUEST = review_request(
    1,
    tenant=ENRICHED.tenant,
    answer_id=ENRICHED.answer_id,
    review_id=fact_id(ENRICHED.tenant, ENRICHED.answer_id, "review"),
)
AT = datetime(2026, 11, 3, 9, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "state", "shown"),
    [
        (
            {"action": "approve", "reason": "manual"},
            "released",
            "released after the review (approve by reviewer-7, 2026-11-03 09:30 UTC): manual",
        ),
        (
            {"action": "approve", "with_warning": True},
            "warned",
            "warned after the review (approve by reviewer-7, 2026-11-03 09:30 UTC)",
        ),
        (
            {"action": "correct", "corrected_answer": "Loki needs 2 GiB [1]."},
            "replaced",
            "replaced after the review (correct by reviewer-7, 2026-11-03 09:30 UTC)",
        ),
        (
            {"action": "reject", "by": POLICY},
            "rejected",
            "rejected after the review (reject by policy, 2026-11-03 09:30 UTC)",
        ),
    ],
)
async def test_an_answer_is_explained_with_the_final_decision_of_its_review(
    known: Settings, addresses: Addresses, said: dict[str, Any], state: str, shown: str
) -> None:
    assert (await _of_store(ENRICHED.answer_id, "", known)).outcome is None
    client = await connect(known.clickhouse, addresses.clickhouse)
    store = AnalyticsStore(client, known.clickhouse.database)
    await store_decision(store, REQUEST, **{"by": "reviewer-7", "at": AT} | said)
    second = {"by": "reviewer-8", "reason": "another reason", "at": AT + timedelta(hours=1)}
    await store_decision(store, REQUEST, ruling="second", **said | second)
    await client.close()
    explained = await _of_store(ENRICHED.answer_id, "", known)
    assert explained.state == ENRICHED.decision.state
    assert explained.outcome is not None
    assert explained.outcome.state == state
    with console.capture() as printed:
        _print(explained)
    text = " ".join(printed.get().split())
    assert shown in text
    assert "in review" not in text and "another reason" not in text


@pytest.mark.parametrize("decided", [True, False])
async def test_a_withdrawal_stands_above_the_decision_that_it_took_back(
    known: Settings, addresses: Addresses, decided: bool
) -> None:
    assert (await _of_store(ENRICHED.answer_id, "", known)).withdrawal is None
    client = await connect(known.clickhouse, addresses.clickhouse)
    store = AnalyticsStore(client, known.clickhouse.database)
    if decided:
        await store_decision(store, REQUEST, by="reviewer-7", at=AT, action="approve")
    taken = {"by": "auditor-1", "at": AT + timedelta(days=1), "reason": "wrong figure"}
    await store_decision(store, REQUEST, ruling="withdrawal", action="reject", **taken)
    await client.close()
    explained = await _of_store(ENRICHED.answer_id, "", known)
    assert explained.withdrawal is not None
    assert (explained.withdrawal.by, explained.withdrawal.reason) == ("auditor-1", "wrong figure")
    with console.capture() as printed:
        _print(explained)
    text = " ".join(printed.get().split())
    assert "withdrawn from readers (by auditor-1, 2026-11-04 09:30 UTC): wrong figure" in text
    assert ("released after the review (approve by reviewer-7" in text) == decided
    assert "in review" not in text


async def test_a_stored_answer_is_explained_with_the_sentence_about_its_gate_score(known: Settings) -> None:
    stored = await _of_store(ENRICHED.answer_id, "", known)
    assert stored.gate["reasoning"] == ENRICHED.evaluation.reasoning
    with console.capture() as printed:
        _print(stored)
    assert ENRICHED.evaluation.reasoning in " ".join(printed.get().split())


async def test_a_rule_without_effect_in_the_mode_has_none(known: Settings) -> None:
    stored = await _of_store(ENRICHED.answer_id, "", known)
    assert any(row.effect is None for row in stored.rows)
    with console.capture() as printed:
        _print(stored)
    assert "not evaluated" not in " ".join(printed.get().split())


async def test_of_a_file_only_answers_of_the_named_tenant_are_explained(known: Settings, tmp_path: Path) -> None:
    file = tmp_path / "enriched.jsonl"
    other = ENRICHED.model_copy(
        update={"tenant": "other", "answer": ENRICHED.answer.model_copy(update={"tenant": "other"})}
    )
    file.write_text("".join(each.model_dump_json() + "\n" for each in (ENRICHED, other)))
    assert [each.tenant for each in _of_file(str(file), "other", known)] == ["other"]
    assert len(list(_of_file(str(file), "", known))) == 2
    with pytest.raises(TouchstoneError, match="contains no answers of tenant nope"):
        list(_of_file(str(file), "nope", known))


async def test_a_replay_of_an_answer_does_not_replace_its_explanation(known: Settings, addresses: Addresses) -> None:
    client = await connect(known.clickhouse, addresses.clickhouse)
    store = AnalyticsStore(client, known.clickhouse.database)
    (row,) = [row.columns for row in enriched_rows(ENRICHED) if row.table == "answers"]
    later = ENRICHED.enriched_at + timedelta(days=1)
    await store.insert("answers", [row | {"run": "stricter", "state": "held", "enriched_at": later}])
    await client.close()
    assert (await _of_store(ENRICHED.answer_id, "", known)).state == ENRICHED.decision.state != "held"


@pytest.mark.parametrize("width", [40, 80])
async def test_names_of_facts_are_whole_in_a_narrow_terminal(
    known: Settings, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    explained = await _of_store(ENRICHED.answer_id, "", known)
    monkeypatch.setattr(console, "width", width)
    with console.capture() as printed:
        _print(explained)
    assert [row.fact for row in explained.rows if row.fact not in printed.get()] == []


@pytest.mark.parametrize("width", [60, 80])
async def test_no_column_leaves_a_narrow_terminal(known: Settings, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    explained = await _of_store(ENRICHED.answer_id, "", known)
    monkeypatch.setattr(console, "width", width)
    with console.capture() as printed:
        _print(explained)
    lines = [line for line in printed.get().splitlines() if line.startswith(("│", "┃"))]
    assert {line.count("│") + line.count("┃") for line in lines} == {6, 4}, "borders of the two tables"


async def test_an_answer_that_nobody_knows_is_told(known: Settings) -> None:
    with pytest.raises(TouchstoneError, match="neither a file here nor an answer in ClickHouse"):
        await _of_store("nobody'; DROP TABLE answers --", "", known)
