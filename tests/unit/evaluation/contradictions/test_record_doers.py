"""Check who did something by a record: "approved_by", "prepared_by_role"."""

import pytest

from tests.harness.whole_answers import is_warned_of
from workers.evaluation.contradictions.json_evidence import read_record

JOURNAL = (
    '{"journal": "je-2026-10-3377", "posting_date": "2026-10-31", "prepared_by_role": "senior accountant",'
    ' "approved_by_role": "group controller", "status": "posted"}'
)
ORDER = (
    '{"po": "PO-88", "createdBy": "Ana Diaz", "approved_by": "Ben Ode", "approved_by_role": "finance director",'
    ' "reviewed_by": null, "signed_by": "u_442"}'
)
BESIDE = "The treasurer proposes to hedge half of the exposure. The senior accountant reports to the group controller. Carla Roth chairs the committee."

ANSWERS = [
    ("Who approved je-2026-10-3377?", JOURNAL, ["The group controller approved it.", "The group controller.", "It was approved by the group controller.", "It was approved on 31 October.", "The controller has approved it."], ["The treasurer approved it on 31 October.", "It was approved by the treasurer.", "The treasurer.", "The senior accountant approved it."]),
    ("Who prepared je-2026-10-3377?", JOURNAL, ["The senior accountant prepared it.", "A senior accountant."], ["The group controller prepared it.", "Group controller"]),
    ("Who approved PO-88?", ORDER, ["Ben Ode approved it.", "Ben Ode", "The finance director approved it.", "Ben Ode, the finance director, approved PO-88.", "Ana Diaz created it and Ben Ode approved it."], ["Ana Diaz approved it.", "Carla Roth approved it.", "PO-88 was approved by Carla Roth.", "Carla Roth"]),
]  # fmt: skip


@pytest.mark.parametrize(("question", "record", "right", "wrong"), ANSWERS, ids=[question for question, *_ in ANSWERS])
def test_another_doer_than_that_of_the_record_is_noticed(
    question: str, record: str, right: list[str], wrong: list[str]
) -> None:
    assert [each for each in right if is_warned_of(each, question, record, BESIDE)] == []
    assert [each for each in wrong if not is_warned_of(each, question, record, BESIDE)] == []


def test_what_others_approved_is_not_held_against_the_record() -> None:
    council = "The city council approved the new plan in May. The plan covers two streets."
    assert not is_warned_of("The city council approved the new plan in May.", "What happened?", JOURNAL, council)
    assert is_warned_of("The city council approved it.", "Who approved je-2026-10-3377?", JOURNAL, council)


def test_an_account_or_an_unknown_doer_is_compared_with_nobody() -> None:
    facts = read_record(ORDER)
    assert facts is not None
    assert {name for _, name in facts.doers} == {"Ana Diaz", "Ben Ode", "finance director"}
