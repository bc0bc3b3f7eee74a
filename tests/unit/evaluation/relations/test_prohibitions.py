"""Check what a claim permits and another sentence of the evidence forbids."""

import pytest

from workers.evaluation.contradictions.contradiction_checks import compare
from workers.evaluation.relations.permissions.prohibitions import is_act_permitted

TERRACE = ["The roof terrace belongs to flat 9.", "Other tenants are not permitted to use the terrace."]


@pytest.mark.parametrize(
    ("claim", "sentences"),
    [
        ("Visitors register and may enter the clean room.", ["Visitors must not enter the clean room."]),
        ("It can be frozen.", ["Store the adhesive below 25 °C.", "The adhesive must not be frozen."]),
        (
            "Contractors may open electrical cabinets.",
            ["Contractors carry a yellow badge.", "They are prohibited from opening electrical cabinets."],
        ),
        ("You are allowed to publish exam questions.", ["It is forbidden to publish exam questions."]),
        ("You can sublet the flat to tourists.", ["Subletting the flat to tourists is not allowed."]),
        ("Other tenants may use the terrace.", TERRACE),
        ("You can rinse the filter with hot water.", ["Never rinse the filter with hot water."]),
    ],
)
def test_what_is_forbidden_is_not_permitted(claim: str, sentences: list[str]) -> None:
    assert is_act_permitted(claim, "", sentences) is False


@pytest.mark.parametrize(
    ("claim", "sentences"),
    [
        ("The tenant of flat 9 may use the terrace.", TERRACE),
        ("You may smoke in the yard.", ["Smoking is forbidden in the hall.", "You may smoke in the yard."]),
        ("Staff may enter the clean room.", ["Visitors must not enter the clean room."]),
        ("The machine can be used with a lid.", ["The machine must not be used without a lid."]),
        ("Children may swim with a parent.", ["Children must not swim unless a parent is present."]),
        ("Visitors may not enter the clean room.", ["Visitors must not enter the clean room."]),
        ("The dough can be frozen.", ["The dough must not be eaten raw."]),
        ("You can freeze the soup.", ["The soup must not be heated twice.", "The cream must not be frozen."]),
    ],
)
def test_another_act_case_or_party_is_no_contradiction(claim: str, sentences: list[str]) -> None:
    assert is_act_permitted(claim, "", sentences) is None


def test_forbidden_to_is_a_denial_of_the_act() -> None:
    assert compare("You must not publish exam questions.", "It is forbidden to publish exam questions.") == ()
    assert "antonym" in compare("You are not allowed to open it.", "It is not prohibited to open it.")
