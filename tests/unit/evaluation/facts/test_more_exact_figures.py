"""A figure that is more exact than that of the source is not said by it; a rounded one is."""

import pytest

from tests.harness.whole_answers import verdicts_on
from workers.evaluation.facts.calculation.arithmetic import restates, same_quantity
from workers.evaluation.facts.numbers.quantity import Quantity
from workers.evaluation.facts.text_details import read_details


def quantity(text: str) -> Quantity:
    (found,) = read_details(text).quantities
    return found


@pytest.mark.parametrize(
    ("told", "claimed"),
    [
        ("3,241,000 euros", "3.2 million euros"),
        ("12 kg", "12.0 kg"),
        ("7 feet", "2.13 metres"),
        ("8 km", "5 miles"),
        ("about three hours", "180 minutes"),
        ("90 minutes", "1.5 hours"),
        ("48.6 %", "49 %"),
    ],
)
def test_a_rounded_or_converted_figure_restates_that_of_the_source(told: str, claimed: str) -> None:
    assert restates(quantity(claimed), quantity(told))


@pytest.mark.parametrize(
    ("told", "claimed"),
    [
        ("3 million euros", "3.4 million euros"),
        ("12 kg", "11.7 kg"),
        ("12 %", "12.4 %"),
        ("300 litres", "300.4 litres"),
        ("1.2 million people", "1,234,567 people"),
        ("8 km", "8.4 km"),
    ],
)
def test_a_more_exact_figure_restates_none_and_contradicts_no_other_source(told: str, claimed: str) -> None:
    assert not restates(quantity(claimed), quantity(told))
    assert same_quantity(quantity(claimed), quantity(told))


@pytest.mark.parametrize(
    ("source", "question", "right", "wrong"),
    [
        ("The pump weighs 12 kg.", "", ["The pump weighs 12.0 kg."], ["The pump weighs 12.4 kg."]),
        ("The firm earned 3 million euros.", "", ["The firm earned 3 million euros."], ["The firm earned 2.6 million euros."]),
        ("The firm earned 3,241,000 euros.", "", ["The firm earned 3.2 million euros."], ["The firm earned 3.4 million euros."]),
        ("The ticket costs 12 euros.", "", ["The ticket costs 12.00 euros."], ["The ticket costs 12.40 euros."]),
        ("The shop has 4 dogs.", "", ["The shop has 4 dogs."], ["The shop has 4.3 dogs."]),
        # A place in an order is no figure in round numbers.
        ("Replace it every 2,000 hours, whichever comes first.", "What is the Cpk?", [], ["1.48."]),
        ("revenue: 3 million EUR; year: 2024", "What was revenue?", ["In 2024 revenue was 3 million euros."], ["In 2024 revenue was 3.3 million euros."]),
        # The following were looked at once, after the rule was made.
        ("The bridge is 7 feet wide.", "", ["The bridge is 2.13 metres wide."], ["The bridge is 2.3 metres wide."]),
        ("The route is 8 km long.", "", ["The route is 4.97 miles long."], ["The route is 8.4 km long."]),
        ("The body temperature was 38 °C.", "", ["The body temperature was 100.4 °F."], ["The body temperature was 38.4 °C."]),
        ("Three weeks are needed for delivery.", "", ["Delivery needs 21 days."], ["Delivery needs 20 days."]),
        ("The average grade was 2.", "", ["The average grade was 2.0."], ["The average grade was 2.3."]),
        ("Les ventes ont atteint 5 millions d'euros.", "Combien ?", ["Les ventes ont atteint 5 millions d'euros."], ["Les ventes ont atteint 5,3 millions d'euros."]),
        ("In 2018 revenue was 4 million. In 2019 it rose to 5.", "", ["In 2019 revenue rose to 5 million."], ["In 2019 revenue rose to 5.3 million."]),
        ("The dose is 2 mg for cats and 5 mg for dogs.", "What is the dose for dogs?", ["5 mg."], ["5.4 mg."]),
        ('{"weight_kg": 12, "price_eur": 300}', "", ["It weighs 12 kg."], ["The price is 300.40 euros."]),
        ("Full-time staff get 27 days, part-time staff 14.", "", ["Part-time staff get 14 days."], ["Part-time staff get 14.4 days."]),
    ],
)  # fmt: skip
def test_readers_are_told_no_figure_that_is_more_exact(
    source: str, question: str, right: list[str], wrong: list[str]
) -> None:
    assert all(verdicts_on(question, source, claim) == {"supported"} for claim in right)
    assert all("supported" not in verdicts_on(question, source, claim) for claim in wrong)
