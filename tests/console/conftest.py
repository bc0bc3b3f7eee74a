"""One console for all tests, with some of the examples in it."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from schemas.enriched import EnrichedAnswer
from tests.harness.browser import running_browser
from tests.harness.console import ConsoleThread, examples
from workers.inference.backends import SentenceTransformerBackend
from workers.settings.addresses import Addresses


@pytest.fixture(scope="session")
def console(
    addresses: Addresses, tmp_path_factory: pytest.TempPathFactory, backend: SentenceTransformerBackend
) -> Iterator[ConsoleThread]:
    console = ConsoleThread(addresses, tmp_path_factory.mktemp("console"), backend)
    console.start()
    yield console
    console.stop()


@pytest.fixture(scope="session")
def stored(console: ConsoleThread) -> list[EnrichedAnswer]:
    """Answers that the console knows."""
    return console.store(examples())


@pytest.fixture(scope="module")
def browser(console: ConsoleThread) -> Iterator[Browser]:
    """One Chromium for a file: its client keeps a loop in this thread, which others need afterwards."""
    with running_browser() as browser:
        yield browser
