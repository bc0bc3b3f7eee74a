"""Texts that readers get from a decision, as the reviewer sees them beforehand."""

from datetime import UTC, datetime

import pytest
from playwright.sync_api import Browser, expect

from schemas.answers import ContextChunk, GeneratedAnswer
from tests.harness.browser import detail_of_a_page, logged_in, needs_browser, serious_violations
from tests.harness.console import ConsoleThread
from tests.harness.decisions import Values, decisions_on
from tests.harness.held_answers import review_of, risky
from tests.harness.variants import variants
from workers.decision.finality import released_by
from workers.decision.reader_text.reader_texts import ENGLISH
from workers.decision.release_events import review_request


def disputed(number: int, tenant: str = "outcomes", **fields: str) -> GeneratedAnswer:
    """Return an answer whose two sources disagree: readers get a note and a list of references."""
    return GeneratedAnswer(
        answer_id=f"{tenant}-{number}",
        tenant=tenant,
        query=f"How much memory does ingester {number} need?",
        answer=fields.get("answer", f"Ingester {number} needs 16 GiB of memory [1]. A querier runs on 3 cores [1]."),
        contexts=[
            ContextChunk(chunk_id="c1", content=f"Ingester {number} needs 16 GiB of memory. A querier runs on 9 cores.", source_name="Sizing guide"),
            ContextChunk(chunk_id="c2", content=f"Ingester {number} needs 2 GiB of memory.", source_name="Runbook"),
        ],
        risk_mode="gatekeeper",
        completed_at=datetime.now(UTC),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("number", "name", "body"),
    [
        (0, "approve", {"user_action": "approve"}),
        (1, "warn", {"user_action": "approve", "with_warning": True}),
        (2, "reject", {"user_action": "reject"}),
        (3, None, {"user_action": "correct", "corrected_answer": "It needs 2 GiB [2].\n"}),
    ],
)
def test_the_outcome_that_is_shown_is_the_text_that_the_decision_releases(
    console: ConsoleThread, values: Values, number: int, name: str | None, body: dict[str, str]
) -> None:
    (answer,) = console.store([disputed(number)])
    client, address = console.client("foreseeing"), f"/api/reviews/{review_of(answer)}"
    foreseen = client.post(f"{address}/outcome", json=body)
    assert foreseen.status_code == 200, foreseen.text
    item = client.get(address).json()
    if name is not None:
        assert item["outcomes"][name] == foreseen.json()
    assert set(item["outcomes"]) == {"approve", "warn", "reject", "deadline"}
    assert client.post(f"{address}/decision", json=body).status_code == 202
    (decision,) = decisions_on(values, answer.answer_id)
    released = released_by(decision)
    assert foreseen.json() == {"state": released.state, "content": released.content}
    if name == "approve":
        assert released.content is not None
        assert "The sources disagree" in released.content
        assert "Sizing guide" in released.content
    if name is None:
        assert released.content is not None
        assert released.content.startswith("It needs 2 GiB [2].\n\n## References\n\n[2] **Document**: Runbook")
        assert "Sizing guide" not in released.content, "the correction does not cite it"
        assert [(each["number"], each["title"]) for each in released.citations] == [(2, "Runbook")]


def test_an_outcome_is_asked_for_decisions_alone(console: ConsoleThread) -> None:
    (answer,) = console.store([disputed(4)])
    client = console.client("foreseeing")
    refused = client.post(f"/api/reviews/{review_of(answer)}/outcome", json={"user_action": "upvote"})
    assert (refused.status_code, refused.json()["fields"][0]["field"]) == (422, "user_action")
    assert "send approve, correct or reject" in refused.json()["detail"]


WINDOWS = [{"width": 1280, "height": 900}, {"width": 390, "height": 844}]


@needs_browser
@pytest.mark.parametrize("window", variants(WINDOWS, in_every_run=WINDOWS[:1]))
def test_a_reviewer_sees_what_readers_get_from_each_decision(
    browser: Browser, console: ConsoleThread, window: dict[str, int]
) -> None:
    (answer,) = console.store([disputed(5)])
    with logged_in(browser, console, "foreseeing", viewport=window) as (page, seen):
        page.goto(f"/review/{review_of(answer)}")
        expect(page.locator("#question")).to_be_focused()
        place = page.locator("#outcome-shown")
        expect(place).to_contain_text("Readers get this, which differs from what the model wrote")
        expect(place.locator(".rendered:visible")).to_contain_text("The sources disagree")
        expect(place.locator(".rendered:visible")).to_contain_text("Sizing guide")
        place.get_by_text("Changes to the answer, as text").locator("visible=true").click()
        expect(place.locator("ins:visible").filter(has_text="Sizing").first).to_be_visible()
        expect(place.locator("del:visible")).to_have_count(0)
        page.keyboard.press("p")
        expect(place).to_be_focused()
        expect(page.locator('[data-outcome="warn"]')).to_have_attribute("aria-pressed", "true")
        expect(place.locator(".rendered:visible")).to_contain_text("hallucination risk")
        page.locator('[data-outcome="reject"]').click()
        expect(place.locator(".rendered:visible")).to_have_text(ENGLISH.rejected)
        page.keyboard.press("c")
        expect(page.locator("#corrected")).to_be_focused()
        page.locator("#corrected").fill("It needs **2 GiB** [2]. <b>No more.</b>")
        expect(place.locator("strong:visible").first).to_have_text("2 GiB")
        expect(place.locator(".rendered:visible")).to_contain_text("It needs 2 GiB [2]. <b>No more.</b>")
        expect(place.locator(".rendered:visible")).to_contain_text("Runbook")
        expect(place.locator(".rendered:visible")).not_to_contain_text("Sizing guide")
        page.keyboard.press("Escape")
        expect(page.locator('[data-outcome="approve"]')).to_have_attribute("aria-pressed", "true")
        assert page.evaluate("document.documentElement.scrollWidth") <= window["width"]
        assert serious_violations(page) == []
        assert seen.complaints == []


@detail_of_a_page
def test_a_correction_of_an_answer_without_markers_keeps_the_references_of_what_it_keeps(
    browser: Browser, console: ConsoleThread, values: Values
) -> None:
    kept = "After a crash it is restarted by the operator."
    answer = risky(6, "outcomes").model_copy(update={"answer": f"Ingester 6 needs 16 GiB of memory. {kept}"})
    (stored,) = console.store([answer])
    with logged_in(browser, console, "foreseeing") as (page, seen):
        page.goto(f"/review/{review_of(stored)}")
        expect(page.locator("#outcome-shown .rendered:visible")).to_contain_text("Sizing guide")
        page.keyboard.press("c")
        page.locator("#corrected").fill(f"Ingester 6 needs 2 GiB of memory. {kept}")
        shown = page.locator("#outcome-shown .rendered:visible")
        expect(shown).to_contain_text("2 GiB")
        expect(shown).to_contain_text("Sizing guide")
        page.locator("#corrected").fill("It is not known.")
        expect(shown).to_contain_text("It is not known.")
        expect(shown).not_to_contain_text("Sizing guide")
        page.locator("#corrected").fill(f"Ingester 6 needs 2 GiB of memory. {kept}")
        page.keyboard.press("Control+Enter")
        expect(page.locator("#status")).to_contain_text("orrected")
        assert seen.complaints == []
    (decision,) = decisions_on(values, stored.answer_id)
    released = released_by(decision)
    assert released.content is not None
    assert released.content.startswith(
        f"Ingester 6 needs 2 GiB of memory. {kept}\n\n## References\n\n[1] **Document**: Sizing guide"
    )
    assert [each["title"] for each in released.citations] == ["Sizing guide"]


BLANKS = ["", " \n\t ", "\u200b\u00a0\u2028", "\ufeff"]


@pytest.mark.parametrize("number", range(len(BLANKS)))
def test_an_answer_of_blanks_is_not_approved_alone_or_among_several(
    console: ConsoleThread, values: Values, number: int
) -> None:
    (answer,) = console.store([disputed(number, "empties", answer="")])
    request = review_request(answer, answer.enriched_at, deadline_hours=24)
    assert request is not None
    console.store_request(request.model_copy(update={"answer": BLANKS[number], "rank": request.rank + 1}))
    client, review = console.client("empty-approver"), review_of(answer)
    for body in ({"user_action": "approve"}, {"user_action": "approve", "with_warning": True}):
        for path in ("outcome", "decision"):
            refused = client.post(f"/api/reviews/{review}/{path}", json=body)
            assert (refused.status_code, refused.json()["fields"][0]["field"]) == (422, "user_action")
            assert "write a correction, or reject the answer" in refused.json()["detail"]
    for blank in BLANKS:
        correction = {"user_action": "correct", "corrected_answer": blank}
        assert client.post(f"/api/reviews/{review}/decision", json=correction).status_code == 422
    for preview in (True, False):
        several = {"action": "approve", "review_ids": [review], "preview": preview}
        (outcome,) = client.post("/api/reviews/bulk", json=several).json()
        assert not outcome["done"]
        assert "the answer is empty" in outcome["detail"]
    assert client.post(f"/api/reviews/{review}/decision", json={"user_action": "reject"}).status_code == 202
    assert [decision.user_action for decision in decisions_on(values, answer.answer_id)] == ["reject"]


@detail_of_a_page
def test_the_page_says_that_an_empty_answer_cannot_be_approved_and_what_to_do(
    browser: Browser, console: ConsoleThread
) -> None:
    (answer,) = console.store([disputed(9, "empties", answer="  \n ")])
    with logged_in(browser, console, "empty-approver") as (page, seen):
        page.goto(f"/review/{review_of(answer)}")
        expect(page.locator("#question")).to_be_focused()
        expect(page.locator("#answer-view")).to_have_text("The model gave an empty answer.")
        expect(page.locator("#outcome-shown")).to_contain_text("the answer is empty and cannot be approved")
        page.keyboard.press("a")
        expect(page.locator("#status")).to_contain_text("write a correction, or reject the answer")
        expect(page.locator("#status")).not_to_contain_text("user_action")
        expect(page.locator(f'[data-review="{review_of(answer)}"]')).to_be_visible()
        assert serious_violations(page) == []
        assert seen.complaints == []
