"""Right statements of an assistant's answers are not contradicted, and their wrong twins are noticed.

The statements come in lists under a line that denies, with values set aside ("rather than"), and with calculations.
"""

from datetime import UTC, datetime

import pytest

from schemas.answers import ContextChunk, GeneratedAnswer
from workers.evaluation.grounding.grounding_evaluator import evaluate_grounding
from workers.evaluation.grounding.prepared_grounding import prepare_grounding
from workers.evaluation.thresholds import GroundingThresholds

LIABILITY = "The limit does not apply to wilful misconduct, gross negligence or personal injury."
CAMERAS = (
    "Vista C1: 24 megapixel sensor, 4K video at 30 frames per second, weight 480 g, battery life 360 shots, price 799 euros.\n\n"
    "Vista C2: 33 megapixel sensor, 4K video at 60 frames per second, weight 650 g, battery life 520 shots, price 1,299 euros."
)
LAPTOPS = (
    "Argo 13: 16 GB of memory, 512 GB of storage, 13 inch screen, 11 hours of battery, 1,150 g, price 899 dollars.\n\n"
    "Argo 15: 32 GB of memory, 1,024 GB of storage, 15 inch screen, 9 hours of battery, 1,700 g, price 1,249 dollars."
)
OFFERS = (
    "Offer A, Steinfurt Metals: 400 brackets at 3.15 euros each, payment 30 days net.\n\n"
    "Offer B, Polymet: 400 brackets at 2.95 euros each, payment 14 days net."
)
RATES = "Lindner Bank pays 2.4 % interest a year. Corvo Bank pays 1.9 % interest a year."
TICKET = (
    "10:12 technician replaced the toner, no change. 11:40 technician replaced the drum unit; test page fine. "
    "15:30 vendor called, visit planned for tomorrow between 9 and 11 a.m."
)
LOG = (
    "08:20 driver loaded the van. 09:05 driver reported a flat tyre. "
    "09:40 depot called, collection planned for this evening between 6 and 8 p.m."
)
DIVIDEND = (
    "The annual general meeting of Boreal Shipping on 22 April 2026 approved a dividend of 1.35 euros per share. "
    "The ex-dividend date is 23 April 2026, the payment date 27 April 2026."
)
EXAM = (
    "The board of Quill College met on 3 June 2026 and set the fees. "
    "The registration date is 9 June 2026, the examination date 24 June 2026."
)
MERGE = "Open the Contacts list and tick the two records. Only users with the role Editor can merge records."
SCREWS = "Remove the front panel and loosen the four screws. Some screws of the rear panel are sealed."

PAIRS = [
    (LIABILITY, "The limit doesn't apply in cases of:\n- wilful misconduct\n- gross negligence", "The limit applies in cases of:\n- wilful misconduct\n- gross negligence"),
    ("The discount does not apply to gift vouchers, sale items or repairs.", "The discount doesn't apply to:\n- gift vouchers\n- sale items", "The discount does apply to gift vouchers."),
    (CAMERAS, "The C1 costs €500 less than the C2.", "The C1 costs €700 less than the C2."),
    (LAPTOPS, "The Argo 13 costs $350 less than the Argo 15.", "The Argo 13 costs $410 less than the Argo 15."),
    (OFFERS, "Polymet charges €2.95 per bracket rather than €3.15.", "Polymet charges €3.15 per bracket rather than €2.95."),
    (RATES, "Lindner Bank pays 2.4 % interest instead of 1.9 %.", "Lindner Bank pays 1.9 % interest instead of 2.4 %."),
    (TICKET, "The vendor's technician is expected tomorrow between 9 and 11 a.m.", "The vendor's technician is expected tomorrow between 7 and 8 a.m."),
    (LOG, "The depot's collection is expected this evening between 6 and 8 p.m.", "The depot's collection is expected this evening between 3 and 4 p.m."),
    (DIVIDEND, "Boreal Shipping will pay its dividend on 27 April 2026.", "Boreal Shipping will pay its dividend on 29 April 2026."),
    (EXAM, "Quill College examines on 24 June 2026.", "Quill College examines on 26 June 2026."),
    (MERGE, "Go to the Contacts list and tick both records.", "Go to the Contacts list and tick neither of the records."),
    (SCREWS, "Take off the front panel and loosen all four screws.", "Take off the front panel and loosen none of the screws."),
    ("The Youth Pass is available to travellers aged 12 to 27.", "Travellers between 12 and 27 years of age can get the Youth Pass.", "Travellers between 12 and 25 years of age can get the Youth Pass."),
    ("The course is open to children aged 6–10.", "The course is open to children between the ages of 6 and 10.", "The course is open to children between the ages of 6 and 13."),
    ("This update replaces the password rules of 2023.", "The update replaces the rules of 2023: those are void.", "The update replaces the rules of 2021: those are void."),
    ("The dividend is 1.35 euros per share (2024: 1.10 euros).", "The dividend was 1.10 euros per share in 2024.", "The dividend was 1.10 euros per share in 2022."),
    ("Clause 12: claims become time-barred one year after the damage.", "Under clause 12, claims become time-barred one year after the damage.", "Under clause 14, claims become time-barred one year after the damage."),
    ("Liability for loss of profit is excluded.", "Loss of profit is excluded altogether.", "Loss of profit is not excluded."),
    ("Compensation for losses against gains of other years is granted.", "Compensation for losses is granted.", "Compensation for losses is not granted."),
]  # fmt: skip


def verdicts(context: str, answer: str) -> set[str]:
    contexts = [ContextChunk(chunk_id=f"c-{place}", content=text) for place, text in enumerate(context.split("\n\n"))]
    given = GeneratedAnswer(
        answer_id="a-1",
        query="What do I have to know?",
        answer=answer,
        contexts=contexts,
        completed_at=datetime(2026, 1, 1, tzinfo=UTC),
    )
    found = evaluate_grounding(prepare_grounding(given), GroundingThresholds())
    return {claim.verdict for claim in found.claims}


@pytest.mark.parametrize(("context", "right"), [(context, right) for context, right, _ in PAIRS])
def test_a_right_statement_is_not_contradicted(context: str, right: str) -> None:
    assert "contradicted" not in verdicts(context, right)


@pytest.mark.parametrize(
    ("context", "right"),
    [
        ("Steinfurt Metals: delivery within 15 working days, payment 30 days net.\n\nPolymet: delivery within 25 working days, payment 14 days net.", "Steinfurt Metals delivers faster."),
        ("Arden Prints: ready in 3 business days, storage 30 days.\n\nCopyhaus: ready in 5 business days, storage 20 days.", "Arden Prints is quicker."),
    ],
)  # fmt: skip
def test_spans_of_another_thing_rank_nothing(context: str, right: str) -> None:
    assert "contradicted" not in verdicts(context, right)


@pytest.mark.parametrize(("context", "wrong"), [(context, wrong) for context, _, wrong in PAIRS])
def test_its_wrong_twin_is_noticed(context: str, wrong: str) -> None:
    assert verdicts(context, wrong) & {"contradicted", "unsupported"}


@pytest.mark.parametrize(
    "text",
    [
        "Enjoy your trip!",
        "Have a great day!",
        "*This is no legal advice.*",
        "This is not medical advice.",
        "Please note that this does not constitute financial or tax advice.",
    ],
)
def test_a_wish_or_disclaimer_is_no_claim(text: str) -> None:
    assert verdicts("The ferry leaves at 8:15.", f"The ferry leaves at 8:15.\n\n{text}") == {"supported", "not_checked"}


@pytest.mark.parametrize(
    "text", ["Enjoy a free breakfast every day.", "This is a free trip.", "The lawyer gives no advice."]
)
def test_a_statement_like_them_is_a_claim(text: str) -> None:
    assert "unsupported" in verdicts("The ferry leaves at 8:15.", f"The ferry leaves at 8:15.\n\n{text}")
