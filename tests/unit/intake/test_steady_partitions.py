"""Partitions that are handled steadily, also after the clock was set."""

import pytest

from workers.intake.steady_partitions import SteadyPartitions

NOW = 1_800_000_000.0


def look_for(steady: SteadyPartitions, start: float, seconds: int) -> float:
    """Look once a second at one partition; return how long it has been steady."""
    for second in range(seconds + 1):
        steady.look({0}, start + second)
        steady.end_look(start + second)
    return steady.seconds(0, start + seconds)


@pytest.mark.parametrize("step", [-86_400.0, -3_600.0, -6.0, 3_600.0])
def test_after_the_clock_is_set_the_time_counts_from_then(step: float) -> None:
    steady = SteadyPartitions()
    assert look_for(steady, NOW, 30) == 30.0
    assert look_for(steady, NOW + 30 + step, 20) == 20.0


@pytest.mark.parametrize("step", [-86_400.0, -6.0])
def test_the_wait_after_an_outage_lasts_no_longer_after_the_clock_is_set_back(step: float) -> None:
    steady = SteadyPartitions()
    look_for(steady, NOW, 30)
    steady.interrupt(NOW + 30 + 10)
    assert look_for(steady, NOW + 30 + step, 10) == 0.0
    assert look_for(steady, NOW + 41 + step, 5) == 6.0
