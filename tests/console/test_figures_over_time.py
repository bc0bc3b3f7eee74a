"""What people accept and what models cost, over time: counts by day and week, money by model, by tenant."""

from datetime import UTC, datetime

import pytest

from tests.harness.console import ConsoleThread
from tests.harness.reviews import review_request, store_decision

SUNDAY_NIGHT = datetime(2026, 11, 1, 23, 59, 59, tzinfo=UTC)
MONDAY = datetime(2026, 11, 2, 0, 0, 1, tzinfo=UTC)
WEDNESDAY = datetime(2026, 11, 4, 12, 0, tzinfo=UTC)
TEXT = "Loki needs 2 GiB [1]."

DECISIONS = (
    ("anna", "approve", SUNDAY_NIGHT, "large"), ("anna", "approve", MONDAY, "large"), ("ben", "reject", MONDAY, "large"),
    ("ben", "correct", WEDNESDAY, "small"), ("policy", "reject", WEDNESDAY, "small"),
)  # fmt: skip


@pytest.fixture(scope="module")
def accepted(console: ConsoleThread) -> ConsoleThread:
    """The console with decisions of two people and the policy, a second review, a late decision, and another tenant."""
    store = console.resources.analytics
    for number, (by, action, at, model) in enumerate(DECISIONS):
        request = review_request(number, tenant="accepted", review_id=f"accepted-{number}", model_id=model)
        console.call(store_decision(store, request, by=by, action=action, at=at, corrected_answer=TEXT))
        for ruling in ("second", "late"):
            console.call(store_decision(store, request, ruling=ruling, by=f"{ruling}-{by}", action="reject", at=at))
    other = review_request(1, tenant="not-accepted", review_id="not-accepted-1")
    console.call(store_decision(store, other, by="anna", at=MONDAY))
    return console


Counts = dict[tuple[str, str | None], tuple[int, int, int]]


def acceptance(console: ConsoleThread, token: str = "accepting", **parameters: str | int) -> Counts:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(console.resources.team, "_now", lambda: WEDNESDAY)
        found = console.client(token).get("/api/reviews/acceptance", params=parameters).raise_for_status().json()
    assert (found["time_zone"], found["until"]) == ("UTC", "2026-11-04")
    return {
        (point["date"], point["name"]): (point["approved"], point["corrected"], point["rejected"])
        for point in found["points"]
    }


def test_final_decisions_of_people_are_counted_by_day_of_utc_and_reviewer(accepted: ConsoleThread) -> None:
    assert acceptance(accepted, by="reviewer") == {
        ("2026-11-01", "anna"): (1, 0, 0), ("2026-11-02", "anna"): (1, 0, 0), ("2026-11-02", "ben"): (0, 0, 1),
        ("2026-11-04", "ben"): (0, 1, 0),
    }  # fmt: skip


def test_weeks_begin_on_monday_and_the_first_one_is_complete(accepted: ConsoleThread) -> None:
    assert acceptance(accepted, by="model", interval="week", days=2) == {
        ("2026-11-02", "large"): (1, 0, 1), ("2026-11-02", "small"): (0, 1, 0),
    }  # fmt: skip
    assert acceptance(accepted, by="model", interval="week", days=4) == {
        ("2026-10-26", "large"): (1, 0, 0), ("2026-11-02", "large"): (1, 0, 1), ("2026-11-02", "small"): (0, 1, 0),
    }  # fmt: skip


def test_decisions_beyond_the_named_ones_are_counted_together(
    accepted: ConsoleThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workers.stores.queries.review_team_queries.MOST_NAMES", 1)
    assert acceptance(accepted, by="model") == {
        ("2026-11-01", "large"): (1, 0, 0), ("2026-11-02", "large"): (1, 0, 1), ("2026-11-04", None): (0, 1, 0),
    }  # fmt: skip


def test_acceptance_of_another_tenant_is_refused_and_of_one_of_several_chosen(accepted: ConsoleThread) -> None:
    refused = accepted.client("accepting").get("/api/reviews/acceptance", params={"tenant": "not-accepted"})
    assert refused.status_code == 403
    assert acceptance(accepted, "review", tenant="not-accepted", by="reviewer") == {("2026-11-02", "anna"): (1, 0, 0)}
