"""A figure of a change is no level, and the reverse; differences of two levels stay right."""

from collections.abc import Sequence

import pytest

from tests.harness.whole_answers import verdicts_on
from workers.evaluation.relations.figures.changes_and_levels import is_change_no_level


@pytest.mark.parametrize(
    ("question", "context", "right", "wrong"),
    [
        ("", "Sales rose by 5 % to 840 units.", "Sales rose 5 %, to 840 units.", "Sales rose to 5 %."),
        ("", "Sales rose by 5 % to 840 units.", "Sales reached 840 units after a rise of 5 %.", "Sales rose by 840 units."),
        ("", "The number of members fell from 12 to 9.", "The number of members fell by 3 to 9.", "The number of members fell by 12."),
        ("", "The number of members fell from 12 to 9.", "The number of members dropped from 12 to 9.", "The number of members fell from 9 to 12."),
        ("", "In 2018 revenue was 4.2 million. In 2019 it rose to 5.1 million.", "In 2019 revenue rose to 5.1 million.", "In 2018 revenue rose to 5.1 million."),
        ("How much did rents change?", "Average rents increased by 12 euros to 640 euros a month in May.", "They increased by 12 euros.", "They increased to 12 euros."),
        ("", "The unemployment rate fell by 0.4 points to 5.1 % in March.", "The unemployment rate fell to 5.1 % in March.", "The unemployment rate fell to 0.4 % in March."),
        ("", "Turnover grew by 3 million to 48 million euros.", "Turnover grew to 48 million euros.", "Turnover grew by 48 million euros."),
        ("", "The airline cut its fleet by 14 aircraft to 62.", "The airline cut its fleet to 62 aircraft.", "The airline cut its fleet to 14 aircraft."),
        ("By how much did the fee go up?", "The annual fee went up from 30 to 36 dollars.", "It went up by 6 dollars.", "It went up by 36 dollars."),
        ("", "Reduce the pressure by 2 bar before opening the vent.", "Reduce the pressure by 2 bar.", "Reduce the pressure to 2 bar."),
        ("", "Shares lost 8 % and closed at 41 euros.", "Shares fell 8 % to 41 euros.", "Shares fell to 8 euros."),
        ("", "The waiting list shrank by a third to 200 names.", "The waiting list shrank to 200 names.", "The waiting list shrank by 200 names."),
        ("", "Die Preise stiegen um 4 % auf 52 Euro.", "Die Preise stiegen auf 52 Euro.", "Die Preise stiegen auf 4 %."),
        ("", "The council raised the parking charge by 50 cents to 2.50 euros.", "The parking charge was raised to 2.50 euros.", "The parking charge was raised to 50 cents."),
        ("", "Visitor numbers were 80,000 in 2021. They climbed to 95,000 in 2022.", "In 2022 visitor numbers climbed to 95,000.", "In 2021 visitor numbers climbed to 95,000."),
        ("", "Les ventes ont augmenté de 6 % pour atteindre 900 unités.", "Les ventes ont augmenté de 6 %.", "Les ventes ont augmenté de 900 unités."),
        ("", "Ticket prices went up by 3 euros to 45 euros this season.", "Ticket prices went up to 45 euros this season.", "Ticket prices went up to 3 euros this season."),
        ("", "The bank lowered its key rate by a quarter of a point to 3.75 %.", "The bank lowered its key rate to 3.75 %.", "The bank lowered its key rate by 3.75 %."),
        ("How far did the water level fall?", "The water level in the reservoir fell 4 metres to 112 metres.", "It fell by 4 metres.", "It fell by 112 metres."),
        ("", "The update shortens the start time by 20 seconds, to 35 seconds.", "The update shortens the start time to 35 seconds.", "The update shortens the start time to 20 seconds."),
        ("", "The minimum wage will increase by 60 cents to 13.40 euros.", "The minimum wage will increase to 13.40 euros.", "The minimum wage will increase to 60 cents."),
        ("What is the new fare?", "From June the fare rises by 0.20 euros to 2.90 euros.", "It rises to 2.90 euros.", "It rises to 0.20 euros."),
        ("", "El alquiler subió un 7 % hasta 810 euros.", "El alquiler subió un 7 %.", "El alquiler subió hasta un 7 %."),
        ("", "Die Zahl der Gäste sank um 300 auf 2100.", "Die Zahl der Gäste sank um 300.", "Die Zahl der Gäste sank um 2100."),
    ],
)  # fmt: skip
def test_a_change_is_no_level(question: str, context: str, right: str, wrong: str) -> None:
    assert verdicts_on(question, context, right) == {"supported"}
    assert verdicts_on(question, context, wrong) == {"contradicted"}


@pytest.mark.parametrize(
    ("question", "context", "claim"),
    [
        ("", "Sales rose by 5 % to 840 units.", "Sales are now 5 % higher, at 840 units."),
        ("", "The rate fell from 6 % to 3 %.", "The rate fell by 3 points."),
        ("", "Prices rose from 50 to 75 euros.", "Prices rose by 50 %."),
        ("", "Profit grew from 2 million to 4 million.", "Profit grew by 2 million."),
        ("", "The share of women rose by 4 points to 38 %, and that of men fell to 62 %.", "The share of men fell to 62 %."),
        ("", "Output rose by 40 units in May. In June it fell to 40 units.", "In June output fell to 40 units."),
        ("", "Rents rose by 5 % in Lund and to 5 % of income in Vik.", "Rents rose by 5 % in Lund."),
        ("", "The notice period was extended by 2 weeks to 6 weeks.", "The notice period is now 6 weeks, 2 weeks more than before."),
        ("", "Raise the temperature by 10 degrees every five minutes until it reaches 180 degrees.", "Raise the temperature to 180 degrees in steps of 10 degrees."),
        ("", "The club lost 3 to 2 and fell to 9th place.", "The club lost 3 to 2."),
        ("", "Fares will go up to 4 euros, an increase of 50 cents.", "Fares will go up by 50 cents."),
        ("", "The dam raised the level of the lake by 12 metres to 230 metres above sea level.", "The lake now lies 230 metres above sea level after a rise of 12 metres."),
        ("", "The workforce shrank by 200 people to 1,800 after the sale.", "After the sale, 1,800 people remained, 200 fewer than before."),
        ("How much is the discount?", "The price is reduced by 20 euros to 80 euros.", "The discount is 20 euros."),
        ("", "Membership increased by 1,200 to 15,000 in 2020 and by 800 to 15,800 in 2021.", "Membership rose to 15,800 in 2021."),
        ("", "The average wait was cut from 30 minutes to 20 minutes.", "The average wait was cut by 10 minutes to 20 minutes."),
        ("", "Production climbed by up to 8 % in some plants and by 3 % overall.", "Production climbed by 3 % overall."),
    ],
)  # fmt: skip
def test_right_statements_of_changes_are_supported(question: str, context: str, claim: str) -> None:
    assert verdicts_on(question, context, claim) == {"supported"}


@pytest.mark.parametrize(
    ("claim", "sentences"),
    [
        ("Sales did not rise to 5 %.", ["Sales rose by 5 % to 840 units."]),
        ("Sales may rise to 5 %.", ["Sales rose by 5 % to 840 units."]),
        ("Sales rose to 5 %.", ["Sales rose by 5 %.", "The share of sales rose to 5 %."]),
        ("Fees fell to 5 %.", ["Sales of books rose by 5 %."]),
        ("Sales rose by 6 units.", ["Sales rose from 6 to 12 units."]),
        ("Sales rose by 100 %.", ["Sales rose from 100 to 200 units."]),
        ("Prices rose up to 5 %.", ["Prices rose by 5 %."]),
        ("The team lost 3 to 2.", ["The team lost to 3 teams in 2 years."]),
        ("Sales rose to 5 %.", ["Sales rose to 840 units."]),
        ("The price is 5 euros.", ["The price rose by 5 euros."]),
    ],
)  # fmt: skip
def test_other_figures_are_left_open(claim: str, sentences: Sequence[str]) -> None:
    assert is_change_no_level(claim, "", sentences, "en") is None


def test_the_level_before_a_change_is_not_the_one_after_it() -> None:
    sentences = ["Sales rose from 600 to 840 units."]
    assert is_change_no_level("Sales rose to 600 units.", "", sentences, "en") is False
    assert (
        is_change_no_level("Les prix ont baissé de 9 à 5 euros.", "", ["Les prix ont baissé de 9 à 5 euros."], "fr")
        is None
    )
    assert (
        is_change_no_level("Les prix ont baissé de 5 euros.", "", ["Les prix ont baissé de 9 à 5 euros."], "fr")
        is False
    )
