"""Whoever is shown what an answer says is noted: all routes, from one table."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from fastapi.routing import APIRoute

from schemas.enriched import EnrichedAnswer
from schemas.identifiers import fact_id
from schemas.topics import FEEDBACK_ANALYTICS
from tests.harness.console import EVERYTHING, ConsoleThread
from tests.harness.deployment import Deployment, until
from tests.harness.reviews import review_request, store_decision
from workers.console.app import SUBJECTS
from workers.settings.addresses import Addresses

SHOWN: Mapping[tuple[str, str], tuple[str, str, str]] = {
    ("GET", "/api/answers"): ("read", "search", "/api/answers"),
    ("GET", "/api/answers/{answer_id:path}"): ("read", "answer", "/api/answers/{answer}"),
    ("GET", "/api/answers/{answer_id:path}/explanation"): ("read", "answer", "/api/answers/{answer}/explanation"),
    ("GET", "/api/citations/{citation_id}"): ("read", "citation", "/api/citations/{citation}"),
    ("GET", "/api/citations/source/{source}/{record_id:path}"): (
        "read", "source", "/api/citations/source/{source}/{record}?tenant={tenant}",
    ),
    ("GET", "/api/memory"): ("read", "memory", "/api/memory?q=memory&tenant={tenant}"),
    ("GET", "/api/audit/citations"): ("admin", "audit", "/api/audit/citations"),
    ("GET", "/api/audit/low-grounding"): ("admin", "audit", "/api/audit/low-grounding"),
    ("GET", "/api/audit/decisions"): ("admin", "audit", "/api/audit/decisions"),
    ("GET", "/api/audit/accesses"): ("admin", "audit", "/api/audit/accesses?tenant={tenant}&state=source"),
    ("GET", "/api/search/export"): ("read", "search_export", "/api/search/export?format=jsonl"),
    ("GET", "/api/audit/{log}/export"): ("admin", "audit_export", "/api/audit/decisions/export?format=jsonl"),
    ("GET", "/audit/{log}"): ("admin", "audit", "/audit/decisions"),
    ("GET", "/api/reviews"): ("review", "list_reviews", "/api/reviews"),
    ("GET", "/api/reviews/disagreements"): ("review", "disagreements", "/api/reviews/disagreements"),
    ("GET", "/"): (EVERYTHING, "disagreements", "/"),
    ("GET", "/queue/disagreements"): ("review", "disagreements", "/queue/disagreements"),
    ("GET", "/api/reviews/{review_id}"): ("review", "get_review", "/api/reviews/{review}"),
    ("POST", "/api/reviews/next"): ("review", "next_review", "/api/reviews/next"),
    ("POST", "/api/reviews/bulk"): ("review", "preview_bulk", "/api/reviews/bulk"),
    ("GET", "/search"): ("read", "search", "/search"),
    ("GET", "/answers/{answer_id:path}"): ("read", "answer", "/answers/{answer}"),
    ("GET", "/citations/{citation_id}"): ("read", "citation", "/citations/{citation}"),
    ("GET", "/citations/{citation_id}/panel"): ("read", "citation", "/citations/{citation}/panel"),
    ("GET", "/queue"): ("review", "queue", "/queue"),
    ("GET", "/review/{review_id}"): ("review", "review", "/review/{review}"),
    ("GET", "/review/{review_id}/item"): ("review", "review", "/review/{review}/item"),
    ("POST", "/review/next"): ("review", "review", "/review/next"),
    ("POST", "/review/{review_id}/outcome"): ("review", "review", "/review/{review}/outcome"),
    ("POST", "/review/{review_id}/comparison"): ("review", "review", "/review/{review}/comparison"),
    ("POST", "/review/remaining"): ("review", "queue", "/review/remaining"),
    ("POST", "/api/reviews/{review_id}/outcome"): ("review", "preview_outcome", "/api/reviews/{review}/outcome"),
}  # fmt: skip
"""Routes that show what answers say: the token to ask with, what is noted, and what is asked."""

DECISION = {"user_action": "approve"}
CORRECTION = {"corrected_answer": "It is not known."}

NOTHING_SHOWN = {
    # What is sent in is not shown to anybody; a check tells its caller about what he has sent himself.
    ("POST", "/v1/answers"), ("POST", "/v1/answers/{form}"), ("POST", "/v1/traces"), ("POST", "/v1/logs"),
    ("POST", "/v1/check"), ("POST", "/v1/check/{form}"), ("POST", "/v1/check/stream"),
    ("GET", "/healthz"), ("GET", "/readyz"), ("GET", "/login"), ("GET", "/review"),
    ("POST", "/api/session"), ("GET", "/api/session"), ("DELETE", "/api/session"),
    # Figures, and answers by their identifier alone.
    ("GET", "/api/overview"), ("GET", "/api/reviews/stats"), ("GET", "/review/counts"), ("GET", "/api/audit/erasures"),
    # Settings, and how many answers they decided.
    ("GET", "/api/audit/settings"), ("GET", "/api/audit/settings/export"), ("GET", "/api/audit/settings/{version}"),
    ("GET", "/audit/settings"), ("GET", "/audit/settings/{version}"),
    ("GET", "/api/reviews/filters"), ("GET", "/api/reviews/reviewers"), ("GET", "/api/reviews/acceptance"),
    # What is sent, and that it has arrived; what is displayed now was loaded ahead.
    ("POST", "/review/{review_id}/shown"),
    ("POST", "/api/answers"), ("POST", "/api/feedback"), ("POST", "/api/answers/{answer_id:path}/vote"),
    ("POST", "/api/reviews/{review_id}/lock"), ("POST", "/api/reviews/{review_id}/unlock"),
    ("POST", "/api/reviews/{review_id}/skip"), ("POST", "/api/reviews/{review_id}/escalate"),
    ("POST", "/api/reviews/{review_id}/opinion"), ("DELETE", "/api/reviews/{review_id}/opinion"),
    ("POST", "/api/reviews/{review_id}/undo"), ("POST", "/api/reviews/{review_id}/decision"),
    ("POST", "/api/reviews/{review_id}/withdrawal"), ("POST", "/api/answers/{answer_id:path}/withdrawal"), ("GET", "/audit"),
}  # fmt: skip
"""Routes that show nothing of what answers say."""

Note = Mapping[str, Any]


@dataclass(frozen=True)
class Asked:
    """What was shown by a route, and what was noted of it."""

    text: str
    began: datetime
    ended: datetime
    notes: list[Note]


@pytest.fixture(scope="module")
def targets(stored: list[EnrichedAnswer]) -> dict[str, str]:
    """An answer that cites a record, another that is for review, and what else names them."""
    cited, citation = next(
        (answer, citation)
        for answer in stored
        for citation in (answer.citations.citations if answer.citations else [])
        if citation.record_id
    )
    reviewed = next(answer for answer in stored if answer.decision.review)
    return {
        "answer": cited.answer_id, "tenant": cited.tenant, "citation": citation.citation_id,
        "source": citation.source_table or citation.source_type or "", "record": citation.record_id or "",
        "reviewed": reviewed.answer_id, "review": fact_id(reviewed.tenant, reviewed.answer_id, "review"),
    }  # fmt: skip


@pytest.fixture(scope="module")
def asked(
    console: ConsoleThread, addresses: Addresses, targets: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[tuple[str, str], Asked]]:
    """Every route of the table asked once, one after the other, and what stands on the topic of it."""
    request = review_request(1, tenant="noted")
    console.call(store_decision(console.resources.analytics, request, ruling="late"))
    for ruling, action, by in (("final", "approve", "anna"), ("second", "reject", "ben")):
        said = {"ruling": ruling, "action": action, "by": by}
        console.call(store_decision(console.resources.analytics, review_request(2, tenant="noted"), **said))
    access = {
        "access_id": "noted", "at": datetime.now(UTC), "who": "ben", "via": "session", "what": "source",
        "tenant": targets["tenant"], "answers": [targets["answer"]],
    }  # fmt: skip
    console.call(console.resources.analytics.insert("accesses", [access]))
    deployment = Deployment(addresses, tmp_path_factory.mktemp("notes"), name=console.settings.kafka.group_prefix)
    found: dict[tuple[str, str], Asked] = {}
    for route, (token, _, url) in SHOWN.items():
        began = datetime.now(UTC)
        body = DECISION if url.endswith("/outcome") else {} if route[0] == "POST" else None
        if url.endswith("/comparison"):
            body = CORRECTION
        if url.endswith("/remaining"):
            console.client(token).post(f"/api/reviews/{targets['review']}/skip").raise_for_status()
            began = datetime.now(UTC)
        if url.endswith("/bulk"):
            body = {"action": "approve", "review_ids": [targets["review"]]}
        answer = console.client(token).request(route[0], url.format(**targets), json=body).raise_for_status()
        assert answer.status_code == 200, route
        found[route] = Asked(answer.text, began, datetime.now(UTC), [])

    async def written() -> bool:
        rows = [orjson.loads(record.value) for record in await deployment.read(FEEDBACK_ANALYTICS)]
        notes = [row["columns"] for row in rows if row.get("table") == "accesses"]
        for each in found.values():
            each.notes[:] = [note for note in notes if each.began <= datetime.fromisoformat(note["at"]) <= each.ended]
        # The last one is written last.
        return bool(each.notes)

    console.call(until(written, "the note of the last route", 60))
    yield found
    for review in {targets["review"], *re.findall(r'"review_id":"([^"]+)', found["POST", "/api/reviews/next"].text)}:
        console.client("review").post(f"/api/reviews/{review}/unlock").raise_for_status()


@pytest.mark.parametrize("route", SHOWN, ids=" ".join)
def test_who_is_shown_what_an_answer_says_is_noted(
    asked: dict[tuple[str, str], Asked], stored: list[EnrichedAnswer], targets: dict[str, str], route: tuple[str, str]
) -> None:
    token, what, _ = SHOWN[route]
    shown = asked[route]
    assert {(note["who"], note["via"], note["what"]) for note in shown.notes} == {(token, "token", what)}
    noted = {answer_id for note in shown.notes for answer_id in note["answers"]}
    named = {
        answer.answer_id
        for answer in stored
        if re.search(rf"(?<![\w-]){re.escape(answer.answer_id)}(?![\w-])", shown.text)
    }
    assert named <= noted
    if "review_id" in route[1]:
        assert noted == {targets["reviewed"]}
    elif "{" in route[1] and "{log}" not in route[1]:
        assert targets["answer"] in noted


def test_every_route_is_known_to_show_what_answers_say_or_not_to() -> None:
    routes = {
        (method, route.path)
        for subject in SUBJECTS
        for route in subject.router.routes
        if isinstance(route, APIRoute)
        for method in route.methods
    }
    assert routes == SHOWN.keys() | NOTHING_SHOWN
    assert not SHOWN.keys() & NOTHING_SHOWN
