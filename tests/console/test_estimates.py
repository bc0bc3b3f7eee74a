"""Verdicts on claims are shown as the estimates that they are, on the review page and the page of an answer."""

import pytest
from playwright.sync_api import Browser, Page, expect

from schemas.identifiers import fact_id
from tests.harness.browser import logged_in, needs_browser, serious_violations
from tests.harness.console import ConsoleThread
from tests.harness.held_answers import risky
from workers.console.presentation.verdicts import CLEAR_SUPPORT, ESTIMATE, score_words, shade_of
from workers.decision.release_events import review_request


@pytest.mark.parametrize(
    ("verdict", "score", "shade", "words"),
    [
        ("supported", CLEAR_SUPPORT, "supported", "0.80 of 1"),
        ("supported", 0.79, "supported weak", "0.79 of 1"),
        ("supported", None, "supported", ""),
        ("contradicted", 0.1, "contradicted", "support 0.10 of 1"),
        ("unsupported", 0.5, "unsupported", "support 0.50 of 1"),
        ("not_checked", None, "not_checked", ""),
    ],
)
def test_only_support_below_the_clear_one_is_weak(verdict: str, score: float | None, shade: str, words: str) -> None:
    assert (shade_of(verdict, score), score_words(verdict, score)) == (shade, words)


def with_support(console: ConsoleThread, number: int, score: float) -> str:
    """Store an answer whose claims all have the same support; return its identifier."""
    enriched = console.judge(risky(number, "estimates"))
    console.store_rows(enriched, claims={"verdict": "supported", "score": score})
    request = review_request(enriched, enriched.enriched_at, deadline_hours=24)
    assert request is not None
    console.store_request(request)
    return enriched.answer_id


def looks(page: Page, place: str, sign: str) -> tuple[str, ...]:
    """Return what a person sees of a verdict besides its colour: the style of its line, and its sign."""
    style = page.locator(place).first.evaluate("each => getComputedStyle(each).borderBottomStyle")
    return style, page.locator(sign).first.inner_text()


@needs_browser
def test_a_verdict_says_that_it_is_an_estimate_and_how_sure_and_weak_support_looks_weak(
    browser: Browser, console: ConsoleThread
) -> None:
    weak, clear = with_support(console, 0, 0.71), with_support(console, 1, 0.97)
    with logged_in(browser, console, "estimating") as (page, seen):
        seen_as = {}
        for answer, words in ((weak, "weakly supported, 0.71 of 1"), (clear, "supported, 0.97 of 1")):
            page.goto(f"/review/{fact_id('estimates', answer, 'review')}")
            row = page.locator(".selected-row")
            verdict = row.locator(".verdict").first
            expect(row).to_contain_text(words, use_inner_text=True)
            expect(page.get_by_text(ESTIMATE, exact=True).filter(visible=True)).to_have_count(1)
            tip = row.locator("[role=tooltip]").first
            expect(tip).to_be_hidden()
            verdict.locator("button").hover()
            expect(tip).to_be_visible()
            expect(tip).to_contain_text(ESTIMATE)
            assert serious_violations(page) == []
            looked = (
                looks(page, "#answer-view mark.claim", "#answer-view .sign"),
                looks(page, ".chip", ".chip > [aria-hidden]"),
            )
            page.goto(f"/answers/{answer}")
            expect(page.get_by_text(ESTIMATE, exact=True).filter(visible=True)).to_have_count(1)
            expect(page.locator(".claims li").first).to_contain_text(words, use_inner_text=True)
            assert serious_violations(page) == []
            seen_as[answer] = (*looked, looks(page, ".answer-text mark.claim", ".answer-text .sign"))
        for weakly, clearly in zip(seen_as[weak], seen_as[clear], strict=True):
            assert weakly[0] != clearly[0], "another line"
            assert weakly[1] != clearly[1], "another sign"
        assert seen.complaints == []
