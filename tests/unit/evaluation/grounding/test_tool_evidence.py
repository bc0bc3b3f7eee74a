"""Failed tools beside confident answers are a finding, and an answer that admits the failure is none."""

from datetime import UTC, datetime
from typing import Any

import pytest

from schemas.answers import ContextChunk, GeneratedAnswer
from schemas.grounding import GroundingFindings
from workers.evaluation.grounding.grounding_evaluator import evaluate_grounding
from workers.evaluation.grounding.prepared_grounding import prepare_grounding
from workers.evaluation.thresholds import GroundingThresholds
from workers.evaluation.tools.results.tool_failures import failures_of

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


REFUND = chunk('{"error": "timeout"}', {"name": "refund", "arguments": {"order": "A-17"}}, status="error")
ORDER = chunk('{"order_id": "A-17", "status": "approved", "total": 40}', {"name": "order", "arguments": {"id": "A-17"}})
PARCEL = chunk("504 Gateway Timeout", {"name": "track_parcel", "arguments": {"parcel": "ZX-9"}}, status="error")
INVOICE = chunk('{"invoice": "INV-3", "amount_eur": 120, "paid": true}', {"name": "get_invoice"})
WEATHER = chunk("", {"name": "weather", "arguments": {"city": "Graz"}}, status="timeout")
CANCEL = chunk('{"error": "LOCKED"}', {"name": "cancel_order", "arguments": {"order": 81}}, status="error")
LOCK = chunk(
    '{"error": "OFFLINE", "last_state": "unlocked", "last_seen": "22:41"}', {"name": "home.lock"}, status="error"
)
TICKETS = chunk("[]", {"name": "find_tickets", "arguments": {"customer": "Delta"}})
OF_ORDER = "What is the state of my order A-17 and its refund?"
OF_PARCEL = "Where is my parcel ZX-9, and is invoice INV-3 paid?"


@pytest.mark.parametrize(
    ("query", "contexts", "text"),
    [
        (
            OF_ORDER,
            [REFUND, ORDER],
            "I could not look up the refund because the call failed. The order was shipped to Berlin.",
        ),
        (OF_ORDER, [REFUND, ORDER], "The refund service did not respond. The refund was approved."),
        (OF_ORDER, [REFUND], "The refund service did not respond. The refund was approved."),
        (OF_ORDER, [REFUND], "The refund call timed out, so the refund has been approved and paid out."),
        (OF_ORDER, [REFUND, ORDER], "I couldn't load the refund. The order was rejected by the seller."),
        (OF_PARCEL, [PARCEL, INVOICE], "The carrier's service could not be reached. Your parcel is waiting in Graz."),
        (OF_PARCEL, [PARCEL, INVOICE], "The parcel could not be tracked, and it was declined by the neighbour."),
        (OF_PARCEL, [PARCEL, INVOICE], "Tracking is unavailable. Invoice INV-3 was refused by your bank."),
        (OF_PARCEL, [PARCEL], "Tracking failed. The parcel arrives tomorrow."),
        (
            "What is the weather in Graz and who are the customers?",
            [WEATHER, TICKETS],
            "I could not get the weather. The customer Delta has 3 open tickets.",
        ),
        (
            "Storniere bitte Bestellung 81.",
            [CANCEL],
            "Die Bestellung konnte nicht storniert werden. Der Betrag wurde bereits erstattet.",
        ),
        ("Is the door locked?", [LOCK], "The lock did not respond. It was last seen unlocked at 23:55."),
        ("Is the build live?", [CANCEL], "The deployment did not fail. The build is live without errors."),
    ],
)
def test_an_admission_supports_no_other_claim(query: str, contexts: list[ContextChunk], text: str) -> None:
    last = findings(text, *contexts, query=query).claims[-1]
    assert last.verdict in ("unsupported", "contradicted")


@pytest.mark.parametrize(
    ("query", "contexts", "text"),
    [
        (OF_ORDER, [REFUND, ORDER], "The refund service did not respond. Order A-17 is approved, with a total of 40."),
        (OF_ORDER, [REFUND, ORDER], "I couldn't load the refund. Please try again later."),
        (OF_ORDER, [REFUND], "The refund service did not respond. I can look again if you like."),
        (OF_ORDER, [REFUND], "The refund call timed out, so I can't say whether it was approved."),
        (OF_ORDER, [REFUND], "The refund call failed. This usually means that the connection was too slow."),
        (OF_PARCEL, [PARCEL, INVOICE], "The carrier's service could not be reached, but your invoice INV-3 is paid."),
        (OF_PARCEL, [PARCEL], "The parcel could not be tracked because the request timed out. You can try again soon."),
        ("Cancel order 81.", [CANCEL], "I was not able to cancel it. The order has not been cancelled."),
        ("Cancel order 81.", [CANCEL], "The order could not be cancelled. It is locked."),
        (
            "Storniere bitte Bestellung 81.",
            [CANCEL],
            "Die Bestellung konnte nicht storniert werden. Bitte versuchen Sie es später noch einmal.",
        ),
        ("Is the door locked?", [LOCK], "The lock did not respond. It was last seen unlocked at 22:41."),
        ("Do we have tickets for Delta?", [TICKETS], "No, I found no tickets for Delta."),
        ("Do we have tickets for Delta?", [TICKETS], "There are none."),
    ],
)
def test_an_admission_stands_with_advice_reasons_and_what_the_call_returned(
    query: str, contexts: list[ContextChunk], text: str
) -> None:
    found = findings(text, *contexts, query=query)
    assert {claim.verdict for claim in found.claims if claim.kind in ("factual", "recommendation")} <= {"supported"}
    assert "failed_tool" not in [issue.type for issue in found.issues]
