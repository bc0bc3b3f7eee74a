"""A second text under one identifier hides nothing: neither what readers were shown, nor what a person decided on."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from schemas.enriched import EnrichedAnswer
from schemas.review import ReviewRequest
from tests.harness.console import ConsoleThread
from tests.harness.held_answers import risky
from tests.harness.reviews import store_decision
from workers.decision.release_events import review_request

TENANT = "second-texts"
WRONG = "The ingester needs 71 GiB of memory [1]."
OTHER = WRONG.replace("71", "88")
RIGHT = "The ingester needs 2 GiB of memory [1]."
START = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=2)


def at(minutes: float) -> datetime:
    return START + timedelta(minutes=minutes)


def evaluated(
    console: ConsoleThread, name: str, text: str, minutes: float, mode: str = "observer", **changes: Any
) -> EnrichedAnswer:
    """Store the evaluation of a text, made some minutes after the start."""
    base = risky(0, TENANT)
    given = base.model_copy(
        update={
            "answer_id": name,
            "answer": text,
            "risk_mode": mode,
            "contexts": [base.contexts[0].model_copy(update={"content": "The ingester needs 2 GiB of memory."})],
            "query": "How much memory does the ingester need?",
            "completed_at": at(minutes - 1),
        }
    )
    enriched = console.judge(given).model_copy(update={"enriched_at": at(minutes)} | changes)
    console.call(console._store([enriched]))
    return enriched


def decide(console: ConsoleThread, answer: EnrichedAnswer, minutes: float, **values: Any) -> ReviewRequest:
    request = review_request(answer, answer.enriched_at, deadline_hours=24)
    assert request is not None
    decision = {"by": "anna", "at": at(minutes), "ruling": "final"} | values
    console.call(store_decision(console.resources.analytics, request, **decision))
    return request


def detail(console: ConsoleThread, name: str) -> dict[str, Any]:
    found: dict[str, Any] = console.client().get(f"/api/answers/{name}").raise_for_status().json()
    return found


def audit(console: ConsoleThread, name: str) -> list[dict[str, Any]]:
    """The records of an answer, the first one first."""
    params = {"tenant": TENANT, "answer_id": name}
    items = console.client("admin").get("/api/audit/decisions", params=params).raise_for_status().json()["items"]
    return list(reversed(items))


def time_of(text: str) -> datetime:
    return datetime.fromisoformat(text)


def shown(found: dict[str, Any]) -> list[tuple[str, str, datetime]]:
    return [(text["by"], text["state"], time_of(text["since"])) for text in found["shown"]]


@pytest.fixture(autouse=True)
def _stored(stored: list[EnrichedAnswer]) -> None:
    """The examples are there as well."""


def test_both_texts_that_readers_were_shown_stand_with_their_times(console: ConsoleThread) -> None:
    first, second = evaluated(console, "twice", WRONG, 0), evaluated(console, "twice", RIGHT, 5)
    assert (first.decision.state, second.decision.state) == ("warned", "released")
    found = detail(console, "twice")
    assert shown(found) == [("pipeline", "warned", at(0)), ("pipeline", "released", at(5))]
    assert "71 GiB" in found["shown"][0]["content"]
    assert "2 GiB" in found["shown"][1]["content"]
    assert "Another text" in found["outcome"]
    assert f"from {at(0):%Y-%m-%d %H:%M:%S} UTC to {at(5):%Y-%m-%d %H:%M:%S} UTC" in found["outcome"]
    assert [each["text"] for each in found["claims"]] == [RIGHT]
    assert [time_of(each["at"]) for each in found["history"] if each["what"] == "evaluated"] == [at(0), at(5)]
    rows = audit(console, "twice")
    assert [(row["ruling"], row["state"], time_of(row["decided_at"])) for row in rows] == [
        ("automatic", "warned", at(0)),
        ("automatic", "released", at(5)),
    ]
    assert [row["claims_contradicted_by_evaluation"] for row in rows] == [1, 0]
    assert [row["hallucination_risk"] for row in rows] == [first.grounding.hallucination_risk, "low"]


def test_the_claims_of_a_longer_text_do_not_stay_with_a_shorter_one(console: ConsoleThread) -> None:
    evaluated(console, "shorter", f"{WRONG} It has 9 disks [1].", 0)
    evaluated(console, "shorter", RIGHT, 5)
    assert len(detail(console, "shorter")["claims"]) == 1


@pytest.mark.parametrize(("text", "markers"), [(RIGHT, ["[1]"]), ("That is not known.", [])])
def test_the_citations_of_an_earlier_text_mark_no_words_of_the_later_one(
    console: ConsoleThread, text: str, markers: list[str]
) -> None:
    name = f"citing-{len(markers)}"
    evaluated(console, name, f"{WRONG} It has 9 disks [1], as is said in [7].", 0)
    evaluated(console, name, text, 5)
    found = detail(console, name)["citations"]
    assert [text[start:end] for each in found for start, end in each["spans"]] == markers
    assert all(each["valid"] for each in found)


@pytest.mark.parametrize("text", [RIGHT, f"Indeed: {RIGHT}"])
def test_a_less_complete_evaluation_takes_no_claims_away(console: ConsoleThread, text: str) -> None:
    name = f"less-complete-{len(text)}"
    complete = evaluated(console, name, RIGHT, 0)
    evaluated(console, name, text, 5, rank=complete.rank - 1)
    assert [(each["text"], each["verdict"]) for each in detail(console, name)["claims"]] == [(RIGHT, "supported")]
    assert [time_of(row["decided_at"]) for row in audit(console, name)] == [at(0)], "readers did not get the other one"


def test_claims_of_an_earlier_text_count_in_no_record_of_the_later_one(console: ConsoleThread) -> None:
    evaluated(console, "fewer-contradicted", f"{WRONG} {OTHER}", 0, "gatekeeper")
    decide(console, evaluated(console, "fewer-contradicted", WRONG, 5, "gatekeeper"), 8, action="approve")
    (final,) = [row for row in audit(console, "fewer-contradicted") if row["ruling"] == "final"]
    assert (final["claims_contradicted_by_evaluation"], final["contradicted_approved"]) == (1, 1)


@pytest.mark.parametrize("action", ["approve", "reject"])
def test_a_text_after_a_decision_changes_nothing_of_what_was_decided(console: ConsoleThread, action: str) -> None:
    name = f"after-{action}"
    first = evaluated(console, name, WRONG, 0, "gatekeeper")
    assert first.decision.state == "held"
    decide(console, first, 3, action=action)
    before = detail(console, name)
    (of_anna,) = [row for row in audit(console, name) if row["ruling"] == "final"]
    evaluated(console, name, RIGHT, 8)
    after = detail(console, name)
    assert (after["shown"], after["state"], after["outcome"]) == (before["shown"], before["state"], before["outcome"])
    assert [text for text in after["contrary"] if "Another text" in text and "did not get it" in text]
    rows = audit(console, name)
    assert [row for row in rows if row["ruling"] == "final"] == [of_anna]
    assert of_anna["claims_contradicted_by_evaluation"] == 1
    assert of_anna["contradicted_approved"] == (1 if action == "approve" else None)
    assert [row for row in rows if row["ruling"] == "automatic"] == [], "readers did not get it"
    (late,) = [each for each in after["history"] if each["what"] == "evaluated" and time_of(each["at"]) == at(8)]
    assert "readers did not get it" in late["detail"]
    if action == "approve":
        assert [text for text in after["contrary"] if text.startswith("Approved although")] == [
            text for text in before["contrary"] if text.startswith("Approved although")
        ]


def test_a_decision_keeps_the_text_that_it_was_made_on_though_a_second_one_waits_as_well(
    console: ConsoleThread,
) -> None:
    first = evaluated(console, "both-held", WRONG, 0, "gatekeeper")
    request = decide(console, first, 3, action="approve")
    before = detail(console, "both-held")["shown"]
    assert evaluated(console, "both-held", OTHER, 8, "gatekeeper").decision.state == "held"
    assert detail(console, "both-held")["shown"] == before
    assert "71 GiB" in before[-1]["content"]
    item = console.client().get(f"/api/reviews/{request.review_id}").raise_for_status().json()
    assert (item["answer"], item["claims"]) == (WRONG, [])
    page = console.client("review").get(f"/review/{request.review_id}", headers={"Accept": "text/html"}).text
    assert "71 GiB" in page.partition('id="readers-got"')[2]
    assert "88 GiB" not in page


def test_a_text_that_a_reviewer_has_not_seen_is_not_decided(console: ConsoleThread) -> None:
    request = review_request(evaluated(console, "unseen", WRONG, 0, "gatekeeper"), at(0), deadline_hours=24)
    assert request is not None
    client, path = console.client(), f"/api/reviews/{request.review_id}"
    seen = client.get(path).json()
    evaluated(console, "unseen", OTHER, 5, "gatekeeper")
    approval = {"user_action": "approve", "version": seen["version"]}
    refused = client.post(f"{path}/decision", json=approval)
    assert (refused.status_code, refused.json()["conflict"]) == (409, "changed")
    item = client.get(path).json()
    assert (seen["answer"], item["answer"]) == (WRONG, OTHER)
    client.post(f"{path}/decision", json=approval | {"version": item["version"]}).raise_for_status()


def test_a_text_after_a_withdrawal_leaves_the_release_before_it(console: ConsoleThread) -> None:
    first = evaluated(console, "withdrawn-twice", WRONG, 0)
    decide(console, first, 3, action="reject", by="admin", ruling="withdrawal")
    evaluated(console, "withdrawn-twice", RIGHT, 8)
    found = detail(console, "withdrawn-twice")
    assert shown(found) == [("pipeline", "warned", at(0)), ("admin", "rejected", at(3))]
    assert [(row["ruling"], time_of(row["decided_at"])) for row in audit(console, "withdrawn-twice")] == [
        ("automatic", at(0)),
        ("withdrawal", at(3)),
    ]


def test_a_withdrawal_says_since_when_readers_saw_what_a_decision_only_confirmed(console: ConsoleThread) -> None:
    first = evaluated(console, "confirmed", WRONG, 0)
    decide(console, first, 3, action="approve", with_warning=True)
    decide(console, first, 4, action="reject", by="admin", ruling="withdrawal")
    since = f"from {at(0):%Y-%m-%d %H:%M:%S} UTC to {at(4):%Y-%m-%d %H:%M:%S} UTC"
    found = detail(console, "confirmed")
    assert since in found["outcome"]
    (withdrawn,) = [row for row in audit(console, "confirmed") if row["ruling"] == "withdrawal"]
    assert since in withdrawn["outcome"]
    (happened,) = [each for each in found["history"] if each["what"] == "decision withdrawn"]
    assert since in happened["detail"]


def test_the_same_text_evaluated_again_is_one_text(console: ConsoleThread) -> None:
    evaluated(console, "again", RIGHT, 0)
    evaluated(console, "again", RIGHT, 5)
    found = detail(console, "again")
    assert shown(found) == [("pipeline", "released", at(0))]
    assert "Another text" not in found["outcome"]
    assert len(audit(console, "again")) == 1


def test_a_text_that_comes_back_is_shown_from_both_times(console: ConsoleThread) -> None:
    for minutes, text in ((0, RIGHT), (5, WRONG), (10, RIGHT)):
        evaluated(console, "back", text, minutes)
    assert [since for _, _, since in shown(detail(console, "back"))] == [at(0), at(5), at(10)]


def test_the_request_of_an_earlier_text_says_that_readers_have_another_one(console: ConsoleThread) -> None:
    first = evaluated(console, "overtaken", WRONG, 0, "gatekeeper")
    request = review_request(first, first.enriched_at, deadline_hours=24)
    assert request is not None
    client = console.client()
    page = client.get(f"/review/{request.review_id}", headers={"Accept": "text/html"}).text
    assert "A reader waits." in page
    evaluated(console, "overtaken", OTHER, 2, rank=first.rank - 1)
    assert client.get(f"/api/reviews/{request.review_id}").json()["replaced"] is None, "readers did not get it"
    evaluated(console, "overtaken", RIGHT, 5)
    item = client.get(f"/api/reviews/{request.review_id}").json()
    assert (item["replaced"]["state"], time_of(item["replaced"]["since"])) == ("released", at(5))
    assert [(claim["text"], claim["verdict"]) for claim in item["claims"]] == [(WRONG, "contradicted")]
    page = client.get(f"/review/{request.review_id}", headers={"Accept": "text/html"}).text
    assert "Another text came under this identifier" in page
    assert "A reader waits." not in page
