"""Identifiers of letters and digits are compared as wholes; figures with a unit are none."""

import pytest

from workers.evaluation.contradictions.contradiction_checks import name_mismatch
from workers.evaluation.facts.lettered_codes import code_ranges, has_other_code, lettered_codes, runs_of
from workers.evaluation.facts.text_details import read_details


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("The A4 is closed.", {("a", "4")}),
        ("The WH-1000XM4 is out.", {("wh", "1000", "xm", "4")}),
        ("Use room 12b or part AB12C.", {("12", "b"), ("ab", "12", "c")}),
        ("A 7700X draws 5A and weighs 5kg.", {("7700", "x"), ("5", "a")}),
        ("It was the 2nd stop, at 10am, for $3k or 5g, in v2.1.", set()),
    ],
)
def test_identifiers_have_letters_and_digits(text: str, codes: set[tuple[str, ...]]) -> None:
    assert lettered_codes(text) == codes


@pytest.mark.parametrize(
    ("claim", "evidence", "is_other"),
    [
        ("The A4 is closed.", "The A3 is closed.", True),
        ("The A3 is closed.", "The A3 is closed.", False),
        ("The WH-1000XM5 is out.", "The WH-1000XM4 is out.", True),
        ("A 7900X is fast.", "A 7700X is fast.", True),
        ("Class 3A has a test.", "Class 3B has a test.", True),
        ("Room 12b is free.", "Rooms 12a to 12c are free.", False),
        ("Room A10 is free.", "Rooms A9 to A12 are free.", False),
        ("Room A13 is free.", "Rooms A9 to A12 are free.", True),
        ("Gate B101 is open.", "Gates B99 to B104 are open.", False),
        ("Gate B98 is open.", "Gates B99–B104 are open.", True),
        ("Gate B100 is open.", "Gates B99–B104 are open.", False),
        ("Room A10 is free.", "Rooms A9 and A12 are free.", True),
        ("It draws 5V.", "It draws 6V.", False),
        ("Print in 2D.", "Print in 3D.", False),
        ("Bring form K9.", "Bring paper A4.", False),
        ("Part AB12C fits, not AB12D.", "Part AB12D fits.", False),
    ],
)
def test_an_identifier_that_differs_in_one_place_is_another(claim: str, evidence: str, is_other: bool) -> None:
    assert name_mismatch(read_details(claim), read_details(evidence)) is is_other


def test_an_identifier_of_further_evidence_is_known() -> None:
    claim, near, further = (lettered_codes(text) for text in ("the A4", "the A3", "the A4"))
    assert has_other_code(claim, near, near)
    assert not has_other_code(claim, near, near | further)


def test_a_range_has_two_ends() -> None:
    text = "Lines X1–X7 and units C100 through C180, but not A3 and A4"
    assert code_ranges(text) == {(runs_of("X1"), runs_of("X7")), (runs_of("C100"), runs_of("C180"))}


@pytest.mark.parametrize(
    ("claim", "evidence", "differs"),
    [
        ("The seminar is in Room 12.", "The seminar is in Room 12b.", True),
        ("The seminar is in Room 12b.", "The seminar is in Room 12.", True),
        ("The seminar is in Room 12b.", "The seminar is in Room 12b.", False),
        ("The seminar is in Room 12.", "The seminar is in Room 12, and Room 12b is free.", False),
        ("Line 5 is blue.", "Line 5m of the hose is blue.", False),
    ],
)
def test_a_number_with_a_letter_is_another_than_without(claim: str, evidence: str, differs: bool) -> None:
    assert name_mismatch(read_details(claim), read_details(evidence)) is differs
