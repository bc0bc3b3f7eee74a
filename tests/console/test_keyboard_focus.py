"""The keyboard alone: the focus can be told from what is chosen, an undo for each key, saved filters without a mouse."""

import re
from threading import Event

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.console.test_undo import question
from tests.harness.browser import detail_of_a_page, logged_in, needs_browser, reject, serious_violations
from tests.harness.console import ConsoleThread
from tests.harness.held_answers import held
from tests.harness.variants import variants

pytestmark = needs_browser

RING = "each => { const { outlineStyle, outlineColor, outlineWidth } = getComputedStyle(each); return [outlineStyle, outlineColor, outlineWidth]; }"


def tab_to(page: Page, selector: str) -> None:
    """Press Tab until an element has the focus."""
    for _ in range(80):
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"no way by Tab to {selector}")


def test_the_focus_differs_from_what_is_chosen_or_selected(browser: Browser, console: ConsoleThread) -> None:
    held(console, "focus-rings", 1)
    with logged_in(browser, console, "ring-seeker", viewport={"width": 1280, "height": 800}) as (page, _):
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.goto("/review")
            expect(page.locator("#question")).to_be_focused()
            ring = page.locator("#question").evaluate(RING)
            assert ring[0] == "solid"
            for selected in (
                "#answer-view mark.selected",
                ".contexts mark.selected",
                '.chip[aria-current="true"]',
                '#outcomes [aria-pressed="true"]',
            ):
                assert page.locator(selected).first.evaluate(RING)[1] != ring[1], (scheme, selected)
            for focused in ('#outcomes [aria-pressed="true"]', '.chip[aria-current="true"]'):
                tab_to(page, focused)
                assert page.locator(focused).evaluate(RING) == ring, (scheme, focused)
            # A key to the next claim leads the focus to its mark, which shows it.
            page.keyboard.press("j")
            expect(page.locator("#answer-view mark.selected").first).to_be_focused()
            assert page.locator("#answer-view mark.selected").first.evaluate(RING) == ring, scheme
            assert serious_violations(page) == []


@detail_of_a_page
def test_two_undos_in_a_row_undo_two_decisions_however_slow_the_first_one_is(
    browser: Browser, console: ConsoleThread, long_undo: None
) -> None:
    held(console, "undo-twice", 3)
    with logged_in(browser, console, "double-undoer") as (page, seen):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        questions = []
        for _ in range(2):
            asked = question(page)
            questions.append(asked)
            reject(page)
            expect(page.locator("#question")).not_to_have_text(asked)
            expect(page.locator("#status")).to_contain_text(f"Rejected: “{asked}”")
        held_back: list[Route] = []
        arrived = Event()

        def hold(route: Route) -> None:
            held_back.append(route)
            arrived.set()

        page.route("**/undo", hold, times=1)
        page.keyboard.press("u")
        page.keyboard.press("u")
        while not arrived.is_set():
            page.wait_for_timeout(50)
        held_back[0].continue_()
        expect(page.locator("#question")).to_have_text(questions[0])
        expect(page.locator("#status")).to_contain_text(f"Undone: “{questions[0]}”")
        expect(page.locator("#own-count")).to_have_text("0")
        assert seen.complaints == []


@detail_of_a_page
def test_the_seconds_of_an_undo_stand_apart_from_its_name(browser: Browser, console: ConsoleThread) -> None:
    held(console, "undo-gaps", 2)
    with logged_in(browser, console, "gap-seeker") as (page, _):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        reject(page)
        left = page.locator("#status .countdown")
        expect(left).to_be_visible()
        gap = left.evaluate(
            """each => { const range = new Range(); range.selectNode(each.previousSibling);
            const words = new Range(); words.selectNodeContents(each);
            return words.getBoundingClientRect().left - range.getBoundingClientRect().right; }"""
        )
        assert gap >= 3


@detail_of_a_page
def test_filters_are_saved_chosen_and_deleted_with_the_keyboard_and_each_step_is_announced(
    browser: Browser, console: ConsoleThread
) -> None:
    held(console, "key-filters", 1)
    with logged_in(browser, console, "filter-typist") as (page, seen):
        page.goto("/queue?min_risk=high")
        status = page.locator("#status")
        names = page.get_by_label("Saved filters")
        for name in ("first", "second"):
            page.get_by_label("Name").focus()
            page.keyboard.press("Control+A")
            page.keyboard.type(name)
            page.keyboard.press("Enter")
            expect(status).to_contain_text(f"Saved: “{name}”")
            expect(names).to_have_value(name)
        page.goto("/queue")
        names.focus()
        # The arrows go through the names, and nothing is opened before it is asked for.
        page.keyboard.press("ArrowDown")
        expect(names).to_have_value("first")
        page.keyboard.press("ArrowDown")
        expect(names).to_have_value("second")
        assert page.url.endswith("/queue")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile(r"/queue\?min_risk=high$"))
        names.focus()
        page.keyboard.press("ArrowDown")
        tab_to(page, '[data-saved-action="delete"]')
        page.keyboard.press("Enter")
        expect(status).to_contain_text("Deleted: “first”")
        expect(names.locator("option")).to_have_text(["choose", "second"])
        assert seen.complaints == []


HIDDEN = """() => { const { x, y, width, height } = document.activeElement.getBoundingClientRect();
const top = document.elementFromPoint(x + width / 2, y + Math.min(height, 20) / 2);
return top && (document.activeElement.contains(top) || top.contains(document.activeElement)) ? "" : document.activeElement.outerHTML.slice(0, 80); }"""


VIEWPORTS = [{"width": 1280, "height": 800}, {"width": 640, "height": 400}]


@detail_of_a_page
@pytest.mark.parametrize("viewport", variants(VIEWPORTS, in_every_run=VIEWPORTS[1:]))
def test_the_form_of_the_list_hides_no_control_that_has_the_focus(
    browser: Browser, console: ConsoleThread, viewport: dict[str, int]
) -> None:
    held(console, "list-focus", 12)
    with logged_in(browser, console, "list-walker", viewport=viewport) as (page, _):
        page.goto("/queue")
        page.locator("#bulk button").focus()
        for key in ("Tab", "Shift+Tab"):
            for _ in range(28):
                page.keyboard.press(key)
                if page.evaluate("document.activeElement.matches('.queue a, .queue input, .queue button')"):
                    assert page.evaluate(HIDDEN) == ""


def rejected_by_keys(page: Page) -> None:
    """Reject all requests of the list, with the keyboard alone."""
    page.goto("/queue")
    tab_to(page, "#choose-all")
    page.keyboard.press("Space")
    page.get_by_label("With the chosen").select_option("reject")
    tab_to(page, "#bulk button")
    page.keyboard.press("Enter")
    expect(page.locator("#bulk-preview")).to_be_visible()
    tab_to(page, "#bulk-do")
    page.keyboard.press("Enter")
    expect(page.locator("#status")).to_contain_text("Rejected: 2 of 2 requests")


def undo_by_keys(page: Page) -> None:
    page.get_by_role("button", name=re.compile(r"^Undo.*: 2 of 2 requests")).focus()
    page.keyboard.press("Enter")
    expect(page.locator("#status")).to_contain_text("Undone: 2 of 2 requests")


@detail_of_a_page
def test_an_undo_of_several_decisions_leads_the_focus_to_the_first_request_that_is_open_again(
    browser: Browser, console: ConsoleThread, long_undo: None
) -> None:
    held(console, "key-undo", 2)
    with logged_in(browser, console, "key-undoer", viewport={"width": 1280, "height": 500}) as (page, seen):
        rejected_by_keys(page)
        undo_by_keys(page)
        first = page.locator("[data-choose]").first
        expect(first).to_be_enabled()
        expect(first).to_be_focused()
        expect(first).to_be_in_viewport()
        assert page.evaluate(HIDDEN) == ""
        assert seen.complaints == []


@detail_of_a_page
def test_an_undo_on_a_page_without_these_requests_leads_the_focus_to_the_content(
    browser: Browser, console: ConsoleThread, long_undo: None
) -> None:
    held(console, "key-undo-apart", 2)
    with logged_in(browser, console, "key-undoer-apart") as (page, seen):
        for address in ("/queue?state=decided", "/"):
            rejected_by_keys(page)
            page.goto(address)
            undo_by_keys(page)
            expect(page.locator("#main")).to_be_focused()
        assert seen.complaints == []
