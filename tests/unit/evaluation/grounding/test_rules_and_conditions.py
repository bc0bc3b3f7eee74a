"""Check answers on what one must do, on what it depends, and on values that a list gives for others."""

import pytest

from tests.harness.whole_answers import verdicts_on

HELMETS = (
    "Riders must be at least 18 years old. Helmets are recommended but not compulsory; a 10 percent discount is given on"
    " rides when you take a helmet selfie in the app."
)
OFFICE = (
    "Badges must be worn at all times. Guests do not have to sign in. A deposit is optional. Registration is required."
)
LEAVE = (
    "Up to five days may be carried over to the following year if the line manager has approved this in writing before"
    " 15 December. Leave should be requested two weeks in advance."
)
THERAPY = (
    "We reimburse 80 percent of the cost of physiotherapy, provided that the treatment was prescribed by a doctor."
    " Osteopathy is covered up to $300 and needs no prescription."
)
RETURNS = (
    "Goods can be returned within 30 days if the receipt is shown. Gift cards can be returned without a receipt."
    " Exchanges require the original packaging."
)
SHELF = (
    "Maximum load when mounted in concrete or brick: 18 kg for 60 cm, 24 kg for 80 cm, 30 kg for 120 cm. In plasterboard"
    " the maximum load is 9 kg irrespective of the width."
)
POST = "Shipping costs €4 for up to 2 kg, €7 for up to 5 kg and €12 for up to 20 kg."
TRIP = (
    "The visa costs 40 Swiss francs and the photo 300 Czech koruna. A reservation for a bicycle costs 95 Danish kroner."
)
ROUTER = "On the LX20 and LX40, settings are kept. On the LX10, the update does not preserve port forwarding rules."
MUSEUM = "L'ingresso è gratuito per tutti la prima domenica del mese. Il biglietto intero costa 9 euro."
FARES = (
    "Een maandkaart voor de stadsbus gaat van 54 naar 57 euro. De regiotrein wordt juist voordeliger: een maandkaart kost"
    " voortaan 96 euro in plaats van 104 euro."
)
SALMON = "Den Fenchel 20 Minuten garen. Dann 600 g Lachsfilet auf das Gemüse legen, salzen und alles weitere 12 Minuten backen."
HOURS = (
    '{"entries": [{"person": "Marta Kowal", "day": "Mon", "hours": 6.5}, {"person": "Jon Bale", "day": "Mon", "hours": 8},'
    ' {"person": "Marta Kowal", "day": "Tue", "hours": 4}, {"person": "Jon Bale", "day": "Wed", "hours": 7.5},'
    ' {"person": "Marta Kowal", "day": "Thu", "hours": 7}]}'
)
STEPS = "Put a bowl under the spout. Submit the form to the office by Friday. Reserve the meeting room in the calendar."
EXCEPTIONS = "Visitors must show a ticket, but children under six do not need one. Anyone who fishes must have a permit. Anglers under 12 are exempt."
SHELVES = "Maximum load: 18 kg for 60 cm, 24 kg for 80 cm, 30 kg for 120 cm."
LINKED = (
    '<p>Write to <a href="mailto:service@example.com">our service</a> or call <a href="tel:+49301234567">us</a>.</p>'
)
WRONG = frozenset(("contradicted", "unsupported"))

PAIRS = [
    ("Do I have to wear a helmet?", HELMETS, ["No.", "No, but it is recommended.", "Helmets are optional."], ["Yes.", "Yes, helmets are mandatory.", "Riders have to wear a helmet."]),
    ("Are helmets mandatory?", HELMETS, ["No, they are only recommended."], ["Yes."]),
    ("Do guests have to sign in?", OFFICE, ["No.", "Guests need not sign in."], ["Yes.", "Guests must sign in."]),
    ("Is a deposit required?", OFFICE, ["No, it is optional."], ["Yes, a deposit is required."]),
    ("Do I need to register?", OFFICE, ["Yes.", "Yes, registration is required."], ["No.", "No, registration is optional."]),
    ("Is registration optional?", OFFICE, ["No, it is required."], ["Yes."]),
    ("Can I carry over vacation days?", LEAVE, ["Yes, up to five days with the written approval of your manager."], ["Yes, up to five days, and you don't need anyone's approval for it.", "Up to five days, without approval."]),
    ("Is physiotherapy covered?", THERAPY, ["Physiotherapy is covered at 80% with a prescription."], ["Physiotherapy is reimbursed at 80 percent without a prescription."]),
    ("Is osteopathy covered?", THERAPY, ["Osteopathy is covered up to $300; you don't need a prescription."], []),
    ("Can I return goods?", RETURNS, ["Goods can be returned within 30 days with the receipt."], ["Goods can be returned within 30 days without a receipt."]),
    ("Can I return gift cards?", RETURNS, ["Gift cards can be returned without a receipt."], []),
    ("Can I exchange goods?", RETURNS, ["You need the original packaging to exchange goods."], ["You can exchange goods without the original packaging."]),
    ("what's the max load of the 80cm shelf", SHELF, ["24 kg if it's mounted in concrete or brick."], ["30 kg if it's mounted in concrete or brick."]),
    ("What does the 120 cm shelf hold?", SHELF, ["30 kg", "In plasterboard it holds 9 kg."], ["24 kg", "The 120 cm shelf holds 18 kg."]),
    ("What does shipping 5 kg cost?", POST, ["€7"], ["Shipping 5 kg costs €12."]),
    ("What does the visa cost?", TRIP, ["CHF 40", "The visa costs 40 francs."], ["The visa costs 40 dollars."]),
    ("What does the photo cost?", TRIP, ["300 CZK"], ["300 euros"]),
    ("What does a reservation cost?", TRIP, ["95 DKK"], ["A reservation costs 95 euros."]),
    ("Will the update delete my settings?", ROUTER, ["That depends on the model. The LX20 and LX40 keep their settings."], ["It depends on the 3 models."]),
    ("Il museo è gratuito la domenica?", MUSEUM, ["Sì, ma soltanto la prima domenica del mese."], ["No, mai."]),
    ("Is de treinkaart goedkoper geworden?", FARES, ["De maandkaart voor de regiotrein kost nu € 96, terwijl dat eerst € 104 was."], []),
    ("Wie lange muss der Lachs in den Ofen?", SALMON, ["Der Lachs kommt für 12 Minuten in den Ofen, auf den vorgegarten Fenchel."], []),
    ("How many hours did Marta log in total?", HOURS, ["17.5 hours", "Marta logged 17.5 hours in total."], ["15.5 hours"]),
    ("How many hours did Jon log?", HOURS, ["15.5 hours"], ["Jon logged 17.5 hours."]),
    ("What do I do?", STEPS, ["Place a bowl under the spout.", "File the form with the office by Friday.", "Book the meeting room in the calendar."], ["Cancel the meeting room in the calendar."]),
    ("Do children need a ticket?", EXCEPTIONS, ["Children under six enter without a ticket.", "Children under six don't need a ticket."], []),
    ("Do visitors need a ticket?", EXCEPTIONS, [], ["Visitors can enter without a ticket."]),
    ("Do I need a permit?", EXCEPTIONS, ["Yes."], []),
    ("Can the 80 cm shelf hold 30 kg?", SHELVES, ["The 80 cm shelf does not hold 30 kg.", "No, the 80 cm shelf holds 24 kg."], ["The 80 cm shelf holds 30 kg."]),
    ("What does the 80 cm shelf hold?", SHELVES, ["The 80 cm shelf holds more than 18 kg.", "The 80 cm shelf holds less than 30 kg."], ["The 80 cm shelf holds 18 kg."]),
    ("How do I reach you?", LINKED, ["Write to service@example.com.", "Call +49 30 1234567."], ["Write to support@example.com."]),
]  # fmt: skip


@pytest.mark.parametrize(("question", "source", "right", "wrong"), PAIRS, ids=[question for question, *_ in PAIRS])
def test_right_answers_pass_and_wrong_ones_are_noticed(
    question: str, source: str, right: list[str], wrong: list[str]
) -> None:
    assert [each for each in right if verdicts_on(question, source, each) & WRONG] == []
    assert [each for each in wrong if not verdicts_on(question, source, each) & WRONG] == []
