"""Compare acts, values and things of plain statements with their evidence."""

import pytest

from tests.harness.whole_answers import verdicts_on

HOTEL = "The hotel was built in 1911 as a hospital, converted in 1974 and renovated in 2016."
BAKERY = "Maria Silva founded the bakery in 1982. Her son Paulo took over in 2005 and sold it to a chain in 2019."
LAW = "The law was passed in 2015, amended in 2018 and repealed in 2021."
VITAMINS = "Vitamin C is found in citrus fruits and peppers. Vitamin D is produced in the skin."
MEETING = "The meeting scheduled for Tuesday at 10:00 has been moved to Thursday at 14:30."
REFUNDS = "Gift cards and downloads are excluded from refunds."
MEMBERS = "Only members may borrow tools."
PHONES = "Unlike the X200, the X300 has no headphone jack."
BUTTONS = "The red button stops the pump at once; the yellow one only lowers its speed."
OKAFOR = "Dr Okafor joined the clinic in 2012, became head of surgery in 2017 and left for Lagos in 2021."
CABLES = "The red cable carries power, the blue one carries data."
WIRES = "Cut the white wire first. Never cut the black wire."
VALVES = "Open the upper valve and close the lower valve."
BRIDGES = "The old bridge was closed; the new one opened in May."
JUDGE = "Ruiz studied in Lima, became a judge in 1998 and retired in 2015."
WAITS = "The average wait is 12 minutes, the longest one was 50 minutes."


@pytest.mark.parametrize(
    ("context", "claim"),
    [
        (HOTEL, "The hotel was renovated in 2016."),
        (HOTEL, "It was converted in 1974."),
        (BAKERY, "Paulo sold the bakery in 2019."),
        (BAKERY, "Paulo took over the bakery in 2005."),
        (LAW, "The law was amended in 2018."),
        (VITAMINS, "Vitamin D is produced in the skin."),
        (MEETING, "The meeting is on Thursday at 14:30."),
        (MEETING, "The meeting was originally planned for Tuesday."),
        (REFUNDS, "Downloads cannot be refunded."),
        (REFUNDS, "There are no refunds for gift cards."),
        (MEMBERS, "Non-members cannot borrow tools."),
        ("Only EU citizens can vote.", "Non-EU citizens cannot vote."),
        ("Unlike other birds, penguins have dense bones.", "Other birds have bones."),
        ("The shed does not have a glass roof.", "The shed has a roof."),
        ("Bikes are exempt from the charge.", "Bikes do not have to pay the charge."),
        ("Bluetooth is available on the Pro model only.", "Only the Pro model has Bluetooth."),
        ("The router supports Wi-Fi 6.", "The router supports Wi-Fi 6."),
        ("Membership costs 30 euros a year; students pay half.", "Students pay 15 euros a year."),
        ("Entry costs $12. Children pay half price.", "Children pay $6."),
        (WAITS, "The longest wait was 50 minutes."),
        (PHONES, "The X200 has a headphone jack."),
        (BUTTONS, "The yellow button lowers the speed."),
        (OKAFOR, "Dr Okafor became head of surgery in 2017."),
        (PHONES, "The X300 has no headphone jack."),
        (CABLES, "The blue cable carries data."),
        (WIRES, "Never cut the black wire."),
        (VALVES, "Close the lower valve."),
        (BRIDGES, "The new bridge opened in May."),
        (JUDGE, "Ruiz became a judge in 1998."),
    ],
)
def test_statements_that_the_evidence_bears_out_are_supported(context: str, claim: str) -> None:
    assert verdicts_on("", context, claim) == {"supported"}


@pytest.mark.parametrize(
    ("context", "claim"),
    [
        (HOTEL, "The hotel was renovated in 1974."),
        (BAKERY, "Maria Silva sold the bakery in 2019."),
        (BAKERY, "The bakery was sold in 2005."),
        (LAW, "The law was repealed in 2018."),
        (VITAMINS, "Vitamin C is produced in the skin."),
        (MEETING, "The meeting is on Tuesday at 10:00."),
        (REFUNDS, "Gift cards can be refunded."),
        ("Only EU citizens can vote.", "Non-EU citizens can vote."),
        (MEMBERS, "Non-members may borrow tools."),
        ("Bikes are exempt from the charge.", "Bikes must pay the charge."),
        ("Bluetooth is available on the Pro model only.", "All models have Bluetooth."),
        ("The router supports Wi-Fi 6.", "The router supports Wi-Fi 7."),
        ("Membership costs 30 euros a year; students pay half.", "Students pay 20 euros a year."),
        ("Entry costs $12. Children pay half price.", "Children pay $12."),
        (WAITS, "The average wait is 50 minutes."),
        (PHONES, "The X200 has no headphone jack."),
        (BUTTONS, "The red button lowers the speed."),
        ("The thieves stole the black car. The white car stood in the garage.", "The thieves stole the white car."),
        ("Use the green paint for the door. The blue paint dries slowly.", "Use the blue paint for the door."),
        (
            "Press the green button to start the pump. The red button stops it.",
            "Press the red button to start the pump.",
        ),
        ("Vitamin K helps blood to clot. Vitamin A protects the eyes.", "Vitamin K protects the eyes."),
        (OKAFOR, "Dr Okafor left the clinic in 2017."),
        ("Unlike Ana, Ben has a licence.", "Ana has a licence."),
        (CABLES, "The blue cable carries power."),
        (CABLES, "The red cable carries data."),
        (WIRES, "Cut the black wire first."),
        (VALVES, "Open the lower valve."),
        (BRIDGES, "The new bridge was closed."),
        (BRIDGES, "The old bridge opened in May."),
        (JUDGE, "Ruiz retired in 1998."),
        (JUDGE, "Ruiz became a judge in 2015."),
    ],
)
def test_values_and_acts_of_others_are_not_supported(context: str, claim: str) -> None:
    assert verdicts_on("", context, claim) != {"supported"}
