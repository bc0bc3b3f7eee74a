"""Check claims on all places and times over statements on some."""

import pytest

from workers.evaluation.relations.widened_places import is_place_kept


@pytest.mark.parametrize(
    ("claim", "sentences"),
    [
        ("There is Wi-Fi in all rooms.", ["Wi-Fi is available in the lobby and the meeting rooms."]),
        ("You can smoke everywhere.", ["You can smoke in the marked area behind the kitchen."]),
        ("Parking is always free.", ["Parking is free on Sundays and after 7 pm."]),
        ("The coating protects the wood in all conditions.", ["The coating protects the wood in dry conditions."]),
        ("The day ticket is valid in the whole network.", ["The day ticket is valid in zones A and B."]),
        ("Water is sold around the clock.", ["Water is sold at the gate from May to September."]),
        ("The pool is open around the clock.", ["The pool is open from 6 am to 9 pm."]),
        ("You can cancel at any time.", ["You can cancel until 24 hours before departure."]),
        ("The market opens every day.", ["The market opens at 7 am on Saturdays."]),
    ],
)
def test_all_places_are_more_than_some(claim: str, sentences: list[str]) -> None:
    assert is_place_kept(claim, "", sentences) is False


@pytest.mark.parametrize(
    ("claim", "sentences"),
    [
        ("There is Wi-Fi in all rooms.", ["Wi-Fi is available in every room of the hotel."]),
        ("There is Wi-Fi everywhere.", ["Wi-Fi is free.", "There is Wi-Fi in the lobby.", "All floors have Wi-Fi."]),
        ("Parking is always free.", ["Parking is free."]),
        ("Parking is always free on Sundays.", ["Parking is free on Sundays."]),
        ("Smoking is not allowed everywhere.", ["Smoking is allowed in the yard."]),
        ("The office always answers in writing.", ["The office answers in writing."]),
        ("The shop opens daily.", ["The shop opens at 9 am."]),
        ("The pool is open every day.", ["The pool is open from 6 am to 9 pm."]),
        ("Breakfast is always served.", ["Breakfast is served in the dining room."]),
        (
            "Wi-Fi is available throughout the building.",
            ["Wi-Fi is available in the building from reception to the roof."],
        ),
        ("The alarm is always on.", ["The alarm is on at the back door."]),
    ],
)
def test_the_same_extent_is_no_mismatch(claim: str, sentences: list[str]) -> None:
    assert is_place_kept(claim, "", sentences) is None
