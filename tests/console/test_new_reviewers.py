"""Signs that a new reviewer needs: decided requests, unsent edits, loading, kept filters, and requests with one question."""

from playwright.sync_api import Browser, Page, expect

from schemas.identifiers import fact_id
from tests.console.test_awaited_replies import awaited
from tests.console.test_claims_in_doubt import request_of
from tests.harness.browser import logged_in, needs_browser, reject, serious_violations, shown
from tests.harness.console import ConsoleThread
from tests.harness.held_answers import held, review_of, risky

pytestmark = needs_browser
SAME = "Summarise the article in a few sentences."
STYLE = "each => [getComputedStyle(each).borderStyle, getComputedStyle(each).color].join()"
UNCOVERED = """each => { const { x, y, width, height } = each.getBoundingClientRect();
return each.contains(document.elementFromPoint(x + width / 2, y + height / 2)); }"""
"""Return true in the page if nothing covers the middle of an element."""


def same_questions(console: ConsoleThread, tenant: str, count: int) -> list[str]:
    """Store held answers that have one question; return their reviews."""
    return [
        review_of(each)
        for each in console.store(risky(number, tenant).model_copy(update={"query": SAME}) for number in range(count))
    ]


def style(page: Page, action: str) -> str:
    """Return how the button of a decision looks."""
    found: str = page.locator(f'.decide [data-action="{action}"]').evaluate(STYLE)
    return found


def test_an_own_decision_is_seen_after_a_step_back_and_messages_name_the_answer(
    browser: Browser, console: ConsoleThread
) -> None:
    same_questions(console, "stepped-back", 3)
    with logged_in(browser, console, "back-stepper", viewport={"width": 1366, "height": 800}) as (page, seen):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        first, before = shown(page), style(page, "approve")
        expect(page.locator(".at-deadline")).to_be_visible()
        begin = page.locator("#answer-view").inner_text()[: len("Ingester 0 needs 16")]
        reject(page)
        expect(page.locator("#status")).to_contain_text(f"Rejected: “{SAME}” ({begin}")
        expect(page.get_by_role("button", name=f"Undo (u): “{SAME}” ({begin}")).to_be_visible()
        expect(page.locator("#question")).to_be_focused()
        page.go_back()
        card = page.locator(".stopped")
        expect(card).to_contain_text("You have rejected this request.")
        assert shown(page) == first
        expect(card).to_be_in_viewport(ratio=1)
        assert card.locator("[data-words]").evaluate(UNCOVERED)
        for action in ("approve", "warn", "correct", "reject", "skip"):
            expect(page.locator(f'.decide [data-action="{action}"]')).to_be_disabled()
            assert style(page, action) != before
        expect(page.locator(".verdicts label").first).to_have_css("cursor", "not-allowed")
        for part in (".at-deadline", ".deadline", '[data-outcome="deadline"]', "#doubts"):
            expect(page.locator(part)).to_be_hidden()
        assert serious_violations(page) == []
        assert seen.complaints == []


def test_an_edit_that_is_not_sent_stays_marked_with_a_way_back(browser: Browser, console: ConsoleThread) -> None:
    held(console, "unsent-edits", 1)
    with logged_in(browser, console, "edit-keeper") as (page, seen):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        mark, editor = page.locator("#unsent-edit"), page.locator("#correction")
        expect(mark).to_be_hidden()
        page.keyboard.press("c")
        page.keyboard.type("Two GiB. ")
        page.locator('[data-outcome="approve"]').click()
        expect(mark).to_have_text("You have edited the answer; the edit is not sent. Show the edit")
        assert mark.evaluate(UNCOVERED)
        page.keyboard.press("Escape")
        expect(editor).to_be_hidden()
        expect(mark).to_be_visible()
        mark.get_by_role("button").click()
        expect(page.locator("#corrected")).to_be_focused()
        assert "Two GiB. " in page.locator("#corrected").input_value()
        assert serious_violations(page) == []
        page.get_by_role("button", name="Discard the edit").click()
        page.locator("#discarding").get_by_role("button", name="Discard it").click()
        expect(mark).to_be_hidden()
        assert seen.complaints == []


def test_filters_turn_the_request_off_until_theirs_is_there_and_the_navigation_keeps_them(
    browser: Browser, console: ConsoleThread
) -> None:
    held(console, "kept-filters", 3)
    held(console, "other-filters", 1)
    with logged_in(browser, console) as (page, seen):
        page.goto(f"/review/{fact_id('other-filters', 'other-filters-0', 'review')}")
        expect(page.locator("#question")).to_be_focused()
        page.locator(".queue-filters > summary").click()
        page.get_by_label("Tenant").select_option("kept-filters")
        with awaited(page, "**/unlock"):
            page.get_by_role("button", name="Apply").click()
            expect(page.locator("#status .waiting")).to_have_text("Loading what the filters choose…")
            expect(page.locator("#review-item")).to_have_attribute("inert", "")
            expect(page.locator("#review-item")).to_have_css("opacity", "0.6")
            page.locator("h1").click()  # a key is no shortcut in a field
            page.keyboard.press("s")
        expect(page.locator('[data-review] .meta:has-text("kept-filters")').first).to_be_visible()
        expect(page.locator("#status .waiting")).to_have_count(0)
        assert not any(each.endswith("/skip") for each in seen.requests)
        menu = page.get_by_role("navigation", name="Main")
        menu.get_by_role("link", name="Queue").click()
        expect(page.locator("#queue-filters #tenant")).to_have_value("kept-filters")
        menu.get_by_role("link", name="Search").click()
        menu.get_by_role("link", name="Review").click()
        expect(page.locator('[data-review] .meta:has-text("kept-filters")').first).to_be_visible()
        expect(page.locator("#by-filters")).to_have_text(" of the filters")
        assert seen.complaints == []


def test_a_phone_shows_the_whole_claim_and_says_what_the_captions_are_about(
    browser: Browser, console: ConsoleThread
) -> None:
    long = "A ring has 3 zones, " + "each of which keeps its own copy of every stream that a tenant sends, " * 5
    request = request_of("whole-claims", ((long + "or none.", "unsupported", 0.4),))
    console.store_request(request)
    with logged_in(
        browser, console, "claim-reader", viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True
    ) as (page, seen):
        page.goto(f"/review/{request.review_id}")
        expect(page.locator("#question")).to_be_focused()
        text = page.locator(".selected-row .claim-text")
        assert text.evaluate("each => each.scrollHeight - each.clientHeight") <= 1
        expect(page.locator(".decide .hints-lead")).to_have_text("What readers get:")
        expect(page.locator(".decide .hints-lead")).to_be_in_viewport(ratio=1)
        assert page.locator(".decide").evaluate("each => each.offsetHeight") <= 844 * 0.3
        assert page.locator("#item-claims").evaluate("each => each.offsetHeight") < 30, "its word is in one piece"
        # In a low window a claim scrolls, and a shadow at its edge says so.
        page.set_viewport_size({"width": 844, "height": 390})
        assert text.evaluate("each => getComputedStyle(each).backgroundImage") != "none"
        assert seen.complaints == []


def test_the_preview_of_several_requests_tells_equal_questions_apart_and_links_to_each(
    browser: Browser, console: ConsoleThread
) -> None:
    reviews = same_questions(console, "equal-questions", 2)
    with logged_in(browser, console, "equal-lister") as (page, seen):
        page.goto("/queue?tenant=equal-questions")
        for number in range(2):
            expect(page.get_by_label(f"Choose: “{SAME}” (Ingester {number} needs 16 GiB")).to_be_visible()
        page.get_by_label("Choose all of this page").check()
        page.get_by_label("With the chosen").select_option("approve")
        page.get_by_role("button", name="Preview").click()
        lines = page.locator("#bulk-taken li")
        expect(lines).to_have_count(2)
        for number, review in enumerate(reviews):
            link = lines.get_by_role("link", name=f"“{SAME}” (Ingester {number} needs 16 GiB")
            expect(link).to_have_attribute("href", f"/review/{review}?tenant=equal-questions")
            expect(link).to_have_attribute("target", "_blank")
        assert serious_violations(page) == []
        assert seen.complaints == []
