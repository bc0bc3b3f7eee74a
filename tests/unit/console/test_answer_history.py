"""The history of an answer, from its rows."""

import json
from dataclasses import asdict
from datetime import UTC, datetime

import pytest

from schemas.export import example
from schemas.review import ReviewDecision
from workers.console.presentation.answer_history import contrary_words, history_of
from workers.stores.clickhouse.rows.review_rows import decision_row
from workers.stores.queries.answer_queries import StoredAnswer

EVALUATED = {
    "model_id": "m", "reasons": [], "answer": "It is 3.", "content": "It is 3.", "state": "held", "status": "success", "error": "",
    "rank": 4, "claims_total": 0, "claims_contradicted": 0,
}  # fmt: skip


@pytest.mark.parametrize("number", ["NaN", "1e400", "1" * 25, "1" * 400])
def test_a_decision_of_another_program_is_in_the_history_with_any_number_that_its_model_reads(number: str) -> None:
    content = json.dumps(example(ReviewDecision) | {"user_profile": {"score": "here"}, "user_comment": "Well done."})
    row = decision_row(ReviewDecision.from_bytes(content.replace('"here"', number).encode()), "final")
    times = dict.fromkeys(("requested_at", "completed_at", "enriched_at"), row.decided_at)
    stored = StoredAnswer(EVALUATED | times, decisions=[asdict(row)])
    assert any("Well done." in each.detail for each in history_of(stored))
    assert contrary_words(stored) == []


@pytest.mark.parametrize(
    ("status", "error", "words"),
    [
        ("error", "the provider timed out after 30 s", "by m; the call failed: the provider timed out after 30 s"),
        ("error", "", "by m; the call failed"),
        ("success", "", "by m"),
    ],
)
def test_a_failed_call_says_what_the_gateway_said_of_it(status: str, error: str, words: str) -> None:
    at = dict.fromkeys(("requested_at", "completed_at", "enriched_at"), datetime(2026, 11, 2, 8, tzinfo=UTC))
    stored = StoredAnswer(EVALUATED | {"status": status, "error": error, "state": "released"} | at)
    assert [each.detail for each in history_of(stored) if each.what == "answered"] == [words]
