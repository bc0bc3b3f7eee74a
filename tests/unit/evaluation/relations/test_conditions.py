"""A condition is neither left out nor turned into its contrary."""

import pytest

from tests.harness.whole_answers import verdicts_on

FLAGGED = {"contradicted", "unsupported"}


@pytest.mark.parametrize(
    ("question", "context", "right", "wrong"),
    [
        ("May visitors enter the hall?", "Visitors may enter the hall only if accompanied.", "Yes, if they are accompanied.", "Yes, visitors may enter the hall."),
        ("", "Visitors may enter the hall only if accompanied.", "Visitors may enter the hall when they are accompanied.", "Visitors may enter the hall."),
        ("", "The alarm sounds only if the door is open.", "The alarm sounds only when the door is open.", "The alarm sounds even if the door is closed."),
        ("", "The alarm sounds unless the door is closed.", "The alarm sounds if the door is not closed.", "The alarm sounds if the door is closed."),
        ("", "The fee is refunded unless you cancel within 24 hours of departure.", "The fee is not refunded if you cancel within 24 hours of departure.", "The fee is refunded if you cancel within 24 hours of departure."),
        ("", "The contract renews automatically unless it is cancelled in writing.", "The contract renews automatically if it is not cancelled in writing.", "The contract renews automatically even if it is cancelled in writing."),
        ("Can I return opened software?", "Opened software can be returned only if it is defective.", "Only if it is defective.", "Yes, opened software can be returned."),
        ("", "Employees may work from home only with the approval of their manager.", "With their manager's approval, employees may work from home.", "Employees may work from home without the approval of their manager."),
        ("", "The warranty applies even if the device was bought second-hand.", "The warranty also applies to devices bought second-hand.", "The warranty applies only if the device was bought second-hand."),
        ("", "Dogs are allowed in the garden only when on a lead.", "Dogs on a lead are allowed in the garden.", "Dogs are allowed in the garden."),
        ("", "The pump starts only if the tank is full.", "The pump does not start unless the tank is full.", "The pump starts unless the tank is full."),
        ("", "Claims are paid only if reported within 30 days.", "Claims reported within 30 days are paid.", "Claims are paid even if they are reported after 30 days."),
        ("Is the museum free?", "Admission is free only for residents.", "Only for residents.", "Yes, admission is free."),
    ],
)  # fmt: skip
def test_conditions_of_the_evidence_are_kept(question: str, context: str, right: str, wrong: str) -> None:
    assert not verdicts_on(question, context, right) & FLAGGED
    assert verdicts_on(question, context, wrong) & FLAGGED


@pytest.mark.parametrize(
    ("question", "context", "right", "wrong"),
    [
        ("May guests bring pets?", "Guests may bring pets only if they have booked a ground-floor room.", "Yes, if they have booked a ground-floor room.", "Yes, guests may bring pets."),
        ("", "The deposit is refunded unless the room is damaged.", "The deposit is refunded if the room is not damaged.", "The deposit is refunded if the room is damaged."),
        ("", "Overtime is paid only if it was approved in advance.", "Overtime is paid if it was approved in advance.", "Overtime is paid unless it was approved in advance."),
        ("", "The guarantee is valid only with the original receipt.", "The guarantee is valid with the original receipt.", "The guarantee is valid."),
        ("", "The heating switches on even if the window is open.", "The heating switches on also when the window is open.", "The heating switches on only if the window is closed."),
        ("", "Unless the chair objects, the vote can be held online.", "The vote can be held online if the chair does not object.", "The vote can be held online if the chair objects."),
        ("", "Minors can open an account only when a parent has signed the form.", "Minors can open an account once a parent has signed the form.", "Minors can open an account."),
        ("", "Bicycles are allowed on the train only after 9 a.m.", "Bicycles are allowed on the train after 9 a.m.", "Bicycles are allowed on the train."),
        ("", "Prescription costs are covered only for members with the plus tariff.", "Prescription costs are covered for members with the plus tariff.", "Prescription costs are covered."),
    ],
)  # fmt: skip
def test_further_conditions_are_kept(question: str, context: str, right: str, wrong: str) -> None:
    assert not verdicts_on(question, context, right) & FLAGGED
    assert verdicts_on(question, context, wrong) & FLAGGED


@pytest.mark.parametrize(
    ("question", "context", "claim"),
    [
        ("", "Visitors may enter the hall only if accompanied. Staff may enter the hall.", "Staff may enter the hall."),
        ("", "He agreed to sell the house only after the roof had been repaired.", "He agreed to sell the house."),
        ("", "The pool is free only for guests. The sauna is free.", "The sauna is free."),
        ("", "The alarm sounds if the door is open.", "The alarm sounds when the door is open."),
        ("", "The alarm does not sound unless the door is open.", "The alarm sounds only if the door is open."),
        ("", "Tickets can be exchanged unless the event has started.", "Tickets can be exchanged if the event has not started."),
        ("", "Tickets can be exchanged unless the event has started.", "Tickets cannot be exchanged if the event has started."),
        ("", "The ferry runs even if it snows.", "The ferry also runs if it snows."),
        ("", "Children may swim only with an adult.", "Children may swim if they are with an adult."),
        ("", "Children may swim only with an adult.", "Children must be with an adult to swim."),
        ("Is parking free?", "Parking is free only for guests of the hotel.", "Guests of the hotel park free."),
        ("", "Refunds are possible only within 14 days.", "Refunds are possible within 14 days."),
        ("", "The lamp lights up if the tank is empty and goes out when it is full.", "The lamp goes out when the tank is full."),
        ("", "If the pump is hot, wait. If the pump is cold, start it.", "Start the pump if it is cold."),
        ("", "Cash is accepted only in the shop; cards are accepted everywhere.", "Cards are accepted everywhere."),
    ],
)  # fmt: skip
def test_right_statements_beside_conditions_are_not_flagged(question: str, context: str, claim: str) -> None:
    assert not verdicts_on(question, context, claim) & FLAGGED
