"""Every route of the console, asked by one tenant with the names of another: nothing of it is seen, nothing changes."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from fastapi.routing import APIRoute

from schemas.topics import ROUTING_POSTERIORS, TOPICS
from tests.harness.tenants import BOTH, OURS, THEIRS, TwoTenants, answer, owner, until
from workers.console.app import SUBJECTS, create_app

ONLY_OURS = "only-ours"
"""An answer that the asking tenant does not have."""
VOTE = {"answer_id": ONLY_OURS, "tenant": OURS, "kind": "explicit", "explicit": {"rating": 1}}
DECISION = {"user_action": "correct", "corrected_answer": "Written by another tenant."}


@dataclass(frozen=True)
class Question:
    """A request in the name of the other tenant, and the status that it must get."""

    url: str
    status: int
    body: Any = None
    params: Mapping[str, str] | None = None


def named(url: str, status: int, refused: int = 403) -> tuple[Question, ...]:
    """A question by identifier, and the same one with the tenant named."""
    return (Question(url, status), Question(url, refused, params={"tenant": OURS}))


ROUTES: Mapping[tuple[str, str], tuple[Question, ...]] = {
    ("POST", "/v1/answers/{form}"): (Question("/v1/answers/litellm", 403, {"id": "x"}, {"tenant": OURS}),),
    ("POST", "/v1/traces"): (Question("/v1/traces", 403, {"resourceSpans": []}, {"tenant": OURS}),),
    ("POST", "/v1/logs"): (Question("/v1/logs", 403, {"resourceLogs": []}, {"tenant": OURS}),),
    ("POST", "/v1/check"): (Question("/v1/check", 403, answer(OURS, ONLY_OURS)),),
    ("POST", "/v1/check/stream"): (Question("/v1/check/stream", 403, answer(OURS, ONLY_OURS)),),
    ("POST", "/v1/check/{form}"): (
        # The token's only tenant replaces that of the record; nothing of either is stored.
        Question("/v1/check/touchstone", 200, {"answer": "No.", "tenant": OURS}, {"deadline_ms": "30000"}),
    ),
    ("GET", "/healthz"): (Question("/healthz", 200),),
    ("GET", "/readyz"): (Question("/readyz", 200),),
    ("GET", "/login"): (Question("/login", 200),),
    ("GET", "/"): named("/", 200),
    ("GET", "/api/overview"): named("/api/overview", 200),
    ("POST", "/api/session"): (Question("/api/session", 401, {"token": "a token of nobody"}),),
    ("GET", "/api/session"): (Question("/api/session", 200),),
    ("DELETE", "/api/session"): (Question("/api/session", 204),),
    ("POST", "/api/answers"): (Question("/api/answers", 403, {"answers": [answer(OURS, ONLY_OURS)]}),),
    ("POST", "/api/feedback"): (
        Question("/api/feedback", 403, {"events": [VOTE | {"occurred_at": "2026-11-02T10:00:00Z"}]}),
    ),
    ("POST", "/api/answers/{answer_id:path}/vote"): (
        Question(f"/api/answers/{ONLY_OURS}/vote", 404, {"vote": "down"}),
        Question(f"/api/answers/{ONLY_OURS}/vote", 403, {"vote": "down"}, {"tenant": OURS}),
    ),
    ("GET", "/api/answers"): named("/api/answers", 200),
    ("POST", "/api/answers/{answer_id:path}/withdrawal"): (
        Question(f"/api/answers/{ONLY_OURS}/withdrawal", 404, {"reason": "wrong_figure"}),
    ),
    ("GET", "/api/answers/{answer_id:path}"): named(f"/api/answers/{ONLY_OURS}", 404),
    ("GET", "/api/answers/{answer_id:path}/explanation"): named(f"/api/answers/{ONLY_OURS}/explanation", 404),
    ("GET", "/answers/{answer_id:path}"): named(f"/answers/{ONLY_OURS}", 404),
    ("GET", "/search"): named("/search", 200),
    ("GET", "/api/citations/{citation_id}"): (Question("/api/citations/{citation}", 404),),
    ("GET", "/citations/{citation_id}"): (Question("/citations/{citation}", 404),),
    ("GET", "/citations/{citation_id}/panel"): (Question("/citations/{citation}/panel", 404),),
    ("GET", "/api/citations/source/{source}/{record_id:path}"): named("/api/citations/source/manuals/ours-1", 404),
    ("GET", "/api/memory"): (
        Question("/api/memory", 200, params={"q": "memory of Loki"}),
        Question("/api/memory", 403, params={"q": "memory of Loki", "tenant": OURS}),
    ),
    ("GET", "/api/audit/citations"): named("/api/audit/citations", 200),
    ("GET", "/api/audit/low-grounding"): named("/api/audit/low-grounding", 200),
    ("GET", "/api/audit/accesses"): named("/api/audit/accesses", 200),
    ("GET", "/api/audit/decisions"): named("/api/audit/decisions", 200),
    ("GET", "/api/audit/erasures"): named("/api/audit/erasures", 200),
    ("GET", "/api/audit/settings"): named("/api/audit/settings", 200),
    ("GET", "/api/audit/settings/{version}"): named(f"/api/audit/settings/{ONLY_OURS}", 404),
    ("GET", "/api/audit/settings/export"): tuple(
        question
        for form in ("csv", "jsonl", "parquet")
        for question in named(f"/api/audit/settings/export?format={form}", 200)
    ),
    ("GET", "/audit/settings"): named("/audit/settings", 200),
    ("GET", "/audit/settings/{version}"): named(f"/audit/settings/{ONLY_OURS}", 404),
    ("GET", "/api/search/export"): tuple(
        question for form in ("csv", "jsonl", "parquet") for question in named(f"/api/search/export?format={form}", 200)
    ),
    ("GET", "/api/audit/{log}/export"): tuple(
        question
        for log in ("accesses", "decisions")
        for form in ("csv", "jsonl", "parquet")
        for question in named(f"/api/audit/{log}/export?format={form}", 200)
    ),
    ("GET", "/audit"): (Question("/audit", 303),),
    ("GET", "/audit/{log}"): (*named("/audit/accesses", 200), *named("/audit/decisions", 200)),
    ("GET", "/api/reviews"): named("/api/reviews", 200),
    ("GET", "/api/reviews/stats"): named("/api/reviews/stats", 200, refused=200),
    ("GET", "/api/reviews/disagreements"): named("/api/reviews/disagreements", 200),
    ("GET", "/api/reviews/acceptance"): named("/api/reviews/acceptance?by=reviewer", 200),
    ("GET", "/api/reviews/filters"): (Question("/api/reviews/filters", 200),),
    ("GET", "/api/reviews/reviewers"): (Question("/api/reviews/reviewers", 200),),
    ("GET", "/queue"): named("/queue", 200),
    ("GET", "/queue/disagreements"): named("/queue/disagreements", 200),
    ("POST", "/api/reviews/bulk"): tuple(
        Question("/api/reviews/bulk", 200, {"action": action, "review_ids": ["{review}"], "preview": preview} | more)
        for action, more in (
            ("approve", {}),
            ("reject", {}),
            ("escalate", {}),
            ("assign", {"assignee": "keys"}),
            ("ask_opinion", {}),
            ("ask_opinion", {"person": "keys"}),
            ("end_opinion", {}),
            ("end_opinion", {"person": "keys"}),
        )
        for preview in (True, False)
    ),
    ("POST", "/api/reviews/next"): (Question("/api/reviews/next", 204, {}),),
    ("GET", "/api/reviews/{review_id}"): (Question("/api/reviews/{review}", 404),),
    ("POST", "/api/reviews/{review_id}/lock"): (Question("/api/reviews/{review}/lock", 404),),
    ("POST", "/api/reviews/{review_id}/unlock"): (Question("/api/reviews/{review}/unlock", 404),),
    ("POST", "/api/reviews/{review_id}/skip"): (Question("/api/reviews/{review}/skip", 404),),
    ("POST", "/api/reviews/{review_id}/escalate"): (Question("/api/reviews/{review}/escalate", 404),),
    ("POST", "/api/reviews/{review_id}/undo"): (Question("/api/reviews/{review}/undo", 404),),
    ("POST", "/api/reviews/{review_id}/opinion"): (
        Question("/api/reviews/{review}/opinion", 404, {}),
        Question("/api/reviews/{review}/opinion", 404, {"person": "keys"}),
    ),
    ("DELETE", "/api/reviews/{review_id}/opinion"): (Question("/api/reviews/{review}/opinion", 404),),
    ("POST", "/api/reviews/{review_id}/outcome"): (Question("/api/reviews/{review}/outcome", 404, DECISION),),
    ("POST", "/api/reviews/{review_id}/withdrawal"): (
        Question("/api/reviews/{review}/withdrawal", 404, {"reason": "wrong_figure"}),
    ),
    ("POST", "/api/reviews/{review_id}/decision"): (Question("/api/reviews/{review}/decision", 404, DECISION),),
    ("GET", "/review"): (Question("/review", 200),),
    ("GET", "/review/counts"): (Question("/review/counts", 200),),
    ("GET", "/review/{review_id}"): (Question("/review/{review}", 404),),
    ("GET", "/review/{review_id}/item"): (Question("/review/{review}/item", 404),),
    ("POST", "/review/{review_id}/outcome"): (Question("/review/{review}/outcome", 404, DECISION),),
    ("POST", "/review/{review_id}/comparison"): (
        Question("/review/{review}/comparison", 404, {"corrected_answer": "Written by another tenant."}),
    ),
    ("POST", "/review/{review_id}/shown"): (Question("/review/{review}/shown", 404),),
    ("POST", "/review/next"): (Question("/review/next", 204, {}),),
    ("POST", "/review/remaining"): (Question("/review/remaining", 200, {}),),
    # Last, since the asking tenant has an answer of this name from then on: its token's tenant replaces the body's.
    ("POST", "/v1/answers"): (
        Question("/v1/answers", 403, answer(OURS, ONLY_OURS), {"tenant": OURS}),
        Question("/v1/answers", 202, {"answer_id": ONLY_OURS, "tenant": OURS, "answer": "Of somebody else."}),
    ),
}


@dataclass(frozen=True)
class Asked:
    """The responses to the other tenant, and what was written of ours before and after."""

    responses: Mapping[tuple[str, str], list[httpx.Response]]
    before: Mapping[str, list[str]]
    after: Mapping[str, list[str]]
    shown_before: str
    shown_after: str


def written(two: TwoTenants) -> dict[str, list[str]]:
    """All events of our tenant by topic.

    Notes of accesses are left out, since reading adds some, and posteriors, which are summed again with time.
    """
    found = {
        topic.name: [value for _, value in two.events(topic) if value.get("table") != "accesses"]
        for topic in TOPICS
        if topic is not ROUTING_POSTERIORS
    }
    return {
        name: sorted(json.dumps(value, sort_keys=True) for value in values if owner(value) == OURS)
        for name, values in found.items()
    }


@pytest.fixture(scope="module")
def asked(two: TwoTenants) -> Asked:
    """Every question of the table, asked once by a tenant that knows the identifiers of the other one."""
    ours = two.clients[OURS]
    source = {
        "chunk_id": "c1", "content": f"Loki needs 2 GiB of memory. Only {OURS} may read this.",
        "metadata": {"source_table": "manuals", "record_id": "ours-1"},
    }  # fmt: skip
    two.send(answer(OURS, ONLY_OURS, contexts=[source]))

    def review() -> str | None:
        items = ours.get("/api/reviews").json()["items"]
        return next((item["review_id"] for item in items if item["answer_id"] == ONLY_OURS), None)

    def settled() -> bool:
        rewards = "SELECT count() FROM {db}.rewards FINAL WHERE answer_id = '" + ONLY_OURS + "'"
        return bool(two.rows(rewards)[0][0]) and ours.get(f"/api/answers/{ONLY_OURS}").status_code == 200

    names = {"review": until(review, "the review of the answer")}
    until(settled, "the rows of the answer")
    shown = ours.get(f"/api/answers/{ONLY_OURS}").json()
    names["citation"] = shown["citations"][0]["citation_id"]
    before = written(two)

    def filled(body: Any) -> Any:
        return json.loads(json.dumps(body).replace("{review}", names["review"]))

    client = two.clients[THEIRS]
    responses = {
        (method, path): [
            client.request(
                method, each.url.format(**names), json=filled(each.body), params=each.params, follow_redirects=False
            )
            for each in questions
        ]
        for (method, path), questions in ROUTES.items()
    }
    # What was taken in the name of the asking tenant is evaluated as its own.
    until(lambda: client.get(f"/api/answers/{ONLY_OURS}").status_code == 200, "the answer of the other tenant")
    again = ours.get(f"/api/answers/{ONLY_OURS}").json()
    return Asked(responses, before, written(two), json.dumps(shown), json.dumps(again))


def test_every_route_of_the_application_is_asked() -> None:
    application = [route for subject in SUBJECTS for route in subject.router.routes]
    assert all(isinstance(route, APIRoute) for route in application)
    routes = {(method, route.path) for route in application if isinstance(route, APIRoute) for method in route.methods}
    assert routes == set(ROUTES), "a new route needs a question that a stranger would ask"


def test_what_is_served_beside_the_routes_is_the_same_for_everybody(two: TwoTenants) -> None:
    document = two.clients[THEIRS].get("/api/openapi.json").json()
    named = {path.replace(":path}", "}") for _, path in ROUTES}
    assert set(document["paths"]) <= named
    application = create_app(two.console.resources)
    beside = [route for route in application.routes if not isinstance(route, APIRoute)]
    found = {path for route in beside if (path := getattr(route, "path", None))}
    assert found == {"/static", "/api/openapi.json"}
    for path in ("/api/openapi.json", "/static/css/console.css"):
        assert len({two.clients[tenant].get(path).text for tenant in BOTH}) == 1


@pytest.mark.parametrize("route", ROUTES, ids=" ".join)
def test_a_route_shows_nothing_of_another_tenant(asked: Asked, route: tuple[str, str]) -> None:
    for question, response in zip(ROUTES[route], asked.responses[route], strict=True):
        assert response.status_code == question.status, response.text[:500]
        for text in (OURS, "8 GiB", "Written by another tenant"):
            assert text not in response.text, f"{route} shows {text}"
        if question.body is None and response.status_code == 200:
            assert ONLY_OURS not in response.text


def test_no_bulk_action_reaches_a_review_of_another_tenant(asked: Asked) -> None:
    outcomes = [outcome for response in asked.responses["POST", "/api/reviews/bulk"] for outcome in response.json()]
    assert len(outcomes) == 16 and not any(outcome["done"] for outcome in outcomes)


def test_nothing_of_the_other_tenant_has_changed(asked: Asked) -> None:
    assert asked.before == asked.after
    assert sum(map(len, asked.before.values())) > 10
    assert asked.shown_before == asked.shown_after


def test_the_review_is_still_open_and_free(two: TwoTenants, asked: Asked) -> None:
    (item,) = [each for each in two.clients[OURS].get("/api/reviews").json()["items"] if each["answer_id"] == ONLY_OURS]
    assert item["state"] == "open"
    for path in ("lock", "unlock"):
        assert two.clients[OURS].post(f"/api/reviews/{item['review_id']}/{path}").status_code in (200, 204)
