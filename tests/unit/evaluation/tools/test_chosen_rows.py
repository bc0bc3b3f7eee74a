"""A claim may choose a row by its number, an amount, a day since the epoch, noon or an e-mail address."""

import json
from typing import Any

import pytest

from workers.evaluation.tools.results.tool_results import ToolResults
from workers.evaluation.tools.tool_claims import check_claim

ISSUES = [
    {"number": 412, "title": "Crash on empty config", "state": "open", "comments": 7, "assignee": None,
     "created_at": "2026-05-03T08:12:44Z", "closed_at": None, "user": {"login": "mira"}},
    {"number": 409, "title": "Add dark mode", "state": "open", "comments": 15, "assignee": {"login": "tomk"},
     "created_at": "2026-04-28T17:40:01Z", "closed_at": None, "user": {"login": "joon"}},
    {"number": 398, "title": "Memory leak in watcher", "state": "closed", "comments": 3, "assignee": {"login": "mira"},
     "created_at": "2026-04-11T09:00:00Z", "closed_at": "2026-04-19T10:30:00Z", "user": {"login": "tomk"}},
]  # fmt: skip
CHARGES = {"data": [
    {"id": "ch_1", "amount": 4999, "currency": "eur", "status": "succeeded", "refunded": False, "created": 1767225600},
    {"id": "ch_2", "amount": 12050, "currency": "eur", "status": "succeeded", "refunded": True, "created": 1767312000},
    {"id": "ch_3", "amount": 2500, "currency": "eur", "status": "failed", "refunded": False, "created": 1767398400},
]}  # fmt: skip
FORECAST = [
    {"time": "2026-03-01 09:00:00", "temp": 281.4, "sky": "light rain"},
    {"time": "2026-03-01 12:00:00", "temp": 285.9, "sky": "broken clouds"},
    {"time": "2026-03-02 00:00:00", "temp": 288.2, "sky": "clear"},
]
GUESTS = {"summary": "Design review", "attendees": [
    {"email": "ana@acme.test", "response": "accepted"},
    {"email": "leo.park@acme.test", "response": "declined"},
    {"email": "priya@acme.test", "response": "tentative"},
]}  # fmt: skip
ORDERS = [
    {
        "order": 1001,
        "customer": "Weber",
        "status": "shipped",
        "shipped_at": "2026-07-02T08:14:00Z",
        "paid_on": "2026-07-01",
    },
    {"order": 1002, "customer": "Okafor", "status": "new", "shipped_at": None, "paid_on": None},
]
HALLS = [{"id": 2, "hall": "North", "seats": 300}, {"id": 3, "hall": "South", "seats": 120}]


def _verdict(claim: str, result: Any) -> str | None:
    found = check_claim(claim, "", ToolResults([json.dumps(result)], [], []))
    return found.verdict if found else None


@pytest.mark.parametrize(
    ("result", "right", "wrong"),
    [
        (ISSUES, "Issue 412 is open.", "Issue 412 is closed."),
        (ISSUES, "Issue #409 has 15 comments.", "Issue #412 has 15 comments."),
        (ISSUES, "#409 is assigned to tomk.", "#409 is assigned to mira."),
        (ISSUES, "Bug #398 was closed on April 19.", "Bug #409 was closed on April 19."),
        (CHARGES, "The payment of €120.50 was refunded.", "The payment of €49.99 was refunded."),
        (CHARGES, "The payment of €49.99 was not refunded.", "The payment of €120.50 was not refunded."),
        (CHARGES, "The payment from January 3 failed.", "The payment from January 3 succeeded."),
        (CHARGES, "The charge of January 2 was refunded.", "The charge of January 1 was refunded."),
        (FORECAST, "At noon it will be about 13 °C.", "At noon it will be about 15 °C."),
        (FORECAST, "At midnight the sky will be clear.", "At noon the sky will be clear."),
        (GUESTS, "Leo has declined.", "Leo has accepted."),
        (GUESTS, "Ana has accepted the invitation.", "Priya has accepted the invitation."),
        (HALLS, "Hall South has 120 seats.", "Hall South has 300 seats."),
    ],
)
def test_values_are_those_of_the_chosen_row(result: Any, right: str, wrong: str) -> None:
    assert _verdict(right, result) == "supported"
    assert _verdict(wrong, result) in ("contradicted", "unsupported")


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("Issue #412 has not been closed.", "Issue #412 has been closed."),
        ("Nobody is assigned to issue #412.", "Issue #412 is assigned to mira."),
    ],
)
def test_an_empty_field_supports_no_act(right: str, wrong: str) -> None:
    assert _verdict(right, ISSUES) == "supported"
    assert _verdict(wrong, ISSUES) in ("contradicted", "unsupported")


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("Weber's order has been shipped.", "Okafor's order has been shipped."),
        ("Okafor's order has not been paid yet.", "Okafor's order has already been paid."),
        ("Order 1001 was shipped on July 2.", "Order 1002 was shipped on July 2."),
    ],
)
def test_a_time_that_is_missing_is_an_act_that_did_not_happen(right: str, wrong: str) -> None:
    assert _verdict(right, ORDERS) == "supported"
    assert _verdict(wrong, ORDERS) in ("contradicted", "unsupported")


@pytest.mark.parametrize(
    "claim",
    [
        "The hall North has 300 seats and 2 doors, and South has 120 seats.",
        "There are 2 halls.",
        "Of the payments of €49.99 and €120.50 the second was refunded.",
    ],
)
def test_a_count_and_several_amounts_choose_no_row(claim: str) -> None:
    assert _verdict(claim, CHARGES if "€" in claim else HALLS) != "contradicted"


def test_amounts_beside_a_currency_in_small_letters_are_hundredths() -> None:
    assert _verdict("The failed payment was €25.00.", CHARGES) == "supported"
    assert _verdict("The failed payment was €2,500.", CHARGES) == "contradicted"
    assert _verdict("All three come to €195.49.", CHARGES) == "supported"
    yen = {
        "data": [{"id": "ch_1", "amount": 4999, "currency": "jpy"}, {"id": "ch_2", "amount": 2500, "currency": "jpy"}]
    }
    assert _verdict("The second payment was ¥2,500.", yen) == "supported"
    plain = {"data": [{"id": 1, "amount": 2500, "currency": "EUR"}, {"id": 2, "amount": 100, "currency": "EUR"}]}
    assert _verdict("The larger amount is €2,500.", plain) == "supported"


def test_the_digits_of_an_amount_in_cents_are_no_whole_units() -> None:
    invoice = {"invoice": "A-7", "total_cents": 129900, "paid": True}
    assert _verdict("The invoice is $1,299.", invoice) == "supported"
    assert _verdict("The invoice is $129,900.", invoice) == "contradicted"
    assert _verdict("The total is 129,900 cents.", invoice) == "supported"
