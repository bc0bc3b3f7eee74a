"""Claims in doubt: how the key for them goes on, and what the page says of them."""

import re
from typing import Any

from playwright.sync_api import Browser, Page, expect

from schemas.identifiers import claim_id, fact_id
from schemas.review import ReviewRequest
from tests.harness.browser import logged_in, needs_browser, serious_violations
from tests.harness.console import ConsoleThread
from tests.harness.reviews import review_request
from workers.console.presentation.verdicts import DOUBTED, VERDICTS

SENTENCES = (
    ("Loki needs 16 GiB.", "supported", 0.95),
    ("A querier runs on 5 cores.", "supported", 0.6),
    ("A ring has 3 zones.", "unsupported", 0.4),
    ("A compactor keeps 9 blocks.", "contradicted", 0.1),
    ("A shard is 8 MiB.", "supported", 0.9),
)


def request_of(tenant: str, sentences: Any = SENTENCES, **changes: Any) -> ReviewRequest:
    """Return a request whose claims have these verdicts."""
    answer_id, answer, claims = f"{tenant}-1", "", []
    for words, verdict, score in sentences:
        start = len(answer)
        end = start + len(words) - 1
        claims.append(
            {
                "claim_id": claim_id(tenant, answer_id, start, end), "span": {"start": start, "end": end},
                "text": words[:-1], "kind": "factual", "verdict": verdict, "score": score,
            }
        )  # fmt: skip
        answer += words + " "
    named = {"answer_id": answer_id, "tenant": tenant, "review_id": fact_id(tenant, answer_id, "review")}
    return review_request(1, **named | {"answer": answer.strip(), "claims": claims} | changes)


def opened(page: Page, console: ConsoleThread, request: ReviewRequest) -> None:
    """Open a request that is stored."""
    console.store_request(request)
    page.goto(f"/review/{request.review_id}")
    expect(page.locator("#question")).to_be_focused()


def test_all_but_clear_support_is_in_doubt() -> None:
    assert {*DOUBTED} == {*VERDICTS} - {"supported"}


@needs_browser
def test_the_key_goes_on_through_the_claims_in_doubt_that_have_no_verdict_of_mine_and_then_says_so(
    browser: Browser, console: ConsoleThread
) -> None:
    with logged_in(browser, console, "doubt-walker") as (page, seen):
        opened(page, console, request_of("doubt-walks"))
        selected, count, note = page.locator(".selected-row"), page.locator("#doubt-count"), page.locator("#no-doubt")
        expect(selected).to_contain_text("9 blocks")
        expect(count).to_have_text("3 of 5 in doubt (all but ✓), 3 without a verdict of yours")
        # The claim that the page has selected is the first one: no verdict goes to the claim behind it.
        page.keyboard.press("n")
        expect(selected).to_contain_text("9 blocks")
        expect(page.locator("#answer-view mark.selected")).to_be_focused()
        page.keyboard.press("n")
        expect(selected).to_contain_text("3 zones")
        page.keyboard.press("n")
        expect(selected).to_contain_text("5 cores")
        page.keyboard.press("1")
        expect(count).to_have_text("3 of 5 in doubt (all but ✓), 2 without a verdict of yours")
        page.keyboard.press("n")
        expect(selected).to_contain_text("9 blocks")
        page.keyboard.press("2")
        page.keyboard.press("n")
        expect(selected).to_contain_text("3 zones")
        page.keyboard.press("n")
        expect(note).to_have_text("No other claim in doubt is without a verdict of yours.")
        expect(note).to_be_in_viewport()
        expect(selected).to_contain_text("3 zones")
        page.keyboard.press("j")
        expect(note).to_have_text("")
        page.keyboard.press("n")
        expect(selected).to_contain_text("3 zones")
        assert serious_violations(page) == []
        assert seen.complaints == []


@needs_browser
def test_the_key_says_that_no_claim_is_in_doubt(browser: Browser, console: ConsoleThread) -> None:
    clear = [sentence for sentence in SENTENCES if sentence[1:] > ("supported", 0.8) and sentence[1] == "supported"]
    with logged_in(browser, console, "clear-walker", viewport={"width": 390, "height": 800}) as (page, _):
        opened(page, console, request_of("clear-walks", clear))
        expect(page.locator("#doubt-count")).to_have_text("2, none in doubt (all ✓)")
        before = page.locator(".selected-row").inner_text()
        page.keyboard.press("n")
        expect(page.locator("#no-doubt")).to_have_text("No claim is in doubt.")
        expect(page.locator("#no-doubt")).to_be_in_viewport()
        assert page.locator(".selected-row").inner_text() == before


def page_of(console: ConsoleThread, name: str, address: str) -> str:
    """Return a page as its words, entities included."""
    html = console.client(name).get(address, headers={"Accept": "text/html"}).raise_for_status().text
    return " ".join(re.sub(r"<[^>]*>", "", html).split())


def test_an_answer_without_claims_says_whether_it_was_compared_with_its_sources(console: ConsoleThread) -> None:
    bare = request_of(
        "bare-claims", (), grounding_score=None, answer="Loki needs 16 GiB.", reasons=["grounding_not_evaluated"]
    )
    console.store_request(bare)
    words = page_of(console, "bare-reader", f"/review/{bare.review_id}")
    assert (
        "its claims were not compared with the sources. Check each statement yourself before you approve it." in words
    )
    assert "No claims." not in words


def test_scores_say_what_they_leave_out(console: ConsoleThread) -> None:
    scored = request_of("left-out", answer_metrics={"correctness": 0.0, "relevance": 0.05})
    console.store_request(scored)
    words = page_of(console, "score-reader", f"/review/{scored.review_id}")
    assert "A reference answer comes with the answer, to measure a model; it is not shown here." in words
    assert "gives a right answer a low one" in words


def test_requests_with_the_same_question_are_told_apart_in_the_list(console: ConsoleThread) -> None:
    for number, answer in enumerate(("**Loki** needs 2 GiB.", "Loki needs `16 GiB`.")):
        console.store_request(
            request_of(
                "same-asked",
                (),
                answer_id=f"same-{number}",
                review_id=fact_id("same-asked", f"same-{number}", "review"),
                answer=answer,
                query="Summarise it.",
            )
        )
    words = page_of(console, "same-lister", "/queue")
    for begin in ("Summarise it. Loki needs 2 GiB.", "Summarise it. Loki needs 16 GiB."):
        assert begin.replace(". L", ".L") in words.replace(". L", ".L")


def test_the_head_counts_what_the_filters_choose(console: ConsoleThread) -> None:
    for number, model in enumerate(("first-model", "second-model", "second-model")):
        console.store_request(
            request_of(
                "head-filters",
                (),
                answer_id=f"filtered-{number}",
                review_id=fact_id("head-filters", f"filtered-{number}", "review"),
                answer="Yes.",
                model_id=model,
            )
        )
    assert "3 open, 3 with a waiting reader" in page_of(console, "head-filterer", "/review")
    assert "2 open of the filters, 2 with a waiting reader" in page_of(
        console, "head-filterer", "/review?model=second-model"
    )
    counts = console.client("head-filterer").get("/review/counts", params={"model": "first-model"})
    assert counts.json() == {"open": 1, "held": 1}


def test_the_preview_of_several_approvals_has_no_marks(console: ConsoleThread) -> None:
    marked = request_of("marked-previews")
    releasable = (
        marked.releasable.model_copy(
            update={
                "body": "> **Note**: No source belongs to \\[0\\].\n\nLoki needs `16 GiB`.",
                "references": "\n\n---\n\n## References\n\n[1] **Loki**\n",
            }
        )
        if marked.releasable
        else None
    )
    console.store_request(marked.model_copy(update={"releasable": releasable}))
    body = {"action": "approve", "review_ids": [marked.review_id], "preview": True}
    (outcome,) = console.client("mark-previewer").post("/api/reviews/bulk", json=body).raise_for_status().json()
    assert outcome["shown"].startswith("Note: No source belongs to [0]. Loki needs 16 GiB.")
    assert not set("*#`>\\") & set(outcome["shown"])


@needs_browser
def test_on_a_phone_a_request_begins_with_its_answer(browser: Browser, console: ConsoleThread) -> None:
    tail = "and is rebalanced by its own operator whenever one of its ingesters leaves the ring or comes back to it"
    long = [(f"Zone {number} has {number} ingesters {tail}.", "supported", 0.95) for number in range(18)]
    with logged_in(browser, console, "phone-beginner", viewport={"width": 390, "height": 800}) as (page, seen):
        opened(page, console, request_of("phone-begins", [*long, ("Loki needs 16 GiB.", "contradicted", 0.1)]))
        expect(page.locator("#answer-view")).to_contain_text("Zone 0 has 0 ingesters")
        places = page.evaluate(
            """() => [".request-head", "#item-answer", ".decide"].map((each) => document.querySelector(each).getBoundingClientRect()).map(({ top, bottom }) => [top, bottom])"""
        )
        (_, head), (answer, _), (bar, _) = places
        assert head <= answer <= head + 60, "the answer begins below the question"
        assert answer < bar
        page.keyboard.press("n")
        expect(page.locator("#no-doubt")).to_be_in_viewport()
        assert seen.complaints == []
