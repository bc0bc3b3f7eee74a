"""Check what the evidence demands, leaves free, or leaves open for a case."""

import pytest

from workers.evaluation.clauses.kinds.obligations import answer_by_obligation, denies_condition

OPEN = [
    ["Registration is required unless you are a member."],
    ["Registration is required.", "Members are exempt."],
    ["Registration is required for everyone except members."],
    ["If members bring guests, registration is required."],
    ["Is registration required of members?"],
]


@pytest.mark.parametrize("evidence", OPEN, ids=[" ".join(each) for each in OPEN])
def test_a_demand_with_an_exception_or_a_case_decides_nothing(evidence: list[str]) -> None:
    assert answer_by_obligation("Do members have to register?", evidence) is None


def test_a_plain_demand_decides() -> None:
    assert answer_by_obligation("Do members have to register?", ["Registration is required."]) is True
    assert answer_by_obligation("Do members have to register?", ["Members need not register."]) is False
    # The case is that of another part of the sentence.
    helmets = "Helmets are recommended but not compulsory; a discount is given when you show your helmet."
    assert answer_by_obligation("Do I have to wear a helmet?", [helmets]) is False


def test_a_condition_with_an_exception_is_denied_by_nothing() -> None:
    permit = "Anyone who fishes must have a permit."
    assert denies_condition("You can fish without a permit.", "", [permit])
    assert not denies_condition("Children can fish without a permit.", "", [permit, "Anglers under 12 are exempt."])
    assert not denies_condition("You cannot fish without a permit.", "", [permit])
