"""Readers see what was decided from the end of its undo window on: page, API, audit and files say so."""

import csv
import io
import json
from datetime import datetime, timedelta
from typing import Any

import pytest

from schemas.enriched import EnrichedAnswer
from schemas.review import ReviewDecision
from tests.console.test_audit_records import time_words
from tests.harness.console import ConsoleThread
from tests.harness.held_answers import risky
from workers.decision.release_events import review_request
from workers.review.decision_events import decided, withdrawal
from workers.stores.clickhouse.rows.review_rows import closing_row, decision_row

TENANT = "shown-times"
WINDOW = timedelta(seconds=240)
PAGE = {"Accept": "text/html"}
NAMES = ("approved", "rejected", "corrected", "at once", "withdrawn")


@pytest.fixture(scope="module")
def answers(console: ConsoleThread) -> dict[str, EnrichedAnswer]:
    """Answers that were decided with an undo window of four minutes, at once, and decided and withdrawn."""
    held = [risky(number, TENANT) for number in range(3)]
    shown = [risky(number, TENANT).model_copy(update={"risk_mode": "observer"}) for number in range(3, len(NAMES))]
    found = dict(zip(NAMES, console.store([*held, *shown]), strict=True))
    store = console.resources.analytics
    for name, action in zip(NAMES, ("approve", "reject", "correct", "reject", "correct"), strict=True):
        decision = said(found[name], action, None if name == "at once" else WINDOW)
        console.call(store.store([decision_row(decision, "final"), closing_row(decision)]))
    taken = withdrawal(
        request_of(found["withdrawn"]), decision.feedback_id, by="cleo", at=minutes(found["withdrawn"], 30),
        reason="wrong_figure", comment=None,
    )  # fmt: skip
    console.call(store.store([decision_row(taken, "withdrawal"), closing_row(taken)]))
    return found


def minutes(answer: EnrichedAnswer, number: int) -> datetime:
    return answer.enriched_at + timedelta(minutes=number)


def request_of(answer: EnrichedAnswer) -> Any:
    return review_request(answer, answer.enriched_at, deadline_hours=24)


def said(answer: EnrichedAnswer, action: Any, window: timedelta | None) -> ReviewDecision:
    """A decision that was made five minutes after the evaluation, and published at the end of its window."""
    made = decided(
        request_of(answer), by="anna", profile={}, at=minutes(answer, 5), action=action, reason="wrong_figure",
        corrected_answer="Nobody knows." if action == "correct" else None,
    )  # fmt: skip
    return made if window is None else made.model_copy(update={"published_at": made.timestamp + window})


def detail(console: ConsoleThread, answer: EnrichedAnswer) -> dict[str, Any]:
    params = {"tenant": TENANT}
    found: dict[str, Any] = console.client().get(f"/api/answers/{answer.answer_id}", params=params).json()
    return found


def listed(console: ConsoleThread, answer: EnrichedAnswer) -> dict[str, dict[str, Any]]:
    params = {"tenant": TENANT, "answer_id": answer.answer_id}
    found = console.client("admin").get("/api/audit/decisions", params=params).raise_for_status()
    return {row["ruling"]: row for row in found.json()["items"]}


@pytest.mark.parametrize("name", NAMES)
def test_a_text_is_shown_from_the_end_of_the_undo_window_on(
    console: ConsoleThread, answers: dict[str, EnrichedAnswer], name: str
) -> None:
    answer, least = answers[name], timedelta(milliseconds=1)
    since = minutes(answer, 5) + (timedelta() if name == "at once" else WINDOW)
    found = detail(console, answer)
    assert abs(datetime.fromisoformat(found["shown"][1]["since"]) - since) <= least
    assert time_words(since) in found["outcome"]
    assert name == "at once" or time_words(minutes(answer, 5)) not in found["outcome"]
    assert abs(datetime.fromisoformat(found["decision"]["decided_at"]) - minutes(answer, 5)) <= least
    row = listed(console, answer)["final"]
    assert abs(datetime.fromisoformat(row["decided_at"]) - minutes(answer, 5)) <= least
    assert abs(datetime.fromisoformat(row["shown_since"]) - since) <= least
    assert time_words(since) in row["outcome"]
    (happening,) = [each for each in found["history"] if each["what"] == "decided"]
    assert abs(datetime.fromisoformat(happening["at"]) - minutes(answer, 5)) <= least
    assert time_words(since) in happening["detail"]
    page = console.client().get(f"/answers/{answer.answer_id}", params={"tenant": TENANT}, headers=PAGE).text
    assert time_words(since) in page


def test_what_came_before_ends_when_readers_have_the_decision(
    console: ConsoleThread, answers: dict[str, EnrichedAnswer]
) -> None:
    answer = answers["withdrawn"]
    since, taken = minutes(answer, 5) + WINDOW, minutes(answer, 30)
    rows = listed(console, answer)
    assert rows["automatic"]["ended_at"][:19] == f"{since:%Y-%m-%dT%H:%M:%S}"
    assert f"until the decision took effect on {time_words(since)}" in rows["automatic"]["outcome"]
    assert rows["final"]["ended_at"][:19] == f"{taken:%Y-%m-%dT%H:%M:%S}"
    assert f"from {time_words(since)} to {time_words(taken)}" in rows["withdrawal"]["outcome"]
    assert rows["withdrawal"]["shown_since"][:19] == f"{taken:%Y-%m-%dT%H:%M:%S}"
    (back,) = [each for each in detail(console, answer)["history"] if each["what"] == "decision withdrawn"]
    assert f"from {time_words(since)} to {time_words(taken)}" in back["detail"]


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_files_hold_the_time_from_which_readers_saw_it(
    console: ConsoleThread, answers: dict[str, EnrichedAnswer], form: str
) -> None:
    answer = answers["approved"]
    params = {"tenant": TENANT, "answer_id": answer.answer_id, "format": form}
    text = console.client("admin").get("/api/audit/decisions/export", params=params).raise_for_status().text
    rows = (
        list(csv.DictReader(io.StringIO(text))) if form == "csv" else [json.loads(line) for line in text.splitlines()]
    )
    (row,) = [row for row in rows if row["ruling"] == "final"]
    assert row["shown_since"].replace("T", " ")[:19] == f"{minutes(answer, 5) + WINDOW:%Y-%m-%d %H:%M:%S}"
    assert row["decided_at"].replace("T", " ")[:19] == f"{minutes(answer, 5):%Y-%m-%d %H:%M:%S}"
