"""A deployment of its own for each test that plays no scenario."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.chaos.run import Run
from tests.harness.deployment import Deployment
from workers.settings.addresses import Addresses


@pytest.fixture
async def run(addresses: Addresses, tmp_path: Path) -> AsyncIterator[Run]:
    deployment = Deployment(addresses, tmp_path)
    await deployment.prepare()
    run = Run(deployment, 10, await deployment.client())
    yield run
    await run.close()
