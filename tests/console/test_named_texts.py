"""Sentences about readers name the text that they mean, and say what differs from the answer."""

import pytest
from playwright.sync_api import Browser, expect

from schemas.identifiers import fact_id
from tests.harness.browser import logged_in, needs_browser
from tests.harness.console import ConsoleThread
from tests.harness.held_answers import held
from workers.decision.reader_text.reference_list import HEADING
from workers.review.reader_outcomes import change_of


@pytest.mark.parametrize(
    ("answer", "content", "change"),
    [
        ("It is 2 GiB [1].", " It is 2 GiB [1].\n", "none"),
        ("It is 2 GiB [1].", f"It is 2 GiB [1].{HEADING}[1] Guide\n", "references"),
        ("It is 2 GiB [1].", f"It is 2 GiB [[1]](<https://a.example/x(1)>).{HEADING}[1] Guide\n", "references"),
        ("It is 2 GiB [1].", "It is 2 GiB [[1]](https://a.example/x).", "references"),
        ("It is 2 GiB [1].", f"It is 2 GiB [1]. [AI Inference]{HEADING}[1] Guide\n", "text"),
        ("It is 2 GiB [1].", f"It is 3 GiB [1].{HEADING}[1] Guide\n", "text"),
        (f"It is 2 GiB.{HEADING}[1] Own\n", f"It is 2 GiB.{HEADING}[1] Own{HEADING}[1] Guide\n", "references"),
        ("It is 2 GiB [1].", "", "text"),
        ("Note: see my_ring_size [1].", f"**Note**: see my_ring_size [1].{HEADING}[1] Guide\n", "formatting"),
        ("Note: see my_ring_size [1].", f"**Note**: see myringsize [1].{HEADING}[1] Guide\n", "text"),
    ],
)
def test_added_references_are_no_other_text(answer: str, content: str, change: str) -> None:
    assert change_of(answer, content) == change


@needs_browser
def test_each_sentence_names_its_text_whatever_is_open(browser: Browser, console: ConsoleThread) -> None:
    (answer,) = held(console, "previews", 1)
    with logged_in(browser, console, "previewing") as (page, seen):
        page.goto(f"/review/{fact_id(answer.tenant, answer.answer_id, 'review')}")
        expect(page.locator("#question")).to_be_focused()
        hints = page.locator(".choice small").all_inner_texts()
        assert len(hints) == 5
        for hint in hints:
            assert "above" not in hint, "another preview or the editor may stand above"
            assert "“" not in hint, "a tab is no result"
        opens = page.get_by_text("Open the editor with Correct.")
        page.locator('[data-outcome="correct"]').click()
        expect(opens).to_be_visible()
        page.keyboard.press("c")
        expect(page.locator("#corrected")).to_be_focused()
        expect(page.locator("#correction-hint")).to_be_visible()
        expect(opens).to_be_hidden()
        page.keyboard.press("Escape")
        page.locator('[data-outcome="correct"]').click()
        expect(opens).to_be_visible()
        assert seen.complaints == []
