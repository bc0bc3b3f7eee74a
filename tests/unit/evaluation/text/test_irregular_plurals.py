"""An irregular plural is the word of its singular: "children" in a source are asked for as "a child"."""

import pytest

from tests.harness.whole_answers import verdicts_on
from workers.evaluation.text.words import stem

TICKETS = "Ticket prices: adults €12, students €9, children €5."
FERRY = "A ticket is 12 euros. For children under 12 it is 5 euros."
POOL = "An adult ticket costs 12 euros. Children under 12 pay 5 euros. A family ticket costs 28 euros."
CLUB = "Men pay 30 euros for the race, women pay 25 euros, and teams pay 90 euros."
CASES = [
    ("How much is a ticket for a child?", TICKETS, "It costs 5 euros.", "It costs 9 euros."),
    ("How much is a ticket for a child?", TICKETS, "Children pay 5 euros.", "Children pay 9 euros."),
    ("How much is a ticket for a child?", FERRY, "A child ticket costs 5 euros.", "A child ticket costs 12 euros."),
    ("What does a child ticket cost?", FERRY, "It costs 5 euros.", "A ticket for a child costs 12 euros."),
    ("And for a 7-year-old child?", FERRY, "A ticket for a child is 5 euros.", "A ticket for a child is 12 euros."),
    ("What does a child ticket cost?", POOL, "5 euros", "A child ticket costs 28 euros."),
    ("What do children pay?", POOL, "A child ticket costs 5 euros.", "A child ticket costs 28 euros."),
    ("What does a child pay?", "Adults pay 12 euros; children 5 euros; seniors 9 euros.", "5 euros.", "9 euros."),
    ("How much does a woman pay?", CLUB, "A woman pays 25 euros.", "A woman pays 30 euros."),
    ("What is the fee for a woman?", CLUB, "25 euros", "90 euros"),
    ("What does it cost per tooth?", "Cleaning costs 80 euros; single teeth cost 15 euros.", "15 euros", "80 euros"),
    ("How much is a knife?", "Spoons cost 3 euros, forks 4 euros and knives 6 euros.", "A knife is 6 euros.", "A knife is 4 euros."),
]  # fmt: skip


@pytest.mark.parametrize(("question", "context", "right", "wrong"), CASES)
def test_a_price_is_that_of_its_own_group_in_either_number(question: str, context: str, right: str, wrong: str) -> None:
    assert verdicts_on(question, context, right) == {"supported"}
    assert verdicts_on(question, context, wrong) <= {"contradicted", "unsupported"}


@pytest.mark.parametrize(
    ("plural", "singular"),
    [("Children", "child"), ("children's", "child's"), ("women", "woman"), ("men", "man"), ("feet", "foot")],
)
def test_singular_and_plural_have_one_stem(plural: str, singular: str) -> None:
    assert stem(plural) == stem(singular)
    assert len({stem("man"), stem("woman"), stem("child"), stem("chill")}) == 4
