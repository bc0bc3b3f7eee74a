"""One console for all tests, with some of the examples in it."""

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from schemas.answers import GeneratedAnswer
from schemas.enriched import EnrichedAnswer
from tests.harness.browser import running_browser
from tests.harness.console import ConsoleThread
from workers.inference.backends import SentenceTransformerBackend
from workers.process.paths import examples_directory
from workers.settings.addresses import Addresses

STORED = 17
"""Examples that are stored, the first ones."""


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
    lines = (examples_directory() / "answers.jsonl").read_bytes().splitlines()[:STORED]
    return console.store(GeneratedAnswer.model_validate(json.loads(line)) for line in lines)


@pytest.fixture(scope="module")
def browser(console: ConsoleThread) -> Iterator[Browser]:
    """One Chromium for a file: its client keeps a loop in this thread, which others need afterwards."""
    with running_browser() as browser:
        yield browser
