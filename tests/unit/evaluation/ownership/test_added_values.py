"""A sum of the values of two things is no value of one of them."""

import pytest

from tests.harness.whole_answers import verdicts_on

GUARANTEE = "The guarantee on boilers is 36 months from installation, on pumps 18 months. Frost damage is not covered."
PRICES = "Adults pay 24 euros, children 11 euros. The museum closes at 18:00."
FERRY = "Cars cost 18 euros a day on the ferry. Trailers cost 26 euros a day."
RENT = "The flat costs 800 euros a month, and the utilities are 150 euros a month."
GRINDER = "Grinder 5 stood still for 25 minutes on Monday and for 35 minutes on Tuesday."
ROOMS = "The east wing has 40 rooms, the west wing 25 rooms."
DATA = "The plan includes 10 GB, and the bonus is 5 GB."


@pytest.mark.parametrize(
    ("source", "question", "right", "wrong"),
    [
        (GUARANTEE, "How long is it?", "The guarantee on pumps is 18 months.", "The guarantee on pumps is 54 months."),
        (PRICES, "What does a child pay?", "Children pay 11 euros.", "Children pay 35 euros."),
        (PRICES, "What do both pay?", "An adult and a child pay 35 euros.", "Adults pay 35 euros."),
        (FERRY, "What does it cost?", "A car with a trailer costs 44 euros a day.", "A car costs 44 euros a day."),
        (RENT, "What is it?", "The flat with its utilities costs 950 euros a month.", "The utilities are 950 euros."),
        (GRINDER, "How long was it?", "Grinder 5 stood still for 60 minutes.", "Grinder 5 stood still for 55 minutes."),
        (ROOMS, "How many rooms are there?", "The hotel has 65 rooms.", "The west wing has 65 rooms."),
        (DATA, "How much data do I get with the bonus?", "You get 15 GB.", "You get 25 GB."),
        (DATA, "How much data is the bonus?", "The bonus is 5 GB.", "The bonus is 15 GB."),
        (
            "Die Garantie auf Geräte beträgt 24 Monate, auf Akkus 12 Monate.",
            "Wie lange gilt die Garantie?",
            "Die Garantie auf Akkus beträgt 12 Monate.",
            "Die Garantie auf Akkus beträgt 36 Monate.",
        ),
        (
            "The red lamp lasts 40 hours. The blue lamp lasts 65 hours.",
            "How long does it last?",
            "The blue lamp lasts 65 hours.",
            "The blue lamp lasts 105 hours.",
        ),
        (
            "Planning takes 3 months and building 9 months.",
            "How long does the project take?",
            "The project takes 12 months.",
            "Planning takes 12 months.",
        ),
        # Another sentence of the source states the sum for its subject.
        (
            "Adults pay 20 euros, children pay 10 euros. On Sundays adults pay 30 euros.",
            "",
            "The Sunday price for adults is 30 euros.",
            "The Sunday price for adults is 35 euros.",
        ),
        # The source itself adds one value to the other.
        ("Anna is 30 years old, and Ben is 4 years older.", "", "Ben is 34 years old.", "Ben is 38 years old."),
        (
            "By train the trip takes 4 hours. The bus needs 2 hours more.",
            "How long is the trip by bus?",
            "The bus needs 6 hours.",
            "The bus needs 8 hours.",
        ),
        (
            "The building is 80 metres high, and its mast adds 20 metres.",
            "How high is the building?",
            "To the tip of the mast it is 100 metres high.",
            "To the tip of the mast it is 120 metres high.",
        ),
        # One thing comes after the other.
        (
            "The flight to Oslo takes 2 hours, the transfer to the hotel takes 1 hour.",
            "When are we there?",
            "You reach the hotel after 3 hours.",
            "You reach the hotel after 5 hours.",
        ),
        (
            "The guarantee is 24 months, and an extension is 12 months.",
            "How long is the guarantee?",
            "Once extended, the guarantee is 36 months.",
            "Once extended, the guarantee is 46 months.",
        ),
        (
            "From Arlen to Brook it is 12 km, from Brook to Cask 8 km.",
            "How far is it?",
            "Cask is 20 km from the start.",
            "Cask is 28 km from the start.",
        ),
    ],
)
def test_a_sum_with_the_value_of_a_thing_that_is_not_named_is_flagged(
    source: str, question: str, right: str, wrong: str
) -> None:
    assert verdicts_on(question, source, right) == {"supported"}
    assert "supported" not in verdicts_on(question, source, wrong)
