"""Measure the pages of review with 100,000 open requests in Chromium: first paint, and the next request after a decision.

    python -m benchmarks.queue_pages

A console, the agents that write decisions, a broker, a cache and the local ClickHouse engine behind HTTP, all on this
machine; the rows of ``benchmarks.review_queue``, and answers with three claims each beside them. Each round opens the
pages in a new browser context, so that nothing is cached, and then approves requests one after the other: once as
soon as the next request can be shown, and once after it was loaded ahead, as people do who read. The goals are a first
paint within a second and the next request within 300 ms (medians).
"""

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Browser, Page

from benchmarks.review_queue import IDENTIFIER, PERSON, TENANT, fill
from tests.harness.browser import logged_in, running_browser
from tests.harness.console import ConsoleThread
from workers.inference.backends import PACKAGED_MODEL, SentenceTransformerBackend
from workers.local.services import LocalServices
from workers.process.cores import available_cores
from workers.settings.addresses import local_addresses

AGENTS = ("decisions", "analytics")
CLAIMS = 3
PAGES = ("/queue", "/review", "/")
SHOWN = "[data-review]"
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"

Figures = dict[str, list[float]]


def main() -> None:
    """Measure and print; write JSON if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--open", type=int, default=100_000, help="open requests (default 100000)")
    parser.add_argument("--rounds", type=int, default=7, help="times that each page is opened (default 7)")
    parser.add_argument(
        "--decisions", type=int, default=10, help="requests that are decided, of each kind (default 10)"
    )
    parser.add_argument("--json", type=Path, help="write the figures to a file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="touchstone-queue-") as temporary, asyncio.Runner() as runner:
        services = LocalServices(Path(temporary) / "services")
        addresses = local_addresses(runner.run(services.start()))
        console = ConsoleThread(addresses, Path(temporary), SentenceTransformerBackend(PACKAGED_MODEL, threads=1))
        console.start()
        try:
            console.call(_fill(console, options.open))
            with console.worker(AGENTS), running_browser() as browser:
                figures = measured(browser, console, options.rounds, options.decisions)
        finally:
            console.stop()
            runner.run(services.stop())
    told = {name: {"p50_ms": statistics.median(each), "worst_ms": max(each)} for name, each in figures.items()}
    for name, each in told.items():
        print(f"{name:<44} {each['p50_ms']:8.0f} ms median, {each['worst_ms']:.0f} worst of {len(figures[name])}")
    if options.json:
        document = {"open": options.open, "cores": available_cores(), "pages": told}
        options.json.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def measured(browser: Browser, console: ConsoleThread, rounds: int, decisions: int) -> Figures:
    """Return the milliseconds of each round, by what was measured."""
    figures: Figures = {}
    for _ in range(rounds):
        for path in PAGES:
            with logged_in(browser, console) as (page, _):
                page.goto(path)
                _note(figures, f"first paint of {path}", _painted(page))
                if path == "/review":
                    page.locator(SHOWN).wait_for()
                    _note(figures, "first request of /review is shown", float(page.evaluate("performance.now()")))
    client = console.client()
    for path in ("/queue", "/review", "/api/reviews", "/api/reviews/stats", "/api/reviews/filters"):
        for _ in range(rounds):
            _note(figures, f"GET {path}", _timed(lambda path=path: client.get(path, headers={"Accept": "text/html"})))
    for _ in range(rounds):
        taken = (
            client.post("/review/next", json={}).raise_for_status().text.partition('data-review="')[2].partition('"')[0]
        )
        _note(figures, "POST /review/next", _timed(lambda: client.post("/review/next", json={})))
        decided = f"/api/reviews/{taken}/decision"
        _note(
            figures, "POST of a decision", _timed(lambda to=decided: client.post(to, json={"user_action": "approve"}))
        )
    with logged_in(browser, console) as (page, _):
        page.goto("/review")
        page.locator(SHOWN).wait_for()
        for ahead in (False, True):
            for _ in range(decisions):
                if ahead:
                    page.wait_for_load_state("networkidle")
                words = "loaded ahead" if ahead else "at once"
                _note(figures, f"next request after a decision, {words}", _decided(page))
    return figures


def _note(figures: Figures, name: str, milliseconds: float) -> None:
    figures.setdefault(name, []).append(milliseconds)


def _painted(page: Page) -> float:
    page.wait_for_function(f"() => {PAINT} !== undefined")
    return float(page.evaluate(PAINT))


def _timed(ask: Callable[[], httpx.Response]) -> float:
    started = time.perf_counter()
    ask().raise_for_status()
    return (time.perf_counter() - started) * 1_000


def _decided(page: Page) -> float:
    """Approve the request that is shown, and return the milliseconds until another one is shown."""
    return float(
        page.evaluate(
            """() => new Promise((resolve) => {
                const holder = document.getElementById("review-item");
                const review = holder.querySelector("[data-review]").dataset.review;
                const started = performance.now();
                new MutationObserver((_, observer) => {
                    const shown = holder.querySelector("[data-review]")?.dataset.review;
                    if (!shown || shown === review) return;
                    observer.disconnect();
                    requestAnimationFrame(() => resolve(performance.now() - started));
                }).observe(holder, { childList: true, subtree: true });
                holder.querySelector("[data-action=approve]").click();
            })"""
        )
    )


async def _fill(console: ConsoleThread, count: int) -> None:
    client, database = console.resources.analytics.client, console.settings.clickhouse.database
    await fill(client, database, count)
    await fill_beside(client, database, count)


async def fill_beside(client: Any, database: str, count: int, gap: int = 1) -> None:
    """Write answers, claims, decisions and independent reviews beside the rows of ``benchmarks.review_queue``."""
    completed = "toDateTime64('2026-11-01 00:00:00', 3) - number"
    await client.command(
        f"INSERT INTO {database}.answers (tenant, answer_id, session_id, pipeline_version, rank, completed_at, enriched_at,"
        " query, answer, model_id, state, hallucination_risk, grounding_score, quality_score, gate_score, review)"
        f" SELECT {TENANT}, concat('a-', toString(number)), concat('s-', toString(intDiv(number, 5))),"
        f" 'v', 4, {completed}, now64(3) - number % 86400, concat('Why does number ', toString(number), ' restart again?'),"
        " 'It needs 2 GiB.', concat('m', toString(number % 5)), 'held', ['low', 'medium', 'high'][number % 3 + 1],"
        f" 0.4, 0.8, (number % 100) / 100, true FROM numbers({count})"
    )
    await client.command(
        f"INSERT INTO {database}.review_decisions (review_id, decision_id, answer_id, tenant, ruling, action, decided_by,"
        f" decided_at, review_duration) SELECT {IDENTIFIER}, toString(number), concat('a-', toString(number)), {TENANT},"
        f" 'final', ['approve', 'correct', 'reject'][number % 3 + 1], {PERSON},"
        f" now64(3) - (number - {count}) * {gap}, 40 FROM numbers({count}, {count}) UNION ALL SELECT {IDENTIFIER}, concat('s', toString(number)),"
        f" concat('a-', toString(number)), {TENANT}, 'second', ['approve', 'correct', 'reject'][number % 7 % 3 + 1],"
        f" concat('p', toString((number + 1) % 9)), now64(3) - (number - {count}) * {gap} + 60, 40 FROM numbers({count}, {count})"
        " WHERE number % 10 = 0"
    )
    await client.command(
        f"INSERT INTO {database}.claims (tenant, answer_id, claim_id, pipeline_version, rank, completed_at, start, end, text,"
        " kind, verdict, score, chunk_id, evidence)"
        f" SELECT {TENANT}, concat('a-', toString(number)), concat('c-', toString(claim)), 'v', 4,"
        f" {completed}, 0, 15, 'It needs 2 GiB.', 'factual', 'contradicted', 0.2, 'c', '2 GiB'"
        f" FROM numbers({count}) ARRAY JOIN range({CLAIMS}) AS claim"
    )


if __name__ == "__main__":
    main()
