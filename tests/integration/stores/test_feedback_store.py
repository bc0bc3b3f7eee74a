"""Feedback that is noted is found again, as far as the fold looks at it."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from clickhouse_connect.driver.asyncclient import AsyncClient

from schemas.feedback import FeedbackEvent
from workers.feedback.rewards import combine
from workers.settings import Settings
from workers.stores.clickhouse.analytics_store import AnalyticsStore
from workers.stores.queries.feedback_store import FeedbackStore

AT = datetime(2026, 11, 2, 8, 0, tzinfo=UTC)
PARTS: list[tuple[str, dict[str, Any]]] = [
    ("execution", {"status": "success", "latency_seconds": 3.0}),
    ("execution", {"status": "error"}),
    ("explicit", {"rating": 2}),
    ("explicit", {"vote": "up"}),
    ("explicit", {"review_action": "correct"}),
    ("behaviour", {"time_spent_seconds": 12.0}),
    ("behaviour", {"response_copied": True}),
]


@pytest.fixture
def client(migrated_client: AsyncClient) -> AsyncClient:
    return migrated_client


def some_events(answer_id: str, count: int, chance: random.Random) -> list[FeedbackEvent]:
    """Of all kinds; times and identifiers are few, so that revisions and equal times occur."""
    events = {}
    for _ in range(count):
        kind, part = chance.choice(PARTS)
        event = FeedbackEvent.model_validate(
            {"feedback_id": f"{kind}-{chance.randrange(9)}", "answer_id": answer_id, "kind": kind, kind: part,
             "user_id": f"u{chance.randrange(3)}", "occurred_at": AT + timedelta(minutes=chance.randrange(6))}
        )  # fmt: skip
        events[event.feedback_id, event.occurred_at] = event
    return list(events.values())


async def test_what_is_read_folds_like_all_that_is_noted_at_and_beyond_the_bound(
    client: AsyncClient, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("workers.feedback.rewards", "workers.stores.queries.feedback_store"):
        monkeypatch.setattr(f"{module}.EVENTS_OF_A_KIND", 4)
    store = FeedbackStore(AnalyticsStore(client, settings.clickhouse.database), settings.clickhouse.database)
    chance = random.Random(6)
    by_answer = {f"a-{number}": some_events(f"a-{number}", number * number, chance) for number in range(1, 9)}
    for _ in range(2):  # a repeat leaves as many rows until some merge, and counts once
        await store.note([event for events in by_answer.values() for event in events])
    stored = await store.known([("default", name) for name in (*by_answer, "nobody's")] + [("acme", "a-1")])
    known = {answer_id: found for (_, answer_id), found in stored.items()}
    assert stored.keys() == {("default", name) for name in by_answer}
    for answer_id, events in by_answer.items():
        found = known[answer_id]
        assert found.noted == len(events)
        assert len(found.events) <= 4 * len({"execution", "review", "explicit", "behaviour"})
        assert combine(found.events, found.noted) == combine(events), answer_id
    assert len(by_answer["a-8"]) > len(known["a-8"].events), "the bound was reached"
