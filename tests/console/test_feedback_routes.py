"""Feedback and answers that come by HTTP reach their topics as they were sent, once."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from schemas.enriched import EnrichedAnswer
from schemas.feedback import FeedbackEvent
from schemas.topics import ANSWERS_GENERATED, FEEDBACK_EVENTS, Topic
from tests.harness.console import ConsoleThread
from tests.harness.deployment import Deployment
from tests.harness.keys import name_of
from workers.settings.addresses import Addresses


@pytest.fixture
def read(console: ConsoleThread, addresses: Addresses, tmp_path: Path) -> Any:
    """All records of a topic of the console."""
    deployment = Deployment(addresses, tmp_path, name=console.settings.kafka.group_prefix)
    return lambda topic: console.call(deployment.read(topic))


def feedback(answer_id: str, **parts: Any) -> dict[str, Any]:
    return {"answer_id": answer_id, "tenant": "acme", "occurred_at": "2026-11-02T10:00:00Z", **parts}


def events_of(records: list[Any], answer_id: str) -> list[FeedbackEvent]:
    return [FeedbackEvent.from_bytes(record.value) for record in records if name_of(record) == answer_id]


def test_a_batch_is_in_the_topic_when_it_is_accepted(console: ConsoleThread, read: Any) -> None:
    batch = [
        feedback("f-1", kind="explicit", explicit={"rating": 4}, feedback_id="mine"),
        feedback("f-1", kind="behaviour", behaviour={"citations_clicked": ["c"], "time_spent_seconds": 12}),
    ]
    client = console.client("feedback")
    first = client.post("/api/feedback", json={"events": batch})
    assert first.status_code == 202
    again = client.post("/api/feedback", json={"events": batch})
    assert again.json() == first.json()
    assert first.json()["accepted"][0] == "mine"
    events = events_of(read(FEEDBACK_EVENTS), "f-1")
    assert [event.feedback_id for event in events] == first.json()["accepted"] * 2
    assert events[1].behaviour and events[1].behaviour.citations_clicked == ["c"]


@pytest.mark.parametrize(
    ("event", "field"),
    [
        (feedback("f-2", kind="execution", execution={"status": "error"}), "body.events.0.kind"),
        (
            feedback("f-2", kind="explicit", explicit={"review_action": "approve"}),
            "body.events.0.explicit.review_action",
        ),
        (feedback("f-2", kind="explicit"), "body.events.0"),
        (feedback("f-2", kind="explicit", explicit={"rating": 9}), "body.events.0.explicit.rating"),
        (feedback("f-2", kind="explicit", explicit={"rating": 3}, schema_version="7.0"), "schema_version"),
        (feedback("", kind="explicit", explicit={"rating": 3}), "body.events.0.answer_id"),
    ],
)
def test_what_cannot_be_taken_is_told_by_its_field_and_nothing_is_sent(
    console: ConsoleThread, read: Any, event: dict[str, Any], field: str
) -> None:
    good = feedback("f-2", kind="explicit", explicit={"vote": "up"})
    refused = console.client("feedback").post("/api/feedback", json={"events": [event, good]})
    assert refused.status_code == 422
    assert [each["field"] for each in refused.json()["fields"]] == [field]
    assert events_of(read(FEEDBACK_EVENTS), "f-2") == []


def test_a_second_vote_of_the_same_person_replaces_the_first(
    console: ConsoleThread, stored: list[EnrichedAnswer], read: Any
) -> None:
    # An answer of a tenant of its own: other tests store the same one for theirs.
    (answer,) = console.store([stored[0].answer.model_copy(update={"tenant": "repeated-votes"})])
    client = console.client("repeated-voter")
    votes = [("up", "u1"), ("down", "u1"), ("up", "u2"), ("up", None)]
    for vote, user in votes:
        body = {"vote": vote, "comment": "as said"} | ({"user_id": user} if user else {})
        assert client.post(f"/api/answers/{answer.answer_id}/vote", json=body).status_code == 202
    events = [each for each in events_of(read(FEEDBACK_EVENTS), answer.answer_id) if each.tenant == answer.tenant]
    assert [(e.explicit and e.explicit.vote, e.user_id, e.tenant) for e in events] == [
        (vote, user or "console:repeated-voter", answer.tenant) for vote, user in votes
    ]
    assert len({event.feedback_id for event in events}) == 3
    assert events[0].feedback_id == events[1].feedback_id
    assert events[0].occurred_at < events[1].occurred_at
    assert client.post("/api/answers/nobody/vote", json={"vote": "up"}).status_code == 404


def test_nothing_is_read_voted_on_or_withdrawn_by_a_name_that_two_tenants_use(
    console: ConsoleThread, stored: list[EnrichedAnswer], read: Any
) -> None:
    """A token for several tenants names the one that it means: a vote is the reward of one of them."""
    answer, tenants = stored[0].answer, ["first-owner", "second-owner"]
    console.store([answer.model_copy(update={"tenant": each, "answer_id": "of-two"}) for each in tenants])
    client = console.client()

    def asked(**params: str) -> list[httpx.Response]:
        where = {"params": params}
        return [
            *(client.get(path, **where) for path in ("/api/answers/of-two", "/api/answers/of-two/explanation")),
            client.post("/api/answers/of-two/vote", json={"vote": "up"}, **where),
            client.post("/api/answers/of-two/withdrawal", json={"reason": "wrong_figure"}, **where),
        ]

    for found in asked():
        assert found.status_code == 409, found.text
        assert found.json()["detail"] == (
            "of-two is an answer of several tenants (first-owner, second-owner); choose one with ?tenant="
        )
    page = client.get("/answers/of-two", headers={"Accept": "text/html"})
    assert (page.status_code, "several tenants" in page.text) == (409, True)
    for tenant in tenants:
        assert f'<a href="?tenant={tenant}">{tenant}</a>' in page.text
    assert asked()[0].json()["tenants"] == tenants
    for tenant in tenants:
        assert {found.status_code for found in asked(tenant=tenant)} <= {200, 202, 403}
        assert client.get("/api/answers/of-two", params={"tenant": tenant}).json()["tenant"] == tenant
        buttons = client.get("/answers/of-two", params={"tenant": tenant}, headers={"Accept": "text/html"}).text
        assert buttons.count(f'data-answer="of-two" data-tenant="{tenant}"') >= 2
    votes = events_of(read(FEEDBACK_EVENTS), "of-two")
    assert [event.tenant for event in votes] == tenants
    assert client.get("/api/answers/of-two", params={"tenant": "third-owner"}).status_code in (403, 404)


def test_answers_are_in_the_topic_when_they_are_accepted(
    console: ConsoleThread, stored: list[EnrichedAnswer], read: Any
) -> None:
    answers = [json.loads(each.answer.to_bytes()) | {"answer_id": f"new-{n}"} for n, each in enumerate(stored[:3])]
    client = console.client("ingest")
    accepted = client.post("/api/answers", json={"answers": answers})
    assert accepted.status_code == 202
    assert accepted.json()["accepted"] == ["new-0", "new-1", "new-2"]
    sent = {name_of(record): record for record in read(ANSWERS_GENERATED)}
    assert json.loads(sent["new-1"].value)["answer"] == stored[1].answer.answer
    assert dict(sent["new-1"].headers)["ce_type"] == b"touchstone.GeneratedAnswer"


def test_an_answer_that_the_worker_would_refuse_is_refused_here(console: ConsoleThread, read: Any) -> None:
    limit = console.settings.kafka.max_input_bytes
    chunk = {"chunk_id": "c", "content": "x" * 90_000}
    large = {"answer_id": "large", "answer": "a", "completed_at": "2026-11-02T10:00:00Z", "contexts": [chunk] * 4}
    assert len(json.dumps(large)) > limit
    refused = console.client("ingest").post("/api/answers", json={"answers": [large]})
    assert refused.status_code == 422
    assert "fewer or shorter contexts" in refused.json()["detail"]
    topic: Topic = ANSWERS_GENERATED
    assert "large" not in {name_of(record) for record in read(topic)}
