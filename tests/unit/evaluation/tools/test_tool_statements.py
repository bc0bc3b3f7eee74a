"""Statements without figures are held against the fields of results."""

import json
from typing import Any

import pytest

from workers.evaluation.tools.results.tool_results import ToolResults
from workers.evaluation.tools.tool_claims import check_claim

ORDER = {"order": {"id": 88213, "status": "shipped", "carrier": "DHL", "gift": False, "paid": True, "plan": "Basic",
                   "customer": {"name": "Mara Voss", "city": "Graz"}}}  # fmt: skip
TICKET = {
    "ticket": "T-9",
    "priority": "high",
    "assignee": "Ines Roth",
    "resolved": False,
    "queue": "billing",
    "country": "DE",
}
ACCOUNT = {"account": "A-7", "active": False}
WEATHER = {"city": "Graz", "temp_c": 14, "sky": "clear"}
PODS = [{"pod": "loki-0", "phase": "Running"}]
DOOR = {"door": "dock 4", "locked": True, "state": "closed", "owner": "Warehouse North", "language": "nl"}
BUILD = {"pipeline": "nightly", "result": "FAILED", "branch": "main", "cached": True, "runner": "Orion"}


@pytest.mark.parametrize(
    ("result", "right", "wrong"),
    [
        (ORDER, "The carrier is DHL.", "The carrier is UPS."),
        (ORDER, "The order has been shipped.", "The order has not been shipped yet."),
        (ORDER, "The status of the order is shipped.", "The status of the order is cancelled."),
        (ORDER, "The order is not a gift.", "The order is a gift."),
        (ORDER, "The order is paid.", "The order has not been paid."),
        (ORDER, "The customer lives in Graz.", "The customer lives in Vienna."),
        (ORDER, "They are on the Basic plan.", "They are on the Premium plan."),
        (ACCOUNT, "No, the account is not active.", "Yes, the account is active."),
        (PODS, "loki-0 is running.", "loki-0 is not running."),
        (WEATHER, "It is 14 degrees in Graz.", "It is 14 degrees in Vienna."),
        (TICKET, "The ticket has high priority.", "The ticket has low priority."),
        (TICKET, "It is assigned to Ines Roth.", "It is assigned to Paul Kern."),
        (TICKET, "The ticket is not resolved yet.", "The ticket is resolved."),
        (TICKET, "The ticket's priority is high.", "The ticket's priority is low."),
        (TICKET, "The customer is in Germany.", "The customer is in France."),
        (TICKET, "It waits in the billing queue.", "It waits in the shipping queue."),
        (DOOR, "The door is locked.", "The door isn't locked."),
        (DOOR, "The state of the door is closed.", "The state of the door is ajar."),
        (DOOR, "Its language is Dutch.", "Its language is French."),
        (BUILD, "The nightly build was cached.", "The nightly build was not cached."),
        (BUILD, "It ran on Orion.", "It ran on Vega."),
        (BUILD, "The branch is main.", "The branch is develop."),
    ],
)
def test_a_statement_has_the_value_of_its_field(result: Any, right: str, wrong: str) -> None:
    def verdict(claim: str) -> str | None:
        found = check_claim(claim, "", ToolResults([json.dumps(result)], [], []))
        return found.verdict if found else None

    assert verdict(right) == "supported"
    assert verdict(wrong) != "supported"


@pytest.mark.parametrize(("yes", "no"), [(1, 0), ("1", "0"), ("Y", "N"), ("y", "n"), (True, False), ("Yes", "No")])
@pytest.mark.parametrize(
    ("key", "right", "wrong"),
    [
        ("verified", "The account is verified.", "The account is not verified."),
        ("is_active", "The account is still active.", "The account isn't active."),
        ("email_verified", "Your email has been verified.", "Your email has not been verified."),
        ("gift", "The order is a gift.", "The order is not a gift."),
        ("refundable", "Yes, the account is refundable.", "No, the account is not refundable."),
    ],
)
def test_short_forms_of_yes_and_no_are_read_beside_their_field(
    yes: Any, no: Any, key: str, right: str, wrong: str
) -> None:
    for value, sound, false in ((yes, right, wrong), (no, wrong, right)):
        results = ToolResults([json.dumps({"account": "A-7", key: value})], [], [])
        found = check_claim(sound, "", results)
        assert found is not None and found.verdict == "supported", (sound, value)
        found = check_claim(false, "", results)
        assert found is not None and found.verdict == "contradicted", (false, value)


@pytest.mark.parametrize(
    ("record", "claim"),
    [
        ({"job": "J-1", "retries": 0}, "The job had 0 retries."),
        ({"job": "J-1", "verified": 1}, "The job has been verified 1 time."),
        ({"ticket": "T-9", "priority": 0, "state": "open"}, "The ticket is open, and its priority is 0."),
        ({"wind": "N", "speed": 4}, "The wind comes from the north at speed 4."),
        ({"route": "R-4", "axis": "y"}, "The axis of the route is y."),
        ({"ticket": "T-9", "state": "closed", "closed_by": None}, "The ticket is closed."),
    ],
)
def test_a_figure_or_a_letter_that_says_neither_yes_nor_no_stays_one(record: Any, claim: str) -> None:
    found = check_claim(claim, "", ToolResults([json.dumps(record)], [], []))
    assert found is not None and found.verdict == "supported"


@pytest.mark.parametrize("value", [None, ""])
def test_an_unknown_field_supports_no_statement_about_it(value: Any) -> None:
    found = check_claim(
        "The account is verified.", "", ToolResults([json.dumps({"account": "A-7", "verified": value})], [], [])
    )
    assert found is None or found.verdict == "unsupported"


@pytest.mark.parametrize(
    "claim",
    [
        "Here is the status of the order: it was shipped with DHL.",
        "The order is on its way, and the carrier is listed as DHL.",
        "Mara Voss, who lives in Graz, paid for it.",
        "It isn't a gift.",
    ],
)
def test_other_words_around_a_value_do_no_harm(claim: str) -> None:
    found = check_claim(claim, "", ToolResults([json.dumps(ORDER)], [], []))
    assert found is not None and found.verdict == "supported"


def test_a_record_that_two_calls_returned_is_one() -> None:
    pods = json.dumps([{"pod": "loki-0", "phase": "Running"}, {"pod": "loki-1", "phase": "Pending"}])
    results = ToolResults([pods, pods], [], [])
    for claim, verdict in (("loki-0 is running.", "supported"), ("loki-0 is not running.", "contradicted")):
        found = check_claim(claim, "", results)
        assert found is not None and found.verdict == verdict


def test_a_short_word_of_a_text_is_no_code_of_a_country() -> None:
    parcel = {"parcel": "P-1", "city": "Graz", "note": "it is in transit, at the depot, no delay", "locale": "de-AT"}
    results = ToolResults([json.dumps(parcel)], [], [])
    for claim in ("The parcel is in India.", "The parcel is in Norway.", "It was sent to Iceland."):
        found = check_claim(claim, "", results)
        assert found is None or found.verdict != "supported", claim
    found = check_claim("The parcel is in Austria.", "", results)
    assert found is not None and found.verdict == "supported"


@pytest.mark.parametrize(
    ("question", "claim", "result"),
    [
        (
            "Is the host up?",
            "The host is up and reachable.",
            "PING 10.0.0.5: 4 packets sent, 0 received, 100% packet loss",
        ),
        ("Did the backup finish?", "The backup finished successfully.", '{"job": 12, "log": "started at dawn"}'),
    ],
)
def test_words_of_the_question_are_no_evidence(question: str, claim: str, result: str) -> None:
    found = check_claim(claim, question, ToolResults([result], [], [question]))
    assert found is None or found.verdict != "supported"
