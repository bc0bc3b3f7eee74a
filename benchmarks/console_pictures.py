"""Draw the console's pages for the documentation, with the examples in Chromium.

python -m benchmarks.console_pictures --directory docs/images
"""

import argparse
import asyncio
import tempfile
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from playwright.sync_api import Page

from schemas.answers import GeneratedAnswer
from tests.harness.browser import logged_in, running_browser
from tests.harness.console import ConsoleThread
from workers.inference.backends import PACKAGED_MODEL, SentenceTransformerBackend
from workers.local.services import LocalServices
from workers.process.paths import examples_directory
from workers.settings.addresses import Addresses, local_addresses


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
        shown = answer_id or next(
            each.answer_id for each in stored if each.citations and len(each.citations.citations) > 1
        )
        with running_browser() as browser, logged_in(browser, console) as (page, _):
            for name, (path, ready) in pages(shown).items():
                page.goto(path)
                page.locator(ready).first.wait_for()
                page.wait_for_load_state("networkidle")
                if name == "answer":
                    open_citation(page)
                page.screenshot(path=directory / f"{name}.png")
                print(directory / f"{name}.png")
    finally:
        console.stop()


def pages(answer_id: str) -> Mapping[str, tuple[str, str]]:
    """Map each picture's name to the page's path and to an element that shows that the page is ready."""
    return {
        "review": ("/review", "#review-item [data-review]"),
        "answer": (f"/answers/{answer_id}", "article a.citation, main a.citation"),
        "overview": ("/", ".chart canvas"),
        "search": ("/search?q=memory", "main a"),
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
