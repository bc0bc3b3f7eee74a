"""Check claims against sentences that state their limit, time, age, trait or person otherwise; each with a true twin."""

from collections.abc import Callable, Sequence

import pytest

from workers.evaluation.relations.comparison import relation_mismatch
from workers.evaluation.relations.directions import is_direction_kept
from workers.evaluation.relations.exclusive_traits import is_trait_right
from workers.evaluation.relations.figures.reference_units import is_reference_kept
from workers.evaluation.relations.figures.stated_maxima import is_maximum_kept
from workers.evaluation.relations.named_options import is_option_right
from workers.evaluation.relations.named_persons import is_person_right
from workers.evaluation.relations.permissions.waived_conditions import is_condition_kept
from workers.evaluation.relations.times.ages import is_age_right
from workers.evaluation.relations.times.numbered_periods import is_period_right
from workers.evaluation.relations.times.times_of_days import is_time_of_day_right
from workers.evaluation.relations.with_and_without import is_case_right

DOSES = [
    "Adults take one or two tablets of 500 mg.",
    "The daily maximum is 3 grams.",
    "The lake has a maximum depth of 9 m.",
]
GOALS = [
    "Lena Marsh put City ahead in the 12th minute, and Ida Boone equalised shortly before half-time.",
    "In the 88th minute Tess Hollis headed in the winner for Rovers.",
]
LEAVE = ["Every employee is entitled to 28 days of annual leave.", "In the first year the entitlement is 24 days."]


@pytest.mark.parametrize(
    ("rule", "wrong", "right", "evidence"),
    [
        (is_maximum_kept, "Adults can take up to 4 g per day.", "Adults can take up to 3 g per day.", DOSES),
        (is_maximum_kept, "Adults can take up to 4 g per day.", "Adults can take up to 4 g per week.", DOSES),
        (
            is_maximum_kept,
            "Divers may go up to 12 m deep.",
            "Divers may go up to 9 m deep.",
            ["The limit for divers is 9 m."],
        ),
        (
            is_person_right,
            "Ida Boone scored the winner for Rovers in the 88th minute.",
            "Tess Hollis scored the winner for Rovers in the 88th minute.",
            GOALS,
        ),
        (
            is_condition_kept,
            "Home office is possible, and no agreement of the manager is needed.",
            "Home office is possible, and no agreement of the works council is needed.",
            ["Employees may work at home, provided their manager has agreed in writing."],
        ),
        (
            is_direction_kept,
            "They fled from Kourna and crossed the lake to Tessaly.",
            "They fled from Tessaly over the lake to Kourna.",
            ["In 1912 some four hundred people fled from Tessaly to Kourna."],
        ),
        (
            is_direction_kept,
            "Most members voted for merging with Valbruna.",
            "Most members voted against merging with Valbruna.",
            [
                "Most members of the cooperative voted against the merger with Valbruna, which the board had recommended."
            ],
        ),
        (
            is_direction_kept,
            "Fewer cyclists were counted after the lane opened.",
            "More cyclists were counted after the lane opened.",
            ["The number of cyclists increased after the bus lane opened, while car traffic decreased slightly."],
        ),
        (
            is_case_right,
            "Without a receipt you get a refund to your payment card.",
            "Without a receipt you get store credit.",
            [
                "Items returned with a receipt within 30 days are refunded to the payment card.",
                "Items returned without a receipt are exchanged for store credit only.",
            ],
        ),
        (is_period_right, "They get 28 days in their first year.", "They get 24 days in their first year.", LEAVE),
        (is_period_right, "They get 28 days in their first year.", "They get 28 days later.", LEAVE),
    ],
)
def test_a_statement_is_wrong_where_another_sentence_states_it_otherwise(
    rule: Callable[[str, Sequence[str]], bool | None], wrong: str, right: str, evidence: list[str]
) -> None:
    assert rule(wrong, evidence) is False
    assert rule(right, evidence) is not False
    # The rule reads all sentences, also where none is near the claim.
    assert relation_mismatch(wrong, "", [], evidence)[0]


HOURS = ["Monday to Friday 8:30–18:30, Saturday 9:00–13:00."]
BIRTH = ["Nora Adeyemi was born in 1950 in Ibadan.", "She received the Halden Prize in 1991 and retired in 2015."]
DAM = ["The dam is an earth-filled dam.", "A small power station of concrete stands below it."]
ROOF = ["The chapel has walls of granite and a roof covered with wooden shingles.", "The floor is laid with slate."]
FLAGS = [
    "With --dry-run the command lists the files, but deletes nothing.",
    "With --force it removes files without asking.",
]


@pytest.mark.parametrize(
    ("rule", "question", "wrong", "right", "evidence"),
    [
        (is_time_of_day_right, "", "It closes at 6:30 pm on Saturday.", "It closes at 1 pm on Saturday.", HOURS),
        (is_time_of_day_right, "When does it open on Saturdays?", "At 8:30 am.", "At 9 am.", HOURS),
        (is_age_right, "How old was she when she won the prize?", "She was 65.", "She was 41.", BIRTH),
        (is_age_right, "How old was she when she won the prize?", "She was about 65 years old.", "About forty.", BIRTH),
        (is_trait_right, "", "It is a concrete dam.", "It is an earth-filled dam.", DAM),
        (is_trait_right, "", "The roof is covered in slate.", "The floor is made of slate.", ROOF),
        (
            is_trait_right,
            "",
            "Hold it until the light goes green.",
            "Hold it until the light goes red.",
            ["The light turns red."],
        ),
        (
            is_option_right,
            "What does --dry-run do?",
            "It removes the files without asking.",
            "It only lists the files.",
            FLAGS,
        ),
    ],
)
def test_an_answer_is_wrong_where_another_sentence_states_it_otherwise(
    rule: Callable[[str, str, Sequence[str]], bool | None],
    question: str,
    wrong: str,
    right: str,
    evidence: list[str],
) -> None:
    assert rule(wrong, question, evidence) is False
    assert rule(right, question, evidence) is not False
    assert relation_mismatch(wrong, question, [], evidence)[0]


def test_a_calendar_year_is_a_year() -> None:
    evidence = ["Work abroad is possible for up to 20 days per calendar year."]
    assert is_reference_kept("Up to 20 days a month are possible.", "", evidence) is False
    assert is_reference_kept("Up to 20 days a year are possible.", "", evidence) is not False


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The red box holds a green lamp.", ["The box is red.", "The cable is green."]),
        ("The lamp is green.", ["The lamp is green when it is charged.", "The lamp is red when it is empty."]),
        ("The cover is blue.", ["The wheels are black."]),
        ("Tonee is described as tall, with black hair.", ["Tonee was last seen in a blue coat.", "She has dark hair."]),
    ],
)
def test_a_colour_of_another_thing_or_one_of_two_colours_is_no_contradiction(claim: str, evidence: list[str]) -> None:
    assert is_trait_right(claim, "", evidence) is None


def test_two_persons_of_one_deed_are_no_contradiction() -> None:
    evidence = ["Ann Lee and Bob Ray won the prize for the bridge in 2004."]
    assert is_person_right("Ann Lee won the prize for the bridge in 2004.", evidence) is None
    assert (
        is_person_right(
            "Ann Lee won the prize for the bridge in 2004.",
            [*evidence, "Eva Orr won the prize for the bridge in 2004."],
        )
        is None
    )


@pytest.mark.parametrize(
    "claim",
    [
        "Employees cannot work at home without the agreement of their manager.",
        "Home office without a contract is possible.",
    ],
)
def test_a_claim_that_keeps_or_does_not_name_the_condition_is_no_contradiction(claim: str) -> None:
    assert (
        is_condition_kept(claim, ["Employees may work at home, provided their manager has agreed in writing."]) is None
    )


def test_a_limit_or_period_of_somebody_else_is_no_contradiction() -> None:
    children = "Children take at most 1 g per day."
    oven = ["Preheat the oven for a minimum of 15 minutes.", "The limit for parking is 2 hours."]
    assert is_maximum_kept("Let the roast stand for at least 1 hour.", oven) is None
    assert is_maximum_kept("Let the roast stand for up to 3 hours.", oven) is None
    assert is_maximum_kept("Children can take up to 1 g per day.", [*DOSES, children]) is None
    assert (
        is_period_right("Smith scored 12 points in the first half.", ["In the first half, Jones scored 20 points."])
        is None
    )


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The line runs from Graz to Linz.", ["The line runs from Linz to Graz.", "It also runs from Graz to Linz."]),
        ("It is even more disturbing.", ["The number of disturbing videos decreased."]),
        ("Ann voted for the tax.", ["Ann voted for the tax and Bob voted against the tax."]),
        ("More people came.", ["The number of cars fell.", "The number of people did not fall."]),
        ("You need no ticket with a pass.", ["Entry without a ticket is refused."]),
    ],
)
def test_both_directions_and_another_thing_are_no_contradiction(claim: str, evidence: list[str]) -> None:
    assert is_direction_kept(claim, evidence) is None
    assert is_case_right(claim, evidence) is None
