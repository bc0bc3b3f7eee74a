"""Cells of an answer's table are compared with the sentence on their row."""

import pytest

from workers.evaluation.contradictions.contradiction_checks import compare
from workers.evaluation.facts.calculation.arithmetic import same_quantity
from workers.evaluation.facts.quantities import read_quantities
from workers.evaluation.relations.figures.table_cells import is_row_right

PLANS = ["Basic: 9 EUR/month, 10 GB of storage, 1 user.", "Pro: 29 EUR/month, 100 GB of storage, 5 users."]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ("Plan: Pro; Storage: 100 GB", True),
        ("Plan: Basic; Users: 1", True),
        ("Plan: Pro; Storage: 300 GB", False),
        ("Plan: Pro; Storage: 10 GB", None),
        ("Plan: Max; Storage: 100 GB", None),
        ("Pro has 100 GB of storage", None),
    ],
)
def test_a_row_has_the_figures_of_its_sentence(cells: str, expected: bool | None) -> None:
    assert is_row_right(cells, PLANS) is expected


def test_two_sources_on_one_name_decide_nothing() -> None:
    assert is_row_right("Vaccine: Rabies; Dose: 14 weeks", ["Rabies: 16 weeks.", "Rabies at 14 weeks."]) is None


def test_a_figure_under_a_title_of_the_source_is_not_calculated() -> None:
    # 100 GB for each of 5 users would be 500 GB.
    assert compare("Plan: Pro; Storage: 500 GB", PLANS[1]) == ("number",)
    assert compare("Plan: Pro; Storage: 100 GB", PLANS[1]) == ()


@pytest.mark.parametrize(
    ("one", "two", "is_same"),
    [
        ("two days", "36 hours", False),
        ("two days", "44 hours", True),
        ("one and a half days", "36 hours", True),
        ("three and a half hours", "210 minutes", True),
        ("lasts one day", "12 hours", False),
        ("0.8 h", "47 minutes", True),
    ],
)
def test_durations_in_words(one: str, two: str, is_same: bool) -> None:
    assert same_quantity(read_quantities(one)[0], read_quantities(two)[0]) is is_same
