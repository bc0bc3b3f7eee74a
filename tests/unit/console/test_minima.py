"""A score beside the minimum that it does not reach never looks as if it did."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.console.presentation.minima import beside, whole


@pytest.mark.parametrize(
    ("value", "minimum", "text"),
    [
        (0.797, 0.8, "0.797"),
        (0.79996, 0.8, "0.79996"),
        (0.8, 0.8, "0.80"),
        (0.803, 0.8, "0.80"),
        (0.74, 0.8, "0.74"),
        (0.6049, 0.605, "0.60"),
        (0.845, 0.845, "0.845"),
        (0.8453, 0.845, "0.85"),
        (0.79999999, 0.8, "0.79999999"),
        (0.797, None, "0.80"),
    ],
)
def test_a_score_has_as_many_decimals_as_it_needs(value: float, minimum: float | None, text: str) -> None:
    assert beside(value, minimum) == text


@given(st.floats(0, 1), st.lists(st.integers(0, 1_000_000), min_size=1, max_size=2))
def test_only_a_score_that_reaches_a_minimum_looks_so(score: float, needed: list[int]) -> None:
    minima = [each / 1_000_000 for each in needed]
    shown = beside(score, *minima)
    assert [float(shown) >= float(whole(least)) for least in minima] == [score >= least for least in minima]


@pytest.mark.parametrize(("minimum", "text"), [(0.8, "0.80"), (1.0, "1.00"), (0.605, "0.605"), (0.0, "0.00")])
def test_a_minimum_has_all_its_decimals(minimum: float, text: str) -> None:
    assert whole(minimum) == text
