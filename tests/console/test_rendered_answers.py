"""Answers, turns and beginnings of answers stand on the pages without the syntax of Markdown."""

import re
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import Browser, expect

from schemas.answers import ContextChunk, GeneratedAnswer, Turn
from schemas.identifiers import fact_id
from tests.harness.browser import logged_in, needs_browser, serious_violations
from tests.harness.console import ConsoleThread
from tests.harness.held_answers import risky
from tests.harness.reviews import store_decision
from workers.console.presentation.marked_markdown import marked_markdown
from workers.console.presentation.plain_markdown import claim_words, plain_text
from workers.console.presentation.rendering import markdown
from workers.console.presentation.verdicts import VERDICTS
from workers.console.presentation.views import CitationView, ClaimView
from workers.decision.release_events import review_request

TENANT = "rendered"
TABLE = "| Plan | Price |\n|---|---|\n| Basic | 9 EUR [1] |\n| Team | **39** EUR |"
TEXT = f"Here are the *plans* [1]:\n\n{TABLE}\n\n> The claim must be sent in writing [1].\n\nUse `--all`."


def claim(text: str, part: str, number: int = 0) -> ClaimView:
    start = text.index(part)
    fields = {"claim_id": f"c{number}", "start": start, "end": start + len(part), "text": part, "verdict": "supported"}
    return ClaimView.model_construct(**dict.fromkeys(ClaimView.model_fields) | fields)


def citation(text: str, marker: str = "[1]", number: int = 1) -> CitationView:
    spans = [match.span() for match in re.finditer(re.escape(marker), text)]
    fields = {
        "citation_id": f"cite-{number}", "valid": True, "number": number, "spans": spans, "source_type": "document",
        "display_text": f"[{number}] <Guide>", "excerpt": 'It "says" so.',
    }  # fmt: skip
    return CitationView.model_construct(**dict.fromkeys(CitationView.model_fields) | fields)


def linked(html: str) -> list[str]:
    return re.findall(r'<a class="citation data" href="/citations/cite-\d"[^>]*>([^<]*)</a>', html)


@pytest.mark.parametrize(
    ("text", "part", "marker", "expected"),
    [
        ("It is 24 months [1].", "It is 24 months [1].", "[1]", ["[1]"]),
        ("**24 months.**[1] More.", "**24 months.**[1]", "[1]", ["[1]"]),
        ("|a|b|\n|-|-|\n| c [1] | e |\n", "| c [1] | e |", "[1]", ["[1]"]),
        ("> So it is [1].", "So it is [1].", "[1]", ["[1]"]),
        ("- [1] says so.\n- [1] again.", "[1] says so.", "[1]", ["[1]", "[1]"]),
        ("[1][2] both.", "[1][2] both.", "[2]", ["[2]"]),
        ("See [guide](guide.md) now.", "See [guide](guide.md) now.", "[guide](guide.md)", ["[guide](guide.md)"]),
        ("So [Source: a_b_c] it is.", "So [Source: a_b_c] it is.", "[Source: a_b_c]", ["[Source: a_b_c]"]),
        ("保証期間は24か月です[1]。", "保証期間は24か月です[1]。", "[1]", ["[1]"]),
    ],
)
def test_markers_of_citations_are_links_in_a_rendered_answer(
    text: str, part: str, marker: str, expected: list[str]
) -> None:
    html = marked_markdown(text, [claim(text, part)], VERDICTS, [citation(text, marker)])
    assert html is not None
    assert linked(html) == expected
    assert "&lt;Guide&gt;" in html
    assert html.count('<mark class="claim supported"') >= 1
    assert not re.search("[\U000f0000-\U0010fffd]", html)


def test_a_marker_that_is_no_text_leaves_the_answer_as_it_was_written() -> None:
    text = "[1]: http://example.org/a\n\nIt is so."
    assert marked_markdown(text, [claim(text, "It is so.")], VERDICTS, [citation(text)]) is None


MARKS = st.text("ab 1.*_`[]()|#>-\n<&\\!:", max_size=60)
SPANS = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 30)), max_size=4)


@given(MARKS, SPANS, SPANS)
def test_any_answer_with_markers_has_whole_tags_or_none(
    text: str, spans: list[tuple[int, int]], marked: list[tuple[int, int]]
) -> None:
    claims = [
        ClaimView.model_construct(
            **dict.fromkeys(ClaimView.model_fields) | {"claim_id": f"c{n}", "start": start, "end": start + length, "verdict": "supported"}
        )
        for n, (start, length) in enumerate(spans)
    ]  # fmt: skip
    places = [(start, start + length) for start, length in marked]
    html = marked_markdown(text, claims, VERDICTS, [citation("").model_copy(update={"spans": places})])
    if html is None:
        return
    open_tags: list[str] = []
    for end, tag in re.findall(r"<(/?)(\w+)[^>]*>", html):
        if tag in ("br", "hr"):
            continue
        if end:
            assert open_tags.pop() == tag
        else:
            open_tags.append(tag)
    assert open_tags == []
    assert not re.search("[\U000f0000-\U0010fffd]", html)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        (TEXT, "Here are the plans [1]: Plan · Price; Basic · 9 EUR [1]; Team · 39 EUR; The claim must be sent in writing [1]. Use --all."),
        ("## Head\n\n1. One\n2. Two", "Head One Two"),
        ("```sh\nls -l\n```", "ls -l"),
        ("1 > 0 and 2 < 3 & 4 | 5.", "1 > 0 and 2 < 3 & 4 | 5."),
        ("<b>bold</b> text", "<b>bold</b> text"),
        ("Line one\nline two", "Line one line two"),
    ],
)  # fmt: skip
def test_a_beginning_of_an_answer_has_no_markdown(text: str, plain: str) -> None:
    assert plain_text(text) == plain


ROWS = "Costs:\n\n| Max | > 5 kg |\n|---|---|\n| `a \\| b` | - 5 °C |\n\nPlan | Price\n--- | ---\nTeam | 39 EUR\n\n"


@pytest.mark.parametrize(
    ("text", "part", "words"),
    [
        (ROWS, "| Max | > 5 kg |", "Max · > 5 kg"),
        (ROWS, "> 5 kg", "> 5 kg"),
        (ROWS, "- 5 °C", "- 5 °C"),
        (ROWS, "Team | 39 EUR", "Team · 39 EUR"),
        (TABLE, "| Team | **39** EUR |", "Team · 39 EUR"),
        ("So 3 | 4 is it.", "3 | 4 is it.", "3 | 4 is it."),
        ("1. Set **it**.\n2. Go.", "1. Set **it**.", "Set it."),
        ("A. > 5 kg is heavy.", "> 5 kg is heavy.", "> 5 kg is heavy."),
        ("It is `x_y` [1].", "It is `x_y` [1].", "It is x_y [1]."),
        ("***", "***", "***"),
        ("A line.\r\n\r\n|a|b|\r\n|-|-|\r\n|c|d|\r\n", "|c|d|", "c · d"),
    ],
)
def test_a_claim_has_its_words_without_markdown(text: str, part: str, words: str) -> None:
    assert claim_words(text, [claim(text, part)]) == {"c0": words}


def test_the_excerpt_of_a_source_is_a_quotation_below_its_entry() -> None:
    html = markdown(
        "It is 3 [1].\n\n## References\n\n[1] **Document**: Guide\n    Updated: 2026-01-01\n    > It is 3.\n"
    )
    assert "<blockquote>\n<p>It is 3.</p>\n</blockquote>" in html
    assert "&gt;" not in html


def test_a_sign_of_the_text_stays_one() -> None:
    assert "&gt; 5 kg" in markdown("Heavy is\n    > 5 kg")


def asked() -> GeneratedAnswer:
    return risky(1, TENANT).model_copy(
        update={
            "answer": TEXT,
            "contexts": [ContextChunk(chunk_id="c1", content="Basic costs 9 EUR, Team 29 EUR. The claim must be sent in writing.")],
            "conversation": [Turn(role="user", content="Which **plans**?"), Turn(role="assistant", content=TABLE)],
        }
    )  # fmt: skip


def test_claims_turns_and_corrections_stand_without_markdown(console: ConsoleThread) -> None:
    session = {"session_id": "rendered-session", "tenant": "rendered-lines"}
    first, second, empty = console.store(
        asked().model_copy(update=session | {"answer_id": f"lines-{number}", "conversation": [], "completed_at": asked().completed_at + timedelta(minutes=number)} | changes)
        for number, changes in enumerate(({}, {}, {"answer": " \u200b", "risk_mode": "observer"}))
    )  # fmt: skip
    client = console.client()

    def parts(address: str, pattern: str) -> list[str]:
        found = client.get(address, headers={"Accept": "text/html"}).raise_for_status().text
        return [re.sub("<[^>]*>", "", part) for part in re.findall(f"(?s){pattern}", found)]

    review = f"/review/{fact_id(second.tenant, second.answer_id, 'review')}"
    claims = parts(review, 'class="link" data-show="[^"]*">(.*?)</button>')
    assert any("39 EUR" in each for each in claims)
    assert claims == parts(review, "Your verdict on: (.*?)</legend>")
    (turn,) = parts(review, r'(Here are the [^<]*?) <a href="/answers/lines-0')
    assert [each for each in (*claims, turn) if re.search(r"[|*]", each)] == []
    request = review_request(first, first.enriched_at, deadline_hours=24)
    assert request is not None
    said = {"action": "correct", "corrected_answer": "It is **29** EUR [1]."}
    console.call(store_decision(console.resources.analytics, request, **said))
    snippets = parts(f"/search?tenant={first.tenant}", '<p class="snippet" dir="auto">(.*?)</p>')
    assert "Readers see: It is 29 EUR [1]." in snippets
    assert snippets[0].endswith("An empty answer."), empty.answer_id


@needs_browser
def test_pages_show_tables_quotations_and_emphasis_and_the_answer_as_written_on_demand(
    browser: Browser, console: ConsoleThread
) -> None:
    (answer,) = console.store([asked()])
    with logged_in(browser, console) as (page, seen):
        page.goto(f"/answers/{answer.answer_id}?tenant={TENANT}")
        text = page.locator("#answer-heading ~ .answer-text")
        expect(text.locator("td mark").filter(has_text=re.compile("^Team$"))).to_be_visible()
        expect(text.locator("blockquote")).to_contain_text("The claim must be sent in writing")
        expect(text.locator("code")).to_contain_text("--all")
        assert "|" not in text.inner_text()
        text.get_by_role("link", name="[1]").last.click()
        expect(page.locator("#panel .source-text")).to_contain_text("Basic costs 9 EUR")
        page.keyboard.press("Escape")
        expect(page.locator(".turns table")).to_have_count(1)
        expect(page.locator(".turns strong").filter(has_text="plans")).to_be_visible()
        assert "|" not in page.locator(".claims").inner_text()
        written = page.locator("#as-written .text")
        expect(written).to_be_hidden()
        page.locator("#as-written summary").click()
        expect(written).to_contain_text("| Team | **39** EUR |")
        assert serious_violations(page) == []
        page.goto(f"/search?tenant={TENANT}")
        expect(page.locator(".snippet").first).to_contain_text("Plan · Price; Basic · 9 EUR")
        assert seen.complaints == []


@needs_browser
def test_a_wide_table_of_an_answer_scrolls_inside_a_phone(browser: Browser, console: ConsoleThread) -> None:
    cells = " | ".join(f"feature-number-{number}" for number in range(14))
    wide = f"| {cells} |\n|{'---|' * 14}\n| {cells} |"
    (answer,) = console.store([asked().model_copy(update={"answer_id": "rendered-wide", "answer": wide})])
    with logged_in(browser, console, viewport={"width": 390, "height": 844}) as (page, _):
        page.goto(f"/answers/{answer.answer_id}?tenant={TENANT}")
        expect(page.locator(".answer-text table")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert serious_violations(page) == []
