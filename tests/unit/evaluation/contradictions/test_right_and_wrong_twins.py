"""Right claims that a rule took for contradictions, each beside the wrong twin that it must still find."""

from datetime import UTC, datetime

import pytest

from schemas.answers import GeneratedAnswer
from workers.evaluation.grounding.grounding_evaluator import evaluate_grounding, prepare_grounding
from workers.evaluation.thresholds import GroundingThresholds


def verdicts_on(claim: str, context: str) -> list[str]:
    answer = GeneratedAnswer.model_validate(
        {
            "answer_id": "a",
            "answer": claim,
            "contexts": [{"chunk_id": "c1", "content": context}],
            "completed_at": datetime(2026, 11, 2, tzinfo=UTC),
        }
    )
    return [each.verdict for each in evaluate_grounding(prepare_grounding(answer), GroundingThresholds()).claims]


RIGHT = [
    ("Plan A is more expenſive than plan B.", "Plan A costs $20. Plan B costs $10."),
    ("100.0% of the invoices were paid.", "All invoices were paid."),
    ("50.0% of the users are active.", "Half of the users are active."),
    ("5.0% of the users are active.", "Few users are active."),
    ("Few of the users are active.", "5.0% of the users are active."),
    ("62.5% of the tickets were closed.", "Most tickets were closed."),
    ("The target was passed.", "1,000% of the target"),
    ("Plan A includes at least 5 users.", "Plan A includes 5 users and Plan B includes 3 users."),
    ("Plan A costs at most $10.", "Plan A costs $10. Plan B costs $20."),
    ("Plan B costs at most $20.", "Plan B costs $20. Plan A costs $10."),
    ("Plan B costs no more than $20.", "Plan B costs $20. Plan A costs $10."),
    ("The dinner had more than 20 guests.", "The dinner had 25 guests. The concert had 40 guests."),
    ("The concert had more guests.", "The dinner had 25 guests. The concert had 40 guests."),
    ("Route A takes longer than 30 minutes.", "Route A takes 45 minutes. Route B takes 60 minutes."),
    ("The lease ends in May 2025 at the latest.", "The lease ends in May 2025. The loan ends in June 2026."),
    (
        "The hotel was later renovated.",
        "The hotel was built in 1990. The station was built in 2000. The hotel was renovated.",
    ),
    (
        "The hotel opened in 1990 and was later renovated.",
        "The hotel was opened in 1990 and renovated. The station was opened in 2000.",
    ),
    ("Tower A is higher than 80 m.", "Tower A is 90 m high. Tower B is 120 m high."),
    ("Room A holds up to 30 people at the most.", "Room A holds 30 people. Room B holds 50 people."),
    ("The tour of Rome takes at least 3 hours.", "The tour of Rome takes 3 hours. The tour of Pisa takes 5 hours."),
    ("Plan A does not cost more than Plan B.", "Plan A costs $10. Plan B costs $20."),
    ("Plan B costs more than Plan A and is not refundable.", "Plan A costs $10. Plan B costs $20."),
    (
        "Engine B is older than engine A and has not been restored.",
        "Engine A was built in 1998 and has not been restored. Engine B was built in 1990 and has not been restored.",
    ),
    ("Plan A is not the most expensive plan.", "Plan A costs $10. Plan B costs $20."),
    ("600 of 2,400 flights were delayed (25%).", "Of 2,400 flights, 600 were delayed."),
    ("1,500 of 3,000 invoices (50%) were paid.", "1,500 of 3,000 invoices were paid."),
    ("1.5 of 3 million euros (50%) were spent.", "1.5 of 3 million euros were spent."),
    ("12 of 24 sites passed in 2023, up from 10 of 40 (25%).", "12 of 24 sites passed in 2023, up from 10 of 40."),
    ("Without a receipt, refunds are refused.", "Refunds are given only with a receipt."),
    ("Entry without a ticket is not possible.", "Entry requires a ticket."),
    ("You cannot return goods without a receipt.", "Returns require a receipt."),
    ("You cannot return goods without a receipt.", "Goods can be returned only with a receipt."),
    ("Shipments without a label are refused.", "Shipments require a label."),
    ("Visitors cannot enter without a pass.", "Visitors need a pass to enter."),
    ("Visitors need a pass to enter.", "Visitors cannot enter without a pass."),
    ("Bob sings while Ann plays the piano.", "Ann plays the piano while Bob sings."),
    ("Costs fell whereas sales rose.", "Sales rose whereas costs fell."),
    ("Neither Bob nor Ann attended.", "Neither Ann nor Bob attended."),
    ("Bob as well as Ann attended the meeting.", "Ann as well as Bob attended the meeting."),
    ("Bob along with Ann attended the meeting.", "Ann along with Bob attended the meeting."),
    ("Dinner plus breakfast is included.", "Breakfast plus dinner is included."),
    ("Northwind merged with Contoso.", "Contoso merged with Northwind."),
    ("Aspirin interacts with warfarin.", "Warfarin interacts with aspirin."),
    ("Northwind competes with Contoso.", "Contoso competes with Northwind."),
    ("When the door opens, the alarm sounds.", "The alarm sounds when the door opens."),
    ("Northwind cooperates with Contoso.", "Contoso cooperates with Northwind."),
    ("Two seats are still available.", "Two seats are left."),
    ("She still has five vacation days.", "She has five vacation days left."),
    ("The patient still has pain in the arm.", "The patient has pain in the left arm."),
    ("The valve is still open.", "The valve on the left is open."),
    ("The number of falls went from 12 in 2021 to 30 in 2022.", "There were 12 falls in 2021 and 30 falls in 2022."),
    ("Everyone except visitors may enter the lab.", "Visitors may not enter the lab."),
    ("Nobody but staff may enter the lab.", "Only staff may enter the lab."),
    ("Nobody but staff may enter.", "Only staff may enter."),
    ("Most tickets were not closed.", "30% of the tickets were closed."),
    ("Most tickets were closed.", "70% of the tickets were closed."),
]
WRONG = [
    ("The tour of Rome takes no longer than 2 hours.", "The tour of Rome takes 3 hours."),
    ("Plan A is more expenſive than plan B.", "Plan A costs $10. Plan B costs $20."),
    ("10.0% of the invoices were paid.", "All invoices were paid."),
    ("No tickets were closed.", "100.0% of the tickets were closed."),
    ("Plan B costs less than plan A.", "Plan B costs $20. Plan A costs $10."),
    ("Plan A costs the most.", "Plan A costs $10. Plan B costs $20."),
    ("The dinner had more guests than the concert.", "The dinner had 25 guests. The concert had 40 guests."),
    ("The dinner had more guests.", "The dinner had 25 guests. The concert had 40 guests."),
    ("Route A takes longer than route B.", "Route A takes 45 minutes. Route B takes 60 minutes."),
    ("The hotel was built later than the station.", "The hotel was built in 1990. The station was built in 2000."),
    ("The hotel was built later.", "The hotel was built in 1990. The station was built in 2000."),
    ("Tower A is higher than tower B.", "Tower A is 90 m high. Tower B is 120 m high."),
    ("Plan A does not cost more than Plan B.", "Plan A costs $20. Plan B costs $10."),
    ("Engine B is not older than engine A.", "Engine A was built in 1998. Engine B was built in 1990."),
    ("Plan A is not the cheapest plan.", "Plan A costs $10. Plan B costs $20."),
    ("600 of 2,400 flights were delayed (35%).", "Of 2,400 flights, 600 were delayed."),
    ("1,500 of 3,000 invoices (60%) were paid.", "1,500 of 3,000 invoices were paid."),
    ("12 of 24 sites passed in 2023, up from 10 of 40 (35%).", "12 of 24 sites passed in 2023, up from 10 of 40."),
    ("60 of the 80 pupils passed, which is 80%.", "60 of the 80 pupils passed."),
    ("Refunds are given even without a receipt.", "Refunds are given only with a receipt."),
    ("Refunds are given without a receipt.", "Refunds are given only with a receipt."),
    ("Entry is possible without a ticket.", "Entry requires a ticket."),
    ("You can return goods without a receipt.", "Goods can be returned only with a receipt."),
    ("Shipments without a label are accepted.", "Shipments require a label."),
    ("Visitors can enter without a pass.", "Visitors need a pass to enter."),
    ("Visitors need a pass to enter.", "Visitors can enter without a pass."),
    ("Northwind merged into Contoso.", "Contoso merged into Northwind."),
    ("Northwind sued Contoso.", "Contoso sued Northwind."),
    ("Northwind replaced Contoso.", "Contoso replaced Northwind."),
    ("Bob helped Ann with the move.", "Ann helped Bob with the move."),
    ("Dr. Weber still works at the clinic.", "Dr. Weber left the clinic in March."),
    ("Ann is still in the club.", "Ann quit the club."),
    ("Maria is still with the company.", "Maria left the company in 2020."),
    ("Visitors may enter the lab.", "Visitors may not enter the lab."),
    ("Everyone may enter the lab.", "Visitors may not enter the lab."),
    ("Most tickets were not closed.", "70% of the tickets were closed."),
    ("Most tickets were closed.", "30% of the tickets were closed."),
]


@pytest.mark.parametrize(("claim", "context"), RIGHT)
def test_what_the_evidence_says_in_other_words_is_no_contradiction(claim: str, context: str) -> None:
    assert "contradicted" not in verdicts_on(claim, context)


@pytest.mark.parametrize(("claim", "context"), WRONG)
def test_its_wrong_twin_is_contradicted(claim: str, context: str) -> None:
    assert "contradicted" in verdicts_on(claim, context)
