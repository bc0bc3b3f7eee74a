"""ClickHouse stops (SIGSTOP) while pages are open: they say so and do not wait for the store's own timeout."""

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.harness.browser import logged_in, needs_browser, reject
from tests.harness.console import ConsoleThread
from tests.harness.held_answers import held
from workers.inference.backends import SentenceTransformerBackend
from workers.local.services import LocalServices
from workers.settings.addresses import Addresses

pytestmark = needs_browser

WAITING = "The console has not answered yet; still waiting."
AWAY = "ClickHouse has not answered within 8 s"
"""The deadline of the console; that of the client of ClickHouse is longer and has other words."""


class Frozen:
    """A ClickHouse engine in a process that can be stopped and continued."""

    def __init__(self, pid: int) -> None:
        self._pid = pid

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Stop the process; its connections stay open and it answers nothing."""
        os.kill(self._pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(self._pid, signal.SIGCONT)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Frozen, str]]:
    services = LocalServices(tmp_path_factory.mktemp("frozen"), kafka=False, redis=False)
    with asyncio.Runner() as runner:
        found = runner.run(services.start())
        yield Frozen(services.pids["clickhouse"]), found.clickhouse_url or ""
        runner.run(services.stop())


@pytest.fixture(scope="module")
def console(
    addresses: Addresses,
    engine: tuple[Frozen, str],
    tmp_path_factory: pytest.TempPathFactory,
    backend: SentenceTransformerBackend,
) -> Iterator[ConsoleThread]:
    console = ConsoleThread(replace(addresses, clickhouse=engine[1]), tmp_path_factory.mktemp("console"), backend)
    console.start()
    yield console
    console.stop()


WATCH = """() => { window.told = []; new MutationObserver(() => {
    const words = [...document.querySelectorAll("#status > span")].map((each) => each.textContent).join(" ");
    if (words !== window.told.at(-1)) window.told.push(words);
}).observe(document.getElementById("status"), { childList: true }); }"""
"""Note every message of the page."""


WRITES: dict[str, tuple[str, Callable[[Page], None]]] = {
    "decide": ("/review", reject),
    "vote": ("/review", lambda page: page.keyboard.press("g")),
    "skip": ("/review", lambda page: page.keyboard.press("s")),
    "vote of a reader": ("/answers/frozen-0", lambda page: page.get_by_role("button", name="Yes").click()),
}


@pytest.mark.parametrize("name", WRITES)
def test_a_write_on_an_open_page_says_that_the_store_does_not_answer(
    browser: Browser, console: ConsoleThread, engine: tuple[Frozen, str], name: str
) -> None:
    held(console, "frozen", 2)
    path, action = WRITES[name]
    with logged_in(browser, console, "frozen") as (page, _):
        page.goto(path)
        page.wait_for_load_state("networkidle")
        if path == "/review":
            expect(page.locator("#question")).to_be_focused()
        page.evaluate(WATCH)
        with engine[0].stopped():
            action(page)
            status = page.locator("#status")
            expect(status).to_contain_text(AWAY)
            expect(status).to_have_class("error")
            told = page.evaluate("window.told")
        assert any(words.endswith(WAITING) for words in told)
        assert told[-1] == f"{AWAY}; try again, and see whether it responds"
        action(page)
        expect(status).not_to_have_class("error")


@pytest.mark.parametrize(
    "path", ["/", "/search", "/queue", "/review", "/audit/decisions", "/audit/accesses", "/answers/frozen-0"]
)
def test_a_page_of_a_frozen_store_is_answered(
    browser: Browser, console: ConsoleThread, engine: tuple[Frozen, str], monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    held(console, "frozen", 2)
    with logged_in(browser, console, "frozen") as (page, _):
        with engine[0].stopped(), monkeypatch.context() as patch:
            patch.setattr(console.resources.analytics, "query_seconds", 1.0)
            page.goto(path)
            expect(page.locator("h1")).to_have_text("Service Unavailable")
            expect(page.locator("main")).to_contain_text("ClickHouse has not answered within 1 s")
        page.goto(path)
        expect(page.locator("h1")).not_to_have_text("Service Unavailable")


def test_the_page_that_is_left_says_that_the_next_one_is_late(
    browser: Browser, console: ConsoleThread, engine: tuple[Frozen, str]
) -> None:
    with logged_in(browser, console, "frozen") as (page, _):
        page.goto("/search")
        # Playwright itself waits while a page is left, so the page notes what it says.
        page.evaluate(
            """() => { const status = document.getElementById("status");
            new MutationObserver(() => sessionStorage.setItem("told", status.textContent)).observe(status, { childList: true });
            setTimeout(() => document.querySelector("form").requestSubmit(), 0); }"""
        )
        with engine[0].stopped():
            expect(page.locator("main")).to_contain_text(AWAY)
            assert page.evaluate("sessionStorage.getItem('told')") == WAITING


def test_charts_say_since_when_their_figures_stand(
    browser: Browser, console: ConsoleThread, engine: tuple[Frozen, str]
) -> None:
    held(console, "frozen", 2)
    with logged_in(browser, console, "frozen") as (page, _):
        page.clock.install()
        page.goto("/")
        expect(page.locator("#charts")).to_have_attribute("data-drawn", "true")
        with engine[0].stopped():
            page.clock.fast_forward(30_000)
            page.clock.fast_forward(3_000)
            expect(page.locator("#stale")).to_contain_text("The charts show the figures of")
            expect(page.locator("#stale")).to_contain_text("the console answered 503")
        page.clock.fast_forward(30_000)
        expect(page.locator("#stale")).to_be_empty()
