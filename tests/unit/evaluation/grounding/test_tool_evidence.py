"""Failed tools beside confident answers are a finding, and an answer that admits the failure is none."""

from datetime import UTC, datetime
from typing import Any

import pytest

from schemas.answers import ContextChunk, GeneratedAnswer
from schemas.grounding import GroundingFindings
from workers.evaluation.grounding.grounding_evaluator import evaluate_grounding, prepare_grounding
from workers.evaluation.thresholds import GroundingThresholds
from workers.evaluation.tools.tool_failures import failures_of

DONE = datetime(2026, 11, 2, tzinfo=UTC)
BOOK = {"name": "book_table", "arguments": {"venue": "Lume", "date": "2026-05-15", "time": "19:00", "party": 2}}


def chunk(content: str, call: dict[str, Any] = BOOK, **more: Any) -> ContextChunk:
    return ContextChunk(chunk_id=f"c{len(content)}", content=content, source_type="tool", tool=call | more)


def findings(text: str, *contexts: ContextChunk, query: str = "Book me a table at Lume.") -> GroundingFindings:
    answer = GeneratedAnswer(answer_id="a", query=query, answer=text, contexts=list(contexts), completed_at=DONE)
    return evaluate_grounding(prepare_grounding(answer), GroundingThresholds())


BOOKED = "Your table for two at Lume is booked for 15 May at 7 pm."
SORRY = "I couldn't book the table at Lume: the slot on 15 May at 7 pm is already taken."
FAILED = [
    chunk('{"error": "SLOT_TAKEN"}', status="error"),
    chunk('{"error": {"code": "SLOT_TAKEN", "http_status": 409}}'),
    chunk('{"ok": false, "reason": "SLOT_TAKEN"}'),
    chunk('{"status": 409, "message": "SLOT_TAKEN"}'),
    chunk("HTTP 503 Service Unavailable"),
    chunk('Traceback (most recent call last):\n  File "x", line 1\nValueError: slot taken'),
    chunk("<error><status>409</status></error>"),
    chunk("", status="timeout"),
]


@pytest.mark.parametrize("failed", FAILED)
def test_a_confident_answer_beside_a_failed_call_is_a_finding(failed: ContextChunk) -> None:
    found = findings(BOOKED, failed)
    issue = next(issue for issue in found.issues if issue.type == "failed_tool")
    assert issue.severity == "high"
    assert "book_table" in issue.message
    assert issue.claim_ids == [found.claims[0].claim_id]
    assert found.claims[0].verdict == "contradicted"
    assert found.hallucination_risk == "high"


@pytest.mark.parametrize("failed", FAILED)
def test_an_answer_that_admits_the_failure_is_sound(failed: ContextChunk) -> None:
    found = findings(SORRY, failed)
    assert [issue.type for issue in found.issues if issue.type != "low_citation_coverage"] == []
    assert {claim.verdict for claim in found.claims if claim.kind == "factual"} <= {"supported"}


@pytest.mark.parametrize("content", ["[]", "{}", "", "null", " no | amount\n----+--------\n(0 rows)\n", '{"rows": [], "row_count": 0}'])  # fmt: skip
def test_an_empty_result_supports_that_there_is_nothing(content: str) -> None:
    call = {"name": "invoices", "arguments": {"customer": "Delacroix"}}
    asked = "Does Delacroix have open invoices?"
    right = findings("No, I found no open invoices for Delacroix.", chunk(content, call), query=asked)
    assert {issue.type for issue in right.issues} <= {"low_citation_coverage"}
    wrong = findings("Yes, Delacroix has two open invoices with €5,930 in total.", chunk(content, call), query=asked)
    assert "failed_tool" in [issue.type for issue in wrong.issues]


def test_a_call_that_was_repeated_with_success_has_not_failed() -> None:
    contexts = [chunk("timed out", status="error"), chunk('{"booking": "B-7", "date": "2026-05-15"}', status="success")]
    assert failures_of(contexts) == []
    assert len(failures_of(contexts[::-1])) == 1


def test_a_failed_call_of_which_the_answer_says_nothing_is_no_finding_where_others_support_it() -> None:
    other = chunk('{"symbol": "KSTL", "close": 42.35}', {"name": "quote", "arguments": {"symbol": "KSTL"}})
    found = findings("KSTL closed at $42.35.", other, chunk("gone", status="error"), query="How did KSTL close?")
    assert [issue.type for issue in found.issues if issue.type == "failed_tool"] == []


def test_a_value_of_another_row_is_contradicted_and_the_result_is_the_source() -> None:
    rows = "city,rain_mm\nPorto,120\nBraga,85\n"
    asked = "How much rain fell in Porto?"
    right = findings("Porto had 120 mm of rain.", chunk(rows, {"name": "rain"}), query=asked).claims[0]
    wrong = findings("Porto had 85 mm of rain.", chunk(rows, {"name": "rain"}), query=asked).claims[0]
    assert (right.verdict, right.primary_number) == ("supported", 1)
    assert (wrong.verdict, wrong.mismatches[-1:]) == ("contradicted", ["subject"])
