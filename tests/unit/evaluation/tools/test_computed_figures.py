"""Answers that count, sum, compare and rank the rows of a tool's result, each with a wrong twin."""

import json
from typing import Any

import pytest

from benchmarks.answer_cases import CASES, AnswerCase, CaseContext, read_cases
from workers.evaluation.tools.results.tool_results import ToolResults
from workers.evaluation.tools.tool_claims import check_claim

CASES_OF_TOOLS = read_cases(CASES.with_name("plain_tool_cases.jsonl"))
OPEN = {
    "plain-22-b": "that the root disk is the file system /",
    "plain-40-b": "that a dry day has no rain",
    "plain-62-b": "that VAT is to be added",
    "plain-63-b": "that a rate before its row is that of another row",
    "plain-69-b": "that what is owed is not paid",
    "plain-92-b": "that a value is held against the limits of its row",
    "plain-95-b": "that two lines of a log tell of two orders",
}
"""Wrong answers that are not noticed: what one has to know beside the result."""


def _is_refuted(case: AnswerCase) -> bool:
    contexts = [each for each in case.contexts or [] if isinstance(each, CaseContext)]
    arguments = [each.tool.arguments for each in contexts if each.tool]
    results = ToolResults([each.content for each in contexts], arguments, [case.query])
    finding = check_claim(case.answer, case.query, results)
    return finding is not None and finding.verdict != "supported"


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case.id, marks=[pytest.mark.xfail(reason=OPEN[case.id])] if case.id in OPEN else [])
        for case in CASES_OF_TOOLS
    ],
)
def test_a_figure_is_held_against_the_operation_that_the_answer_names(case: AnswerCase) -> None:
    assert _is_refuted(case) == (not case.is_right), f"{case.query} – {case.answer}"


RIGHT = [json.loads(line) for line in CASES.with_name("right_tool_answers.jsonl").read_text("utf-8").splitlines()]
FLAGGED = {
    "You have three meetings between 2 and 4 June.": "a range of days is read as figures",
    "The interest amounts to about 16 % of the 20,000 borrowed.": "a share of an argument of the call",
    "For six people you need 450 g of red lentils, 300 g of carrots and 180 g of onion.": "amounts for another number of people",
}
"""Right answers that are flagged, with the reason."""


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(
            case,
            id=case["answer"][:60],
            marks=[pytest.mark.xfail(reason=FLAGGED[case["answer"]])] if case["answer"] in FLAGGED else [],
        )
        for case in RIGHT
    ],
)
def test_a_right_answer_with_figures_of_its_own_is_not_refuted(case: dict[str, Any]) -> None:
    results = ToolResults([case["result"]], [case["arguments"]], [case["query"]])
    finding = check_claim(case["answer"], case["query"], results)
    assert finding is None or finding.verdict == "supported"


ORDERS = (
    '[{"order_id": "A-1", "total": 120.50, "status": "delivered"}, {"order_id": "A-2", "total": 89.00, '
    '"status": "delivered"}, {"order_id": "A-3", "total": 240.00, "status": "cancelled"}]'
)


@pytest.mark.parametrize(
    ("result", "right", "wrong"),
    [
        (ORDERS, "I found three orders, two of them delivered.", "I found three orders, three of them delivered."),
        (ORDERS, "Without the cancelled order you spent 209.50.", "Without the cancelled order you spent 219.50."),
        ('{"id": 7, "seats": 5, "used": 5}', "No seats are left.", "Yes, 2 seats are left."),
    ],
)
def test_parts_of_a_count_sums_without_a_word_and_identifiers(result: str, right: str, wrong: str) -> None:
    results = ToolResults([result], [], [])
    for answer, is_right in ((right, True), (wrong, False)):
        finding = check_claim(answer, "", results)
        assert (finding is None or finding.verdict == "supported") == is_right, answer


DEVICES = json.dumps([{"device": f"cam-{n}", "online": n != 2, "open": n == 3, "locked": n < 3} for n in range(1, 5)])


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("One device is offline.", "supported"),
        ("Three devices are offline.", "unsupported"),
        ("Three devices are closed.", "supported"),
        ("Two devices are unlocked.", "supported"),
        ("Three devices are unlocked.", "unsupported"),
        ("Three devices are not offline.", "supported"),
    ],
)
def test_rows_of_a_state_are_counted_by_its_opposite_too(claim: str, verdict: str) -> None:
    finding = check_claim(claim, "How many devices?", ToolResults([DEVICES], [], []))
    assert finding is not None and finding.verdict == verdict
