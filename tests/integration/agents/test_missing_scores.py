"""Missing scores and ratings: no aggregation counts them as 0 or as good.

Each figure over rated and evaluated answers is compared with the figure over the same answers among others
that nobody rated and that no evaluator could evaluate. Only counts of answers may differ.
"""

from datetime import UTC, datetime
from typing import Any

import pytest

from schemas.export import example
from schemas.feedback import AnalyticsRow
from schemas.review import ReviewDecision
from tests.harness.named_queries import ask_named
from workers.comparison.tallies import MEASURES
from workers.settings import Settings
from workers.stores.clickhouse.analytics_store import AnalyticsStore
from workers.stores.clickhouse.named_queries import read_queries
from workers.stores.clickhouse.rollups import refresh_rollups
from workers.stores.clickhouse.rows.review_rows import decision_row
from workers.stores.queries.feedback_store import FeedbackStore
from workers.stores.queries.overview_queries import OverviewStore
from workers.stores.queries.rating_queries import RatingStore
from workers.stores.queries.runs.comparison_queries import ComparisonStore, Wanted

ROW: dict[str, Any] = AnalyticsRow.model_validate(example(AnalyticsRow)).columns
SCORES = (
    "hallucination_risk", "risk_score", "grounding_score", "context_similarity", "facts_verified", "citation_coverage",
    "citations_valid", "quality_score", "passes_validation", "validation_score", "gate_score", "faithfulness",
    "relevance", "correctness", "coverage", "consistency", "freshness", "traceability",
)  # fmt: skip
SINCE, UNTIL = datetime(2026, 11, 2, tzinfo=UTC), datetime(2026, 11, 3, tzinfo=UTC)
AT = "2026-11-02T10:05:00Z"
RATINGS = {"rated-1": 1.0, "rated-2": 0.25, "rated-3": 0.75}
EVALUATED = {
    name: ROW | {
        "answer_id": name, "tenant": "acme", "completed_at": AT, "enriched_at": AT, "rank": 4, "run": "live",
        "model_id": "small", "state": "held" if high else "released", "grounding_score": 0.3 if high else 0.9,
        "quality_score": 0.5, "gate_score": 0.5, "risk_score": 0.75 if high else 0.25, "validation_score": 0.5,
        "hallucination_risk": "high" if high else "low", "passes_validation": not high, "citations_valid": not high,
        "citation_coverage": 0.5, "relevance": 0.5, "source_names": ["Handbook"], "source_citations": [1],
        "source_supported": [0 if high else 1], "source_contradicted": [1 if high else 0], "source_unsupported": [0],
    }
    for name, high in (("rated-1", False), ("rated-2", True), ("rated-3", False))
}  # fmt: skip
UNEVALUATED = [
    EVALUATED["rated-1"] | dict.fromkeys(SCORES) | {
        "answer_id": f"unrated-{number}", "claims_total": 0, "claims_supported": 0, "claims_contradicted": 0,
        "claims_unsupported": 0, "source_supported": [0], "latency_seconds": None, "grounding_seconds": None,
        "quality_seconds": None, "citations_seconds": None, "signals": [], "issues": [], "reasons": [],
        "invalid_references": [], "citations_total": 0, "source_citations": [0],
    }
    for number in (1, 2)
]  # fmt: skip

COUNTS = {
    "answers", "answers_before", "released", "sent_to_review", "not_judged", "review_share", "failed_share",
    "retry_share", "reward", "half_interval", "reward_low", "reward_high", "implicit_reward",
}  # fmt: skip
"""Columns that count all answers, or that the outcome of a call is a part of."""

COUNTED_SHARES = {"failure_signals": {"share"}}
"""Shares of all answers, by query."""


@pytest.fixture
def refreshed_figures() -> bool:
    return True


def reward(answer_id: str, explicit: float | None) -> dict[str, Any]:
    """A reward; without a rating it is that of the call's outcome alone."""
    return {
        "reward_id": f"r-{answer_id}", "answer_id": answer_id, "tenant": "acme", "model_id": "small", "revision": 1,
        "reward": 1.0 if explicit is None else explicit, "explicit_reward": explicit, "implicit_reward": 1.0,
        "error_occurred": False, "retry_detected": False, "answered_at": AT, "computed_at": AT,
        "satisfaction": None if explicit is None else 0.5,
    }  # fmt: skip


async def plant(analytics: AnalyticsStore) -> None:
    """Store the answers that are rated and evaluated."""
    await analytics.insert("answers", list(EVALUATED.values()))
    await analytics.insert("rewards", [reward(name, explicit) for name, explicit in RATINGS.items()])


async def add_missing(analytics: AnalyticsStore) -> None:
    """Store answers that nobody rated and nothing could evaluate."""
    await analytics.insert("answers", UNEVALUATED)
    await analytics.insert("rewards", [reward(row["answer_id"], None) for row in UNEVALUATED])


def same_answers(rows: list[dict[str, Any]], counts: set[str]) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name not in counts} for row in rows]


async def test_named_queries_take_no_missing_score_for_a_score(analytics: AnalyticsStore, settings: Settings) -> None:
    database = settings.clickhouse.database
    given = {"from": SINCE.replace(tzinfo=None), "to": UNTIL.replace(tzinfo=None), "below": 0.6, "interval": 86_400}
    found: list[dict[str, list[dict[str, Any]]]] = []
    for store in (plant, add_missing):
        await store(analytics)
        await refresh_rollups(analytics.client, database)
        answered = {name: await ask_named(analytics.client, database, name, given) for name in read_queries()}
        found.append(
            {name: same_answers(rows, COUNTS | COUNTED_SHARES.get(name, set())) for name, rows in answered.items()}
        )
    before, after = found
    assert {name: rows for name, rows in after.items() if rows != before[name]} == {}
    assert before["quality_by"], "the queries found the answers"
    assert before["retry_and_satisfaction"][0]["explicit_reward"] == pytest.approx(2 / 3)


async def test_insights_are_about_rated_answers_alone(analytics: AnalyticsStore, settings: Settings) -> None:
    await plant(analytics)
    await add_missing(analytics)
    rated = await RatingStore(analytics, settings.clickhouse.database).rated(SINCE, UNTIL, "", 100)
    assert {answer.answer_id: answer.reward for answer in rated} == RATINGS
    assert [answer.is_bad for answer in rated] == [False, True, False]


async def test_the_overview_takes_no_missing_score_for_a_score(analytics: AnalyticsStore, settings: Settings) -> None:
    store = OverviewStore(analytics, settings.clickhouse.database)
    counts = {"answers", "rewarded", "without_risk"}
    await plant(analytics)
    before = await store.overview([], SINCE, UNTIL, {})
    await add_missing(analytics)
    after = await store.overview([], SINCE, UNTIL, {})
    for one, other in ((before.series, after.series), ([before.totals], [after.totals]), (before.models, after.models)):
        assert same_answers(one, counts) == same_answers(other, counts)
    assert after.models[0]["rewarded"] == len(RATINGS)


async def test_posteriors_weigh_each_reward_once_and_no_missing_one(
    analytics: AnalyticsStore, settings: Settings
) -> None:
    await plant(analytics)
    await analytics.insert("answers", UNEVALUATED)  # answers without any reward
    (found,) = await FeedbackStore(analytics, settings.clickhouse.database).weighted_rewards(UNTIL, 10_000.0)
    assert (found.successes, found.failures) == pytest.approx((2.0, 1.0), abs=0.01)


async def test_a_comparison_asks_rated_answers_alone_who_was_right(
    analytics: AnalyticsStore, settings: Settings
) -> None:
    await plant(analytics)
    other = [row | {"run": "b", "state": "released"} for row in [*EVALUATED.values(), *UNEVALUATED]]
    await analytics.insert("answers", [row for row in other if row["answer_id"] in EVALUATED])
    store = ComparisonStore(analytics, settings.clickhouse.database)
    before = await store.compare(Wanted("live", "b"))
    await add_missing(analytics)
    await analytics.insert("answers", other)
    after = await store.compare(Wanted("live", "b"))
    assert (before.pairs, after.pairs) == (3, 5)
    assert after.agreements == before.agreements
    (ratings,) = [each for each in after.agreements if each.of == "ratings"]
    assert (ratings.both, ratings.only_a, ratings.only_b, ratings.neither) == (2, 1, 0, 0)
    places = [MEASURES.index(name) for name in ("grounding_score", "quality_score", "high_risk", "citations_valid")]
    for part in ("known", "a", "b", "difference", "up", "down"):
        sums = [found.overall.part(part).sum(axis=0)[places].tolist() for found in (before, after)]
        assert sums[1] == pytest.approx(sums[0])
    assert after.distributions.tolist() == before.distributions.tolist()


async def test_the_overview_counts_answers_shown_without_an_evaluation_of_their_grounding(
    analytics: AnalyticsStore, settings: Settings
) -> None:
    """Failed and missing reports count alike; a held answer is not shown."""
    await plant(analytics)
    shown = [
        UNEVALUATED[0] | {"answer_id": f"unseen-{state}", "state": state, "missing": ["grounding"], "degraded": True}
        for state in ("warned", "released", "held", "fallback")
    ]
    await analytics.insert("answers", shown)
    store = OverviewStore(analytics, settings.clickhouse.database)
    found = await store.overview([], SINCE, UNTIL, {})
    assert found.totals["unevaluated"] == 2


async def test_a_decision_is_no_rating_of_readers_also_if_it_was_withdrawn(
    analytics: AnalyticsStore, settings: Settings
) -> None:
    """The reward of a reviewed answer holds the decision."""
    await plant(analytics)
    await analytics.insert("answers", [row | {"run": "b", "state": "released"} for row in EVALUATED.values()])
    approved = ReviewDecision.model_validate(
        example(ReviewDecision) | {"tenant": "acme", "answer_id": "rated-1", "user_action": "approve"}
    )
    withdrawn = approved.model_copy(
        update={"feedback_id": "withdrawal", "user_action": "reject", "withdraws": approved.feedback_id}
    )
    await analytics.store([decision_row(approved, "final"), decision_row(withdrawn, "withdrawal")])
    found = await ComparisonStore(analytics, settings.clickhouse.database).compare(Wanted("live", "b"))
    counted = {each.of: (each.both, each.only_a, each.only_b, each.neither) for each in found.agreements}
    assert (counted["decisions"], counted["ratings"]) == ((0, 0, 0, 0), (1, 1, 0, 0))
