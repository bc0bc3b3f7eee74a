"""Both of two things are no one of them, and the reverse."""

import pytest

from tests.harness.whole_answers import verdicts_on

FLAGGED = {"contradicted", "unsupported"}


@pytest.mark.parametrize(
    ("question", "context", "right", "wrong"),
    [
        ("", "Either valve must be open.", "One of the two valves must be open.", "Both valves must be open."),
        ("", "Either key opens the door.", "You can open the door with either key.", "Both keys are needed to open the door."),
        ("", "Both valves must be open.", "Both of the valves must be open.", "Only one of the valves must be open."),
        ("", "Neither valve may be open during cleaning.", "Both valves must be closed during cleaning.", "Either valve may be open during cleaning."),
        ("", "Neither candidate won a majority.", "None of the two candidates won a majority.", "Both candidates won a majority."),
        ("", "At least one of the two signatures must be from a director.", "At least one signature must be from a director.", "Both signatures must be from a director."),
        ("Do I need both documents?", "A passport or an identity card is required at check-in.", "No, either a passport or an identity card is enough.", "Yes, you need both a passport and an identity card."),
        ("", "Only one of the two lifts is working.", "One of the two lifts is working.", "Both lifts are working."),
        ("", "Both parents must sign the form.", "The form must be signed by both parents.", "Either parent must sign the form."),
        ("", "One of the two pumps failed during the test.", "During the test, one of the pumps failed.", "Both pumps failed during the test."),
        ("", "Neither the mayor nor the council approved the plan.", "The plan was approved by neither the mayor nor the council.", "Both the mayor and the council approved the plan."),
        ("", "You may pay with either a credit card or a bank transfer, but not with both.", "You may pay with a credit card or a bank transfer.", "You may pay with both a credit card and a bank transfer."),
        ("", "Both engines stopped.", "The two engines stopped.", "Neither engine stopped."),
    ],
)  # fmt: skip
def test_pairs_of_the_evidence_are_kept(question: str, context: str, right: str, wrong: str) -> None:
    assert not verdicts_on(question, context, right) & FLAGGED
    assert verdicts_on(question, context, wrong) & FLAGGED


@pytest.mark.parametrize(
    ("question", "context", "right", "wrong"),
    [
        ("", "Either of the two heat exchangers can supply the whole building.", "One of the two heat exchangers is enough to supply the whole building.", "Both heat exchangers are needed to supply the whole building."),
        ("Do both owners have to come to the notary?", "Both owners must appear before the notary.", "Yes, both owners must appear.", "Either owner must appear before the notary."),
        ("", "Applicants must submit a birth certificate or a baptism record.", "Applicants must submit either a birth certificate or a baptism record.", "Applicants must submit both a birth certificate and a baptism record."),
        ("", "Vouchers can be redeemed online or in the shop, but not both.", "Vouchers can be redeemed online or in the shop.", "Vouchers can be redeemed both online and in the shop."),
        ("", "Neither tenant was at home during the inspection.", "During the inspection neither of the tenants was at home.", "Both tenants were at home during the inspection."),
        ("", "Both brakes must be tested before every shift.", "The two brakes must be tested before every shift.", "Only one of the brakes must be tested before every shift."),
        ("", "At least one of the fire doors must stay unlocked.", "At least one fire door must stay unlocked.", "Both fire doors must stay unlocked."),
        ("Who has to sign the lease?", "The lease must be signed by both spouses.", "Both spouses must sign the lease.", "One spouse must sign the lease."),
    ],
)  # fmt: skip
def test_further_pairs_are_kept(question: str, context: str, right: str, wrong: str) -> None:
    assert not verdicts_on(question, context, right) & FLAGGED
    assert verdicts_on(question, context, wrong) & FLAGGED


@pytest.mark.parametrize(
    ("question", "context", "claim"),
    [
        ("", "Both keys open the door.", "Either key opens the door."),
        ("", "Either valve must be open for filling. Both valves must be open for draining.", "Both valves must be open for draining."),
        ("", "Both parents must sign the form; one parent must be present at the interview.", "One parent must be present at the interview."),
        ("", "You can pay by card or in cash.", "You can pay both by card and in cash."),
        ("", "The form must be signed by both partners.", "Both partners must sign the form."),
        ("", "Both a deposit and a copy of the passport are required; the deposit may be paid by card or transfer.", "Both a deposit and a copy of the passport are required."),
        ("", "Either parent may collect the child.", "The child may be collected by either parent."),
        ("", "One of the two doors must stay locked.", "One of the doors must stay locked."),
        ("", "Applicants need a degree or five years of experience.", "Applicants need either a degree or five years of experience."),
        ("", "Both lamps must be lit before take-off. If either lamp fails, the pilot must land.", "Both lamps must be lit before take-off."),
        ("", "Both lamps must be lit before take-off. If either lamp fails, the pilot must land.", "The pilot must land if one of the lamps fails."),
        ("", "Neither of the two firms answered.", "The two firms did not answer."),
        ("", "Both teams qualified for the final, and neither lost a match.", "Both teams qualified for the final."),
        ("", "Both exits are on the left side.", "The two exits are on the left side."),
    ],
)  # fmt: skip
def test_right_statements_beside_pairs_are_not_flagged(question: str, context: str, claim: str) -> None:
    assert not verdicts_on(question, context, claim) & FLAGGED
