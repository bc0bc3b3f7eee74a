"""Two tenants share a deployment and an ``answer_id``: neither sees, changes, replaces or erases what the other has."""

import json
from typing import Any

import pytest

from schemas.identifiers import judgement_id
from schemas.topics import (
    ANSWERS_CHUNKS,
    ANSWERS_ENRICHED,
    ANSWERS_EVALUATIONS,
    ANSWERS_RELEASED,
    ANSWERS_SENTENCES,
    DEAD_LETTERS,
    FEEDBACK_EVENTS,
    FEEDBACK_REWARDS,
    PRIVACY_ERASURES,
    ROUTING_POSTERIORS,
    TOPICS,
    Topic,
)
from tests.harness.tenants import BOTH, CORRECTED, NEEDS, OURS, SHARED, THEIRS, TwoTenants, answer, owner, until
from workers.stores.tables.all_tables import WRITTEN
from workers.stores.tables.table_row import column_names

CHOSEN_OUTSIDE = {"answer_id", "query_id", "response_id", "session_id", "user_id", "chunk_id", "feedback_id", "record_id",
                  "memory_id", "model_id", "original_answer_id", "retry_answer_id", "original_query_id", "trace_id"}  # fmt: skip
"""Identifiers that a gateway or a retriever chooses, so that two tenants may use the same."""
EMPTY = {
    ANSWERS_CHUNKS, ANSWERS_EVALUATIONS, ANSWERS_SENTENCES, ROUTING_POSTERIORS, PRIVACY_ERASURES, DEAD_LETTERS,
}  # fmt: skip
"""Topics that the scenario writes no event of an answer to; tests/integration/agents/test_streams.py has two tenants of its own."""


def identifiers(value: Any, name: str = "") -> set[str]:
    """Every identifier that Touchstone has made, anywhere in an event."""
    if isinstance(value, dict):
        return {found for key, inner in value.items() for found in identifiers(inner, key)}
    if isinstance(value, list):
        return {found for inner in value for found in identifiers(inner, name)}
    made = name.endswith("_id") and name not in CHOSEN_OUTSIDE
    return {value} if made and isinstance(value, str) and value else set()


# --- the queue and its routes ----------------------------------------------------------------


def test_the_review_of_one_tenant_stays_in_its_queue_when_another_sends_the_same_identifier(two: TwoTenants) -> None:
    ours, theirs = (two.reviews[tenant] for tenant in BOTH)
    assert (ours["tenant"], theirs["tenant"]) == BOTH
    assert ours["review_id"] != theirs["review_id"]
    assert "acme" in ours["query"] and "keys" in theirs["query"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/reviews/{}"), ("POST", "/api/reviews/{}/lock"), ("POST", "/api/reviews/{}/unlock"),
        ("POST", "/api/reviews/{}/skip"), ("POST", "/api/reviews/{}/escalate"), ("POST", "/api/reviews/{}/undo"),
        ("POST", "/api/reviews/{}/decision"), ("GET", "/review/{}"), ("GET", "/review/{}/item"),
        ("POST", "/api/reviews/{}/outcome"), ("POST", "/review/{}/outcome"), ("POST", "/review/{}/shown"),
    ],
)  # fmt: skip
def test_no_route_knows_the_review_of_another_tenant(two: TwoTenants, method: str, path: str) -> None:
    for tenant, other in (BOTH, BOTH[::-1]):
        name = path.format(two.reviews[other]["review_id"])
        body = {"user_action": "approve"} if path.endswith(("decision", "outcome")) else None
        found = two.clients[tenant].request(method, name, json=body, follow_redirects=False)
        assert found.status_code == 404, found.text
        assert NEEDS[other] not in found.text and f"Loki of {other}" not in found.text


def test_a_review_holds_the_text_and_history_of_its_own_tenant(two: TwoTenants) -> None:
    for tenant, other in (BOTH, BOTH[::-1]):
        item = two.clients[tenant].get(f"/api/reviews/{two.reviews[tenant]['review_id']}").json()
        assert (item["tenant"], NEEDS[tenant] in item["answer"]) == (tenant, True)
        assert {entry["by"] for entry in item["history"]} == {tenant}
        assert other not in json.dumps(item)


# --- answers, citations, lists ---------------------------------------------------------------


def test_answers_of_one_identifier_stand_side_by_side(two: TwoTenants) -> None:
    citations = {}
    for tenant, other in (BOTH, BOTH[::-1]):
        client = two.clients[tenant]
        found = client.get(f"/api/answers/{SHARED}").json()
        assert (found["tenant"], NEEDS[tenant] in found["answer"]) == (tenant, True)
        for path in (f"/api/answers/{SHARED}", f"/api/answers/{SHARED}/explanation", f"/answers/{SHARED}"):
            assert other not in client.get(path).text.replace("keyse", ""), path
            assert client.get(path, params={"tenant": other}).status_code == 403, path
        for path in (
            "/api/answers",
            "/search",
            "/api/overview",
            "/api/audit/citations",
            "/api/audit/low-grounding",
            "/audit/decisions",
        ):
            shown = client.get(path)
            assert NEEDS[other] not in shown.text and f"Loki of {other}" not in shown.text, path
        (citations[tenant],) = (each["citation_id"] for each in found["citations"])
    for tenant, other in (BOTH, BOTH[::-1]):
        assert two.clients[tenant].get(f"/api/citations/{citations[tenant]}").json()["tenant"] == tenant
        for path in (f"/api/citations/{citations[other]}", f"/citations/{citations[other]}"):
            assert two.clients[tenant].get(path).status_code == 404


def test_nobody_sends_or_rates_in_the_name_of_another_tenant(two: TwoTenants) -> None:
    client = two.clients[THEIRS]
    assert client.post("/api/answers", json={"answers": [answer(OURS, "x")]}).status_code == 403
    event = {"answer_id": SHARED, "kind": "explicit", "explicit": {"rating": 1}, "occurred_at": "2026-11-02T10:00:00Z"}
    for tenant in (OURS, "default"):
        sent = client.post("/api/feedback", json={"events": [event | {"tenant": tenant}]})
        assert sent.status_code == 403, "the default tenant is a tenant like any other"
    before = {tenant: len(two.values(FEEDBACK_EVENTS, tenant)) for tenant in BOTH}
    assert client.post(f"/api/answers/{SHARED}/vote", json={"vote": "down"}).status_code == 202
    assert len(two.values(FEEDBACK_EVENTS, OURS)) == before[OURS]
    assert len(two.values(FEEDBACK_EVENTS, THEIRS)) == before[THEIRS] + 1


# --- decisions, memory, feedback -------------------------------------------------------------


def test_a_correction_of_one_tenant_releases_nothing_of_another(two: TwoTenants) -> None:
    assert not any(each["final"] for each in two.released_meanwhile), "only the other tenant had decided by then"
    for tenant in BOTH:
        assert {(each["content"], each["decided_by"]) for each in two.final(tenant)} == {(CORRECTED[tenant], tenant)}


def test_memory_holds_a_turn_of_each(two: TwoTenants) -> None:
    for tenant in BOTH:
        (turn,) = two.remembered(tenant)
        assert (turn["response"], turn["query"]) == (CORRECTED[tenant], answer(tenant)["query"])
        assert two.clients[tenant].get("/api/memory", params={"q": "x", "tenant": "default"}).status_code == 403


def test_a_reused_feedback_identifier_replaces_nothing_of_another_tenant(two: TwoTenants) -> None:
    comments = two.rows("SELECT tenant, comment FROM {db}.feedback FINAL WHERE feedback_id = 'f-1' ORDER BY tenant")
    assert comments == [(OURS, "of acme"), (THEIRS, "of keys")]
    rewards = {tenant: two.rewarded(tenant)[-1]["explicit_reward"] for tenant in BOTH}
    assert rewards[OURS] > 0.5 > rewards[THEIRS]


# --- every topic and every table -------------------------------------------------------------


@pytest.mark.parametrize("topic", [topic for topic in TOPICS if topic not in EMPTY], ids=lambda topic: topic.name)
def test_no_key_and_no_identifier_of_a_topic_is_shared(two: TwoTenants, topic: Topic) -> None:
    keys: dict[str, set[bytes]] = {tenant: set() for tenant in BOTH}
    names: dict[str, set[str]] = {tenant: set() for tenant in BOTH}
    for record, value in two.events(topic):
        # Messages for engineers name no tenant, but their key does.
        tenant = owner(value) if topic.name != "feedback.insights" else json.loads(record.key or b"")[0]
        if tenant not in BOTH:
            continue  # what the worker writes of itself
        keys[tenant].add(record.key or b"")
        event_id = dict(record.headers)["ce_id"].decode()
        chosen_by_sender = {value.get("answer_id"), value.get("feedback_id"), SHARED}
        names[tenant] |= identifiers(value) | ({event_id} - chosen_by_sender)
    assert all(keys.values()), "both have written"
    assert not keys[OURS] & keys[THEIRS]
    assert not names[OURS] & names[THEIRS]


@pytest.mark.parametrize(
    "table", [table for table in WRITTEN if "tenant" in column_names(table)], ids=lambda t: t.table
)
def test_no_identifier_of_a_table_is_shared(two: TwoTenants, table: Any) -> None:
    names = [name for name in column_names(table) if name.endswith("_id") and name not in CHOSEN_OUTSIDE]
    names += ["id"] if "id" in column_names(table) else []
    names = [name for name in names if name != "decision_id" or table.table != "review_queue"]
    rows = two.rows(f"SELECT tenant, {', '.join(names or ['1'])} FROM {{db}}.{table.table} FINAL")
    found = {tenant: [row[1:] for row in rows if row[0] == tenant] for tenant in BOTH}
    if table.table in ("alerts", "scores", "insights"):
        return  # nothing raised an alert, no plug-in runs, nobody searched
    assert all(found.values()), "both have rows"
    for place in range(len(names)):
        shared = {row[place] for row in found[OURS]} & {row[place] for row in found[THEIRS]}
        assert not shared, names[place]


def test_the_join_takes_no_report_of_another_tenant(two: TwoTenants) -> None:
    for tenant in BOTH:
        (enriched,) = [each for each in two.values(ANSWERS_ENRICHED, tenant) if each["answer_id"] == SHARED]
        for agent in ("citations", "grounding", "quality"):
            assert enriched[agent]["judgement_id"] == judgement_id(tenant, SHARED, agent)
            assert enriched[agent]["tenant"] == tenant


# --- erasure ---------------------------------------------------------------------------------


def test_forgetting_a_user_leaves_the_same_user_and_answer_of_another_tenant(two: TwoTenants) -> None:
    two.send(*(answer(tenant, "shared-2", user_id="user-18", session_id="session-2") for tenant in BOTH))
    tables = {table.table: name for table in WRITTEN for name in ("answer_id", "query_id", "response_id")
              if name in column_names(table) and "tenant" in column_names(table)}  # fmt: skip

    def counts(tenant: str) -> dict[str, int]:
        return {
            table: two.rows(
                f"SELECT count() FROM {{db}}.{table} FINAL WHERE tenant = '{tenant}' AND {name} = 'shared-2'"
            )[0][0]
            for table, name in tables.items()
        }

    wanted = ("answers", "claims", "citations", "citation_logs", "reviews", "review_queue", "feedback", "rewards")

    def stored() -> bool:
        return all(counts(tenant)[table] for tenant in BOTH for table in wanted)

    until(stored, "the rows of both answers")
    before = counts(OURS)
    two.forget(THEIRS, "user-18")
    assert counts(OURS) == before
    assert not any(counts(THEIRS).values())
    assert two.clients[OURS].get("/api/answers/shared-2").status_code == 200
    assert two.clients[THEIRS].get("/api/answers/shared-2").status_code == 404
    for topic in (ANSWERS_RELEASED, FEEDBACK_REWARDS):
        stones = {record.key for record in two.records(topic) if record.value is None}
        assert stones == {b'["keys","shared-2"]'}
    two.send(answer(OURS, "shared-2", user_id="user-18", query="Once more?"))

    def asked_again() -> bool:
        found = two.clients[OURS].get("/api/answers/shared-2").json()
        return bool(found["query"] == "Once more?")

    until(asked_again, "the answer that nobody has erased is evaluated again")
