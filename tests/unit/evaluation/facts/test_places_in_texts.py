"""The number of a page, a section or a step is no amount: it supports no figure of a claim."""

import pytest

from workers.evaluation.contradictions.contradiction_checks import compare
from workers.evaluation.facts.calculation.arithmetic import same_quantity
from workers.evaluation.facts.evidence_facts import KnownFacts, missing_details
from workers.evaluation.facts.text_details import read_details

CLAIM, EVIDENCE = "The tank holds 60 litres.", "The tank holds 40 litres."


@pytest.mark.parametrize(
    "place",
    ["See page 60.", "Figure 60 shows the tank.", "Section 60 is about tanks.", "Step 60: fill the tank.", "cf. p. 60",
     "Table 60", "Siehe Seite 60.", "Abschnitt 60 regelt Tanks.", "Voir tableau 60.", "§ 60", "No. 60"],
)  # fmt: skip
def test_a_place_with_the_figure_of_a_claim_does_not_support_it(place: str) -> None:
    assert compare(CLAIM, EVIDENCE, [place]) == ("number",)
    known = KnownFacts(map(read_details, (EVIDENCE, place)))
    assert missing_details(read_details(CLAIM), known, []).numbers == 1


@pytest.mark.parametrize(
    "amount",
    ["It holds 60 l.", "volume 60", "On page 12 it says 60 litres.", "Section 3 gives it 60 litres.", "60", "Table: 60",
     "in steps 60", "The part holds 60 litres."],
)  # fmt: skip
def test_an_amount_beside_a_place_still_supports_a_claim(amount: str) -> None:
    assert compare(CLAIM, EVIDENCE, [amount]) == ()


@pytest.mark.parametrize(
    ("claim", "evidence", "is_same"),
    [
        ("It is on page 45.", "Page 45", True),
        ("It is on page 45.", "See page 46.", False),
        ("It is on page 45.", "45", True),
        ("The bus has 36 seats.", "Page 36", False),
        ("Step 3 is to wait.", "Step 3: wait", True),
    ],
)
def test_places_are_compared_with_places_and_bare_numbers(claim: str, evidence: str, is_same: bool) -> None:
    (one,), (two,) = read_details(claim).quantities, read_details(evidence).quantities
    assert same_quantity(one, two) is same_quantity(two, one) is is_same


def test_another_page_contradicts_nothing_and_no_page_is_added_to_an_amount() -> None:
    assert compare("The pump is shown on page 45.", "The pump is shown on page 24.") == ()
    own, tank = read_details("Together they hold 60 litres."), read_details("The first tank holds 40 litres.")
    for other, missing in (("See page 20.", 1), ("The second holds 20 litres.", 0)):
        near = [tank, read_details(other)]
        assert missing_details(own, KnownFacts(near), near).numbers == missing
