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
        (0.797, None, "0.80"),
    ],
)
def test_a_score_has_as_many_decimals_as_it_needs(value: float, minimum: float | None, text: str) -> None:
    assert beside(value, minimum) == text


@given(st.integers(0, 999_999), st.integers(0, 100))
def test_only_a_score_that_reaches_its_minimum_looks_so(value: int, minimum: int) -> None:
    score, least = value / 1_000_000, minimum / 100
    assert (float(beside(score, least)) >= least) == (score >= least)


@pytest.mark.parametrize(("minimum", "text"), [(0.8, "0.80"), (1.0, "1.00"), (0.605, "0.605"), (0.0, "0.00")])
def test_a_minimum_has_all_its_decimals(minimum: float, text: str) -> None:
    assert whole(minimum) == text
