"""Corrected texts are compared with the sources, and every page says what was found or that they were not."""

import csv
import io
import re
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from schemas.review import ReviewDecision
from schemas.topics import REVIEW_EVENTS
from tests.harness.browser import logged_in, needs_browser, serious_violations
from tests.harness.console import ConsoleThread
from tests.harness.decisions import Values, decisions_on, waited_for
from tests.harness.held_answers import review_of, risky
from workers.console.presentation import review_pages
from workers.console.presentation.comparison_words import NOT_COMPARED
from workers.review.decision_events import review_event
from workers.stores.clickhouse.rows.review_rows import closing_row, decision_row, review_event_row

TENANT = "compared-texts"
NAME = "comparing"


def right(number: int) -> str:
    return f"Ingester {number} needs 2 GiB of memory [1]. After a crash the operator restarts it [1]."


def invented(number: int) -> str:
    return f"Ingester {number} needs 2 GiB of memory [1]. It has 37 disks of steel [1]."


def wrong(number: int) -> str:
    return f"Ingester {number} needs 5 GiB of memory [1]."


def held(console: ConsoleThread, number: int, **changes: Any) -> tuple[str, str]:
    """Store an answer that is held, and return its identifier and that of its review."""
    (answer,) = console.store([risky(number, TENANT).model_copy(update=changes)])
    return answer.answer_id, review_of(answer)


def compare(console: ConsoleThread, review: str, text: str, name: str = NAME) -> httpx.Response:
    return console.client(name).post(f"/review/{review}/comparison", json={"corrected_answer": text})


def words(reply: httpx.Response) -> str:
    """Return the text of a page fragment."""
    return " ".join(re.sub(r"<[^>]+>", " ", reply.raise_for_status().text).split())


def correct(console: ConsoleThread, review: str, text: str) -> None:
    body = {"user_action": "correct", "corrected_answer": text}
    console.client(NAME).post(f"/api/reviews/{review}/decision", json=body).raise_for_status()


def saved(console: ConsoleThread, values: Values, answer: str) -> ReviewDecision:
    """Wait for the decision on an answer on its topic, and store its rows as the agents do."""
    (decision,) = decisions_on(values, answer)
    console.call(console.resources.analytics.store([decision_row(decision, "final"), closing_row(decision)]))
    return decision


def audited(console: ConsoleThread, answer: str) -> dict[str, Any]:
    params = {"tenant": TENANT, "answer_id": answer, "state": "replaced"}
    (row,) = console.client("admin").get("/api/audit/decisions", params=params).raise_for_status().json()["items"]
    return dict(row)


def exported(console: ConsoleThread, answer: str) -> str:
    params = {"tenant": TENANT, "answer_id": answer, "state": "replaced"}
    reply = console.client("admin").get("/api/audit/decisions/export", params=params).raise_for_status()
    (row,) = csv.DictReader(io.StringIO(reply.text))
    return row["comparison"]


# ---------------------------------------------------------------- over HTTP


def test_a_right_number_is_supported_and_a_wrong_one_and_an_invented_one_are_named_with_their_reasons(
    console: ConsoleThread,
) -> None:
    _, review = held(console, 0)
    assert "Compared with the sources: 2 of 2 statements supported." in words(compare(console, review, right(0)))
    found = words(compare(console, review, wrong(0)))
    assert "Compared with the sources: 0 of 1 statement supported, 1 contradicted." in found
    assert "The evidence says something else than the claim. It differs in number." in found
    assert "The evidence is in source [1]. Ingester 0 needs 2 GiB of memory." in found
    found = words(compare(console, review, invented(0)))
    assert "1 of 2 statements supported, 1 unsupported." in found
    assert "It has 37 disks of steel" in found
    assert "No source says it" in found


def test_a_reference_that_leads_nowhere_is_named(console: ConsoleThread) -> None:
    _, review = held(console, 1)
    found = words(compare(console, review, right(1).replace("[1].", "[7].", 1)))
    assert "[7] leads to no source" in found


def test_a_text_is_compared_by_reviewers_of_its_tenant_alone(console: ConsoleThread) -> None:
    _, review = held(console, 2)
    assert compare(console, review, right(2), "other-comparing").status_code == 404
    assert compare(console, review, right(2), "ingest").status_code == 403
    assert compare(console, review, right(2), "review").status_code == 200
    assert console.client(None).post(f"/review/{review}/comparison", json={}).status_code == 401


@pytest.mark.parametrize(
    ("text", "told"), [(" \u200b", "the text is empty"), ("<think>hm</think> It is 2 GiB.", "reasoning"), ("x" * 60_001, "60000")]
)  # fmt: skip
def test_a_text_that_cannot_be_compared_is_refused_with_the_remedy(
    console: ConsoleThread, text: str, told: str
) -> None:
    _, review = held(console, 3)
    refused = compare(console, review, text)
    assert (refused.status_code, told in refused.text) == (422, True), refused.text


def test_without_sources_there_is_nothing_to_compare_with(console: ConsoleThread) -> None:
    _, review = held(console, 4, contexts=[], answer="It needs 16 GiB [3].")
    refused = compare(console, review, "It needs 2 GiB.")
    assert refused.status_code == 422
    assert "received no sources" in refused.json()["detail"]


def test_without_models_the_page_offers_no_comparison(console: ConsoleThread, monkeypatch: pytest.MonkeyPatch) -> None:
    _, review = held(console, 5)
    client = console.client(NAME)
    with_models = client.get(f"/review/{review}").text
    assert 'data-action="compare"' in with_models
    assert "<kbd>Alt</kbd>" in with_models
    monkeypatch.setattr(console.resources, "check", None)
    without = client.get(f"/review/{review}").text
    assert "compare" not in re.sub(r"compared", "", without)
    assert "<kbd>Alt</kbd>" not in without
    refused = compare(console, review, right(5))
    assert (refused.status_code, "no evaluation models" in refused.json()["detail"]) == (503, True)


def test_a_comparison_that_takes_too_long_says_so_and_what_to_do(
    console: ConsoleThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, review = held(console, 6)
    monkeypatch.setattr(review_pages, "COMPARISON_SECONDS", 0.001)
    refused = compare(console, review, right(6))
    assert (refused.status_code, "try again in a moment" in refused.json()["detail"]) == (504, True)


def test_a_comparison_is_stored_with_the_decision_on_exactly_its_text(console: ConsoleThread, values: Values) -> None:
    answer, review = held(console, 7)
    compare(console, review, invented(7)).raise_for_status()
    correct(console, review, invented(7))
    decision = saved(console, values, answer)
    found = decision.comparison
    assert found is not None
    assert (found.supported, found.contradicted, found.unsupported) == (1, 0, 1)
    assert (found.sources, found.sources_total) == (1, 1)
    assert [invented(7)[each.span.start : each.span.end] for each in found.doubted] == ["It has 37 disks of steel [1]."]
    sentence = "Compared with the sources when it was saved: 1 of 2 statements supported, 1 unsupported."
    assert audited(console, answer)["comparison"] == exported(console, answer) == sentence
    detail = console.client(NAME).get(f"/api/answers/{answer}").raise_for_status().json()
    assert detail["decision"]["comparison"]["unsupported"] == 1
    page = words(console.client(NAME).get(f"/answers/{answer}"))
    assert sentence in page
    assert "It has 37 disks of steel" in page
    assert "Claims of the original text" in page
    assert "those of the original text" in page
    for address in (f"/review/{review}", f"/audit/decisions?answer_id={answer}"):
        assert sentence in words(console.client(NAME).get(address))


def test_a_text_that_was_changed_after_its_comparison_was_not_compared(console: ConsoleThread, values: Values) -> None:
    answer, review = held(console, 8)
    compare(console, review, right(8)).raise_for_status()
    correct(console, review, invented(8))
    assert saved(console, values, answer).comparison is None
    assert audited(console, answer)["comparison"] == exported(console, answer) == NOT_COMPARED
    assert NOT_COMPARED in words(console.client(NAME).get(f"/answers/{answer}"))
    assert NOT_COMPARED in words(console.client(NAME).get(f"/review/{review}"))
    refused = compare(console, review, right(8))
    assert (refused.status_code, refused.json()["conflict"]) == (409, "decided")


def test_a_caller_cannot_say_what_was_found(console: ConsoleThread) -> None:
    _, review = held(console, 9)
    body = {"user_action": "correct", "corrected_answer": wrong(9), "comparison": {"supported": 3}}
    assert console.client(NAME).post(f"/api/reviews/{review}/decision", json=body).status_code == 422


def test_an_undone_correction_keeps_what_was_found(console: ConsoleThread, values: Values, long_undo: None) -> None:
    answer, review = held(console, 10)
    compare(console, review, right(10)).raise_for_status()
    correct(console, review, right(10))
    console.client(NAME).post(f"/api/reviews/{review}/undo").raise_for_status()
    events = waited_for(
        lambda: [value for value in values(REVIEW_EVENTS, answer) if b'"kind":"undone"' in value], "the undone decision"
    )
    assert b'"supported":2' in events[0]


def test_a_second_opinion_is_compared_as_well(console: ConsoleThread, values: Values) -> None:
    answer, review = held(console, 12)
    console.client(NAME).post(f"/api/reviews/{review}/decision", json={"user_action": "reject"}).raise_for_status()
    saved(console, values, answer)
    second = "second-comparing"
    assert compare(console, review, right(12), second).status_code == 409
    asked = review_event("opinion_asked", review, answer, TENANT, by=NAME, at=datetime.now(UTC), assignee=second)
    console.call(console.resources.analytics.store([review_event_row(asked)]))
    assert "2 of 2 statements supported" in words(compare(console, review, right(12), second))
    body = {"user_action": "correct", "corrected_answer": right(12)}
    console.client(second).post(f"/api/reviews/{review}/decision", json=body).raise_for_status()
    (decision,) = waited_for(
        lambda: [each for each in decisions_on(values, answer) if each.second_review], "the second opinion"
    )
    assert decision.comparison is not None


def test_other_records_of_the_audit_say_nothing_of_a_comparison(console: ConsoleThread, values: Values) -> None:
    answer, review = held(console, 11)
    console.client(NAME).post(f"/api/reviews/{review}/decision", json={"user_action": "reject"}).raise_for_status()
    saved(console, values, answer)
    params = {"tenant": TENANT, "answer_id": answer, "state": "everything"}
    rows = console.client("admin").get("/api/audit/decisions", params=params).json()["items"]
    assert {row["comparison"] for row in rows} == {""}
    page = words(console.client(NAME).get(f"/answers/{answer}"))
    assert "of the original text" not in page
    assert NOT_COMPARED not in page


# ---------------------------------------------------------------- in the browser


def opened(page: Page, review: str, text: str) -> None:
    """Open the editor of a request with a text."""
    page.goto(f"/review/{review}")
    expect(page.locator("#question")).to_be_focused()
    page.keyboard.press("c")
    expect(page.locator("#corrected")).to_be_focused()
    page.locator("#corrected").fill(text)


@needs_browser
def test_a_reviewer_compares_a_text_with_a_key_and_sees_when_the_result_is_of_another_text(
    browser: Browser, console: ConsoleThread, values: Values
) -> None:
    answer, review = held(console, 20)
    with logged_in(browser, console, NAME) as (page, seen):
        opened(page, review, invented(20))
        claims = page.locator("#item-claims").locator("xpath=..").inner_text()
        found, stale = page.locator("#comparison-found"), page.locator("#comparison-stale")
        expect(page.locator("#comparison")).to_be_hidden()
        page.keyboard.press("Alt+Enter")
        expect(found).to_contain_text("1 of 2 statements supported, 1 unsupported.")
        expect(found.locator(".verdict.unsupported")).to_have_count(1)
        expect(found).to_contain_text("It has 37 disks of steel")
        expect(stale).to_be_hidden()
        expect(page.locator("#corrected")).to_be_focused()
        page.keyboard.press("End")
        page.keyboard.type("!")
        expect(stale).to_be_visible()
        page.keyboard.press("Backspace")
        expect(stale).to_be_hidden()
        page.locator("#corrected").fill(right(20))
        expect(stale).to_be_visible()
        page.get_by_role("button", name="Compare with the sources").click()
        expect(found).to_contain_text("2 of 2 statements supported.")
        expect(found.locator(".verdict")).to_have_count(0)
        expect(stale).to_be_hidden()
        # The claims of the page stay those of the answer.
        assert page.locator("#item-claims").locator("xpath=..").inner_text() == claims
        assert serious_violations(page) == []
        page.locator("#corrected").focus()
        page.keyboard.press("Control+Enter")
        expect(page.locator("#status")).to_contain_text("orrected")
        page.keyboard.press("?")
        expect(page.locator("#help")).to_contain_text("compare the text with the sources")
        assert seen.complaints == []
    decision = saved(console, values, answer)
    assert decision.comparison is not None
    assert decision.comparison.supported == 2
    with logged_in(browser, console, NAME) as (page, seen):
        page.goto(f"/answers/{answer}")
        expect(page.locator("#correction-comparison")).to_contain_text("2 of 2 statements supported.")
        expect(page.locator("#claims-heading")).to_have_text("Claims of the original text")
        assert serious_violations(page) == []
        assert seen.complaints == []


@needs_browser
def test_a_comparison_that_fails_says_why_and_the_text_is_sent_all_the_same(
    browser: Browser, console: ConsoleThread, values: Values, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer, review = held(console, 21)
    with logged_in(browser, console, NAME) as (page, _):
        opened(page, review, right(21))
        monkeypatch.setattr(review_pages, "COMPARISON_SECONDS", 0.001)
        page.keyboard.press("Alt+Enter")
        found = page.locator("#comparison-found")
        expect(found).to_contain_text("Not compared: it took longer than 0.001 seconds; try again in a moment")
        expect(found).to_contain_text("can be sent without it")
        page.keyboard.press("Control+Enter")
        expect(page.locator("#status")).to_contain_text("orrected")
    assert saved(console, values, answer).comparison is None
