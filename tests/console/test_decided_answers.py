"""An answer shows its state after review: who decided, what readers were shown, and what a search finds."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from schemas.answers import ContextChunk, GeneratedAnswer
from schemas.enriched import EnrichedAnswer
from schemas.identifiers import fact_id
from tests.harness.console import ConsoleThread
from tests.harness.reviews import store_decision
from workers.decision.reader_text.reader_texts import ENGLISH
from workers.decision.release_events import review_request

CORRECTED = "The pump weighs 8 kg [1]."


def held_answer(name: str) -> GeneratedAnswer:
    """Return an answer that is held, because its number contradicts its source."""
    return GeneratedAnswer(
        answer_id=f"decided-{name}",
        tenant="decided",
        query="How much does the pump weigh?",
        answer="The pump weighs 12 kg [1].",
        contexts=[ContextChunk(chunk_id="c1", content="The pump weighs 8 kg and pumps 30 l a minute.")],
        risk_mode="gatekeeper",
        completed_at=datetime.now(UTC) - timedelta(minutes=5),
    )


def decided(console: ConsoleThread, name: str, **said: Any) -> EnrichedAnswer:
    """Store a held answer with a decision on it."""
    (answer,) = console.store([held_answer(name)])
    assert answer.decision.state == "held"
    request = review_request(answer, answer.enriched_at, deadline_hours=24)
    assert request is not None
    at = answer.enriched_at + timedelta(minutes=1)
    console.call(store_decision(console.resources.analytics, request, **{"by": "anna", "at": at} | said))
    return answer


DECISIONS: list[tuple[str, dict[str, Any], str, str | None]] = [
    ("approved", {"action": "approve"}, "released", "The pump weighs 12 kg"),
    ("approved-with-warning", {"action": "approve", "with_warning": True}, "warned", "The pump weighs 12 kg"),
    ("rejected", {"action": "reject", "reason": "wrong_figure"}, "rejected", ENGLISH.rejected),
    ("corrected", {"action": "correct", "corrected_answer": CORRECTED}, "replaced", "The pump weighs 8 kg"),
]


@pytest.mark.parametrize(("name", "said", "state", "content"), DECISIONS)
def test_the_api_and_the_page_show_the_state_after_the_decision(
    console: ConsoleThread, name: str, said: dict[str, Any], state: str, content: str
) -> None:
    answer = decided(console, f"api-{name}", **said)
    client = console.client()
    found = client.get(f"/api/answers/{answer.answer_id}").json()
    assert (found["state"], found["evaluated_state"]) == (state, "held")
    assert (found["decision"]["action"], found["decision"]["decided_by"]) == (said["action"], "anna")
    assert found["decision"]["reason"] == said.get("reason", "")
    assert content in found["content"]
    before, after = found["shown"]
    assert (before["state"], before["by"], before["content"]) == ("held", "pipeline", None)
    assert (after["state"], after["by"], after["content"]) == (state, "anna", found["content"])
    page = client.get(f"/answers/{answer.answer_id}", headers={"Accept": "text/html"}).text
    assert f'class="state {state}"' in page
    assert " by anna; readers saw " in page
    assert "Readers were shown nothing." in page


def test_a_search_finds_the_state_after_the_decision(console: ConsoleThread) -> None:
    answers = {state: decided(console, f"search-{name}", **said) for name, said, state, _ in DECISIONS}
    (waiting,) = console.store([held_answer("search-waiting")])
    client = console.client()

    def found(state: str) -> dict[str, str]:
        items = client.get("/api/answers", params={"tenant": "decided", "state": state, "limit": 100}).json()["items"]
        return {item["answer_id"]: item["state"] for item in items}

    for state, answer in answers.items():
        assert found(state)[answer.answer_id] == state
        assert set(found(state).values()) == {state}
        assert answer.answer_id not in found("held")
    assert found("held")[waiting.answer_id] == "held"


def test_a_held_answer_was_shown_to_nobody(console: ConsoleThread) -> None:
    (answer,) = console.store([held_answer("nobody")])
    client = console.client()
    found = client.get(f"/api/answers/{answer.answer_id}").json()
    assert (found["state"], found["decision"], found["content"]) == ("held", None, None)
    page = client.get(f"/answers/{answer.answer_id}", headers={"Accept": "text/html"}).text
    assert "Readers were shown nothing yet." in page


@pytest.mark.parametrize("ruling", ["late", "second"])
def test_a_decision_that_does_not_count_changes_nothing(console: ConsoleThread, ruling: str) -> None:
    answer = decided(console, f"no-effect-{ruling}", action="reject", ruling=ruling)
    found = console.client().get(f"/api/answers/{answer.answer_id}").json()
    assert (found["state"], found["decision"]) == ("held", None)
    assert len(found["shown"]) == 1


def test_two_people_who_disagree_are_listed(console: ConsoleThread) -> None:
    answer = decided(console, "disagreement", action="approve")
    request = review_request(answer, answer.enriched_at, deadline_hours=24)
    assert request is not None
    at = answer.enriched_at + timedelta(minutes=2)
    store = console.resources.analytics
    console.call(store_decision(store, request, ruling="second", by="ben", action="reject", at=at))
    (found,) = [
        each
        for each in console.client().get("/api/reviews/disagreements").json()
        if each["answer_id"] == answer.answer_id
    ]
    assert (found["first"], found["first_by"], found["second"], found["second_by"]) == (
        "approve", "anna", "reject", "ben",
    )  # fmt: skip
    assert f"/answers/{answer.answer_id}" in console.client().get("/", headers={"Accept": "text/html"}).text


def test_a_decided_request_offers_no_decision(console: ConsoleThread) -> None:
    answer = decided(console, "link", action="reject")
    client = console.client()
    listed = client.get("/api/reviews", params={"state": "decided", "tenant": "decided", "limit": 100}).json()["items"]
    (review,) = [item["review_id"] for item in listed if item["answer_id"] == answer.answer_id]
    page = client.get(f"/review/{review}", headers={"Accept": "text/html"}).text
    assert "Rejected</strong> by anna" in page
    assert "A reader waits." not in page
    for action in ("approve", "warn", "correct", "reject", "skip"):
        assert f'data-action="{action}"' not in page


def test_the_page_of_an_answer_leads_to_its_review(console: ConsoleThread) -> None:
    (waiting,) = console.store([held_answer("sought-review")])
    closed = decided(console, "sought-decided", action="approve")
    for answer in (waiting, closed):
        review = fact_id(answer.tenant, answer.answer_id, "review")
        assert console.client().get(f"/api/answers/{answer.answer_id}").json()["review_id"] == review
        link = f'<a href="/review/{review}">Its review</a>'
        html = {"Accept": "text/html"}
        assert link in console.client().get(f"/answers/{answer.answer_id}", headers=html).text
        assert link not in console.client("read").get(f"/answers/{answer.answer_id}", headers=html).text


def test_a_correction_that_changes_nothing_is_refused(console: ConsoleThread) -> None:
    (answer,) = console.store([held_answer("unchanged")])
    client = console.client()
    listed = client.get("/api/reviews", params={"tenant": "decided", "limit": 100}).json()["items"]
    (review,) = [item["review_id"] for item in listed if item["answer_id"] == answer.answer_id]
    body = {"user_action": "correct", "corrected_answer": f"{answer.answer.answer}\n"}
    refused = client.post(f"/api/reviews/{review}/decision", json=body)
    assert refused.status_code == 422
    assert refused.json()["fields"][0]["field"] == "corrected_answer"


def test_a_correction_with_a_reference_to_nothing_is_refused_and_says_so_before(console: ConsoleThread) -> None:
    (answer,) = console.store([held_answer("dangling")])
    client, review = console.client(), fact_id(answer.tenant, answer.answer_id, "review")
    body = {"user_action": "correct", "corrected_answer": "It needs 2 GiB [1], in all 4 GiB [7]."}
    for path in (f"/review/{review}/outcome", f"/api/reviews/{review}/outcome", f"/api/reviews/{review}/decision"):
        refused = client.post(path, json=body)
        assert refused.status_code == 422
        assert "[7] leads to no source: the answer has 1 source; correct or remove it" in refused.json()["detail"]
        assert refused.json()["fields"][0]["field"] == "corrected_answer"
    right = body | {"corrected_answer": "It needs 2 GiB [1]."}
    assert client.post(f"/api/reviews/{review}/decision", json=right).status_code == 202


def test_a_reviewer_without_read_rights_starts_in_the_queue(console: ConsoleThread) -> None:
    response = console.client("review").get("/", headers={"Accept": "text/html"})
    assert (response.status_code, response.headers["Location"]) == (303, "/review")


def test_a_forbidden_page_leaves_a_way_out(console: ConsoleThread) -> None:
    response = console.client("review").get("/search", headers={"Accept": "text/html"})
    assert response.status_code == 403
    assert 'href="/login"' in response.text
    assert 'id="log-out"' in response.text
