"""Check that the lock of a request goes back as soon as its reviewer leaves the page, in whichever way."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.harness.browser import logged_in, needs_browser, shown
from tests.harness.console import ConsoleThread
from tests.harness.deployment import until
from tests.harness.held_answers import held


def locks(console: ConsoleThread) -> dict[str, str | None]:
    """Return the locked requests with the time at which their holder was shown them."""
    listed = console.client("lock-seeker").get("/api/reviews").raise_for_status().json()["items"]
    return {item["review_id"]: item["lock"]["opened_at"] for item in listed if item["lock"]}


def wait_for(console: ConsoleThread, number: int) -> None:
    """Wait until some number of requests is locked."""
    deadline = time.monotonic() + 60
    while len(found := locks(console)) != number:
        assert time.monotonic() < deadline, found
        time.sleep(0.2)


def follow(page: Page) -> None:
    page.get_by_role("link", name="Search").click()
    page.wait_for_url("**/search")


def close(page: Page) -> None:
    page.close()


def go_elsewhere(page: Page) -> None:
    page.goto("about:blank")


def log_out(page: Page) -> None:
    page.get_by_role("button", name="Log out").click()
    page.wait_for_url("**/login")


@pytest.fixture(scope="module", autouse=True)
def _requests(console: ConsoleThread) -> None:
    held(console, "left-locks", 3)


@needs_browser
@pytest.mark.parametrize("leave", [follow, go_elsewhere, close, log_out])
def test_a_reviewer_who_leaves_gives_back_what_was_shown_and_loaded_ahead(
    browser: Browser, console: ConsoleThread, leave: Callable[[Page], None]
) -> None:
    with logged_in(browser, console, "lock-leaver") as (page, _):
        page.goto("/review", wait_until="networkidle")
        expect(page.locator("#question")).to_be_visible()
        assert len(locks(console)) == 2
        leave(page)
        wait_for(console, 0)


@needs_browser
@pytest.mark.parametrize("step", ["next", "lock", "opened"])
def test_a_lock_that_is_on_its_way_when_the_page_is_left_is_given_back(
    browser: Browser, console: ConsoleThread, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    service = console.resources.review
    real, arrived, left, taken = getattr(service, step), asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def slow(*given: Any, **chosen: Any) -> Any:
        # The page is gone, and has given back what it knew of, before the lock is taken.
        arrived.set()
        await left.wait()
        found = await real(*given, **chosen)
        taken.set()
        return found

    async def gone() -> None:
        await until(console.is_idle, "the server's word that the page is gone", 60, 0.01)
        left.set()
        await taken.wait()

    with logged_in(browser, console, "lock-leaver") as (page, _):
        page.goto("/review", wait_until="networkidle")
        review = shown(page)
        monkeypatch.setattr(service, step, slow)
        if step == "opened":
            page.keyboard.press("s")
        else:
            page.goto("/review" if step == "next" else f"/review/{review}", wait_until="commit")
        console.call(arrived.wait())
        page.goto("about:blank")
        console.call(gone())
        wait_for(console, 0)


@needs_browser
def test_a_page_that_the_browser_kept_holds_its_request_again(browser: Browser, console: ConsoleThread) -> None:
    with logged_in(browser, console, "lock-leaver") as (page, _):
        page.goto("/review", wait_until="networkidle")
        review = shown(page)
        with page.expect_response(f"**/api/reviews/{review}/lock"):
            page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")


def test_the_list_says_who_holds_a_request_and_since_when(console: ConsoleThread) -> None:
    client = console.client("lock-leaver")
    review = client.get("/api/reviews").json()["items"][0]["review_id"]
    lock = client.post(f"/api/reviews/{review}/lock").raise_for_status().json()
    listed = console.client("lock-seeker").get("/queue", headers={"Accept": "text/html"}).raise_for_status().text
    client.post(f"/api/reviews/{review}/unlock").raise_for_status()
    words = lock["opened_at"][:19].replace("T", " ")
    assert "open at lock-leaver since <time" in listed
    assert f">{words} UTC</time>, held until" in listed
