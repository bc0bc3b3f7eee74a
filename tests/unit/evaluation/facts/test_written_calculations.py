"""Check calculations that an answer writes out."""

import pytest

from workers.evaluation.facts.calculation.written_calculations import borne_out, is_miscalculated, read_equations


@pytest.mark.parametrize(
    ("text", "results"),
    [
        ("3 × 250 = 750, plus 10 % is 825 euros.", [750.0, 825.0]),
        ("5 nights × 80 euros = 400 euros. Less 15 % (60 euros) you pay 340 euros.", [400.0, 340.0]),
        ("1,200 / 24 = 50, so you pay 50 euros a month.", [50.0]),
        ("(84 + 96) / 2 = 90 units on average.", [90.0]),
        ("2 + 8 × 0.50 = 6 euros.", [6.0]),
        ("450 / 100 × 8 = 36 litres, and 36 × 1.60 = 57.60 euros.", [36.0, 57.6]),
        ("4 % of 10,000 is 400.", [400.0]),
        ("2/3 = 66.7 %", [66.7]),
        ("30 + 20 + 10 = 60 min = 1 hour", [60.0]),
    ],
)
def test_right_calculations_are_read(text: str, results: list[float]) -> None:
    found = read_equations(text)
    assert [each.result for each in found] == results
    assert all(each.is_right for each in found)
    assert not is_miscalculated(text)


@pytest.mark.parametrize(
    "text",
    ["3 × 250 = 760", "10 - 3 = 8", "5,000 − 2,950 = 2,150 euros", "40 × 0.10 = 4 euros, minus 25 % = 3.50 euros"],
)
def test_wrong_results_are_noticed(text: str) -> None:
    assert is_miscalculated(text)


@pytest.mark.parametrize(
    "text",
    [
        "It opened on 11/27 and is 5 days long.",
        "x = 5, y = 3",
        "E = mc2",
        "2 h + 30 min = 150 min",
        "The 2-3 minutes are 180 s",
    ],
)
def test_other_signs_are_no_wrong_calculation(text: str) -> None:
    assert not is_miscalculated(text)


def test_figures_follow_from_results_before_them() -> None:
    statements = ["600 + 150 = 750 euros.", "With 20 % VAT: 900 euros.", "A deposit of 300 euros is due."]
    found = borne_out(statements, {600.0, 150.0, 20.0})
    assert 750.0 in found[0] and 900.0 in found[1]
    assert 300.0 not in found[2]


def test_a_number_that_no_source_has_bears_nothing_out() -> None:
    assert borne_out(["3 × 150 = 450, plus 10 % is 495."], {3.0, 250.0, 10.0}) == [frozenset()]
