"""docker-compose.yml, started once for each file of tests that needs it."""

from collections.abc import Iterator

import pytest

from tests.harness.compose import Compose, running_compose
from tests.harness.containers import PodmanMissing


@pytest.fixture(scope="module")
def compose() -> Iterator[Compose]:
    try:
        with running_compose() as project:
            yield project
    except PodmanMissing as reason:
        pytest.skip(f"no containers: {reason}")
