"""A real Chromium, and what it asks for and complains of."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.harness.console import EVERYTHING, ConsoleThread, secret

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""Chromium without a window comes first: it takes browser tests a sixth less CPU."""
FLAGS = ["--no-sandbox", "--disable-dev-shm-usage"]
PATIENCE_MS = 120_000
"""Longest wait for a page: a machine that is busy with other tests may take its time."""
SERIOUS = frozenset({"serious", "critical"})


def chromium_path() -> str | None:
    """Where Chromium is; ``None`` if it is not installed."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


needs_browser = pytest.mark.skipif(
    chromium_path() is None, reason="needs Chromium: apt-get install chromium-headless-shell"
)
"""Marker of tests that are skipped without Chromium."""


def detail_of_a_page(test: Any) -> Any:
    """Mark a browser test of a detail as long, so that `make test-long` runs it; docs/testing.md names its file."""
    return pytest.mark.long(needs_browser(test))


@contextmanager
def running_browser() -> Iterator[Browser]:
    """A headless Chromium."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=FLAGS)
        yield browser
        browser.close()


@dataclass(slots=True)
class Seen:
    """What a page did.

    Attributes:
        requests: addresses that it asked for.
        complaints: errors of scripts, violations of the policy, dialogs.
    """

    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def watch(self, page: Page) -> None:
        """Note what the page does from now on."""

        def dialog(shown: Any) -> None:
            self.complaints.append(f"dialog: {shown.message}")
            # Leave the page where it asks before it is left.
            shown.accept() if shown.type == "beforeunload" else shown.dismiss()

        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        page.on(
            "console",
            lambda said: (
                self.complaints.append(said.text) if said.type == "error" and "status of 4" not in said.text else None
            ),
        )
        page.on("dialog", dialog)


@contextmanager
def logged_in(
    browser: Browser, console: ConsoleThread, name: str = EVERYTHING, **context: Any
) -> Iterator[tuple[Page, Seen]]:
    """A page, still blank, of somebody with a session.

    The log-in is one request, as that of the page for it: that page and the overview behind it would cost each test more
    than the page that it is about.
    """
    opened = browser.new_context(base_url=console.url, **({"viewport": {"width": 1280, "height": 900}} | context))
    opened.set_default_timeout(PATIENCE_MS)
    expect.set_options(timeout=PATIENCE_MS)
    session = opened.request.post("/api/session", data={"token": secret(name)})
    assert session.ok, session.text()
    page = opened.new_page()
    seen = Seen()
    seen.watch(page)
    yield page, seen
    opened.close()


def shown(page: Page) -> str:
    """Return the request that the page shows."""
    return page.locator("#review-item [data-review]").get_attribute("data-review") or ""


def reject(page: Page) -> None:
    """Reject the request that the page shows, without a reason."""
    page.keyboard.press("r")
    expect(page.locator("#why-reason")).to_be_focused()
    page.keyboard.press("Enter")


def escalate(page: Page, reason: str = "It is not for me.") -> None:
    """Escalate the request that the page shows."""
    page.keyboard.press("e")
    page.locator("#escalation-reason").fill(reason)
    page.keyboard.press("Enter")


def serious_violations(page: Page) -> list[str]:
    """What axe finds on a page that keeps people out."""
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [
        f"{v['id']}: {node['target']} {node['failureSummary']}"
        for v in found
        if v["impact"] in SERIOUS
        for node in v["nodes"]
    ]
