"""Check clauses that deny or affirm nothing by themselves: conditions, attempts, what something is kept from."""

import pytest

from workers.evaluation.contradictions.contradiction_checks import compare


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Turn the sheets to keep the birds from nesting there.", "Turn the sheets so the birds do not nest there."),
        (
            "Check if the hatch is aligned with the frame.",
            "The hatch rattles because the hatch isn't aligned with the frame.",
        ),
        ("Take care not to pull the cord out quickly.", "If you pull the cord out quickly, the plug breaks."),
        (
            "Growth depends on light and water, not on the pot.",
            "Growth depends on light and water, rather than on the pot.",
        ),
        (
            "The crew failed to land the drone on the deck.",
            "The crew tried to land the drone on the deck, but it tipped over.",
        ),
        ("The number of names on the no-fly list is secret.", "The number of names on the list is secret."),
        ("This will block the birds from reaching the beams.", "The net keeps the birds from reaching the beams."),
        ("Guests praise the no-frills sandwiches of the bar.", "No frills sandwiches of the bar, praised by guests!"),
        ("Let the dough sit in a warm place for an hour.", "Allow the dough to stand in a warm place for an hour."),
        ("The comet returns every five and a half years.", "The comet returns every five and half years."),
    ],
)
def test_the_same_in_other_words_is_no_mismatch(claim: str, evidence: str) -> None:
    assert compare(claim, evidence) == ()


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The net keeps the birds from nesting.", "The birds nest in the net."),
        ("If the lamp is on, you can open the lid.", "If the lamp is not on, you can open the lid."),
        ("The guards sat in the hall.", "The guards stood in the hall."),
        ("The crew did not land the drone on the deck.", "The crew landed the drone on the deck at noon."),
        ("The comet returns every five and a half years.", "The comet returns every six and half years."),
    ],
)
def test_the_contrary_is_still_noticed(claim: str, evidence: str) -> None:
    assert compare(claim, evidence)
