"""The page of a review in a real Chromium: long answers, Markdown, small windows."""

from datetime import UTC, datetime

import pytest
from playwright.sync_api import Browser, Page, expect

from schemas.answers import ContextChunk, GeneratedAnswer
from schemas.identifiers import fact_id
from tests.harness.browser import logged_in, needs_browser, serious_violations
from tests.harness.console import ConsoleThread
from tests.harness.held_answers import held, risky

pytestmark = needs_browser

MARKDOWN = """## Sizing

| Part | Memory |
|---|---|
| Ingester | 16 GiB of memory [1] |

1. Restart it **by hand** [1].

```yaml
memory: 16Gi
```

"""


def long_answer(tenant: str, sentences: int = 60) -> GeneratedAnswer:
    """Return an answer in Markdown that is longer than a window, with its false claim at the end."""
    filler = " ".join(f"Zone {number} has its own ring." for number in range(sentences))
    return GeneratedAnswer(
        answer_id=f"{tenant}-long",
        tenant=tenant,
        query="How do I size it?",
        answer=f"{MARKDOWN}{filler}\n\nAn ingester needs 16 GiB of memory [1].",
        contexts=[
            ContextChunk(chunk_id="c1", content="An ingester needs 2 GiB of memory. Restart it by hand. Each zone has its own ring.")
        ],
        risk_mode="gatekeeper",
        completed_at=datetime.now(UTC),
    )  # fmt: skip


def assert_in_sight(page: Page, part: str = "mark.selected") -> None:
    """Fail if the selected claim, or a part of the page, is behind the bar or outside the window."""
    bar = page.locator(".decide").bounding_box()
    mark = page.locator(part).first.bounding_box()
    assert bar is not None
    assert mark is not None
    assert mark["y"] >= 0
    assert mark["y"] + mark["height"] <= bar["y"]


@pytest.mark.parametrize("window", [{"width": 1280, "height": 700}, {"width": 390, "height": 844}])
def test_the_selected_claim_is_never_behind_the_bar(
    browser: Browser, console: ConsoleThread, window: dict[str, int]
) -> None:
    console.store([long_answer("long-answers")])
    with logged_in(browser, console, "long-reader", viewport=window) as (page, seen):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        count = page.locator("[data-claim-row]").count()
        assert count > 20
        selected = set()
        assert_in_sight(page)
        # Beside the answer both are in sight; in a narrow window, where they stand apart, the claim with its verdict.
        part = "mark.selected" if window["width"] > 900 else ".selected-row"
        for _ in range(count):
            page.keyboard.press("j")
            assert_in_sight(page, part)
            selected.add(page.locator("#review-item").get_attribute("data-selected"))
        assert len(selected) == count
        assert seen.complaints == []


def sheet(tenant: str) -> GeneratedAnswer:
    """Return an answer with three claims, whose evidence stands far apart in a long context."""
    filler = [" ".join(f"Zone {number} has ring {part}." for number in range(40)) for part in "abc"]
    facts = ["An ingester needs 2 GiB of memory.", "A querier runs on 3 cores.", "A compactor keeps 9 blocks."]
    return GeneratedAnswer(
        answer_id=f"{tenant}-sheet",
        tenant=tenant,
        query="How do I size it?",
        answer="An ingester needs 16 GiB of memory [1]. A querier runs on 3 cores [1]. A compactor keeps 9 blocks [1].",
        contexts=[ContextChunk(chunk_id="c1", content=" ".join(f"{text} {fact}" for text, fact in zip(filler, facts, strict=True)))],
        risk_mode="gatekeeper",
        completed_at=datetime.now(UTC),
    )  # fmt: skip


@pytest.mark.parametrize("height", [600, 900])
def test_the_passage_of_the_selected_claim_is_never_behind_the_bar(
    browser: Browser, console: ConsoleThread, height: int
) -> None:
    console.store([sheet("sheets")])
    with logged_in(browser, console, "sheets", viewport={"width": 1280, "height": height}) as (page, _):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        for _ in range(page.locator("[data-claim-row]").count()):
            bar = page.locator(".decide").bounding_box()
            passage = page.locator(".contexts .selected").first.bounding_box()
            assert bar is not None
            assert passage is not None
            assert passage["y"] >= 0
            assert passage["y"] + passage["height"] <= bar["y"] + 1
            assert_in_sight(page)
            page.keyboard.press("j")


@pytest.mark.parametrize("width", [1366, 390])
def test_what_lies_behind_the_bar_shows_nowhere_beside_it(browser: Browser, console: ConsoleThread, width: int) -> None:
    console.store([sheet("sheets")])
    with logged_in(browser, console, "sheets", viewport={"width": width, "height": 850}) as (page, _):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        bar = page.locator(".decide").bounding_box()
        article = page.locator(".review-item").bounding_box()
        assert bar is not None
        assert article is not None
        assert bar["x"] <= article["x"] - 1
        assert bar["x"] + bar["width"] >= article["x"] + article["width"] + 1
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_markdown_is_rendered_with_its_claims_and_shown_as_written_on_demand(
    browser: Browser, console: ConsoleThread
) -> None:
    console.store([long_answer("long-answers")])
    with logged_in(browser, console, "long-reader") as (page, seen):
        page.goto("/review")
        view = page.locator("#answer-view")
        expect(view.locator("h2")).to_contain_text("Sizing")
        expect(view.locator("td mark").filter(has_text="16 GiB")).to_be_visible()
        expect(view.locator("ol li strong")).to_have_text("by hand")
        expect(view.locator("pre code")).to_contain_text("memory: 16Gi")
        claims = view.locator("mark").evaluate_all("marks => new Set(marks.map(mark => mark.dataset.claim)).size")
        page.keyboard.press("t")
        expect(view).to_contain_text("| Ingester | 16 GiB of memory [1]")
        expect(view.locator("table")).to_have_count(0)
        raw = view.locator("mark").evaluate_all("marks => new Set(marks.map(mark => mark.dataset.claim)).size")
        assert raw >= claims > 20
        page.keyboard.press("t")
        expect(view.locator("table")).to_be_visible()
        assert serious_violations(page) == []
        assert seen.complaints == []


def test_a_key_leads_to_the_next_claim_in_doubt_and_an_empty_answer_says_so(
    browser: Browser, console: ConsoleThread
) -> None:
    answer = sheet("doubts")
    assert answer.contexts
    facts = "An ingester needs 2 GiB of memory. A querier runs on 5 cores. A compactor keeps 9 blocks."
    short = answer.contexts[0].model_copy(update={"content": facts})
    console.store([answer.model_copy(update={"contexts": [short]})])
    with logged_in(browser, console, "doubts") as (page, _):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        selected = page.locator(".selected-row")
        for words in ("needs 16 GiB", "needs 16 GiB", "runs on 3 cores", "needs 16 GiB"):
            expect(selected).to_contain_text(words)
            expect(selected).to_have_attribute("data-verdict-of", "contradicted")
            page.keyboard.press("n")
        console.store([answer.model_copy(update={"answer": "", "answer_id": "doubts-empty"})])
        page.goto(f"/review/{fact_id('doubts', 'doubts-empty', 'review')}")
        expect(page.locator("#answer-view")).to_have_text("The model gave an empty answer.")
        page.goto("/answers/doubts-empty")
        expect(page.locator("#main")).to_contain_text("The model gave an empty answer.")


def test_a_verdict_by_key_shows_beside_its_claim_wherever_the_focus_is(
    browser: Browser, console: ConsoleThread
) -> None:
    held(console, "thumbs", 1)
    with logged_in(browser, console, "thumb") as (page, _):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        own = page.locator(".selected-row [data-own]")
        expect(own).to_have_text("no verdict of yours")
        for place, key, words in (
            ("#question", "2", "contradicted"),
            ("[data-action=skip]", "3", "unsupported"),
            (".selected-row [data-verdict] >> nth=0", "4", "can't tell"),
            (".contexts", "1", "supported"),
        ):
            page.locator(place).focus()
            page.keyboard.press(key)
            expect(own).to_have_text(f"you: {words}")
        page.reload()
        expect(own).to_have_text("you: supported")
        expect(page.locator('.chip[aria-current="true"]')).to_contain_text("you: ✓")


def test_on_a_phone_the_decision_is_in_reach_of_a_thumb(browser: Browser, console: ConsoleThread) -> None:
    held(console, "thumbs", 2)
    with logged_in(browser, console, "thumb", viewport={"width": 390, "height": 844}, has_touch=True) as (page, _):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        for action in ("approve", "warn", "correct", "reject", "skip"):
            button = page.locator(f'.decide [data-action="{action}"]')
            expect(button).to_be_in_viewport(ratio=1)
            box = button.bounding_box()
            assert box is not None
            assert box["height"] >= 44
            assert box["y"] > 844 / 2
        expect(page.locator("#comment")).to_be_hidden()
        assert serious_violations(page) == []
        page.keyboard.press("m")
        expect(page.locator("#comment")).to_be_focused()
        page.keyboard.press("Escape")
        page.locator('[data-action="reject"]').tap()
        page.locator("#why-go").tap()
        expect(page.locator("#status")).to_contain_text("Rejected")


def test_the_evidence_says_where_it_comes_from_in_which_version_and_since_when(
    browser: Browser, console: ConsoleThread
) -> None:
    """A reviewer cannot tell an outdated source from the present one by its words."""
    answer = risky(0, "origins")
    assert answer.contexts is not None
    dated = answer.contexts[0].model_copy(
        update={
            "source_path": "https://wiki.example.org/sizing",
            "last_updated": datetime(2021, 3, 1, tzinfo=UTC),
            "metadata": {"version": "v2 <b>"},
        }
    )
    bare = ContextChunk(chunk_id="c2", content="Tempo keeps traces.", source_path="javascript:alert(1)")
    (waiting,) = console.store([answer.model_copy(update={"contexts": [dated, bare]})])
    with logged_in(browser, console) as (page, seen):
        page.goto(f"/review/{fact_id(waiting.tenant, waiting.answer_id, 'review')}")
        first, second = page.locator(".contexts > section").all()
        expect(first).to_contain_text(
            "https://wiki.example.org/sizing · version v2 <b> · changed 2021-03-01 00:00:00 UTC"
        )
        expect(first.get_by_role("link")).to_have_attribute("href", "https://wiki.example.org/sizing")
        expect(second).to_contain_text("javascript:alert(1) · version unknown · changed at an unknown time")
        assert second.get_by_role("link").count() == 0
        assert serious_violations(page) == []
        assert seen.complaints == []
