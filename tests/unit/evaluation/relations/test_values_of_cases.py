"""Check claims against the case, year, limit or end that their value belongs to; each with a true twin."""

from collections.abc import Callable, Sequence

import pytest

from workers.evaluation.contradictions.values.comparisons import is_end_taken_for_change
from workers.evaluation.relations.exclusive_traits import is_trait_right
from workers.evaluation.relations.figures.asked_limits import is_limit_of_answer
from workers.evaluation.relations.figures.extremes_and_means import is_extreme_right
from workers.evaluation.relations.figures.values_before import is_value_before_right
from workers.evaluation.relations.named_cases import is_named_case_right
from workers.evaluation.relations.times.counted_years import is_counted_year_right

APPROVALS = ["Team leads sign orders up to 5,000 euros.", "Larger orders are signed by the director."]
WEATHER = ["In May the highest temperature was 29 °C, the lowest 4 °C and the mean 15 °C."]
FIRM = ["Founded in 1998, the firm moved to Dublin in 2005 and went public three years later."]
TOWN = ["In 2020 the town had 12,400 inhabitants, 800 more than in 2010."]
PACKAGES = ["Windows users install the MSI package; on Linux use the tar archive."]


@pytest.mark.parametrize(
    ("rule", "wrong", "right", "question", "evidence"),
    [
        (is_limit_of_answer, "Team leads do.", "The director does.", "Who signs an order of 8,000 euros?", APPROVALS),
        (is_limit_of_answer, "Interns.", "The head.", "Who may book a trip of 900 euros?", ["Interns book trips under 200 euros.", "The head books all others."]),
        (is_counted_year_right, "It went public in 2005.", "It went public in 2008.", "When did it go public?", FIRM),
        (is_counted_year_right, "He retired in 1990.", "He retired in 1991.", "", ["He won in 1990.", "The following year he retired."]),
        (is_value_before_right, "It had 13,200 inhabitants in 2010.", "It had 11,600 inhabitants in 2010.", "", TOWN),
        (is_value_before_right, "4,500.", "5,900.", "How many were sold in 2022?", ["In 2023 they sold 5,200, 700 fewer than in 2022."]),
    ],
)  # fmt: skip
def test_a_value_of_another_case_is_wrong_and_its_own_is_not(
    rule: Callable[[str, str, Sequence[str]], bool | None],
    wrong: str,
    right: str,
    question: str,
    evidence: Sequence[str],
) -> None:
    assert rule(wrong, question, evidence) is False
    assert rule(right, question, evidence) is not False


@pytest.mark.parametrize(
    ("rule", "wrong", "right", "evidence"),
    [
        (is_extreme_right, "The highest temperature was 15 °C.", "The highest temperature was 29 °C.", WEATHER),
        (is_extreme_right, "On average it was 4 °C.", "On average it was 15 °C.", WEATHER),
        (is_extreme_right, "The maximum is 3 kg.", "The maximum is 8 kg.", ["The maximum is 8 kg; the average 3 kg."]),
        (
            is_named_case_right,
            "On Linux, you install the MSI package.",
            "On Linux, you use the tar archive.",
            PACKAGES,
        ),
        (
            is_named_case_right,
            "In winter it runs hourly.",
            "In winter it runs three times a day.",
            ["In summer it runs hourly, but in winter it runs three times a day."],
        ),
    ],
)
def test_a_value_of_another_kind_is_wrong_and_its_own_is_not(
    rule: Callable[[str, Sequence[str]], bool | None], wrong: str, right: str, evidence: Sequence[str]
) -> None:
    assert rule(wrong, evidence) is False
    assert rule(right, evidence) is not False


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Travel time fell by 62 minutes.", "The line cut travel time from 95 to 62 minutes."),
        ("The price rose by 12 euros.", "The price went from 9 euros to 12 euros."),
        ("The error rate dropped by 8 %.", "The error rate dropped from 8 % to 3 %."),
    ],
)
def test_the_end_of_a_change_is_not_the_change(claim: str, evidence: str) -> None:
    assert is_end_taken_for_change(claim, evidence)


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Travel time fell by 33 minutes.", "The line cut travel time from 95 to 62 minutes."),
        ("The price rose by 9 euros.", "The price went from 9 euros to 18 euros."),
        ("It fell by 62 minutes.", "It takes 62 minutes."),
    ],
)
def test_a_right_change_is_no_end(claim: str, evidence: str) -> None:
    assert not is_end_taken_for_change(claim, evidence)


def test_the_colour_of_today_is_that_of_the_present_sentence() -> None:
    bridge = ["The old bridge was painted green in 1950.", "Since the repair of 2003 it has been blue."]
    assert is_trait_right("Today the bridge is blue.", "", bridge) is not False
    assert is_trait_right("Today the bridge is green.", "", bridge) is False
    assert is_trait_right("In 1950 the bridge was painted green.", "", bridge) is not False
