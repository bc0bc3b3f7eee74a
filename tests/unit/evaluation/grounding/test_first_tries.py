"""Check verdicts on plain questions over one or two sentences, through all rules together."""

import pytest

from benchmarks.answer_cases import AnswerCase, read_cases
from tests.harness.paths import ROOT
from tests.harness.whole_answers import verdicts_on

OPEN = [case for case in read_cases(ROOT / "tests" / "data" / "first_tries.jsonl") if not case.heldout]
MISTAKEN = frozenset(
    [
        "first-03-b",
        "first-08-b",
        "first-10-b",
        "first-11-b",
        "first-19-b",
        "first-23-b",
        "first-47-b",
        "first-48-b",
        "first-50-b",
        "first-51-b",
        "first-52-b",
        "first-51-a",
        "first-54-a",
    ]
)
"""Wrong answers that are not noticed, and right ones that are."""


@pytest.mark.parametrize("case", OPEN, ids=lambda case: case.id)
def test_wrong_answers_alone_are_noticed_apart_from_known_mistakes(case: AnswerCase) -> None:
    (context,) = case.contexts or ()
    assert isinstance(context, str)
    is_noticed = bool(verdicts_on(case.query, context, case.answer) & {"contradicted", "unsupported"})
    assert is_noticed != (case.is_right != (case.id in MISTAKEN)), case.reason
