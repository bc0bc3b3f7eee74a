"""The history of an answer, from its rows."""

import json
from dataclasses import asdict
from datetime import UTC, datetime

import pytest

from schemas.export import example
from schemas.feedback import FeedbackEvent
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
    stored = StoredAnswer(EVALUATED | times, decisions=[asdict(row) | {"text_key": 0}])
    assert any("Well done." in each.detail for each in history_of(stored))
    assert contrary_words(stored) == []


@pytest.mark.parametrize(("key", "contradicted"), [(1, 1), (2, 3)])
def test_an_approval_is_of_the_text_that_was_seen_whatever_came_in_its_undo_window(key: int, contradicted: int) -> None:
    at = [datetime(2026, 11, 2, 8, 0, second, tzinfo=UTC) for second in (0, 3, 5, 13)]
    texts = [
        EVALUATED | {"enriched_at": since, "text_key": number, "claims_total": 4, "claims_contradicted": doubts, "content": content}
        for since, number, doubts, content in ((at[0], 1, 1, "It is 3."), (at[2], 2, 3, "It is 4."), (at[3], 3, 0, "It is 5."))
    ]  # fmt: skip
    given = example(ReviewDecision) | {
        "user_action": "approve",
        "timestamp": at[1].isoformat(),
        "published_at": at[3].isoformat(),
    }
    row = asdict(decision_row(ReviewDecision.model_validate(given), "final")) | {"text_key": key}
    stored = StoredAnswer(texts[-1], decisions=[row], texts=texts)
    assert (
        f"Approved although the sources contradict {contradicted} claim{'s' * (contradicted > 1)} of 4."
        in contrary_words(stored)
    )


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


def test_a_waiting_answer_says_at_its_head_that_a_decision_was_undone() -> None:
    at = datetime(2026, 11, 2, 8, tzinfo=UTC)
    undone = {"action": "reject", "decided_at": at.isoformat()}
    event = {
        "kind": "undone", "reviewer": "anna", "queue": "", "assignee": "", "undone": json.dumps(undone), "reason": "",
        "deadline_at": None, "occurred_at": at,
    }  # fmt: skip
    evaluated = EVALUATED | dict.fromkeys(("requested_at", "completed_at", "enriched_at"), at)
    waiting = StoredAnswer(evaluated, reviews=[{"state": "open"}], review_events=[event])
    assert contrary_words(waiting) == [
        "A review was requested, and nothing is decided yet.",
        "Rejected by anna on 2026-11-02 08:00:00 UTC and undone on 2026-11-02 08:00:00 UTC, before it took effect; nothing changed for readers.",
    ]
    assert contrary_words(StoredAnswer(evaluated, reviews=[{"state": "open"}], blind=True)) == []


@pytest.mark.parametrize(
    ("kind", "signals", "what", "detail"),
    [
        ("execution", {"status": "success"}, "end of the call reported by the gateway", "without an error"),
        ("execution", {"status": "error"}, "end of the call reported by the gateway", "with an error"),
        ("explicit", {"rating": 5}, "feedback", "rating 5"),
    ],
)
def test_reports_of_the_gateway_are_named_as_such(
    kind: str, signals: dict[str, object], what: str, detail: str
) -> None:
    at = datetime(2026, 11, 2, 8, tzinfo=UTC)
    event = FeedbackEvent.model_validate(
        {"feedback_id": "f", "answer_id": "a", "kind": kind, "occurred_at": at, kind: signals}
    )
    evaluated = EVALUATED | dict.fromkeys(("requested_at", "completed_at", "enriched_at"), at)
    stored = StoredAnswer(evaluated, feedback=[{"event": event.model_dump_json()}])
    assert [(each.what, each.detail) for each in history_of(stored)][-1] == (what, detail)
