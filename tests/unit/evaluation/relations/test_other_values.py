"""A claim that gives one time the value of another, or another share or day, is contradicted; each with a true twin."""

from collections.abc import Sequence

import pytest

from tests.harness.whole_answers import verdicts_on
from workers.evaluation.relations.comparison import answer_by_relation, value_mismatch
from workers.evaluation.relations.figures.stated_shares import is_share_right
from workers.evaluation.relations.times.figures_of_times import is_figure_of_time
from workers.evaluation.relations.times.next_working_days import is_working_day_right

REVENUE = ["In 2018 revenue was 4.2 million.", "In 2019 it rose to 5.1 million.", "Costs were 3.3 million in 2018."]
TICKETS = ["In May a ticket cost 12 euros.", "In June it cost 15 euros.", "In July it fell to 9 euros."]
POOL = ["On Monday the pool had 80 visitors.", "On Tuesday there were 95."]
FEES = ["In January the fee was 25 euros.", "In February it went up to 30 euros."]
REGIONS = ["In 2018 revenue in the north was 4.2 million.", "In 2019 revenue in the south was 5.1 million."]


@pytest.mark.parametrize(
    ("claim", "sentences", "holds"),
    [
        ("Revenue in 2018 was 4.2 million.", REVENUE, True),
        ("Revenue in 2019 was 5.1 million.", REVENUE, True),
        ("Revenue in 2019 was 4.2 million.", REVENUE, False),
        ("Revenue in 2018 was 5.1 million.", REVENUE, False),
        ("Revenue in 2018 was 3.3 million.", REVENUE, False),
        ("Costs in 2018 were 3.3 million.", REVENUE, True),
        ("Costs in 2019 were 5.1 million.", REVENUE, False),
        ("Sales in 2019 were 5.1 million.", REVENUE, None),
        ("Revenue in 2020 was 5.1 million.", REVENUE, None),
        ("Revenue in 2019 was 6 million.", REVENUE, None),
        ("Revenue in 2019 was not 4.2 million.", REVENUE, None),
        ("Revenue in 2019 was higher by 4.2 million.", REVENUE, None),
        ("In June a ticket cost 15 euros.", TICKETS, True),
        ("In May a ticket cost 9 euros.", TICKETS, False),
        ("In July a ticket cost 15 euros.", TICKETS, False),
        ("The fee was 30 euros in February.", FEES, True),
        ("The fee was 25 euros in February.", FEES, False),
        ("The pool had 95 visitors on Tuesday.", POOL, True),
        ("The pool had 80 visitors on Tuesday.", POOL, False),
        ("In 2019 revenue in the south was 5.1 million.", REGIONS, True),
        ("In 2019 revenue in the north was 5.1 million.", REGIONS, None),
        ("In 2019 it rose by 4.2 million.", ["In 2018 it was 5.", "In 2019 it rose by 4.2 million."], None),
    ],
)
def test_a_value_belongs_to_its_time(claim: str, sentences: Sequence[str], holds: bool | None) -> None:
    assert is_figure_of_time(claim, sentences) is holds


def test_a_course_ends_with_its_source() -> None:
    assert is_figure_of_time("Revenue in 2019 was 4.2 million.", [REVENUE[0], "", REVENUE[1]]) is None


@pytest.mark.parametrize(
    ("claim", "sentence", "holds"),
    [
        ("Most users agreed.", "21 % of users agreed.", False),
        ("The majority of users agreed.", "21 % of users agreed.", False),
        ("A minority of users agreed.", "21 % of users agreed.", True),
        ("Fewer than half of the users agreed.", "21 % of users agreed.", True),
        ("Most users agreed.", "78 % of users agreed.", True),
        ("Few users agreed.", "78 % of users agreed.", False),
        ("Most users agreed.", "50 % of users agreed.", False),
        ("More than three quarters of the users agreed.", "78 % of users agreed.", True),
        ("Most users agreed.", "78 % of users did not agree.", False),
        ("A minority of users agreed.", "78 % of users did not agree.", True),
        ("More than two thirds of the members voted.", "14 of 20 members voted.", True),
        ("Fewer than half of the members voted.", "14 of 20 members voted.", False),
        ("Two thirds of the members voted.", "14 of 20 members voted.", None),
        ("About two thirds of the members voted.", "14 of 20 members voted.", True),
        ("Two thirds of the students passed.", "12 of 18 students passed.", True),
        ("One third of the students passed.", "12 of 18 students passed.", False),
        ("Half of the students passed.", "12 out of the 18 students passed.", False),
        ("Most delegates voted.", "Two thirds of the delegates voted.", True),
        ("Most users agreed.", "A small share of the users agreed.", False),
        ("Most users agreed.", "Only a few users agreed.", False),
        ("Most users agreed.", "A handful of users agreed.", False),
        ("Most users agreed.", "One in ten users agreed.", False),
        ("Few users agreed.", "One in every ten users agreed.", True),
        ("Few users agreed.", "A tiny fraction of users agreed.", True),
        ("Most users agreed.", "Of the users who were asked, a small number agreed.", False),
        ("Most users agreed.", "Of the guests who were asked, a small number agreed.", None),
        ("Most users agreed.", "A few users agreed.", None),
        ("Most users agreed.", "21 % of users in Norway who pay agreed.", None),
        ("Most users agreed.", "21 % of guests agreed.", None),
        ("At most 40 users agreed.", "21 % of users agreed.", None),
        ("21 % of users agreed.", "21 % of users agreed.", None),
        ("Most members voted.", "20 of 14 members voted.", None),
    ],
)
def test_a_share_in_words_is_held_against_the_stated_one(claim: str, sentence: str, holds: bool | None) -> None:
    assert is_share_right(claim, "", [sentence]) is holds


def test_a_share_without_its_noun_has_that_of_the_share_before() -> None:
    survey = ["In the survey, 21 percent of respondents were satisfied and 62 percent were dissatisfied."]
    assert is_share_right("Most respondents were dissatisfied.", "", survey) is True
    assert is_share_right("Most respondents were satisfied.", "", survey) is False


def test_a_share_answers_its_question() -> None:
    evidence = ["21 % of users agreed."]
    assert is_share_right("Most of them.", "How many users agreed?", evidence) is False
    assert is_share_right("A minority.", "How many users agreed?", evidence) is True
    assert answer_by_relation("Did most users agree?", evidence) is False


SHIPPED = ["Orders are shipped on the next working day."]


@pytest.mark.parametrize(
    ("claim", "question", "sentences", "holds"),
    [
        ("An order placed on Friday is shipped on Monday.", "", SHIPPED, True),
        ("An order placed on Friday is shipped on Saturday.", "", SHIPPED, False),
        ("An order placed on Tuesday is shipped on Wednesday.", "", SHIPPED, True),
        ("An order placed on Tuesday is shipped on Thursday.", "", SHIPPED, False),
        ("Saturday's orders are shipped on Monday.", "", SHIPPED, True),
        ("On Monday.", "I ordered on Friday. When is it shipped?", SHIPPED, True),
        ("On Tuesday.", "I ordered on Friday. When is it shipped?", SHIPPED, False),
        ("An order placed on Friday is shipped on Monday by courier.", "", SHIPPED, None),
        ("An order placed on Friday arrives on Tuesday.", "", SHIPPED, None),
        ("An order placed on Friday is shipped on Monday.", "", ["Orders before 2 pm are shipped the same day, others on the next working day."], None),
        ("A parcel ordered on Thursday is delivered on Monday.", "", ["Parcels are delivered on the second working day after the order."], True),
        ("A parcel ordered on Thursday is delivered on Friday.", "", ["Parcels are delivered on the second working day after the order."], False),
    ],
)  # fmt: skip
def test_the_next_working_day_leaves_out_the_weekend(
    claim: str, question: str, sentences: Sequence[str], holds: bool | None
) -> None:
    assert is_working_day_right(claim, question, sentences) is holds


def test_the_mismatch_says_what_is_otherwise() -> None:
    assert value_mismatch("Most users agreed.", "", ["21 % of users agreed."]) == ("quantifier", False)
    assert value_mismatch("Most users agreed.", "", ["78 % of users agreed."]) == (None, True)
    assert value_mismatch("Everybody agreed.", "", ["78 % of users agreed."]) == (None, False)


@pytest.mark.parametrize(
    ("context", "right", "wrong"),
    [
        ("In 2018 revenue was 4.2 million. In 2019 it rose to 5.1.", "In 2019 revenue was 5.1 million.", "Revenue in 2019 was 4.2 million."),
        ("In 2020 the rent was 900 euros. In 2021 it fell to 850.", "The rent was 850 euros in 2021.", "The rent was 900 euros in 2021."),
        ("The first pump delivers 3.4 litres, the second only 1.2.", "The second pump delivers 1.2 litres.", "The second pump delivers 3.4 litres."),
        ("14 of 20 members voted for the plan.", "More than two thirds of the members voted for the plan.", "Half of the members voted for the plan."),
        ("The box holds 10 screws and the bag holds 20 nails.", "The box holds 10 screws.", "The box holds 15 screws."),
        ("A charge lasts 36 hours.", "A charge lasts one and a half days.", "A charge lasts two and a half days."),
        ("The seminar takes place in Room 12b.", "The seminar takes place in Room 12b.", "The seminar takes place in Room 12a."),
        ("Orders are shipped on the next working day.", "An order placed on Friday is shipped on Monday.", "An order placed on Friday is shipped on Saturday."),
    ],
)  # fmt: skip
def test_the_right_answer_is_supported_and_the_wrong_one_contradicted(context: str, right: str, wrong: str) -> None:
    assert verdicts_on("", context, right) == {"supported"}
    assert verdicts_on("", context, wrong) == {"contradicted"}
