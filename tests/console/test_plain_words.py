"""Words of the review page, the queue and the page of an answer are plain or explained, and the same everywhere."""

import re
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Browser, Page, expect

from schemas.identifiers import fact_id
from schemas.review import ReviewEventKind
from tests.harness.browser import logged_in, needs_browser, serious_violations
from tests.harness.console import ConsoleThread
from tests.harness.held_answers import held, risky
from workers.console.presentation.words import SCORES, STATES, review_event_words
from workers.review.decision_events import review_event
from workers.stores.clickhouse.rows.review_rows import review_event_row
from workers.stores.queries.answer_queries import MAX_TURN, cut_at_word


def explanation(page: Page, word: str) -> str:
    """Return what is shown while the pointer is on a word."""
    term = page.get_by_role("button", name=word, exact=True).first
    term.hover()
    tip = page.locator(f"#{term.get_attribute('aria-describedby')}")
    expect(tip).to_be_visible()
    return tip.inner_text()


@needs_browser
def test_states_and_scores_are_explained_and_have_one_form_on_each_page(
    browser: Browser, console: ConsoleThread
) -> None:
    (answer,) = held(console, "plain-words", 1)
    review, score = fact_id("plain-words", answer.answer_id, "review"), answer.evaluation.score
    needed = f"{score:.2f} of {console.settings.gate.gate_score:.2f} needed"
    kinds: list[ReviewEventKind] = ["assigned", "unassigned", "given", "skipped"]
    console.call(
        console.resources.analytics.store(
            review_event_row(
                review_event(kind, review, answer.answer_id, "plain-words", by="ann", at=datetime.now(UTC), assignee="ben")
            )
            for kind in kinds
        )
    )  # fmt: skip
    with logged_in(browser, console, "plain") as (page, seen):
        for path in (f"/review/{review}", f"/answers/{answer.answer_id}"):
            page.goto(path)
            assert explanation(page, "held") == STATES["held"]
            assert SCORES["gate"] in explanation(page, "overall score")
            figure = page.locator(".figure", has_text="overall score")
            expect(figure.locator("dd")).to_have_text(needed)
            text = page.locator("main").inner_text() + (page.locator(".history").text_content() or "")
            for jargon in ("gate", "fallback", "Reward"):
                assert not re.search(rf"\b{jargon}\b", text), path
            for kind in kinds:
                expect(page.locator(".history")).to_contain_text(review_event_words(kind))
            assert serious_violations(page) == []
        page.goto("/queue")
        assert explanation(page, "Overall score") == SCORES["gate"]
        assert serious_violations(page) == []
        assert seen.complaints == []


def test_a_long_turn_ends_with_a_word() -> None:
    assert cut_at_word("one two", 7) == "one two"
    assert cut_at_word("one two three", 9) == "one two …"
    assert cut_at_word("one two three", 7) == "one two …"
    assert cut_at_word("one", 2) == "on …"
    assert cut_at_word("面会 時間は平日の午後2時から午後6時までです。", 10) == "面会 時間は平日の午 …"


@needs_browser
@pytest.mark.parametrize("window", [{"width": 1280, "height": 900}, {"width": 390, "height": 844}])
def test_a_phone_is_told_of_no_key_and_a_long_turn_is_cut_between_words(
    browser: Browser, console: ConsoleThread, window: dict[str, int]
) -> None:
    is_phone = window["width"] < 900
    words = [f"word{number}" for number in range(MAX_TURN)]
    first = risky(0, "plain-words").model_copy(update={"session_id": "s-plain"})
    earlier = first.model_copy(update={"answer_id": "earlier", "answer": " ".join(words)})
    later = first.model_copy(update={"answer_id": "later", "completed_at": datetime.now(UTC)})
    console.store([earlier, later])
    with logged_in(browser, console, "plain", viewport=window, is_mobile=is_phone, has_touch=is_phone) as (page, _):
        page.goto(f"/review/{fact_id('plain-words', 'later', 'review')}")
        label, _, turn = page.locator(".turns p:not(.question):not(.small)").first.inner_text().partition(":")
        assert label == "The model wrote, not shown to readers now"
        *shown, end = turn.split()[:-1]
        assert end == "…"
        assert shown == words[: len(shown)]
        assert len(shown) > 100
        expect(page.locator(".final-note kbd")).to_be_visible(visible=window["width"] > 900)
        page.keyboard.press("i")
        expect(page.locator("#guidelines")).to_contain_text("approve what the sources support")
