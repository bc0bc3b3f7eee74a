"""A deployment for each test."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.harness.deployment import Deployment
from tests.harness.paths import ROOT
from workers.settings.addresses import Addresses

UNHURRIED = {
    # A machine that is starved of CPU may let an agent be silent for a minute; that is not the test.
    "TOUCHSTONE_DELIVERY__JOIN_DEADLINE_SECONDS": "600",
    # Which earlier answers are remembered by then is a matter of time.
    "TOUCHSTONE_MEMORY__EARLIER_ANSWERS": "0",
}


@pytest.fixture
async def deployment(addresses: Addresses, tmp_path: Path) -> AsyncIterator[Deployment]:
    deployment = Deployment(addresses, tmp_path, environment=dict(UNHURRIED))
    await deployment.prepare()
    yield deployment
    await deployment.close()


@pytest.fixture(scope="session")
def labelled_data() -> Path:
    """The folder of labelled answers; it is not part of the repository."""
    folder = Path(os.environ.get("TOUCHSTONE_LABELLED_DATA", ROOT.parent / "shared" / "data"))
    if not (folder / "clapnq_human.jsonl.gz").exists():
        pytest.skip(f"labelled answers are not at {folder}; set TOUCHSTONE_LABELLED_DATA to measure on them")
    return folder
