"""A sum or a difference of the values of two things is no value of one of them."""

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


@pytest.mark.parametrize(
    ("source", "right", "wrong"),
    [
        ("The old pump uses 900 watts and the new pump uses 600 watts.", "The new pump uses 300 watts less.", ["The new pump uses 300 watts.", "The old pump uses 1500 watts."]),
        ("A day ticket costs 12 euros and a week ticket costs 54 euros.", "A week ticket costs 42 euros more than a day ticket.", ["A week ticket costs 42 euros.", "A day ticket costs 42 euros."]),
        ("Lisbon received 40 tonnes of grain, Porto 25 tonnes and Faro 10 tonnes.", "Lisbon and Porto received 65 tonnes of grain.", ["Lisbon received 15 tonnes of grain.", "Faro received 30 tonnes of grain.", "Lisbon and Faro received 65 tonnes of grain."]),
        ("Revenue was 200 million euros in 2022 and 250 million euros in 2023.", "Revenue rose by 50 million euros in 2023.", ["Revenue was 50 million euros in 2023.", "Revenue was 450 million euros in 2023."]),
        ("The north wing has 34 rooms. The south wing has 21 rooms.", "The north wing has 13 more rooms.", ["The south wing has 13 rooms.", "The north wing has 13 rooms."]),
        ("Le train met 95 minutes, le bus met 140 minutes.", "Le bus met 45 minutes de plus que le train.", ["Le bus met 45 minutes.", "Le train met 45 minutes."]),
        ("Adults pay 24 euros, children pay 11 euros.", "Children pay 13 euros less.", ["Children pay 13 euros.", "Adults pay 13 euros."]),
        ("The guarantee is 24 months on laptops and 12 months on batteries.", "The guarantee on laptops is 24 months.", ["The guarantee on laptops and batteries is 36 months."]),
        ("Room A is at 20 °C and room B at 18 °C.", "Room B is at 18 °C.", ["Room A and room B are at 38 °C."]),
        ("The ferry carries 80 cars and 600 passengers in summer, 50 cars and 400 passengers in winter.", "In winter the ferry carries 50 cars.", ["In winter the ferry carries 30 cars.", "In summer the ferry carries 130 cars."]),
        ("Der alte Ofen verbraucht 900 Watt, der neue Ofen 620 Watt.", "Der neue Ofen verbraucht 280 Watt weniger.", ["Der neue Ofen verbraucht 280 Watt."]),
    ],
)  # fmt: skip
def test_a_difference_that_nothing_names_is_no_value_of_a_thing(source: str, right: str, wrong: list[str]) -> None:
    assert verdicts_on("What is said of it?", source, right) == {"supported"}
    assert [each for each in wrong if "supported" in verdicts_on("What is said of it?", source, each)] == []


@pytest.mark.parametrize(
    ("source", "claim"),
    [
        ("The desk weighs 30 kg and the chair weighs 8 kg.", "The desk and the chair weigh 38 kg."),
        ("The oven draws 2 kW and the hob draws 7 kW.", "The oven and the hob draw 9 kW."),
        ("Members pay 80 euros, others pay 100 euros.", "The discount for members is 20 euros."),
        ("Preparation takes 20 minutes and baking takes 30 minutes.", "Preparation and baking take 50 minutes."),
        ("The car park has 60 spaces for cars and 15 spaces for vans.", "A van has 15 spaces."),
        ("The shop sold 120 tents in May and 95 tents in June.", "In May and June the shop sold 215 tents."),
    ],
)
def test_amounts_of_all_things_that_a_claim_names_add_up(source: str, claim: str) -> None:
    assert "contradicted" not in verdicts_on("What is said of it?", source, claim)
