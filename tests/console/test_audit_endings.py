"""Records of the audit end where a later one took effect, are named by what they did, and show every step of a review."""

import csv
import io
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from schemas.enriched import EnrichedAnswer
from schemas.identifiers import fact_id
from tests.console.test_audit_records import plain, time_words
from tests.harness.console import ConsoleThread
from tests.harness.held_answers import risky
from workers.decision.release_events import review_request
from workers.review.decision_events import decided, review_event, withdrawal
from workers.stores.clickhouse.rows.review_rows import closing_row, decision_row, review_event_row

TENANT = "endings"
DEADLINE = datetime(2031, 5, 4, 10, 0, tzinfo=UTC)
PAGE = {"Accept": "text/html"}


@pytest.fixture(scope="module")
def answers(console: ConsoleThread) -> dict[str, EnrichedAnswer]:
    """A withdrawn approval, an escalated request, one that was escalated and decided, closed, or rejected, a fallback."""
    unsupported = plain("endings-fallback").model_copy(
        update={
            "tenant": TENANT, "risk_mode": "gatekeeper", "query": "Which colour has the roof of the barn?",
            "answer": "The barn was painted by a famous artist from Lisbon in 1871 [1].",
        }
    )  # fmt: skip
    found = dict(
        zip(
            ("withdrawn", "escalated", "passed on", "closed", "refused", "fallback"),
            console.store([*(risky(number, TENANT) for number in range(5)), unsupported]),
            strict=True,
        )
    )
    assert found["fallback"].decision.state == "fallback"
    store = console.resources.analytics

    def request_of(name: str) -> Any:
        return review_request(found[name], found[name].enriched_at, deadline_hours=24)

    def said(name: str, minutes: int, **values: Any) -> Any:
        at = found[name].enriched_at + timedelta(minutes=minutes)
        decision = decided(request_of(name), **{"by": "anna", "profile": {}, "at": at, "action": "approve"} | values)
        console.call(store.store([decision_row(decision, "final"), closing_row(decision)]))
        return decision

    def event(name: str, kind: Any, minutes: int, **values: Any) -> None:
        at = found[name].enriched_at + timedelta(minutes=minutes)
        made = review_event(kind, request_of(name).review_id, found[name].answer_id, TENANT, by="ben", at=at, **values)
        console.call(store.store([review_event_row(made)]))

    approved = said("withdrawn", 5, comment="Looks right.")
    at = found["withdrawn"].enriched_at + timedelta(minutes=9)
    taken = withdrawal(
        request_of("withdrawn"), approved.feedback_id, by="cleo", at=at, reason="wrong_figure", comment=None
    )
    console.call(store.store([decision_row(taken, "withdrawal"), closing_row(taken)]))
    for name in ("escalated", "passed on"):
        event(name, "escalated", 1, queue="experts", deadline=DEADLINE, reason="legal question")
    said("passed on", 2)
    said("refused", 2, action="reject")
    event("closed", "unassigned", 1)
    return found


def listed(console: ConsoleThread, **params: str) -> list[dict[str, Any]]:
    found = console.client("admin").get("/api/audit/decisions", params={"tenant": TENANT, **params}).raise_for_status()
    items: list[dict[str, Any]] = found.json()["items"]
    return items


def html(console: ConsoleThread, answer: EnrichedAnswer) -> str:
    page = console.client().get(f"/answers/{answer.answer_id}", params={"tenant": TENANT}, headers=PAGE)
    return page.raise_for_status().text


def test_a_withdrawal_ends_the_row_of_the_decision_in_lists_and_files(
    console: ConsoleThread, answers: dict[str, EnrichedAnswer]
) -> None:
    answer = answers["withdrawn"]
    at, end = (answer.enriched_at + timedelta(minutes=minutes) for minutes in (5, 9))
    words = (
        f"Approved by anna; readers saw nothing until {time_words(at)}, then the answer without a warning, "
        f"until it was withdrawn on {time_words(end)}."
    )
    exported = console.client("admin").get(
        "/api/audit/decisions/export", params={"tenant": TENANT, "answer_id": answer.answer_id}
    )
    cells = list(csv.DictReader(io.StringIO(exported.raise_for_status().text)))
    for rows in (listed(console, answer_id=answer.answer_id), cells):
        by_ruling = {row["ruling"]: row for row in rows}
        assert by_ruling["final"]["outcome"] == words
        assert by_ruling["final"]["ended_at"][:19] == f"{end:%Y-%m-%dT%H:%M:%S}"
        assert by_ruling["withdrawal"]["state"] == "withdrawn"
        assert [row["ruling"] for row in rows if row["action"] == "reject"] == []
        assert by_ruling["withdrawal"]["action"] == "withdraw"
        assert not by_ruling["withdrawal"]["ended_at"]
    detail = console.client().get(f"/api/answers/{answer.answer_id}").json()
    assert [each["detail"] for each in detail["history"] if each["what"] == "decided"] == [f"{words} “Looks right.”"]


def test_the_headline_of_a_withdrawal_has_its_time_and_the_word(
    console: ConsoleThread, answers: dict[str, EnrichedAnswer]
) -> None:
    answer = answers["withdrawn"]
    at, end = (time_words(answer.enriched_at + timedelta(minutes=minutes)) for minutes in (5, 9))
    page = html(console, answer)
    headline = " ".join(page.partition('class="card decision">')[2].partition("</p>")[0].split())
    assert "Withdrawn on" in headline
    withdrawn, _, approved = headline.partition("Approved on")
    assert end in withdrawn.partition("Withdrawn on")[2]
    assert "wrong figure" in withdrawn
    assert at in approved
    assert "“Looks right.”" in approved
    assert "rejected" not in page.lower()
    items = console.client().get("/api/answers", params={"tenant": TENANT, "state": "withdrawn"}).json()["items"]
    assert [(item["answer_id"], item["withdrawn"]) for item in items] == [(answer.answer_id, True)]
    found = console.client().get("/search", params={"tenant": TENANT, "state": "withdrawn"}, headers=PAGE).text
    assert "state withdrawn" in found
    assert "state rejected" not in found


def test_the_request_of_a_withdrawn_decision_names_decision_and_withdrawal(
    console: ConsoleThread, answers: dict[str, EnrichedAnswer]
) -> None:
    answer = answers["withdrawn"]
    client, review = console.client(), fact_id(TENANT, answer.answer_id, "review")
    at, end = (time_words(answer.enriched_at + timedelta(minutes=minutes)) for minutes in (5, 9))
    page = client.get(f"/review/{review}", headers=PAGE).raise_for_status().text
    headline = " ".join(page.partition('class="card decision">')[2].partition("</p>")[0].split())
    words = re.sub(r"<[^>]+>", "", headline)
    assert words.startswith(f"Approved by anna on {at}; withdrawn by cleo on {end}, because of: wrong figure.")
    assert "ask an auditor" not in page
    assert 'class="state withdrawn"' in page
    assert "rejected" not in page.lower()
    assert "reject (" not in page
    item = client.get(f"/api/reviews/{review}").raise_for_status().json()
    assert (item["action"], item["state"], item["decided_by"]) == ("withdraw", "withdrawn", "cleo")
    rows = client.get("/queue", params={"tenant": TENANT, "state": "decided"}, headers=PAGE).raise_for_status().text
    assert "withdrawn by cleo" in rows
    assert "rejected by cleo" not in rows


def test_an_approved_request_names_the_way_to_withdraw_it_and_a_rejected_one_does_not(
    console: ConsoleThread, answers: dict[str, EnrichedAnswer]
) -> None:
    for name, advised in (("passed on", True), ("refused", False)):
        review = fact_id(TENANT, answers[name].answer_id, "review")
        page = console.client().get(f"/review/{review}", headers=PAGE).raise_for_status().text
        assert ("withdraw the answer on its page" in page) == advised
        assert "to answer the question again" in page


def test_an_escalation_is_named_at_the_top_with_its_deadline(
    console: ConsoleThread, answers: dict[str, EnrichedAnswer]
) -> None:
    for name, ends in (("escalated", f" Its deadline is {time_words(DEADLINE)}."), ("passed on", "")):
        answer = answers[name]
        said = f"Escalated by ben on {time_words(answer.enriched_at + timedelta(minutes=1))} to the queue “experts”: legal question."
        contrary = console.client().get(f"/api/answers/{answer.answer_id}").json()["contrary"]
        (found,) = [each for each in contrary if each.startswith("Escalated")]
        assert found.startswith(said)
        assert ("deadline" in found) == bool(ends)
        assert ends in found
        assert said in html(console, answer)


def test_a_request_that_was_closed_without_a_decision_is_a_record(
    console: ConsoleThread, answers: dict[str, EnrichedAnswer]
) -> None:
    (row,) = listed(console, answer_id=answers["closed"].answer_id)
    assert (row["ruling"], row["decided_by"], row["state"]) == ("unassigned", "ben", "")
    assert row["outcome"] == "Opened by ben and closed again without a decision; nothing changed for readers."
    assert [row["answer_id"] for row in listed(console, state="unassigned")] == [answers["closed"].answer_id]


def test_closing_a_request_is_no_decision(console: ConsoleThread, answers: dict[str, EnrichedAnswer]) -> None:
    name = answers["closed"].answer_id
    for params in ({}, {"person": "ben"}, {"q": "memory"}):
        found = listed(console, **params)
        assert "escalated" in [row["ruling"] for row in found]
        assert name not in [row["answer_id"] for row in found if row["ruling"] == "unassigned"]
    assert name in [row["answer_id"] for row in listed(console, state="everything") if row["ruling"] == "unassigned"]
    client = console.client("admin")
    exported = client.get("/api/audit/decisions/export", params={"tenant": TENANT}).raise_for_status().text
    assert "unassigned" not in exported
    page = client.get("/audit/decisions", params={"tenant": TENANT}, headers=PAGE).raise_for_status().text
    assert "closed again without a decision are left out" in page
    assert f"tenant={TENANT}&amp;state=unassigned" in page
    assert "Opened by ben" not in page
    assert "Comment: “Looks right.”" in page


def test_fallbacks_are_no_releases(console: ConsoleThread, answers: dict[str, EnrichedAnswer]) -> None:
    name = answers["fallback"].answer_id
    assert name not in [row["answer_id"] for row in listed(console, state="automatic")]
    assert [row["answer_id"] for row in listed(console, state="fallback")] == [name]
    assert name not in [row["answer_id"] for row in listed(console)]
    assert name in [row["answer_id"] for row in listed(console, state="everything")]


def test_a_person_is_found_in_any_case(console: ConsoleThread, answers: dict[str, EnrichedAnswer]) -> None:
    assert {row["decided_by"] for row in listed(console, person="BEN")} == {"ben"}
    at = answers["closed"].enriched_at
    access = {
        "access_id": "endings-access", "at": at, "who": "Zoé", "via": "session", "what": "answer",
        "tenant": TENANT, "answers": [answers["closed"].answer_id],
    }  # fmt: skip
    console.call(console.resources.analytics.insert("accesses", [access]))
    found = console.client("admin").get("/api/audit/accesses", params={"tenant": TENANT, "person": "zOÉ"}).json()
    assert [row["who"] for row in found["items"]] == ["Zoé"]
