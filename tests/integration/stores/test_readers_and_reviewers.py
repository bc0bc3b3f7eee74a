"""Counts of ratings by readers and of decisions by reviewers, kept apart."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from schemas.feedback import ExplicitSignals, FeedbackEvent
from workers.feedback.observed_events import REVIEWER
from workers.settings import Settings
from workers.stores.clickhouse.analytics_store import AnalyticsStore
from workers.stores.clickhouse.rows.feedback_rows import feedback_row
from workers.stores.queries.overview_queries import OverviewStore
from workers.stores.queries.rating_queries import RatingStore

NOW = datetime(2026, 11, 2, 12, tzinfo=UTC)
AT = NOW - timedelta(hours=1)
PERIOD = (NOW - timedelta(days=1), NOW)
SAID: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "read": [("user-1", {"rating": 5})],
    "approved": [("user-1", {"review_action": "approve"})],
    "both": [("user-1", {"rating": 1}), ("user-2", {"vote": "down"}), ("user-1", {"review_action": "approve"})],
    "voted": [(f"{REVIEWER}anna", {"vote": "down"}), ("user-1", {"vote": "up"})],
    "forgotten": [],
}
"""Feedback by answer: the person, and what they said."""


@pytest.fixture
async def said(analytics: AnalyticsStore) -> AnalyticsStore:
    shared = {"tenant": "acme", "model_id": "m"}
    times = {"completed_at": AT.isoformat(), "enriched_at": AT.isoformat()}
    await analytics.insert("answers", [shared | times | {"answer_id": name, "query": name} for name in SAID])
    reward = {"explicit_reward": 0.6, "reward": 0.6, "revision": 1, "answered_at": AT.isoformat()}
    await analytics.insert("rewards", [shared | reward | {"answer_id": name} for name in SAID])
    events = [
        FeedbackEvent(
            feedback_id=f"{name}-{number}", answer_id=name, tenant="acme", kind="explicit", user_id=person,
            explicit=ExplicitSignals(**explicit), occurred_at=AT + timedelta(minutes=number),
        )
        for name, given in SAID.items()
        for number, (person, explicit) in enumerate(given)
    ]  # fmt: skip
    await analytics.store([feedback_row(event) for event in events])
    decision = {"tenant": "acme", "decided_by": "anna", "decided_at": AT.isoformat(), "decision": "{}"}
    rows = [("approved", "final", "approve"), ("both", "final", "approve"), ("voted", "vote", "downvote")]
    await analytics.insert(
        "review_decisions",
        [
            decision | {"review_id": name, "decision_id": name, "answer_id": name, "ruling": ruling, "action": action}
            for name, ruling, action in rows
        ],
    )
    return analytics


async def test_insights_know_the_people_who_rated_an_answer(said: AnalyticsStore, settings: Settings) -> None:
    rated = await RatingStore(said, settings.clickhouse.database).rated(*PERIOD, "acme", 100)
    assert sorted((answer.answer_id, answer.by, answer.reward) for answer in rated) == [
        ("approved", "reviewers", 1.0),
        ("both", "readers", pytest.approx(0.1)),
        ("both", "reviewers", 1.0),
        # The events of this answer are gone: its reward is all that is known.
        ("forgotten", "readers", 0.6),
        ("read", "readers", 0.6),
        ("voted", "readers", 1.0),
        ("voted", "reviewers", 0.0),
    ]


async def test_the_overview_counts_feedback_of_readers_alone(said: AnalyticsStore, settings: Settings) -> None:
    found = await OverviewStore(said, settings.clickhouse.database).overview(["acme"], *PERIOD, {})
    ((reward, number),) = [(row["reward"], row["rewarded"]) for row in found.models]
    assert (reward, number) == (pytest.approx(0.6), len({"read", "forgotten"}))
