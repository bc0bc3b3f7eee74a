"""Exceptions, conditions and contrasts: what is the same in other words, and what drops or crosses them."""

import pytest

from workers.evaluation.contradictions.contradiction_checks import compare
from workers.evaluation.contradictions.denials import (
    answer_by_contrast,
    crosses_contrast,
    drops_condition,
    is_exception_of,
)

GUESTS = "Members may not bring guests unless they have booked a day in advance."
FIRES = "Campfires at Lower Tarn are allowed only if the fire danger board shows green."
PERMIT = "A resident's permit becomes valid once the fee has been paid."
VACCINE = "The vaccine is effective in adults but ineffective in infants under six months."


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Members may bring guests only if they have booked a day in advance.", GUESTS),
        (
            "The file can be restored once the administrator approves it.",
            "It cannot be restored until she approves it.",
        ),
        ("Phones are allowed only during breaks.", "No phones are allowed in class except during breaks."),
        ("Nobody may enter without a pass.", "Only people with a pass may enter."),
    ],
)
def test_a_rule_told_by_its_exception_is_no_contradiction(claim: str, evidence: str) -> None:
    assert is_exception_of(claim, evidence)
    assert "negation" not in compare(claim, evidence)


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Members may bring guests at any time.", GUESTS),
        ("Phones are allowed in class.", "No phones are allowed in class except during breaks."),
        (
            "The file can be restored before the administrator approves it.",
            "It cannot be restored until she approves it.",
        ),
    ],
)
def test_a_claim_without_the_restriction_is_not_the_rule(claim: str, evidence: str) -> None:
    assert not is_exception_of(claim, evidence)


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Members may bring guests without having booked.", GUESTS),
        ("Campfires are allowed at Lower Tarn whatever the fire danger board shows.", FIRES),
        ("The resident's permit is valid even before the fee has been paid.", PERMIT),
        (
            "Refunds are paid regardless of whether the ticket is used.",
            "Refunds are paid provided the ticket is unused.",
        ),
    ],
)
def test_a_dropped_condition_is_a_contradiction(claim: str, evidence: str) -> None:
    assert drops_condition(claim, evidence)
    assert "negation" in compare(claim, evidence)


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Campfires are allowed at Lower Tarn if the board shows green.", FIRES),
        ("The permit is not valid before the fee has been paid.", PERMIT),
        ("Members may enter without a ticket.", "Members may enter without a ticket; visitors must have a ticket."),
        ("Permits for electric cars are issued without a photo.", PERMIT),
    ],
)
def test_a_kept_condition_is_none(claim: str, evidence: str) -> None:
    assert not drops_condition(claim, evidence)


def test_a_contrast_keeps_its_sides() -> None:
    """ "Ineffective in infants" and "not in infants" are one side; exchanged sides are a contradiction."""
    assert "negation" not in compare("It works in adults, but not in infants under six months.", VACCINE)
    assert crosses_contrast("It works in infants under six months, but not in adults.", VACCINE)
    assert not crosses_contrast("It works in adults, but not in infants.", VACCINE)
    assert not crosses_contrast("It works in infants.", VACCINE)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Is the vaccine effective in adults?", True),
        ("Does the vaccine work in infants under six months?", False),
        ("Is the vaccine cheap?", None),
        ("Is the vaccine not effective in adults?", None),
        ("Does the drug work in teenagers?", None),
    ],
)
def test_a_contrast_answers_a_question_about_one_of_its_sides(question: str, answer: bool | None) -> None:
    assert answer_by_contrast(question, [VACCINE]) is answer


def test_a_place_that_a_contrast_denies_is_answered_with_no() -> None:
    dogs = ["Dogs are welcome in the garden but not in the dining room."]
    assert answer_by_contrast("Are dogs allowed in the dining room?", dogs) is False
    assert answer_by_contrast("Are dogs allowed in the garden?", dogs) is True


@pytest.mark.parametrize("word", ["just", "only", "always", "necessarily"])
@pytest.mark.parametrize(("short", "long"), [("isn't", "is not"), ("wasn't", "was not")])
def test_a_contracted_denial_that_is_none_is_read_as_the_written_one(short: str, long: str, word: str) -> None:
    one, two = f"The mill {short} {word} a museum.", f"The mill {long} {word} a museum."
    assert compare(one, two) == compare(two, one) == ()
    assert compare(f"The mill {short} a museum.", "The mill is a museum.") == ("negation",)
