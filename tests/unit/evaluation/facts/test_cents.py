"""Check amounts in cents and scales with spaces."""

import pytest

from workers.evaluation.contradictions.contradiction_checks import compare
from workers.evaluation.facts.calculation.arithmetic import is_derived, same_quantity
from workers.evaluation.facts.text_details import read_details


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("A call costs 9 cents per minute.", "A call costs €0.09 per minute."),
        ("A copy costs ten cents.", "A copy costs $0.10."),
        ("The map has a scale of 1:50,000.", "Its scale is 1 : 50 000."),
    ],
)
def test_one_amount_in_two_forms(one: str, two: str) -> None:
    first, second = (read_details(text).quantities for text in (one, two))
    assert any(same_quantity(each, other) for each in first for other in second)


def test_another_amount_is_noticed() -> None:
    assert "number" in compare(
        "A call to a mobile costs €0.90 per minute.", "A call to a mobile costs 9 cents per minute."
    )


def test_cents_are_multiplied_to_an_amount_of_money() -> None:
    total = read_details("It costs 15.00 euros.").quantities[0]
    inputs = [*read_details("Calls cost 15 cents per minute.").quantities, *read_details("100 minutes").quantities]
    assert is_derived(total, inputs)


def test_centres_are_no_cents() -> None:
    assert all(each.dimension != "cent" for each in read_details("The 5 centers lie 3 km apart.").quantities)
