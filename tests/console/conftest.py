"""One console for all tests, with some of the examples in it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from schemas.enriched import EnrichedAnswer
from schemas.topics import Topic
from tests.harness.browser import running_browser
from tests.harness.console import ConsoleThread, examples, unhurried_undo
from tests.harness.decisions import Values
from tests.harness.deployment import Deployment
from tests.harness.keys import name_of
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


@pytest.fixture
def long_undo(console: ConsoleThread) -> Iterator[None]:
    """Let each decision of the test be undone, however slow it is."""
    with unhurried_undo(console):
        yield


@pytest.fixture
def values(console: ConsoleThread, addresses: Addresses, tmp_path: Path) -> Values:
    """Values of a topic of the console that have a key."""
    deployment = Deployment(addresses, tmp_path, name=console.settings.kafka.group_prefix)

    def read(topic: Topic, key: str) -> list[bytes]:
        return [record.value for record in console.call(deployment.read(topic)) if name_of(record) == key]

    return read
