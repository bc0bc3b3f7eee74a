"""Check claims that permit what the evidence refuses in other words, or reserves to others."""

import pytest

from workers.evaluation.relations.permissions.exclusive_acts import is_act_of_others
from workers.evaluation.relations.permissions.refused_acts import is_act_refused

REFUSED = [
    ("You may combine it with ibuprofen", "", ["Do not take Cardolin together with ibuprofen or other NSAIDs."]),
    ("the P40 can be used under water", "", ["The P40 pump has the class IPX4.", "It must not be submerged."]),
    (
        "Dogs are allowed in the building as long as they are on a lead",
        "",
        ["Animals are not permitted in the building.", "Guide and assistance dogs are exempt."],
    ),
    (
        "Swimming is allowed in summer",
        "",
        [
            "Swimming is prohibited throughout the reservoir because of cold water.",
            "Sailing is allowed for members only.",
        ],
    ),
    ("You may take pictures in the galleries", "", ["Please do not take photographs in the galleries."]),
]
ALLOWED = [
    ("You may take Cardolin", "", ["Do not take Cardolin together with ibuprofen."]),
    ("You may take Cardolin with water", "", ["Do not take Cardolin with ibuprofen.", "Take it with water."]),
    (
        "Assistance dogs are allowed in the building",
        "",
        ["Animals are not permitted in the building.", "Guide and assistance dogs are exempt."],
    ),
    (
        "Sailing is allowed for members",
        "",
        ["Swimming is prohibited throughout the reservoir.", "Sailing is allowed for members only."],
    ),
    ("You can use the pump", "", ["Do not use the pump in the bathroom."]),
    ("Dogs are allowed on the beach in winter", "", ["Dogs are not allowed on the beach in summer."]),
    ("You may take two tablets", "", ["Do not take more than three tablets."]),
    ("Smoking is not allowed", "", ["Smoking is prohibited."]),
]


@pytest.mark.parametrize(("claim", "question", "sentences"), REFUSED)
def test_a_refused_act_is_found(claim: str, question: str, sentences: list[str]) -> None:
    assert is_act_refused(claim, question, sentences)


@pytest.mark.parametrize(("claim", "question", "sentences"), ALLOWED)
def test_another_act_case_or_exception_is_not_refused(claim: str, question: str, sentences: list[str]) -> None:
    assert not is_act_refused(claim, question, sentences)


@pytest.mark.parametrize(
    ("claim", "sentence", "is_wrong"),
    [
        ("Users can replace the battery themselves", "The battery can only be replaced by a service partner.", True),
        ("the battery can be replaced by the user", "The battery can only be replaced by a service partner.", True),
        ("You can delete a project", "Only administrators may delete a project.", True),
        ("A service partner can replace the battery", "The battery can only be replaced by a service partner.", False),
        ("You can have the battery replaced", "The battery can only be replaced by a service partner.", False),
        ("Users can charge the battery", "The battery can only be replaced by a service partner.", False),
        ("Customers can cancel the order", "The order can only be cancelled by the customer.", False),
        ("Any employee can sign contracts", "Contracts may be signed by the managing directors only.", True),
        ("Employees can sign contracts", "Contracts may be signed by all employees only.", False),
    ],
)
def test_an_act_that_is_reserved_to_others(claim: str, sentence: str, is_wrong: bool) -> None:
    assert is_act_of_others(claim, [sentence]) is is_wrong
