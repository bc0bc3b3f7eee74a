"""The page of a request says why it is there, when the answer was written, and what readers saw of it meanwhile."""

from playwright.sync_api import Browser, expect

from schemas.answers import ContextChunk, GeneratedAnswer
from tests.harness.browser import logged_in, needs_browser, serious_violations
from tests.harness.console import ConsoleThread
from tests.harness.held_answers import risky
from workers.console.presentation.words import MODES

pytestmark = needs_browser
TENANT = "reasoned"


def review_address(console: ConsoleThread, answer: GeneratedAnswer) -> str:
    """Store an answer and return the address of the page of its review request."""
    (judged,) = console.store([answer])
    items = console.client("reasoned").get("/api/reviews").raise_for_status().json()["items"]
    (review,) = [item["review_id"] for item in items if item["answer_id"] == judged.answer_id]
    return f"/review/{review}"


def test_a_claim_with_evidence_that_does_not_support_it_is_not_called_without_evidence(
    browser: Browser, console: ConsoleThread
) -> None:
    answer = risky(0, TENANT).model_copy(
        update={"answer": "Ingester 0 needs a second network card of 40 Gbit/s [1].", "risk_mode": "observer"}
    )
    with logged_in(browser, console, "reasoned") as (page, seen):
        page.goto(review_address(console, answer))
        why = page.locator(".meta span", has_text="why:")
        expect(why).to_contain_text("no claim that the sources support")
        expect(why).not_to_contain_text("no evidence")
        assert seen.complaints == []


def test_a_claim_in_the_language_of_its_sources_is_not_said_to_be_in_another(
    browser: Browser, console: ConsoleThread
) -> None:
    answer = risky(1, TENANT).model_copy(
        update={
            "query": "Wie lange dauert die Prüfung?",
            "answer": "Die Prüfung dauert in der Regel mehrere Wochen [1].",
            "contexts": [
                ContextChunk(chunk_id="c1", content="Die Prüfung zieht sich üblicherweise über einige Zeit hin.")
            ],
        }
    )
    with logged_in(browser, console, "reasoned") as (page, seen):
        page.goto(review_address(console, answer))
        why = page.locator(".meta span", has_text="why:")
        expect(why).to_contain_text("claims whose words could not be compared with the sources")
        expect(why).not_to_contain_text("another language")
        assert seen.complaints == []


def test_the_time_of_the_answer_stands_beside_that_of_the_request_with_the_mode_explained(
    browser: Browser, console: ConsoleThread
) -> None:
    answer = risky(2, TENANT)
    with logged_in(browser, console, "reasoned") as (page, seen):
        page.goto(review_address(console, answer))
        expect(page.locator(".meta span", has_text="answered")).to_have_text(
            f"answered {answer.completed_at:%Y-%m-%d %H:%M:%S UTC}"
        )
        expect(page.locator(".meta span", has_text="waits since")).to_be_visible()
        mode = page.get_by_role("button", name="gatekeeper")
        mode.focus()
        expect(mode).to_have_accessible_description(MODES["gatekeeper"])
        assert serious_violations(page) == []
        assert seen.complaints == []
