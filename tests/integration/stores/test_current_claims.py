"""Claims of an earlier evaluation, whose rows stay, are shown nowhere beside those of the later one."""

from datetime import UTC, datetime, timedelta
from typing import Any

from schemas.export import example
from schemas.feedback import AnalyticsRow
from workers.settings import Settings
from workers.stores.clickhouse.analytics_store import AnalyticsStore
from workers.stores.queries.answer_queries import AnswerStore
from workers.stores.queries.overview_queries import OverviewStore
from workers.stores.queries.reviews.review_queries import ReviewStore

AT = datetime(2026, 11, 2, 10, tzinfo=UTC)
ROW: dict[str, Any] = AnalyticsRow.model_validate(example(AnalyticsRow)).columns
SHARED = {"tenant": "acme", "answer_id": "a", "run": "live", "completed_at": AT.isoformat(), "rank": 4}


def claim(name: str, version: str) -> dict[str, Any]:
    return SHARED | {
        "claim_id": name, "pipeline_version": version, "start": 0, "end": 1, "text": name, "kind": "fact",
        "hedged": False, "verdict": "unsupported", "cited_unsupported": [1],
    }  # fmt: skip


async def test_claims_are_those_of_the_last_evaluation(analytics: AnalyticsStore, settings: Settings) -> None:
    database = settings.clickhouse.database
    await analytics.insert("claims", [claim("earlier", "v1"), claim("later", "v2")])
    reviews = ReviewStore(analytics, database)
    shown = await reviews.claims("acme", "a", AT, ROW["answer"])
    assert len(shown) == 2, "without the row of the answer the version is not known"
    for version in ("v1", "v2"):
        await analytics.insert("answers", [ROW | SHARED | {"pipeline_version": version, "enriched_at": AT.isoformat()}])
    citation = {"citation_id": "c", "pipeline_version": "v2", "valid": True, "number": 1, "source_name": "Handbook"}
    await analytics.insert("citations", [SHARED | citation])
    answer = await AnswerStore(analytics, database).answer(["acme"], "a")
    assert answer is not None
    assert [row["claim_id"] for row in answer.claims] == ["later"]
    assert [row["claim_id"] for row in await reviews.claims("acme", "a", AT, ROW["answer"])] == ["later"]
    found = await OverviewStore(analytics, database).overview([], AT - timedelta(hours=1), AT + timedelta(hours=1), {})
    assert [(row["name"], row["unsupported"]) for row in found.sources] == [("Handbook", 1)]
