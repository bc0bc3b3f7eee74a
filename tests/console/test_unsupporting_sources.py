"""Sources of the overview that do not support what cites them lead to their passage and to the claims."""

import pytest
from playwright.sync_api import Browser, expect

from schemas.answers import ContextChunk
from schemas.enriched import EnrichedAnswer
from tests.harness.browser import logged_in, needs_browser, serious_violations
from tests.harness.console import ConsoleThread
from tests.harness.held_answers import risky

TENANT = "unsupporting"
NAME = "Sizing <guide> of the ingester"
LINES = "\n".join(f"Line {number} says nothing of memory." for number in range(200))


@pytest.fixture(scope="module")
def answers(console: ConsoleThread) -> list[EnrichedAnswer]:
    """Three answers that cite one source: two against what it says, and between them one that it supports."""
    found = []
    for number in range(3):
        answer = risky(number, TENANT)
        content = f"{LINES}\nIngester {number} needs {16 if number == 1 else 2} GiB of memory.\n{LINES}"
        contexts = [ContextChunk(chunk_id="c1", content=content, source_name=NAME)]
        found.append(
            answer.model_copy(update={"answer": f"Ingester {number} needs 16 GiB of memory [1].", "contexts": contexts})
        )
    return console.store(found)


def test_the_figures_name_the_latest_citation_that_lacks_support(
    console: ConsoleThread, answers: list[EnrichedAnswer]
) -> None:
    figures = (
        console.client().get("/api/overview", params={"tenant": TENANT, "period": "30d"}).raise_for_status().json()
    )
    (source,) = figures["worst_sources"]
    assert (source["name"], source["citations"], source["unsupported"]) == (NAME, 3, 2)
    cited = console.client().get(f"/api/citations/{source['citation_id']}").raise_for_status().json()
    assert cited["answer_id"] == answers[2].answer_id


@needs_browser
def test_a_source_of_the_overview_leads_to_its_passage_and_the_claims(
    browser: Browser, console: ConsoleThread, answers: list[EnrichedAnswer]
) -> None:
    with logged_in(browser, console) as (page, seen):
        page.goto(f"/?tenant={TENANT}")
        page.get_by_role("link", name=NAME).click()
        passage = page.locator("mark.passage").first
        expect(passage).to_have_text("Ingester 2 needs 2 GiB of memory.")
        expect(passage).to_be_in_viewport()
        assert passage.evaluate("mark => getComputedStyle(mark).outlineStyle") == "solid"
        assert serious_violations(page) == []
        unsupported = page.get_by_role("heading", name="Claims that cite it without support").locator("+ ul a")
        expect(unsupported).to_have_text(["Ingester 2 needs 16 GiB of memory [1]."])
        unsupported.click()
        expect(page.locator("h1")).to_have_text("How much memory does ingester 2 need?")
        expect(page.locator("li:target")).to_contain_text("Ingester 2 needs 16 GiB of memory")
        assert seen.complaints == []


def test_a_supported_citation_names_no_claim_without_support(
    console: ConsoleThread, answers: list[EnrichedAnswer]
) -> None:
    right = console.client().get(f"/api/answers/{answers[1].answer_id}").raise_for_status().json()
    (citation,) = right["citations"]
    shown = console.client().get(f"/citations/{citation['citation_id']}", headers={"Accept": "text/html"})
    assert "Claims whose evidence it is" in shown.raise_for_status().text
    assert "without support" not in shown.text
