"""Check answers to questions that a new user asks over a page or two, through all rules together."""

import pytest

from benchmarks.answer_cases import AnswerCase, read_cases
from tests.harness.paths import ROOT
from tests.harness.whole_answers import is_warned_of

CASES = read_cases(ROOT / "tests" / "data" / "plain_answers.jsonl")
MISTAKEN = frozenset(
    [
        "plain-005",
        "plain-012",
        "plain-017",
        "plain-037",
        "plain-038",
        "plain-039",
        "plain-057",
        "plain-065",
        "plain-136",
        "plain-140",
        "plain-143",
        "plain-144",
        "plain-149",
        "plain-164",
        "plain-166",
        "plain-217",
        "plain-227",
        "plain-231",
        "plain-267",
        "plain-269",
        "plain-294",
        "plain-314",
        "plain-321",
        "plain-336",
        "plain-358",
        "plain-361",
        "plain-362",
        "plain-380",
        "plain-382",
        "plain-427",
        "plain-440",
        "asked-009-b",
        "asked-013-b",
        "asked-017-b",
        "asked-021-b",
        "asked-035-a",
        "asked-035-b",
        "asked-041-a",
        "asked-041-b",
        "asked-055-b",
        "asked-059-b",
        "asked-065-b",
        "asked-071-b",
        "asked-079-b",
        "asked-081-b",
        "asked-085-b",
        "asked-089-b",
        "asked-097-b",
    ]
)
"""Wrong answers that are not noticed, and right ones that are."""


@pytest.mark.parametrize("case", [case for case in CASES if not case.heldout], ids=lambda case: case.id)
def test_wrong_answers_alone_are_noticed_apart_from_known_mistakes(case: AnswerCase) -> None:
    contexts = [context if isinstance(context, str) else context.content for context in case.contexts or ()]
    is_noticed = is_warned_of(case.answer, case.query, *contexts)
    assert is_noticed != (case.is_right != (case.id in MISTAKEN)), case.reason


def test_each_known_mistake_is_a_case() -> None:
    assert {case.id for case in CASES if not case.heldout} > MISTAKEN


def test_each_case_has_a_twin_over_the_same_texts_and_half_of_those_of_the_second_author_are_held_out() -> None:
    by_id = {case.id: case for case in CASES}
    assert len(by_id) == len(CASES)
    for case in CASES:
        twin = by_id[case.twin]
        assert twin.contexts == case.contexts
        assert twin.is_right != case.is_right
    asked = [case for case in CASES if case.id.startswith("asked")]
    assert 2 * sum(case.heldout for case in asked) == len(asked) == 200
