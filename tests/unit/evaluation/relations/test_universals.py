"""Check what is said of all, of none and of all but some against the evidence."""

import pytest

from tests.harness.whole_answers import verdicts_on

FLAGGED = {"contradicted", "unsupported"}


@pytest.mark.parametrize(
    ("question", "context", "right", "wrong"),
    [
        ("Did passengers die?", "All passengers survived.", "No, none of the passengers died.", "Yes, some passengers died."),
        ("", "All passengers survived.", "None of the passengers died.", "Some passengers died."),
        ("", "Everyone escaped unharmed.", "No one was injured.", "Several people were injured."),
        ("", "All but two of the employees signed the contract.", "Two of the employees did not sign the contract.", "All employees signed the contract."),
        ("", "None of the 12 samples contained lead.", "Lead was found in none of the 12 samples.", "All of the 12 samples contained lead."),
        ("", "Some of the samples contained lead.", "Lead was found in some of the samples.", "All of the samples contained lead."),
        ("", "Not all rooms have a balcony.", "Some rooms have no balcony.", "All rooms have a balcony."),
        ("", "All of the tests passed.", "No test failed.", "Some of the tests failed."),
        ("Were there injuries?", "Three people were injured in the fire and nobody died.", "Yes, three people were injured.", "No, no one was injured."),
        ("", "Most of the flights were on time.", "The majority of the flights were on time.", "All of the flights were on time."),
        ("", "All flights except the one to Oslo were cancelled.", "The flight to Oslo was not cancelled.", "All flights were cancelled."),
        ("", "Every shop in the mall is open on Sunday.", "All shops in the mall are open on Sunday.", "None of the shops in the mall is open on Sunday."),
    ],
)  # fmt: skip
def test_shares_of_all_of_the_evidence_are_kept(question: str, context: str, right: str, wrong: str) -> None:
    assert not verdicts_on(question, context, right) & FLAGGED
    assert verdicts_on(question, context, wrong) & FLAGGED


@pytest.mark.parametrize(
    ("question", "context", "right", "wrong"),
    [
        ("", "All 48 crew members survived the sinking.", "None of the 48 crew members died in the sinking.", "Some crew members died in the sinking."),
        ("Was anyone hurt?", "Two workers were injured when the scaffold collapsed.", "Yes, two workers were injured.", "No, nobody was injured."),
        ("", "All applications except those from students were rejected.", "Applications from students were not rejected.", "All applications were rejected."),
        ("", "All but three of the lifts are working.", "Three of the lifts are not working.", "All lifts are working."),
        ("", "None of the windows was closed.", "All windows were open.", "All windows were closed."),
        ("", "Not every branch offers currency exchange.", "Some branches do not offer currency exchange.", "Every branch offers currency exchange."),
        ("", "No pupil failed the exam.", "All pupils passed the exam.", "Some pupils failed the exam."),
        ("", "Both drivers escaped unhurt.", "Neither driver was injured.", "Both drivers were injured."),
        ("", "Everyone on board survived.", "No one on board died.", "Several people on board died."),
    ],
)  # fmt: skip
def test_further_shares_of_all_are_kept(question: str, context: str, right: str, wrong: str) -> None:
    assert not verdicts_on(question, context, right) & FLAGGED
    assert verdicts_on(question, context, wrong) & FLAGGED


@pytest.mark.parametrize(
    ("question", "context", "claim"),
    [
        ("", "All passengers survived but some crew members died.", "Some crew members died."),
        ("", "None of the adults passed the test, but all children passed.", "All children passed the test."),
        ("", "All but two of the shops are open.", "Two of the shops are closed."),
        ("", "No rooms on the first floor have a bath; all rooms on the second floor have one.", "No rooms on the first floor have a bath."),
        ("", "Everyone except the driver was injured.", "The driver was not injured."),
        ("", "All the windows were closed.", "None of the windows was open."),
        ("", "Each of the drivers was unhurt.", "No driver was injured."),
        ("", "All flights except the one to Oslo were cancelled.", "All flights were cancelled except the one to Oslo."),
        ("", "Three people were injured in the fire and nobody died.", "Nobody died in the fire."),
        ("", "All members except the chair voted for the plan.", "Everyone but the chair voted for the plan."),
        ("", "No one was injured in the first crash. Three people were injured in the second crash.", "No one was injured in the first crash."),
        ("", "Hardly any customers complained.", "Hardly any customer complained."),
        ("Were there injuries?", "Three crew members were injured. No passengers were injured.", "No passengers were injured, but three crew members were."),
        ("", "All seats except those in row 12 are free.", "The seats in row 12 are not free."),
        ("", "The fund pays for all courses. It pays for no travel.", "No travel is paid for by the fund."),
    ],
)  # fmt: skip
def test_right_statements_beside_shares_of_all_are_not_flagged(question: str, context: str, claim: str) -> None:
    assert not verdicts_on(question, context, claim) & FLAGGED


@pytest.mark.parametrize(
    ("context", "right", "wrong"),
    [
        ("Nobody in the group was late.", "No one in the group was late.", "Several people in the group were late."),
        ("No one complained about the noise.", "There were no complaints about the noise.", "Several guests complained about the noise."),
        ("Nobody was hurt in the fire.", "No one was hurt in the fire.", "Three people were hurt in the fire."),
        ("Three people were hurt in the fire.", "Three people were hurt in the fire.", "Nobody was hurt in the fire."),
        ("Everyone in the class passed the test.", "Everybody in the class passed the test.", "Few pupils in the class passed the test."),
        ("All employees received a new laptop.", "All of the employees received a new laptop.", "Only a few employees received a new laptop."),
        ("Everyone in the office received a new laptop.", "Everybody in the office received a new laptop.", "Only a few employees in the office received a new laptop."),
        ("Most shops accept cards.", "Most of the shops accept cards.", "Just a few shops accept cards."),
        ("Only a few shops accept cards.", "A few of the shops accept cards.", "Most shops accept cards."),
        ("Many visitors asked for a refund.", "Many visitors asked for a refund.", "No one asked for a refund."),
        ("No one left the hall. Two guests left the garden.", "Two guests left the garden.", "Everyone left the hall."),
    ],
)  # fmt: skip
def test_nobody_and_everyone_are_compared_with_persons_of_any_kind(context: str, right: str, wrong: str) -> None:
    assert "contradicted" not in verdicts_on("", context, right)
    assert "supported" not in verdicts_on("", context, wrong)


@pytest.mark.parametrize(
    ("context", "claim"),
    [
        ("No one was hurt in the first crash, but two people were hurt in the second crash.", "Two people were hurt in the second crash."),
        ("Nobody complained. Some machines failed.", "Some machines failed."),
        ("Everyone was invited. Few guests came.", "Few guests came."),
        ("Nobody but the chair voted against it. The members approved the plan.", "The members approved the plan."),
        ("No one under 18 is admitted; many adults come every week.", "Many adults come every week."),
    ],
)  # fmt: skip
def test_nobody_on_one_matter_contradicts_no_persons_on_another(context: str, claim: str) -> None:
    assert "contradicted" not in verdicts_on("", context, claim)
