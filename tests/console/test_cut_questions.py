"""A long question is whole on the page of its answer, and where it is cut, an ellipsis says so."""

import html
import re

import pytest
from playwright.sync_api import Browser, expect

from schemas.identifiers import fact_id
from tests.harness.browser import logged_in, needs_browser, serious_violations
from tests.harness.console import ConsoleThread
from tests.harness.held_answers import risky

TENANT = "cut-questions"
SPACED = (
    "Which of the ingesters needs how much memory, and may I "
    + "restart the others meanwhile, if nobody reads, " * 8
    + "today?"
)
UNSPACED = "第一面会室の利用時間と、平日の午前中に父と一緒に食事ができるかどうかを教えてください。" * 12 + "終わり"
LONG = {"spaced": SPACED, "unspaced": UNSPACED}


@pytest.fixture(scope="module")
def asked(console: ConsoleThread) -> dict[str, str]:
    """Questions by their answers, each longer than any list shows."""
    console.store(
        risky(0, TENANT).model_copy(update={"answer_id": name, "query": query}) for name, query in LONG.items()
    )
    return LONG


def texts(page: str, element: str) -> list[str]:
    """Return the texts of the elements of a page."""
    found = re.findall(rf"<{element}[^>]*>(.*?)</{element.split()[0]}>", page, re.DOTALL)
    return [html.unescape(re.sub(r"<[^>]+>", "", each)).strip() for each in found]


def cut_texts(page: str, element: str, query: str) -> list[str]:
    """Return the texts of the elements of a page that begin as a question does."""
    return [each for each in texts(page, element) if each.startswith(query[:20])]


@pytest.mark.parametrize("name", LONG)
def test_a_question_that_a_list_cuts_ends_with_an_ellipsis(
    console: ConsoleThread, asked: dict[str, str], name: str
) -> None:
    client = console.client("cut-reader")
    title = f"/answers/{name}?tenant={TENANT}"
    for address, element in ((title, "h1"), ("/queue", "a"), ("/search", "a")):
        page = client.get(address, headers={"Accept": "text/html"}).raise_for_status().text
        found = cut_texts(page, element, asked[name])
        assert found, address
        for each in found:
            assert each.endswith("…"), (address, each)
            assert 60 < len(each) < len(asked[name]), (address, each)
            assert asked[name].startswith(each.rstrip(" …")), (address, each)


@pytest.mark.parametrize("name", LONG)
def test_the_page_of_an_answer_has_the_whole_question(console: ConsoleThread, asked: dict[str, str], name: str) -> None:
    page = console.client("cut-reader").get(
        f"/answers/{name}", params={"tenant": TENANT}, headers={"Accept": "text/html"}
    )
    assert asked[name] in texts(page.text, 'p class="text"')


def test_a_short_question_has_no_second_place(console: ConsoleThread) -> None:
    console.store([risky(1, TENANT)])
    page = console.client("cut-reader").get(
        f"/answers/{TENANT}-1", params={"tenant": TENANT}, headers={"Accept": "text/html"}
    )
    assert texts(page.text, "h1") == ["How much memory does ingester 1 need?"]
    assert "whole-question" not in page.text


def test_a_refused_undo_names_a_question_without_blanks(console: ConsoleThread) -> None:
    console.store([risky(0, "cut-undo").model_copy(update={"query": UNSPACED})])
    review = fact_id("cut-undo", "cut-undo-0", "review")
    refused = console.client("cut-undoer").post(f"/api/reviews/{review}/undo")
    assert refused.status_code == 409
    assert f"for “{UNSPACED[:30]}" in refused.json()["detail"]


@needs_browser
def test_the_preview_of_several_decisions_cuts_questions_with_an_ellipsis(
    browser: Browser, console: ConsoleThread, asked: dict[str, str]
) -> None:
    with logged_in(browser, console, "cut-reader") as (page, seen):
        page.goto("/queue")
        for name in asked:
            page.locator(f'[data-choose="{fact_id(TENANT, name, "review")}"]').check()
        page.get_by_label("With the chosen").select_option("reject")
        page.get_by_role("button", name="Preview").click()
        lines = page.locator("#bulk-taken li")
        expect(lines).to_have_count(2)
        for line in lines.all_inner_texts():
            assert line.partition(" · ")[0].endswith("…”"), line
        assert serious_violations(page) == []
        assert seen.complaints == []
