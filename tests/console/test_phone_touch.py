"""A phone with touch: controls for thumbs, the editor above the keyboard of the screen, words of a table in one piece."""

from datetime import UTC, datetime

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from schemas.answers import ContextChunk, GeneratedAnswer
from schemas.identifiers import fact_id
from tests.console.test_review_page import long_answer
from tests.harness.browser import detail_of_a_page, logged_in, needs_browser, serious_violations
from tests.harness.console import ConsoleThread
from tests.harness.held_answers import held, risky
from tests.harness.variants import variants

pytestmark = needs_browser
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
THUMB = 44
"""Least width and height of a control, px (WCAG 2.5.5)."""

SMALL = """least => {
  const inText = '.term, button.state, button.link, p a, dd a, td a, th a, h2 a, .claims a, .tip a, li a, .skip, .answer-text a';
  const parts = 'a[href], button, summary, select, textarea, input, label:has(input:is([type=radio], [type=checkbox]))';
  return [...document.querySelectorAll(parts)]
    .filter((each) => !each.matches(inText) && each.checkVisibility({ visibilityProperty: true }))
    .map((each) => (each.matches('input:is([type=radio], [type=checkbox])') ? each.closest('label') ?? each : each))
    .map((each) => [each.getBoundingClientRect(), each])
    .filter(([box]) => box.width < least || box.height < least)
    .map(([box, each]) => `${each.tagName}#${each.id}.${each.className} “${each.textContent.trim().slice(0, 30)}” ${box.width} x ${box.height}`);
}"""
"""The controls that are smaller, without links and explanations within a text."""


def wide(tenant: str) -> GeneratedAnswer:
    """Return a held answer with a table of many columns and a line of code that is wider than a phone."""
    names = ["Model", "Weight in kilograms", "Power in watts", "Price in euros", "Guarantee in months", "Colour"]
    rows = [f"| AtlasPump {number} | {10 + number} | {500 + number} | 99 | 36 | blue |" for number in range(4)]
    table = "\n".join([f"| {' | '.join(names)} |", f"|{'---|' * len(names)}", *rows])
    code = f"```python\nclient = PumpClient(host='pump.local', port=8080, {'retries=5, ' * 9})\n```"
    return GeneratedAnswer(
        answer_id=f"{tenant}-wide",
        tenant=tenant,
        query="Compare the pumps, with a table and an example in code, please, and tell me how long each of them is guaranteed?",
        answer=f"{table}\n\n{code}\n\nAtlasPump 1 weighs 90 kilograms [1].",
        contexts=[ContextChunk(chunk_id="c1", content="AtlasPump 1 weighs 11 kilograms. Its guarantee is 24 months.")],
        risk_mode="gatekeeper",
        completed_at=datetime.now(UTC),
    )


def open_review(page: Page) -> None:
    page.goto("/review")
    expect(page.locator("#question")).to_be_visible()
    page.wait_for_function("() => document.documentElement.style.getPropertyValue('--bar') !== ''")


def test_every_control_is_large_enough_for_a_thumb(browser: Browser, console: ConsoleThread) -> None:
    console.store([long_answer("thumb-sizes"), wide("thumb-sizes")])
    with logged_in(browser, console, "thumb-measurer", **PHONE) as (page, seen):
        open_review(page)
        page.locator(".queue-filters > summary").tap()
        page.locator("#more > summary").tap()
        page.locator('.decide [data-action="correct"]').tap()
        expect(page.locator("#corrected")).to_be_focused()
        assert page.evaluate(SMALL, THUMB) == []
        page.locator('#correction [data-action="close"]').tap()
        page.locator('.decide [data-action="reject"]').tap()
        expect(page.locator("#why")).to_be_visible()
        assert page.evaluate(SMALL, THUMB) == []
        for address in ("/queue", "/search?q=pump", "/audit/accesses", "/", "/answers/thumb-sizes-wide"):
            page.goto(address)
            expect(page.locator("h1")).to_be_visible()
            assert page.evaluate(SMALL, THUMB) == [], address
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, address
        assert seen.complaints == []


@detail_of_a_page
def test_the_keyboard_of_the_screen_hides_no_button_of_the_editor(browser: Browser, console: ConsoleThread) -> None:
    console.store([wide("screen-keyboard")])
    with logged_in(browser, console, "screen-typist", **PHONE) as (page, _):
        open_review(page)
        assert "interactive-widget=resizes-content" in (
            page.locator("meta[name=viewport]").get_attribute("content") or ""
        )
        page.locator('.decide [data-action="correct"]').tap()
        expect(page.locator("#corrected")).to_be_focused()
        page.set_viewport_size({"width": 390, "height": 480})  # what the keyboard leaves
        page.keyboard.type("Mended. ")
        send = page.locator('#correction [data-action="send"]')
        expect(send).to_be_in_viewport(ratio=1)
        uncovered = """() => { const send = document.querySelector('#correction [data-action=send]');
            const { x, y, width, height } = send.getBoundingClientRect();
            return send.contains(document.elementFromPoint(x + width / 2, y + height / 2)); }"""
        page.wait_for_function(uncovered)
        expect(send.locator("kbd")).to_be_hidden()
        send.tap()
        expect(page.locator("#status")).to_contain_text("Corrected: “")
        # After the keyboard has gone the decision is one thumb away again.
        page.set_viewport_size({"width": 390, "height": 844})
        held(console, "screen-keyboard", 1)
        open_review(page)
        expect(page.locator('.decide [data-action="approve"]')).to_be_in_viewport(ratio=1)


NARROW = [{"width": 390, "height": 844}, {"width": 640, "height": 400}]


@detail_of_a_page
@pytest.mark.parametrize("viewport", variants(NARROW, in_every_run=NARROW[:1]))
def test_words_of_a_table_stay_in_one_piece_and_the_page_does_not_scroll_sideways(
    browser: Browser, console: ConsoleThread, viewport: dict[str, int]
) -> None:
    console.store([wide("word-pieces")])
    with logged_in(browser, console, "word-reader", **(PHONE | {"viewport": viewport})) as (page, _):
        for address in ("/review", "/answers/word-pieces-wide"):
            page.goto(address)
            cell = page.locator(".answer-text td").first
            expect(cell).to_be_visible()
            lines = cell.evaluate(
                """each => { const text = document.createTreeWalker(each, NodeFilter.SHOW_TEXT).nextNode();
                const range = new Range(); range.setStart(text, 0); range.setEnd(text, "AtlasPump".length);
                return range.getClientRects().length; }"""
            )
            assert lines == 1, address
            assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"], address


@detail_of_a_page
def test_a_request_begins_in_the_upper_part_of_a_phone(browser: Browser, console: ConsoleThread) -> None:
    console.store([wide("phone-heads")])
    with logged_in(browser, console, "head-of-phone", **PHONE) as (page, _):
        open_review(page)
        page.evaluate("scrollTo(0, 0)")
        box = page.locator("#question").bounding_box()
        assert box is not None
        assert box["y"] <= 844 / 2  # a menu of five links has two lines
        assert serious_violations(page) == []


LONG_QUESTION = (
    "How do I size the ingester, and what else do I have to know about zones, rings and operators before I begin? " * 4
)
CUT = "each => each.scrollHeight - each.clientHeight > 4"


TURNED = [{"width": 390, "height": 844}, {"width": 844, "height": 390}]


@detail_of_a_page
@pytest.mark.parametrize("viewport", variants(TURNED, in_every_run=TURNED[:1]))
def test_a_long_question_says_on_a_phone_that_there_is_more_and_opens_as_a_whole(
    browser: Browser, console: ConsoleThread, viewport: dict[str, int]
) -> None:
    answers = {
        f"{viewport['width']}-{name}": query for name, query in (("long", LONG_QUESTION), ("short", "How long?"))
    }
    console.store(
        wide("long-questions").model_copy(update={"answer_id": name, "query": query}) for name, query in answers.items()
    )
    long, short = (f"/review/{fact_id('long-questions', name, 'review')}" for name in answers)
    with logged_in(browser, console, "question-opener", **(PHONE | {"viewport": viewport})) as (page, seen):
        page.goto(long)
        question = page.locator("#question")
        expect(question).to_be_visible()
        assert question.evaluate(CUT)
        assert page.evaluate("getComputedStyle(document.getElementById('question')).webkitLineClamp") != "none", (
            "an ellipsis"
        )
        more = page.get_by_role("button", name="More of the question")
        expect(more).to_be_in_viewport(ratio=1)
        more.tap()
        assert not question.evaluate(CUT)
        less = page.get_by_role("button", name="Less of the question")
        expect(less).to_have_attribute("aria-expanded", "true")
        assert page.evaluate(SMALL, THUMB) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
        assert serious_violations(page) == []
        less.tap()
        assert question.evaluate(CUT)
        page.goto(short)
        expect(page.locator("#question")).to_have_text("How long?")
        expect(more).to_be_hidden()
        assert seen.complaints == []


IN_BUTTON = """each => { const text = new Range(); text.selectNodeContents(each);
return text.getBoundingClientRect().right <= each.getBoundingClientRect().right && each.getBoundingClientRect().right <= innerWidth; }"""


def reject_by_touch(page: Page) -> None:
    page.locator('.decide [data-action="reject"]').tap()
    page.locator("#why-go").tap()


@detail_of_a_page
@pytest.mark.usefixtures("long_undo")
def test_a_slow_line_leaves_the_way_to_undo_on_a_phone(browser: Browser, console: ConsoleThread) -> None:
    held(console, "slow-lines", 3)
    waiting = "still waiting"
    held_back: list[Route] = []

    def hold(route: Route) -> None:
        if (route.request.post_data_json or {}).get("ahead"):
            held_back.append(route)
        else:
            route.continue_()

    with logged_in(browser, console, "slow-decider", **PHONE) as (page, seen):
        with page.expect_response(lambda each: (each.request.post_data_json or {}).get("ahead") is True):
            page.goto("/review")
        questions = [page.locator("#question").inner_text()]
        page.route("**/review/next", hold)
        reject_by_touch(page)
        expect(page.locator("#question")).not_to_have_text(questions[0])
        questions.append(page.locator("#question").inner_text())
        undo = page.locator("#status button")
        expect(undo).to_contain_text("Undo")
        assert undo.evaluate(IN_BUTTON), "the seconds stand in the button"
        page.wait_for_timeout(4_000)
        # What is loaded ahead keeps nobody waiting, and takes nothing away.
        expect(page.locator("#status")).not_to_contain_text(waiting)
        expect(undo).to_contain_text("Undo")
        reject_by_touch(page)
        expect(page.locator("#status")).to_contain_text(waiting)
        # Which step an undo would take back now, the reply says.
        expect(page.locator("#status")).to_contain_text(f"Being sent: rejected: “{questions[1]}”")
        expect(undo).to_have_count(0)
        held_back[0].continue_()
        expect(page.locator("#status")).to_contain_text(f"Rejected: “{questions[1]}”")
        expect(page.locator("#status")).not_to_contain_text(waiting)
        expect(undo).to_be_in_viewport(ratio=1)
        undo.tap()
        expect(page.locator("#question")).to_have_text(questions[1])
        assert seen.complaints == []


@detail_of_a_page
def test_the_evidence_follows_the_answer_on_a_phone_and_stands_beside_it_on_a_wide_page(
    browser: Browser, console: ConsoleThread
) -> None:
    held(console, "near-evidence", 2)
    with logged_in(browser, console, "evidence-seeker", **PHONE) as (page, seen):
        open_review(page)
        answer, claims, outcomes = (
            page.locator(each).bounding_box() for each in ("#answer-view", "#item-claims", "#outcomes")
        )
        assert answer is not None
        assert claims is not None
        assert outcomes is not None
        assert claims["y"] - answer["y"] - answer["height"] < 80
        assert outcomes["y"] > claims["y"]
        assert serious_violations(page) == []
        page.set_viewport_size({"width": 1280, "height": 844})
        answer, outcomes = (page.locator(each).bounding_box() for each in ("#answer-view", "#outcomes"))
        assert answer is not None
        assert outcomes is not None
        assert outcomes["x"] == answer["x"]
        assert outcomes["y"] - answer["y"] - answer["height"] < 80
        assert seen.complaints == []


@detail_of_a_page
def test_an_answer_without_claims_is_in_sight_on_a_phone(browser: Browser, console: ConsoleThread) -> None:
    console.store([risky(0, "blank-answers").model_copy(update={"answer": ""})])
    with logged_in(browser, console, "blank-reader", **PHONE) as (page, seen):
        open_review(page)
        expect(page.locator("#question")).to_be_focused()
        words = page.get_by_text("The model gave an empty answer.")
        expect(words).to_be_in_viewport(ratio=1)
        bar, question = page.locator(".decide").bounding_box(), page.locator("#question").bounding_box()
        box = words.bounding_box()
        assert box is not None
        assert bar is not None
        assert question is not None
        assert question["y"] + question["height"] < box["y"] < bar["y"] - 24
        assert seen.complaints == []
