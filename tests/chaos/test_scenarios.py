"""Every scenario in its short form; `make chaos` plays the long one."""

from pathlib import Path

import pytest

from tests.chaos.driver import play
from tests.chaos.run import Skipped
from tests.chaos.scenarios import SCENARIOS
from workers.addresses import Addresses

ANSWERS = 300

pytestmark = pytest.mark.timeout(1800)  # the waits within have an end of their own, which says more


@pytest.mark.parametrize("name", SCENARIOS)
async def test_nothing_is_lost_doubled_or_made_worse(
    name: str, addresses: Addresses, tmp_path: Path, int8_folder: Path
) -> None:
    try:
        outcome = await play(SCENARIOS[name], addresses, tmp_path, ANSWERS, int8_folder)
    except Skipped as reason:
        pytest.skip(str(reason))
    verdict = outcome.verdict
    assert verdict.lost == []
    assert verdict.doubled == 0
    assert verdict.worsened == []
    assert verdict.broken_identifiers == []
    assert verdict.degraded == outcome.degraded_expected
    assert outcome.faults > 0, "a scenario without a fault shows nothing"
