"""Nobody who may still review a request independently sees what others decided on it, anywhere in the console."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from schemas.answers import ContextChunk, GeneratedAnswer
from schemas.enriched import EnrichedAnswer
from schemas.identifiers import fact_id
from tests.harness.console import ConsoleThread, unhurried_undo
from tests.harness.reviews import store_decision
from workers.decision.release_events import conversation_turn, review_request
from workers.feedback.observed_events import review_event
from workers.review.decision_events import decided
from workers.review.decision_events import review_event as asked_event
from workers.settings.sections.release import ReviewTarget
from workers.stores.clickhouse.rows.feedback_rows import feedback_row
from workers.stores.clickhouse.rows.review_rows import review_event_row

TENANT = "unseen"
PENDING = "unseen-pending"
"""Tenant of the request with an undone review: where the agent analytics runs, the audit keeps each undone decision."""
COMMENT, REASON, CORRECTION = "the-comment-of-the-first", "reason-of-the-first", "The pump weighs 8 kg, says anna."
TOLD = re.compile(
    rf"{COMMENT}|{REASON}|says anna|[Cc]orrected(</strong>)? by|by <strong>first|decided_by\W+first|first-unseen has"
    r'|state replaced|"state":\s*"replaced"'
)
"""Words that only the decision of the first reviewer has."""

PAGES = (
    "/answers/{answer}",
    "/queue?state=decided&tenant=unseen",
    "/queue?state=second&tenant=unseen",
    "/queue?state=decided&tenant=unseen&assignee=nobody",
    "/review/{review}",
    "/review/{review}/item",
    "/search?tenant=unseen",
    "/answers/{later}",
    "/audit/decisions?tenant=unseen",
    "/audit/decisions?answer_id={answer}",
    "/api/answers/{answer}",
    "/api/answers/{answer}/explanation",
    "/api/answers?tenant=unseen",
    "/api/reviews?state=decided&tenant=unseen",
    "/api/reviews?state=second&tenant=unseen",
    "/api/reviews/{review}",
    "/api/reviews/disagreements",
    "/queue/disagreements",
    "/api/audit/decisions?tenant=unseen",
    "/api/audit/decisions/export?tenant=unseen&format=csv",
    "/api/audit/decisions/export?tenant=unseen&format=jsonl",
)


def pump(name: str, minutes: int, tenant: str = TENANT) -> GeneratedAnswer:
    return GeneratedAnswer(
        answer_id=f"unseen-{name}", tenant=tenant, session_id="unseen-session",
        query="How much does the pump weigh?", answer="The pump weighs 12 kg [1].",
        contexts=[ContextChunk(chunk_id="c1", content="The pump weighs 8 kg and pumps 30 l a minute.")],
        risk_mode="gatekeeper", completed_at=datetime.now(UTC) - timedelta(minutes=minutes),
    )  # fmt: skip


@pytest.fixture(scope="module")
def corrected(console: ConsoleThread) -> EnrichedAnswer:
    """An answer that the first reviewer has corrected, and the next turn of its session."""
    answer, _ = console.store([pump("answer", 9), pump("later", 8)])
    correct(console, answer)
    return answer


def correct(console: ConsoleThread, answer: EnrichedAnswer) -> None:
    """Store a correction by the first reviewer, with a vote of another one and the feedback that it gives."""
    request = review_request(answer, answer.enriched_at, deadline_hours=24)
    assert request is not None
    said: dict[str, Any] = {
        "by": "first-unseen", "at": datetime.now(UTC), "action": "correct", "comment": COMMENT, "reason": REASON,
        "corrected_answer": CORRECTION,
    }  # fmt: skip
    store = console.resources.analytics
    console.call(store_decision(store, request, **said))
    console.call(store_decision(store, request, ruling="vote", **said | {"action": "upvote", "by": "voter"}))
    fed_back = review_event(decided(request, profile={}, **said))
    assert fed_back is not None
    console.call(store.store([feedback_row(fed_back)]))


@pytest.fixture(autouse=True)
def three_reviews(console: ConsoleThread, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three people review each request of the tenants."""
    for tenant in (TENANT, PENDING):
        monkeypatch.setitem(console.settings.review.tenants, tenant, ReviewTarget(second_share=1.0, reviews=3))


def body_of(
    console: ConsoleThread, person: str, address: str, tenant: str = TENANT, name: str = "unseen-answer"
) -> str:
    names = {"answer": name, "later": "unseen-later", "review": fact_id(tenant, name, "review")}
    accept = {} if address.startswith("/api") else {"Accept": "text/html"}
    response = console.client(person).get(address.format(**names), headers=accept)
    assert response.status_code == 200, response.text
    return response.text


@pytest.mark.parametrize("address", PAGES)
def test_who_may_still_review_is_not_told_the_decision(
    console: ConsoleThread, corrected: EnrichedAnswer, address: str
) -> None:
    assert TOLD.findall(body_of(console, "second-unseen", address)) == []


@pytest.mark.parametrize("address", PAGES)
def test_the_decision_is_told_to_who_has_reviewed_and_who_may_not(
    console: ConsoleThread, corrected: EnrichedAnswer, address: str
) -> None:
    tells = "state=second" not in address and "disagreements" not in address
    assert bool(TOLD.findall(body_of(console, "first-unseen", address))) == tells
    if "/answers" in address:
        assert bool(TOLD.findall(body_of(console, "read", address))) == tells
    if "/audit" in address:
        assert bool(TOLD.findall(body_of(console, "admin", address))) == tells


@pytest.fixture(scope="module")
def reviewed(console: ConsoleThread) -> EnrichedAnswer:
    """Another answer that the first reviewer has corrected, of a tenant of its own."""
    (answer,) = console.store([pump("pending", 9, PENDING)])
    correct(console, answer)
    return answer


@pytest.fixture
def pending(console: ConsoleThread, reviewed: EnrichedAnswer) -> Iterator[str]:
    """The name of that answer, while the second review of another person can still be undone."""
    review = fact_id(PENDING, reviewed.answer_id, "review")
    other = console.client("other-pending")
    with unhurried_undo(console):
        assert other.post(f"/api/reviews/{review}/decision", json={"user_action": "reject"}).status_code == 202
    yield reviewed.answer_id
    assert other.post(f"/api/reviews/{review}/undo").status_code == 204


@pytest.mark.parametrize("address", ["/review/{review}", "/api/reviews/{review}", "/api/answers/{answer}"])
def test_a_review_that_is_made_this_moment_uncovers_nothing(console: ConsoleThread, pending: str, address: str) -> None:
    for person in ("second-pending", "other-pending"):
        assert TOLD.findall(body_of(console, person, address, PENDING, pending)) == []
    # The words that are looked for are there for somebody who may not review the request.
    assert TOLD.findall(body_of(console, "read", "/api/answers/{answer}", PENDING, pending))


def test_a_refusal_does_not_name_the_first_reviewer(console: ConsoleThread, corrected: EnrichedAnswer) -> None:
    review = fact_id(TENANT, corrected.answer_id, "review")
    client = console.client("second-unseen")
    preview = {"action": "reject", "review_ids": [review]}
    (outcome,) = client.post("/api/reviews/bulk", json=preview).json()
    assert not outcome["done"]
    assert TOLD.findall(outcome["detail"]) == []


@pytest.mark.parametrize(("state", "person", "count"), [("held", "second-unseen", 2), ("held", "first-unseen", 1),
                                                        ("replaced", "second-unseen", 0), ("replaced", "first-unseen", 1)])  # fmt: skip
def test_a_search_by_state_finds_it_by_what_is_told(
    console: ConsoleThread, corrected: EnrichedAnswer, state: str, person: str, count: int
) -> None:
    params: dict[str, Any] = {"tenant": TENANT, "state": state, "count": True}
    found = console.client(person).get("/api/answers", params=params).json()
    assert (len(found["items"]), found["total"]) == (count, count)


def test_what_is_hidden_is_said(console: ConsoleThread, corrected: EnrichedAnswer) -> None:
    client = console.client("second-unseen")
    found = client.get("/api/answers/unseen-answer").json()
    assert (found["blind"], found["decision"], found["content"], found["shown"]) == (True, None, None, [])
    assert found["feedback"] == []
    assert "hidden until you have reviewed it" in body_of(console, "second-unseen", "/answers/{answer}")
    assert "shown nothing" not in body_of(console, "second-unseen", "/answers/{answer}")
    listed = client.get("/api/audit/decisions", params={"tenant": TENANT}).json()
    assert (listed["items"], listed["hidden"]) == ([], 2)
    exported = client.get("/api/audit/decisions/export", params={"tenant": TENANT})
    assert (exported.headers["X-Rows"], exported.headers["X-Hidden"]) == ("0", "2")
    assert "2 decisions are left out" in body_of(console, "second-unseen", "/audit/decisions?tenant=unseen")
    assert client.get("/api/reviews", params={"state": "decided"}).json()["open_count"] == 0
    whole = console.client("admin").get("/api/audit/decisions", params={"tenant": TENANT}).json()
    assert (len(whole["items"]), whole["hidden"]) == (2, 0)


@pytest.fixture
def asked(console: ConsoleThread, corrected: EnrichedAnswer, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing is sampled, and a lead asks one person for a second opinion."""
    monkeypatch.setitem(console.settings.review.tenants, TENANT, ReviewTarget(second_share=0.0, reviews=2))

    def store(kind: Any) -> None:
        event = asked_event(
            kind, fact_id(TENANT, corrected.answer_id, "review"), corrected.answer_id, TENANT, by="lead-unseen",
            at=datetime.now(UTC), assignee="second-unseen",
        )  # fmt: skip
        console.call(console.resources.analytics.store([review_event_row(event)]))

    store("opinion_asked")
    yield
    store("opinion_ended")


@pytest.mark.parametrize("address", PAGES)
@pytest.mark.usefixtures("asked")
def test_who_is_asked_for_a_second_opinion_is_not_told_the_decision(console: ConsoleThread, address: str) -> None:
    tells = "state=second" not in address and "disagreements" not in address
    assert TOLD.findall(body_of(console, "second-unseen", address)) == []
    assert bool(TOLD.findall(body_of(console, "other-unseen", address))) == tells, "others are not asked"


def test_memory_leaves_out_what_tells_the_decision(console: ConsoleThread) -> None:
    (answer,) = console.store([pump("remembered", 7)])
    request = review_request(answer, answer.enriched_at, deadline_hours=24)
    memory, embedding = console.resources.memory, console.resources.embedding
    assert request and memory and embedding
    turn = conversation_turn(
        answer.model_copy(update={"decision": answer.decision.model_copy(update={"remember": True})})
    )
    assert turn is not None
    vectors = console.call(embedding.embed([request.query]))
    console.call(memory.remember([(turn, vectors[request.query])]))

    def found(person: str) -> tuple[bool, int]:
        page = console.client(person).get("/api/memory", params={"q": request.query, "tenant": TENANT}).json()
        return "unseen-remembered" in {item["answer_id"] for item in page["items"]}, page["hidden"]

    assert found("second-unseen") == (True, 0)
    said = {"by": "first-unseen", "at": datetime.now(UTC), "action": "approve"}
    console.call(store_decision(console.resources.analytics, request, **said))
    assert found("second-unseen") == (False, 1)
    assert found("first-unseen") == (True, 0)
    assert found("read") == (True, 0)
