"""Only a request that is not decided has a reader who waits: a second opinion has none."""

from datetime import UTC, datetime

import pytest

from schemas.identifiers import fact_id
from tests.harness.console import ConsoleThread
from tests.harness.held_answers import held, risky
from tests.harness.reviews import store_decision
from workers.decision.release_events import review_request
from workers.settings.sections.release import ReviewTarget

TENANT = "waited-for"


def shown(console: ConsoleThread, address: str) -> str:
    response = console.client().get(address, headers={"Accept": "text/html"})
    assert response.status_code == 200
    return response.text.lower()


def test_a_second_opinion_names_no_waiting_reader(console: ConsoleThread, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(console.settings.review.tenants, TENANT, ReviewTarget(second_share=1.0, reviews=2))
    (answer,) = held(console, TENANT, 1)
    review = f"/review/{fact_id(TENANT, answer.answer_id, 'review')}"
    assert "a reader waits" in shown(console, review)
    assert "reader waits" in shown(console, f"/queue?tenant={TENANT}")
    request = review_request(answer, answer.enriched_at, deadline_hours=24)
    assert request is not None
    decision = {"by": "anna", "at": datetime.now(UTC), "action": "reject"}
    console.call(store_decision(console.resources.analytics, request, **decision))
    second = shown(console, review)
    assert "readers have what was decided" in second
    assert "reader waits" not in second
    queue = shown(console, f"/queue?state=second&tenant={TENANT}")
    assert answer.answer_id in queue or "how much memory" in queue
    assert "reader waits" not in queue


def test_only_a_held_and_open_request_names_a_waiting_reader(console: ConsoleThread) -> None:
    decided, released = console.store(
        risky(number, "waited-no-more").model_copy(update={"risk_mode": mode})
        for number, mode in enumerate(("gatekeeper", "observer"))
    )
    pages = [f"/review/{fact_id(each.tenant, each.answer_id, 'review')}" for each in (decided, released)]
    assert ["a reader waits" in shown(console, page) for page in pages] == [True, False]
    assert shown(console, "/queue?tenant=waited-no-more").count("reader waits") == 1
    request = review_request(decided, decided.enriched_at, deadline_hours=24)
    assert request is not None
    console.call(store_decision(console.resources.analytics, request, by="anna", action="reject"))
    assert "a reader waits" not in shown(console, pages[0])
