"""A request is seen before it is decided: its question stays in sight, and keys from before decide nothing."""

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from schemas.answers import ContextChunk, GeneratedAnswer
from schemas.identifiers import fact_id
from tests.harness.browser import detail_of_a_page, logged_in, needs_browser, serious_violations, shown
from tests.harness.console import ConsoleThread
from tests.harness.held_answers import held, risky
from tests.harness.reviews import store_decision
from tests.harness.variants import variants
from workers.decision.release_events import review_request

pytestmark = needs_browser

READABLE = """question => {
  const { left, right, top, bottom } = question.getBoundingClientRect();
  const heights = [top + 3, (top + bottom) / 2, bottom - 3];
  return top >= 0 && bottom <= innerHeight
    && heights.every((height) => question.contains(document.elementFromPoint((left + right) / 2, height)));
}"""


def assert_readable(page: Page) -> None:
    """Fail if something of the question is outside the window or behind something else."""
    assert page.locator("#question").evaluate(READABLE)


@pytest.mark.parametrize("window", [{"width": 1280, "height": 800}, {"width": 390, "height": 844}])
def test_the_question_stays_readable_after_each_decision_and_beside_each_claim(
    browser: Browser, console: ConsoleThread, window: dict[str, int]
) -> None:
    filler = " ".join(f"Zone {number} has its own ring." for number in range(60))
    for number in range(window["width"], window["width"] + 3):
        answer = risky(number, "moves")
        long = " ".join([answer.query, *["And how much does each of its replicas need in a zone of its own?"] * 8])
        changes = {"answer": f"{filler} {answer.answer}", "query": long if number % 3 == 0 else answer.query}
        console.store([answer.model_copy(update=changes)])
    with logged_in(browser, console, "mover", viewport=window) as (page, seen):
        page.goto("/review")
        for _ in range(3):
            expect(page.locator("#question")).to_be_focused()
            review = shown(page)
            assert_readable(page)
            page.keyboard.press("k")
            assert_readable(page)
            page.keyboard.press("n")
            assert_readable(page)
            page.keyboard.press("1")
            page.keyboard.press("a")
            expect(page.locator(f'[data-review="{review}"]')).to_have_count(0)
        assert seen.complaints == []


PRESS_BEFORE_PAINT = """key => new MutationObserver((changes, observer) => {
  observer.disconnect();
  requestAnimationFrame(() => {
    window.pressedOn = document.querySelector("[data-review]").dataset.review;
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    document.querySelector('[data-action="approve"]').click();
  });
}).observe(document.getElementById("review-item"), { childList: true })"""


@detail_of_a_page
def test_a_key_from_before_a_request_was_painted_decides_nothing(browser: Browser, console: ConsoleThread) -> None:
    held(console, "hasty", 3)
    with logged_in(browser, console, "hasty") as (page, seen):
        decided: list[Any] = []
        page.on("request", lambda sent: decided.append(sent) if sent.url.endswith("/decision") else None)
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        first = shown(page)
        page.evaluate(PRESS_BEFORE_PAINT, "a")
        page.keyboard.press("1")
        page.keyboard.press("a")
        expect(page.locator(f'[data-review="{first}"]')).to_have_count(0)
        expect(page.locator("#question")).to_be_focused()
        second = shown(page)
        assert page.evaluate("window.pressedOn") == second
        page.keyboard.press("1")
        page.keyboard.press("w")
        expect(page.locator(f'[data-review="{second}"]')).to_have_count(0)
        assert [first in each.url for each in decided] == [True, False]
        assert decided[1].post_data_json["with_warning"], "the decision that was pressed after the paint"
        assert seen.complaints == []


@detail_of_a_page
def test_a_rejection_asks_for_its_reason_and_says_whether_readers_see_it(
    browser: Browser, console: ConsoleThread
) -> None:
    held(console, "unprompted", 2)
    with logged_in(browser, console, "unprompted") as (page, seen):
        bodies: list[Any] = []
        page.on("request", lambda sent: bodies.append(sent.post_data_json) if sent.url.endswith("/decision") else None)
        page.goto("/review")
        for action in ("approve", "warn", "correct", "reject", "skip"):
            expect(page.locator(f'.decide [data-action="{action}"]')).not_to_have_class("primary")
        for words, reason in (("wrong figure", "wrong_figure"), ("", None)):
            expect(page.locator("#question")).to_be_focused()
            for field in ("#decision-reason", "#comment"):
                expect(page.locator(field)).to_have_attribute("placeholder", "Readers do not see it")
            review = shown(page)
            page.keyboard.press("r")
            expect(page.locator("#why")).to_contain_text("readers do not see it")
            page.keyboard.press("Escape")
            expect(page.locator("#why")).to_be_hidden()
            page.keyboard.press("r")
            expect(page.locator("#why-reason")).to_be_focused()
            page.keyboard.type(words)
            page.keyboard.press("Enter")
            expect(page.locator(f'[data-review="{review}"]')).to_have_count(0)
            assert (bodies[-1]["user_action"], bodies[-1]["reason"]) == ("reject", reason)
        assert len(bodies) == 2
        assert seen.complaints == []


def two_doubts(number: int) -> GeneratedAnswer:
    """Return an answer whose two claims contradict its source."""
    facts = ContextChunk(chunk_id="c1", content="An ingester needs 2 GiB of memory. A querier runs on 5 cores.")
    text = "An ingester needs 16 GiB of memory [1]. A querier runs on 3 cores [1]."
    return risky(number, "approved-doubts").model_copy(update={"answer": text, "contexts": [facts]})


@detail_of_a_page
def test_an_approval_against_a_contradicted_claim_asks_for_a_verdict_or_a_reason(
    browser: Browser, console: ConsoleThread
) -> None:
    console.store([two_doubts(0), *(risky(number, "approved-doubts") for number in (1, 2))])
    with logged_in(browser, console, "approver") as (page, seen):
        bodies: list[Any] = []
        page.on("request", lambda sent: bodies.append(sent.post_data_json) if sent.url.endswith("/decision") else None)
        page.goto(f"/review/{fact_id('approved-doubts', 'approved-doubts-0', 'review')}")
        expect(page.locator("#question")).to_be_focused()
        doubts, asked, reason = (page.locator(name) for name in ("#doubts", "#approval", "#approval-reason"))
        expect(doubts).to_contain_text("Contradicted: claims 1, 2.")
        for key, words in (("a", "Approve"), ("w", "Approve with a warning")):
            page.keyboard.press(key)
            expect(asked).to_contain_text("The evaluation found claims 1, 2 contradicted, without a verdict of yours")
            expect(asked.get_by_role("button", name=words, exact=True)).to_be_visible()
            assert serious_violations(page) == []
            page.keyboard.press("Escape")
            expect(asked).to_be_hidden()
        page.keyboard.press("2")
        expect(doubts).to_contain_text("Contradicted: claim 2.")
        page.keyboard.press("a")
        expect(asked).to_contain_text("You found claim 1 contradicted. The evaluation found claim 2 contradicted")
        page.keyboard.press("Escape")
        page.keyboard.press("j")
        page.keyboard.press("2")
        expect(doubts).to_be_empty()
        review = shown(page)
        page.keyboard.press("w")
        expect(asked).to_contain_text("You found claims 1, 2 contradicted.")
        expect(reason).to_be_focused()
        page.keyboard.press("Enter")
        expect(asked).to_be_visible()
        assert bodies == []
        page.keyboard.type("outdated source")
        page.keyboard.press("Enter")
        expect(page.locator(f'[data-review="{review}"]')).to_have_count(0)
        for words in ("", "nothing wrong"):
            expect(page.locator("#question")).to_be_focused()
            review = shown(page)
            if words:
                page.keyboard.press("a")
                expect(reason).to_be_focused()
                page.keyboard.type(words)
                page.keyboard.press("Enter")
            else:
                page.keyboard.press("1")
                expect(doubts).to_be_empty()
                page.keyboard.press("a")
            expect(page.locator(f'[data-review="{review}"]')).to_have_count(0)
        assert [(each["user_action"], each["with_warning"], each["reason"]) for each in bodies] == [
            ("approve", True, "outdated_source"), ("approve", False, None), ("approve", False, "nothing_wrong"),
        ]  # fmt: skip
        assert seen.complaints == []


WINDOWS = [{"width": 1366, "height": 850}, {"width": 390, "height": 844}]


@detail_of_a_page
@pytest.mark.parametrize("window", variants(WINDOWS, in_every_run=WINDOWS[:1]))
def test_a_request_opens_with_what_readers_see_and_a_decided_one_with_who_decided(
    browser: Browser, console: ConsoleThread, window: dict[str, int]
) -> None:
    long = " ".join(f"Zone {number} has its own ring." for number in range(60))
    first = risky(2 * window["width"], "started")
    changes = [{"answer": f"{long} {first.answer}", "answer_id": f"{first.answer_id}-{name}"} for name in "ab"]
    waiting, decided = console.store([first.model_copy(update=each) for each in changes])
    request = review_request(decided, decided.enriched_at, deadline_hours=24)
    assert request is not None
    console.call(store_decision(console.resources.analytics, request, by="rita", at=decided.enriched_at))
    with logged_in(browser, console, "starter", viewport=window) as (page, seen):
        page.goto(f"/review/{fact_id(waiting.tenant, waiting.answer_id, 'review')}")
        expect(page.locator("#question")).to_be_focused()
        for part in ("#question", ".state-line .warn", ".state-line .state", ".readers-now"):
            assert page.locator(part).evaluate(READABLE), part
        expect(page.locator(".state-line")).to_contain_text("A reader waits.")
        expect(page.locator(".state-line")).to_contain_text("Readers see nothing yet.")
        assert page.evaluate("scrollY") > 0
        assert serious_violations(page) == []
        page.goto(f"/review/{fact_id(decided.tenant, decided.answer_id, 'review')}")
        expect(page.locator("#question")).to_be_focused()
        assert page.locator(".decision").evaluate(READABLE)
        expect(page.locator(".decision")).to_contain_text("Approved by rita on")
        assert serious_violations(page) == []
        assert seen.complaints == []


@detail_of_a_page
@pytest.mark.parametrize("window", [{"width": 1280, "height": 600}, {"width": 390, "height": 844}])
def test_a_request_opens_with_readable_words_below_the_decisions(
    browser: Browser, console: ConsoleThread, window: dict[str, int]
) -> None:
    answer = risky(window["width"], "started")
    filler = " ".join(f"Zone {number} has its own ring." for number in range(60))
    console.store([answer.model_copy(update={"answer": f"{filler} {answer.answer}"})])
    review = fact_id(answer.tenant, answer.answer_id, "review")
    with logged_in(browser, console, "starter", viewport=window) as (page, seen):
        page.goto(f"/review/{review}")
        expect(page.locator("#question")).to_be_focused()
        size = page.locator("#hint-approve").evaluate("each => parseFloat(getComputedStyle(each).fontSize)")
        assert size >= 14
        assert seen.complaints == []


@detail_of_a_page
def test_ctrl_enter_presses_nothing_outside_of_the_editor_which_opens_with_a_cursor(
    browser: Browser, console: ConsoleThread
) -> None:
    held(console, "keyed", 1)
    with logged_in(browser, console, "keyed") as (page, seen):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        review = shown(page)
        for place in ('.decide [data-action="approve"]', "#comment", "#question"):
            page.locator(place).focus()
            page.keyboard.press("Control+Enter")
        expect(page.locator("#status")).to_be_empty()
        assert shown(page) == review
        page.locator("#question").focus()
        page.keyboard.press("c")
        editor = page.locator("#corrected")
        expect(editor).to_be_focused()
        start, end = editor.evaluate("each => [each.selectionStart, each.selectionEnd]")
        assert start == end > 0
        before = editor.input_value()
        page.keyboard.type("x")
        assert len(editor.input_value()) == len(before) + 1
        assert [each for each in seen.requests if each.endswith("/decision")] == []
