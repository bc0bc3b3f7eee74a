"""Scenarios in their short form; `make test-long` plays each with 300 answers, and `make chaos` with 10,000."""

from pathlib import Path

import pytest

from tests.chaos.driver import play
from tests.chaos.registry import SCENARIOS, Scenario
from tests.chaos.run import Skipped
from tests.harness.variants import variants
from workers.settings.addresses import Addresses

ANSWERS = dict.fromkeys(
    (
        "poison_bytes", "out_of_order", "one_agent_down", "clickhouse_reply_lost", "valkey_away",
        "model_hang", "killer_record", "dead_letters_refused", "rolling_deployment",
    ),
    40,
) | {"broker_cut": 100, "sigkill": 150}  # fmt: skip
"""Answers of the scenarios that every run plays: more than a batch of 32. What is cut off in the middle of its work needs
more, and a worker that is killed twice must leave something to the third."""

ON_KAFKA = ("out_of_order", "broker_restart", "retention_passed", "producer_fenced", "rolling_deployment")
"""Scenarios that are played on Apache Kafka as well, two of them in every run."""

pytestmark = pytest.mark.timeout(1800)  # the waits within have an end of their own, which says more


@pytest.mark.parametrize("name", ANSWERS)
async def test_nothing_is_lost_doubled_or_made_worse(
    name: str, addresses: Addresses, tmp_path: Path, int8_folder: Path
) -> None:
    await hold(SCENARIOS[name], ANSWERS[name], addresses, tmp_path, int8_folder)


@pytest.mark.long
@pytest.mark.parametrize("name", SCENARIOS)
async def test_every_scenario_loses_doubles_and_worsens_nothing(
    name: str, addresses: Addresses, tmp_path: Path, int8_folder: Path
) -> None:
    await hold(SCENARIOS[name], 300, addresses, tmp_path, int8_folder)


@pytest.mark.parametrize("name", variants(ON_KAFKA, in_every_run={"broker_restart", "retention_passed"}))
async def test_a_few_scenarios_on_apache_kafka(
    name: str, kafka_addresses: Addresses, tmp_path: Path, int8_folder: Path
) -> None:
    await hold(SCENARIOS[name], 40, kafka_addresses, tmp_path, int8_folder)


async def hold(scenario: Scenario, answers: int, addresses: Addresses, folder: Path, int8: Path) -> None:
    """Play a scenario and hold the outcome against the oracle."""
    try:
        outcome = await play(scenario, addresses, folder, answers, int8)
    except Skipped as reason:
        pytest.skip(str(reason))
    verdict = outcome.verdict
    assert verdict.lost == outcome.lost_expected
    assert verdict.doubled == 0
    assert verdict.worsened == []
    assert verdict.broken_identifiers == []
    assert verdict.degraded == outcome.degraded_expected
    assert verdict.dead_lettered == outcome.dead_letters_expected
    assert outcome.passed
    assert outcome.faults > 0, "a scenario without a fault shows nothing"
