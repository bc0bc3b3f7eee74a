"""The words before a number that make it a minimum or a maximum, denied ones too."""

import pytest

from workers.evaluation.facts.numbers.bounds import bound_of


@pytest.mark.parametrize(
    ("words", "side"),
    [
        ("at least", 1), ("more than", 1), ("no less than", 1), ("never less than", 1), ("not less than", 1),
        ("never fewer than", 1), ("at most", -1), ("less than", -1), ("no more than", -1), ("never more than", -1),
        ("not more than", -1), ("exactly", 0),
    ],
)  # fmt: skip
@pytest.mark.parametrize("value", ["500", "€500"])
def test_a_denied_bound_is_the_other_bound(words: str, side: int, value: str) -> None:
    text = f"The benefit is {words} {value}."
    assert bound_of(text, text.index(value)) == side
