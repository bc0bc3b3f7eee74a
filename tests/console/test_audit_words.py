"""The audit says in words which answer was decided by whom, what was undone, what readers saw and which rule won."""

import csv
import io
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow.parquet as pq
import pytest
from playwright.sync_api import Browser, expect

from schemas.enriched import EnrichedAnswer
from tests.harness.browser import logged_in, needs_browser, serious_violations
from tests.harness.console import ConsoleThread
from tests.harness.held_answers import held
from tests.harness.reviews import store_decision
from workers.console.presentation.outcome import time_words
from workers.decision.release_events import review_request
from workers.review.decision_events import review_event
from workers.stores.clickhouse.rows.review_rows import review_event_row

TENANT = "worded"
AT = datetime(2026, 11, 3, 9, 0, tzinfo=UTC)
SAID: list[tuple[dict[str, Any], str]] = [
    ({"action": "approve"}, "Approved by anna; readers saw it without a warning."),
    ({"action": "approve", "with_warning": True}, "Approved with a warning by anna; readers saw it with a warning."),
    ({"action": "reject"}, "Rejected by anna; readers saw a notice in its place."),
    ({"action": "correct", "corrected_answer": "It needs 2 GiB [1]."}, "Corrected by anna; readers saw the corrected text."),
    ({"action": "reject", "ruling": "second"}, "anna would reject it (second opinion); nothing changed for readers."),
    ({"action": "approve", "ruling": "late"}, "Approved by anna too late, the answer was already final; nothing changed for readers."),
    ({"action": "upvote", "ruling": "vote"}, "Voted up by anna; nothing changed for readers."),
]  # fmt: skip
UNDONE = (
    f"Decided and undone by anna on {time_words(AT + timedelta(minutes=len(SAID)))}, before it took effect;"
    " nothing changed for readers."
)
FILTERS = {"tenant": TENANT, "until": (AT + timedelta(days=1)).isoformat()}


@pytest.fixture(scope="module")
def answers(console: ConsoleThread) -> list[EnrichedAnswer]:
    """Answers with one decision each, one more whose decision was undone, and accesses to them."""
    found = held(console, TENANT, len(SAID) + 1)
    store = console.resources.analytics
    for number, (answer, (said, _)) in enumerate(zip(found, SAID, strict=False)):
        request = review_request(answer, answer.enriched_at, deadline_hours=24)
        assert request is not None
        console.call(store_decision(store, request, **{"by": "anna", "at": AT + timedelta(minutes=number)} | said))
    last = review_request(found[-1], found[-1].enriched_at, deadline_hours=24)
    assert last is not None
    event = review_event(
        "undone", last.review_id, last.answer_id, last.tenant, by="anna", at=AT + timedelta(minutes=len(SAID))
    )
    console.call(store.store([review_event_row(event)]))
    accesses = [
        {
            "access_id": f"{TENANT}-{number}", "at": AT + timedelta(minutes=number), "who": "ben", "via": "session",
            "what": what, "tenant": TENANT, "answers": [answer.answer_id for answer in shown],
        }
        for number, (what, shown) in enumerate((("search", found), ("answer", found[:1])))
    ]  # fmt: skip
    console.call(store.insert("accesses", accesses))
    return found


def listed(console: ConsoleThread, log: str, **params: str) -> list[dict[str, Any]]:
    found = console.client("admin").get(f"/api/audit/{log}", params={**FILTERS, **params})
    items: list[dict[str, Any]] = found.raise_for_status().json()["items"]
    return items


def exported(console: ConsoleThread, log: str, form: str, **params: str) -> bytes:
    found = console.client("admin").get(f"/api/audit/{log}/export", params={**FILTERS, "format": form, **params})
    return found.raise_for_status().content


def test_decisions_have_the_question_and_what_happened_in_lists_and_files(
    console: ConsoleThread, answers: list[EnrichedAnswer]
) -> None:
    expected = [(answer.answer.query, words) for answer, (_, words) in zip(answers, SAID, strict=False)]
    expected.append((answers[-1].answer.query, UNDONE))
    lines = [json.loads(line) for line in exported(console, "decisions", "jsonl").splitlines()]
    cells = list(csv.DictReader(io.StringIO(exported(console, "decisions", "csv").decode())))
    table = pq.read_table(io.BytesIO(exported(console, "decisions", "parquet"))).to_pylist()
    for rows in (listed(console, "decisions"), lines, cells, table):
        assert [(row["query"], row["outcome"]) for row in reversed(rows)] == expected


def test_an_undone_decision_stays_in_the_record_with_person_and_time(
    console: ConsoleThread, answers: list[EnrichedAnswer]
) -> None:
    for params in ({"state": "undone"}, {"answer_id": answers[-1].answer_id}):
        (row,) = listed(console, "decisions", **params)
        assert (row["ruling"], row["decided_by"], row["state"]) == ("undone", "anna", "")
        assert row["model_id"] == answers[-1].answer.model.id
        # The event is of a time that kept no time of the decision.
        assert row["decided_at"] is None
        assert datetime.fromisoformat(row["undone_at"]) == AT + timedelta(minutes=len(SAID))
    assert listed(console, "decisions", person="ben") == []
    assert listed(console, "decisions", model="another") == []
    history = console.client().get(f"/api/answers/{answers[-1].answer_id}").json()["history"]
    assert ("decision undone", UNDONE) in [(each["what"], each["detail"]) for each in history]


def test_accesses_have_the_questions_of_their_answers_the_searched_one_first(
    console: ConsoleThread, answers: list[EnrichedAnswer]
) -> None:
    questions = [answer.answer.query for answer in answers]
    (one, many) = listed(console, "accesses")
    assert one["questions"] == questions[:1]
    assert many["questions"] == questions
    assert many["user_ids"] == [""] * len(answers)
    wanted = {"answer_id": answers[5].answer_id, "state": "search"}
    (found,) = listed(console, "accesses", **wanted)
    assert found["answers"][0] == answers[5].answer_id
    assert found["questions"][0] == questions[5]
    assert sorted(found["answers"]) == sorted(answer.answer_id for answer in answers)
    (line,) = exported(console, "accesses", "jsonl", **wanted).splitlines()
    assert json.loads(line)["questions"] == found["questions"]
    assert len(found["user_ids"]) == len(found["answers"])
    (row,) = pq.read_table(io.BytesIO(exported(console, "accesses", "parquet", **wanted))).to_pylist()
    assert row["questions"][0] == questions[5]


@needs_browser
def test_the_pages_of_the_audit_name_the_questions_and_say_what_happened(
    browser: Browser, console: ConsoleThread, answers: list[EnrichedAnswer]
) -> None:
    with logged_in(browser, console) as (page, seen):
        page.goto(f"/audit/decisions?tenant={TENANT}&until=2026-11-04")
        for answer, words in zip(answers, [*(words for _, words in SAID), UNDONE], strict=True):
            row = page.locator("#log tbody tr", has_text=answer.answer.query)
            expect(row).to_contain_text(words)
            expect(row).to_contain_text(answer.answer_id)
        page.get_by_label("What happened").select_option("undone")
        page.get_by_role("button", name="Apply").click()
        expect(page.locator("#log tbody tr")).to_have_count(1)
        expect(page.locator("#log tbody")).to_contain_text("2026-11-03 09:07:00 UTC")
        assert serious_violations(page) == []
        page.goto(f"/audit/accesses?tenant={TENANT}&until=2026-11-04&state=search")
        row = page.locator("#log tbody tr")
        expect(row.locator("td").first).to_have_css("vertical-align", "top")
        row.locator("summary").click()
        expect(row.locator("li").last).to_contain_text(answers[-1].answer.query)
        page.goto(f"/audit/accesses?tenant={TENANT}&until=2026-11-04&state=answer")
        page.get_by_role("link", name=answers[0].answer.query).click()
        expect(page.locator(".decision")).to_contain_text(SAID[0][1])
        page.goto(f"/answers/{answers[1].answer_id}?tenant={TENANT}")
        expect(page.locator(".decision")).to_contain_text(SAID[1][1])
        assert serious_violations(page) == []
        assert seen.complaints == []


@needs_browser
def test_the_rules_of_a_decision_say_what_was_measured_and_needed_and_which_one_won(
    browser: Browser, console: ConsoleThread, answers: list[EnrichedAnswer]
) -> None:
    with logged_in(browser, console) as (page, seen):
        page.goto(f"/answers/{answers[0].answer_id}?tenant={TENANT}")
        expect(page.locator("#winner")).to_contain_text(
            "The rules “high risk of hallucination” and “overall score below the minimum” decided: held, with a review."
        )
        rules = page.get_by_role("region", name="Rules of the decision")
        assert rules.locator("th[scope=col]").all_inner_texts() == ["Rule", "Field", "Measured", "Needed", "Result"]
        won = rules.locator("tr.decided")
        expect(won).to_have_count(2)
        cells = won.first.locator("th, td").all_inner_texts()
        assert cells[0].startswith("high risk of hallucination")
        assert cells[1:] == ["hallucination_risk", "high", "low or medium", "failed: held, with a review"]
        assert won.last.locator("td").all_inner_texts()[0] == "gate_score"
        gate = rules.locator("tr", has=page.get_by_role("rowheader", name="overall score unknown"))
        score = answers[0].evaluation.score
        assert score is not None
        assert gate.locator("td").all_inner_texts() == ["gate_score", f"{score:.2f}", "a known score", "passed"]
        for texts in [row.locator("th, td").all_inner_texts() for row in rules.locator("tbody tr").all()]:
            assert len(texts) == 5
            assert all(text.strip() and text not in ("yes", "unknown", "None", "True", "[]") for text in texts), texts
        assert serious_violations(page) == []
        assert seen.complaints == []
