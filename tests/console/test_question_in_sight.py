"""The question of a request is in sight in a magnified window, when the request opens and while it is scrolled."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.console.test_review_page import assert_in_sight, long_answer
from tests.harness.browser import detail_of_a_page, logged_in, needs_browser, serious_violations
from tests.harness.console import ConsoleThread
from tests.harness.held_answers import held
from tests.harness.variants import variants

pytestmark = needs_browser
LONG = "How do I size it, and what else do I have to know about zones, rings and operators before I begin? " * 4


def question_in_sight(page: Page) -> bool:
    """Return true if the whole first line of the question is above the bar and nothing lies over it."""
    return bool(
        page.locator("#question").evaluate(
            """each => {
              const box = each.getBoundingClientRect();
              const found = document.elementFromPoint(box.left + 40, box.top + 14);
              return box.top >= 0 && box.top + 24 <= document.querySelector(".decide").getBoundingClientRect().top && each.contains(found);
            }"""
        )
    )


QUESTIONS = [((720, 450), "How do I size it?"), ((844, 390), LONG)]


@pytest.mark.parametrize(("window", "query"), variants(QUESTIONS, in_every_run=QUESTIONS[1:]))
def test_the_question_is_in_sight_in_a_magnified_window(
    browser: Browser, console: ConsoleThread, window: tuple[int, int], query: str
) -> None:
    console.store([long_answer("heads").model_copy(update={"query": query})])
    width, height = window
    with logged_in(browser, console, "head-reader", viewport={"width": width, "height": height}) as (page, seen):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        assert question_in_sight(page)
        assert page.evaluate("scrollY") > 0, "the request begins at its question"
        for key in ("n", "j", "k"):
            page.keyboard.press(key)
            assert question_in_sight(page), key
            assert_in_sight(page, ".selected-row")
        verdict, question = page.locator(".selected-row").bounding_box(), page.locator("#question").bounding_box()
        assert verdict is not None
        assert question is not None
        assert question["height"] <= 36, "a long question leaves its room to the request"
        assert verdict["y"] >= question["y"] + question["height"] - 1
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert serious_violations(page) == []
        assert seen.complaints == []


@detail_of_a_page
def test_the_line_of_messages_has_the_counts_while_the_head_is_scrolled_away(
    browser: Browser, console: ConsoleThread
) -> None:
    held(console, "head-counts", 1)
    with logged_in(browser, console, "head-counter", viewport={"width": 1440, "height": 900}) as (page, _):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        counts = 'getComputedStyle(document.getElementById("status"), "::before").content'
        page.evaluate("scrollTo(0, 0)")
        page.wait_for_function(f"() => !{counts}.includes('open')")
        page.evaluate("scrollTo(0, 10000)")
        page.wait_for_function(
            f"() => {counts}.includes('0 decided by you today (UTC) · 1 open, 1 with a waiting reader')"
        )
        expect(page.locator("#status")).to_be_empty()
        question, status = page.locator("#question").bounding_box(), page.locator("#status").bounding_box()
        assert question is not None
        assert status is not None
        assert 0 <= question["y"] - status["y"] - status["height"] <= 12, "nothing is cut in half between them"
