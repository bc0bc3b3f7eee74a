"""Hold a figure of a case against the one that the evidence gives to it."""

import pytest

from tests.harness.whole_answers import verdicts_on
from workers.evaluation.relations.figures.case_figures import is_case_figure_right

DOSE = ["The maximum dose is 4000 mg a day.", "With liver damage it is 2000 mg a day."]
DOSIS = "Erwachsene nehmen höchstens 4000 mg am Tag. Bei Leberschäden höchstens 2000 mg am Tag."
TICKETS = ["A ticket costs 12 euros.", "For seniors it costs 8 euros, for children 5 euros."]
BILLET = "Le billet coûte 12 euros. Pour les enfants, il coûte 6 euros."


@pytest.mark.parametrize(
    ("claim", "sentences"),
    [
        ("With liver damage the maximum dose is 4000 mg a day.", DOSE),
        ("The maximum dose with liver damage is 4000 mg a day.", DOSE),
        ("For seniors a ticket costs 12 euros.", TICKETS),
        ("In December deliveries take 3 days.", ["Deliveries take 3 days.", "In December they take 6 days."]),
        ("Without a load the drone flies 18 minutes.", ["With a load the drone flies 18 minutes.", "Without a load it flies 31 minutes."]),
        ("At night the heating is set to 21 degrees.", ["At night the heating is set to 17 degrees.", "During the day it is set to 21 degrees."]),
    ],
)  # fmt: skip
def test_the_general_figure_is_none_of_the_case(claim: str, sentences: list[str]) -> None:
    assert is_case_figure_right(claim, sentences) is False


@pytest.mark.parametrize(
    ("claim", "sentences"),
    [("With liver damage the maximum dose is 2000 mg a day.", DOSE), ("For seniors a ticket costs 8 euros.", TICKETS)],
)
def test_the_figure_of_the_case_is_right(claim: str, sentences: list[str]) -> None:
    assert is_case_figure_right(claim, sentences) is True


@pytest.mark.parametrize(
    ("claim", "sentences"),
    [
        ("The maximum dose is 4000 mg a day.", DOSE),
        ("With kidney damage the maximum dose is 4000 mg a day.", DOSE),
        ("With the discount the price is 80 euros.", ["The price is 100 euros.", "With the discount it falls by 20 euros."]),
        ("With liver damage the dose is 4000 mg, not 2000 mg.", DOSE),
        ("For members it costs 20 euros.", ["Members pay 20 euros.", "For members of the choir the first concert is 5 euros."]),
        ("In Bern bread costs 4 euros.", ["The shop in Bern sells bread for 4 euros.", "In Bern it sold milk for 2 euros."]),
        ("In Bern bread costs 4 euros.", ["Bread costs 4 euros.", "The shop in Bern takes 4 euros for it.", "In Bern it costs 2 euros on Sundays."]),
        ("Seniors of the club pay 20 euros.", ["The club takes 20 euros.", "For seniors a parking space rents at 8 euros."]),
        ("With whole grain the dough rests 40 minutes.", ["The dough rests 40 minutes.", "With whole grain add 50 g of water."]),
    ],
)  # fmt: skip
def test_other_figures_decide_nothing(claim: str, sentences: list[str]) -> None:
    assert is_case_figure_right(claim, sentences) is None


@pytest.mark.parametrize(
    ("context", "right", "wrong"),
    [
        (DOSIS, "Bei Leberschäden sind höchstens 2000 mg am Tag erlaubt.", "Bei Leberschäden höchstens 4000 mg am Tag."),
        (BILLET, "Pour les enfants, le billet coûte 6 euros.", "Pour les enfants, le billet coûte 12 euros."),
        (" ".join(DOSE), "With liver damage the maximum dose is 2000 mg a day.", "With liver damage the maximum dose is 4000 mg a day."),
    ],
)  # fmt: skip
def test_readers_are_told_the_figure_of_the_case(context: str, right: str, wrong: str) -> None:
    assert verdicts_on("", context, right) == {"supported"}
    assert verdicts_on("", context, wrong) <= {"contradicted", "unsupported"}
