"""Draw the console's pages for the documentation, with the examples in Chromium: two sizes, light and dark.

python -m benchmarks.console_pictures --directory docs/images
"""

import argparse
import asyncio
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from schemas.answers import GeneratedAnswer
from schemas.enriched import EnrichedAnswer
from tests.harness.browser import logged_in, running_browser
from tests.harness.console import ConsoleThread
from tests.harness.reviews import store_decision
from workers.decision.release_events import review_request
from workers.inference.backends import PACKAGED_MODEL, SentenceTransformerBackend
from workers.local.services import LocalServices
from workers.process.paths import examples_directory
from workers.settings.addresses import Addresses, local_addresses

SIZES = {"wide": (1280, 900), "phone": (390, 844)}
USUAL = ("wide", "light")
"""Size and colours of the pictures whose names do not say them."""


def main() -> None:
    """Draw and print the paths."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--directory", type=Path, default=Path("docs/images"), help="where to (default docs/images)")
    parser.add_argument("--answer", help="the answer to show; by default the first with two citations")
    options = parser.parse_args()
    options.directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="touchstone-pictures-") as temporary, asyncio.Runner() as runner:
        services = LocalServices(Path(temporary) / "services")
        found = runner.run(services.start())
        addresses = local_addresses(found)
        try:
            draw(addresses, Path(temporary), options.directory, options.answer)
        finally:
            runner.run(services.stop())


def draw(addresses: Addresses, temporary: Path, directory: Path, answer_id: str | None) -> None:
    """Fill a console with the examples and take a screenshot of each page."""
    console = ConsoleThread(addresses, temporary, SentenceTransformerBackend(PACKAGED_MODEL, threads=1))
    console.start()
    try:
        stored = console.store(lately())
        decide(console, stored)
        shown = answer_id or next(
            each.answer_id for each in stored if each.citations and len(each.citations.citations) > 1
        )
        with running_browser() as browser:
            for size, (width, height) in SIZES.items():
                for theme in ("light", "dark"):
                    context = {"viewport": {"width": width, "height": height}, "color_scheme": theme}
                    with logged_in(browser, console, **context) as (page, _):
                        take(
                            page,
                            pages(shown),
                            directory,
                            "".join(f"-{each}" for each in (size, theme) if each not in USUAL),
                        )
    finally:
        console.stop()


SAID: Sequence[Mapping[str, Any]] = (
    {"by": "anna", "action": "approve"},
    {"by": "ben", "action": "reject", "reason": "wrong_figure"},
    {"by": "anna", "action": "approve", "with_warning": True},
    {
        "by": "ben",
        "action": "correct",
        "corrected_answer": "See the source.",
        "comment": "The figure is another year's.",
    },
)
"""Decisions in the pictures."""


def decide(console: ConsoleThread, stored: Sequence[EnrichedAnswer]) -> None:
    """Store decisions on some answers in review."""
    requests = [review_request(answer, answer.enriched_at, deadline_hours=24) for answer in stored]
    for number, request in enumerate([each for each in requests if each][:12]):
        at = datetime.now(UTC) - timedelta(minutes=7 * number)
        said = SAID[number % len(SAID)]
        console.call(store_decision(console.resources.analytics, request, **said, at=at, duration=40.0))


def take(page: Page, wanted: Mapping[str, tuple[str, str]], directory: Path, suffix: str) -> None:
    """Take a screenshot of each page."""
    for name, (path, ready) in wanted.items():
        page.goto(path)
        page.locator(ready).first.wait_for()
        page.wait_for_load_state("networkidle")
        if name == "answer":
            open_citation(page)
        file = directory / f"{name}{suffix}.png"
        page.screenshot(path=file)
        print(file)


def pages(answer_id: str) -> Mapping[str, tuple[str, str]]:
    """Map each picture's name to the page's path and to an element that shows that the page is ready."""
    return {
        "review": ("/review", "#review-item [data-review]"),
        "answer": (f"/answers/{answer_id}", "article a.citation, main a.citation"),
        "overview": ("/", ".chart canvas"),
        "search": ("/search?q=memory", "main a"),
        "queue": ("/queue", ".queue"),
        "audit": ("/audit/decisions", "#log"),
    }


def open_citation(page: Page) -> None:
    """Show a source beside its answer."""
    page.locator(".cited a.citation").first.click()
    page.locator("#panel .source-text").wait_for()
    page.mouse.move(0, 0)


def lately() -> Iterator[GeneratedAnswer]:
    """Yield the examples, spread over the last day; the policy decides expired reviews."""
    lines = (examples_directory() / "answers.jsonl").read_bytes().splitlines()
    for number, line in enumerate(lines):
        completed = datetime.now(UTC) - timedelta(hours=20) * (1 - number / len(lines)) - timedelta(minutes=10)
        yield GeneratedAnswer.from_bytes(line).model_copy(update={"completed_at": completed, "requested_at": None})


if __name__ == "__main__":
    main()
