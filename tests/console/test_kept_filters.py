"""A link to one request keeps the filters of the reviewer: the way back, and the requests behind it, are those of the filters."""

from playwright.sync_api import Browser, expect

from schemas.answers import ModelReference
from tests.harness.browser import logged_in, needs_browser, shown
from tests.harness.console import ConsoleThread
from tests.harness.held_answers import review_of, risky


@needs_browser
def test_the_address_of_one_request_resets_no_filters(browser: Browser, console: ConsoleThread) -> None:
    others, wanted, more = console.store(
        risky(number, "kept-filters").model_copy(update={"model": ModelReference(id=name)})
        for number, name in enumerate(("other", "wanted", "wanted"))
    )
    with logged_in(browser, console, "filter-keeper") as (page, seen):
        page.goto("/queue?model=wanted")
        page.goto(f"/review/{review_of(others)}")
        expect(page.locator("#question")).to_contain_text("ingester 0")
        for link in (page.locator("#backlog a"), page.get_by_role("link", name="Queue", exact=True)):
            expect(link).to_have_attribute("href", "/queue?model=wanted")
        expect(page.get_by_role("link", name="Review", exact=True)).to_have_attribute("href", "/review?model=wanted")
        expect(page.locator("#backlog")).to_contain_text("2 open of the filters")
        page.keyboard.press("s")
        expect(page.locator("#question")).not_to_contain_text("ingester 0")
        assert shown(page) in {review_of(wanted), review_of(more)}
        assert page.url.endswith(f"/review/{shown(page)}?model=wanted")
        # Filters that are given up stay given up, also in the link to the list.
        page.locator("details.queue-filters summary").click()
        page.locator("#model").select_option("")
        page.locator("#queue-filters").get_by_role("button", name="Apply").click()
        expect(page.locator("#backlog a")).to_have_attribute("href", "/queue")
        page.goto(f"/review/{review_of(others)}")
        expect(page.locator("#backlog a")).to_have_attribute("href", "/queue")
        assert seen.complaints == []
