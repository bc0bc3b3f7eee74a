"""Words of the review page and the queue: readers, minima, symbols, guidelines and published decisions."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.harness.browser import detail_of_a_page, logged_in, needs_browser, serious_violations
from tests.harness.console import ConsoleThread
from tests.harness.held_answers import held, review_of, risky
from tests.harness.reviews import store_decision
from tests.harness.variants import variants
from workers.console.presentation.minima import gate_range, minima_of
from workers.decision.policy import DecisionPolicy
from workers.decision.release_events import review_request
from workers.review.review_errors import final_advice
from workers.settings import Settings


def described(page: Page, action: str) -> str:
    """Return the description of a button, which screen readers read after its name."""
    button = page.locator(f'.decide [data-action="{action}"]')
    return " ".join(page.locator(f"#{button.get_attribute('aria-describedby')}").inner_text().split())


WINDOWS = [{"width": 1280, "height": 900}, {"width": 390, "height": 844}]


@needs_browser
@pytest.mark.parametrize("window", variants(WINDOWS, in_every_run=WINDOWS[:1]))
def test_each_button_says_what_readers_get_and_the_page_what_they_see_now(
    browser: Browser, console: ConsoleThread, window: dict[str, int]
) -> None:
    (waiting,) = held(console, "hints", 1)
    (seen_by_readers,) = console.store(
        [risky(1, "hints").model_copy(update={"risk_mode": "observer", "answer_id": "hints-observed"})]
    )
    assert (seen_by_readers.decision.state, seen_by_readers.decision.review) == ("warned", True)
    with logged_in(browser, console, "hinted", viewport=window) as (page, seen):
        page.goto(f"/review/{review_of(waiting)}")
        expect(page.locator(".readers-now")).to_contain_text("Readers see nothing yet")
        expect(page.locator(".decide .final-note")).to_contain_text(
            "A decision is final after 3 s; undo it before that"
        )
        assert described(page, "approve") == "Readers get it with references"
        assert described(page, "warn") == "Readers get it with a warning"
        assert described(page, "correct") == "Readers get your text"
        assert described(page, "reject") == "Readers get a notice instead"
        assert described(page, "skip") == "Readers get nothing new"
        expect(page.locator(".choice small:visible")).to_have_count(5)
        for action, words in (("escalate", "others decide"), ("upvote", "a vote decides nothing")):
            assert (
                page.locator(f"#hint-{action.replace('up', '')}").text_content() == f"Readers get nothing new; {words}"
            )
        assert serious_violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= window["width"]
        page.goto(f"/review/{review_of(seen_by_readers)}")
        expect(page.locator(".readers-now")).to_contain_text(
            "Readers already see the answer with a warning; your decision replaces it."
        )
        assert seen.complaints == []


@detail_of_a_page
def test_scores_stand_beside_the_minimum_that_they_need_and_symbols_are_explained(
    browser: Browser, console: ConsoleThread
) -> None:
    (answer,) = held(console, "minima", 1)
    score, minimum = answer.evaluation.score, console.settings.gate.gate_score
    assert score is not None
    with logged_in(browser, console, "thresholds") as (page, _):
        page.goto(f"/review/{review_of(answer)}")
        figure = page.locator(".figures .figure")
        expect(figure.filter(has_text="overall score").locator("dd")).to_have_text(
            f"{score:.2f} of {minimum:.2f} needed"
        )
        grounding = console.settings.grounding.grounding_minimum
        expect(figure.filter(has_text="grounding").first.locator("dd")).to_contain_text(f"of {grounding:.2f} needed")
        legend = page.get_by_label("Legend")
        for words in ("supported", "contradicted", "unsupported", "not checked"):
            expect(legend).to_contain_text(words)
        assert serious_violations(page) == []
        page.goto("/queue")
        expect(page.locator(f'[data-row="{review_of(answer)}"]')).to_contain_text(f"of {minimum:.2f} needed")
        assert serious_violations(page) == []


def test_the_minimum_is_that_of_tenant_and_query_type() -> None:
    overrides = [
        {"tenant": "acme", "gate_score": 0.6, "grounding_minimum": 0.3},
        {"tenant": "acme", "query_type": "legal", "gate_score": 0.9},
    ]
    settings = Settings(_env_file=None, decision=DecisionPolicy.model_validate({"overrides": overrides}))
    usual = {"gate": settings.gate.gate_score, "grounding": settings.grounding.grounding_minimum}
    assert minima_of(settings, "other", "legal") == usual
    assert minima_of(settings, "acme", None) == {"gate": 0.6, "grounding": 0.3}
    assert minima_of(settings, "acme", "legal") == {"gate": 0.9, "grounding": 0.3}
    assert gate_range(settings, "acme") == [0.6, 0.9]
    assert gate_range(settings, "other") == [usual["gate"]]


@detail_of_a_page
def test_a_decided_request_says_that_it_is_final_and_what_to_do(browser: Browser, console: ConsoleThread) -> None:
    (answer,) = held(console, "published", 1)
    request = review_request(answer, answer.enriched_at, deadline_hours=24)
    assert request is not None
    console.call(store_decision(console.resources.analytics, request, by="published", at=datetime.now(UTC)))
    with logged_in(browser, console, "published") as (page, _):
        page.goto(f"/review/{review_of(answer)}")
        expect(page.locator(".decision")).to_contain_text(final_advice("approve", may_withdraw=True))
        expect(page.locator(".decision")).to_contain_text("withdraw the answer on its page, and ask the people")
        assert serious_violations(page) == []


@detail_of_a_page
def test_the_key_of_the_guidelines_says_that_there_are_none_and_how_they_are_set(
    browser: Browser, console: ConsoleThread, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    held(console, "unguided", 1)
    with logged_in(browser, console, "unguided") as (page, _):
        for folder in (None, tmp_path):
            monkeypatch.setattr(console.settings.review, "guidelines", folder)
            page.goto("/review")
            expect(page.locator("#question")).to_be_focused()
            guidelines = page.locator("#guidelines p")
            if folder is None:
                expect(guidelines).to_be_hidden()
                page.keyboard.press("i")
            expect(guidelines).to_be_visible()
            expect(guidelines).to_contain_text("There are no guidelines for unguided.")
            expect(guidelines).to_contain_text("unguided.md, or default.md")
            expect(guidelines).to_contain_text("TOUCHSTONE_REVIEW__GUIDELINES")
            assert serious_violations(page) == []
