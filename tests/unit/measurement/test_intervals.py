"""Intervals of differences by source, and the fast measures that they resample."""

import numpy as np
import pytest

from workers.measurement.classification_metrics import auroc, best_threshold, f1, fast_auroc, fast_f1
from workers.measurement.intervals import Rows, difference


def test_the_fast_measures_are_those_of_the_library_also_with_ties_and_one_class() -> None:
    chance = np.random.default_rng(3)
    for _ in range(50):
        scores, labels = chance.uniform(0, 1, 40).round(1), chance.uniform(0, 1, 40) < 0.4
        assert fast_auroc(scores, labels) == pytest.approx(auroc(scores, labels))
        assert fast_f1(scores > 0.5, labels) == pytest.approx(f1(scores > 0.5, labels))
    nothing = np.zeros(4, dtype=np.bool_)
    assert fast_auroc(np.ones(4), nothing) is None
    assert fast_auroc(np.ones(4), ~nothing) is None
    assert fast_f1(nothing, nothing) == 0.0


def test_an_interval_holds_the_difference_and_is_the_same_each_time() -> None:
    gains = np.random.default_rng(4).normal(0.2, 1.0, 400)

    def mean(rows: Rows) -> float:
        return float(gains[rows].mean())

    found = difference(mean, [str(row) for row in range(400)])
    assert found is not None and found == difference(mean, [str(row) for row in range(400)])
    assert found.value == pytest.approx(gains.mean())
    # The standard error of the mean is 0.05.
    assert found.low == pytest.approx(found.value - 0.098, abs=0.02)
    assert found.high == pytest.approx(found.value + 0.098, abs=0.02)


def test_rows_of_one_source_are_drawn_together_so_that_repeats_make_no_interval_narrower() -> None:
    gains = np.repeat(np.random.default_rng(5).normal(0.0, 1.0, 30), 10)

    def width(sources: list[str]) -> float:
        found = difference(lambda rows: float(gains[rows].mean()), sources)
        assert found is not None
        return found.high - found.low

    assert width([str(row // 10) for row in range(300)]) > 2 * width([str(row) for row in range(300)])


def test_a_measure_that_is_not_defined_has_no_interval() -> None:
    assert difference(lambda rows: None, ["a", "b"]) is None


def test_the_threshold_of_f_half_lets_precision_count_twice() -> None:
    scores = np.array([0.9, 0.8, 0.7, 0.6, 0.5, 0.4])
    labels = np.array([True, False, True, False, False, True])
    assert best_threshold(scores, labels, measure="f_half") == pytest.approx(0.85)
    assert best_threshold(scores, labels, measure="f1") < 0.7
