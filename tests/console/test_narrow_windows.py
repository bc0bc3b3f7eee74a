"""The review page on a phone and magnified: verdict and evidence stay in sight, and the decision leaves room for them."""

import pytest
from playwright.sync_api import Browser, expect

from tests.console.test_review_page import assert_in_sight, long_answer
from tests.harness.browser import detail_of_a_page, logged_in, needs_browser, reject, serious_violations
from tests.harness.console import ConsoleThread
from tests.harness.held_answers import held, review_of, risky
from tests.harness.variants import variants

pytestmark = needs_browser
ZOOMED = {"width": 683, "height": 425}


def test_a_tap_on_the_number_of_a_claim_shows_its_verdict_and_moves_nothing(
    browser: Browser, console: ConsoleThread
) -> None:
    console.store([long_answer("zoomed")])
    with logged_in(browser, console, "zoomed", viewport={"width": 390, "height": 844}, has_touch=True) as (page, seen):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        chips = page.locator(".chip")
        for number in (8, 0, 5, 12):
            chip = chips.nth(number)
            chip.evaluate("each => { each.scrollIntoView({block: 'center'}); scrollBy(0, 150); }")
            before = chip.bounding_box()
            chip.tap()
            expect(chip).to_have_attribute("aria-current", "true")
            after = chip.bounding_box()
            assert before is not None
            assert after is not None
            assert abs(after["y"] - before["y"]) <= 1
            assert_in_sight(page, ".selected-row")
        assert_in_sight(page, ".selected-row .verdicts")
        marked = page.locator("#answer-view mark").nth(2)
        marked.tap()
        assert_in_sight(page)
        expect(page.locator(".decide [data-action=approve] kbd")).to_be_hidden()
        bar = page.locator(".decide").bounding_box()
        assert bar is not None
        assert bar["height"] <= 844 * 0.3
        assert seen.complaints == []


KEYS = ["n", "j", "k"]


@detail_of_a_page
@pytest.mark.parametrize("key", variants(KEYS, in_every_run=KEYS[:1]))
def test_a_key_leads_to_verdict_and_evidence_in_a_magnified_window(
    browser: Browser, console: ConsoleThread, key: str
) -> None:
    console.store([long_answer("zoomed")])
    with logged_in(browser, console, "zoomed", viewport=ZOOMED) as (page, _):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        passages = 0
        for _ in range(5):
            page.keyboard.press(key)
            assert_in_sight(page, ".selected-row")
            assert_in_sight(page, ".selected-row .verdicts")
            if page.locator(".contexts mark.selected").count():  # a claim may have no passage
                assert_in_sight(page, ".contexts mark.selected")
                passages += 1
        assert passages
        page.keyboard.press("2")
        expect(page.locator(".selected-row [data-own]")).to_have_text("you: contradicted")


@detail_of_a_page
def test_the_decision_leaves_most_of_a_magnified_window_to_the_request(
    browser: Browser, console: ConsoleThread
) -> None:
    console.store([long_answer("zoomed")])
    with logged_in(browser, console, "zoomed", viewport=ZOOMED) as (page, seen):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        bar = page.locator(".decide").bounding_box()
        assert bar is not None
        assert bar["height"] <= ZOOMED["height"] * 0.25
        for action in ("approve", "warn", "correct", "reject", "skip"):
            button = page.locator(f'.decide [data-action="{action}"]')
            expect(button).to_be_in_viewport(ratio=1)
            expect(button.locator("kbd")).to_be_visible()
            assert button.evaluate("each => each.scrollWidth <= each.clientWidth")
        page.keyboard.press("c")
        expect(page.locator("#corrected")).to_be_focused()
        for part in ("#corrected", '#correction [data-action="send"]'):
            assert_in_sight(page, part)
        assert page.evaluate("document.documentElement.scrollWidth") <= ZOOMED["width"]
        assert serious_violations(page) == []
        assert seen.complaints == []


@detail_of_a_page
def test_the_message_of_a_decision_leaves_the_count_of_open_requests_in_sight(
    browser: Browser, console: ConsoleThread, long_undo: None
) -> None:
    held(console, "messages-beside", 3)
    with logged_in(browser, console, "message-reader", viewport={"width": 390, "height": 844}) as (page, seen):
        page.goto("/review")
        expect(page.locator("#question")).to_be_visible()
        reject(page)
        status = page.locator("#status")
        expect(status).to_contain_text("Rejected: “")
        expect(status).to_have_attribute("data-open", "2 open")
        before = "getComputedStyle(document.getElementById('status'), '::before').content"
        assert page.evaluate(before).startswith('"2 open"')
        width = status.locator("span").first.evaluate("words => words.getBoundingClientRect().width")
        assert width > 110, "the message keeps its place"
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.evaluate("scrollTo(0, 0)")
        expect(status).not_to_have_attribute("data-open", "2 open")
        assert seen.complaints == []


LEGEND = """async () => {
    const { draw } = await import("/static/js/charts.js");
    const element = document.body.appendChild(document.createElement("div"));
    element.className = "chart";
    const label = "a-family-of-models/instruct-with-a-very-long-name-8x7b-v0.1-2026-11";
    draw(element, { times: [0], since: 0, until: 60, bucket: 60, kind: "count", series: [{ label, values: [1] }] });
    await new Promise(requestAnimationFrame);
    const right = (node) => node.getBoundingClientRect().right;
    return right(element) - Math.max(...[...element.querySelectorAll(".u-label")].map(right));
}"""


CAPTIONS = """[...document.querySelectorAll(".figure dt, .figure small, figcaption")].filter((each) => {
    const [own, frame] = [each, each.closest(".figure, figure")].map((one) => one.getBoundingClientRect());
    return own.left < frame.left || own.right > frame.right || each.scrollWidth > each.clientWidth + 1 && getComputedStyle(each).display !== "inline";
}).map((each) => each.textContent)"""


@detail_of_a_page
def test_no_caption_of_a_figure_is_cut_on_a_phone(browser: Browser, console: ConsoleThread) -> None:
    (answer,) = console.store([risky(9, "messages-beside")])
    with logged_in(browser, console, "message-reader", viewport={"width": 390, "height": 844}) as (page, _):
        for address in ("/", f"/review/{review_of(answer)}", f"/answers/{answer.answer_id}"):
            page.goto(address)
            expect(page.locator(".figure").first).to_be_visible()
            assert page.evaluate(CAPTIONS) == [], address
        page.goto("/")
        assert page.evaluate(LEGEND) >= 0, "the name of a long model"
