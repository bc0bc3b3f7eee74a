"""Review requests by number, and how they stand after a decision."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from schemas.identifiers import claim_id, fact_id
from schemas.review import ReviewRequest
from workers.review.decision_events import decided
from workers.stores.clickhouse.analytics_store import AnalyticsStore
from workers.stores.clickhouse.rows.review_rows import closing_row, decision_row, review_rows

AT = datetime(2026, 11, 2, 8, 0, tzinfo=UTC)
QUERY, ANSWER = "How much memory does Loki need?", "Loki needs 16 GiB [1]."


def review_request(number: int, **changes: Any) -> ReviewRequest:
    """A request; the higher its number (up to 99), the riskier, and the older."""
    answer_id = f"a-{number}"
    claim = {
        "claim_id": claim_id("acme", answer_id, 0, 18), "span": {"start": 0, "end": 18}, "text": "Loki needs 16 GiB",
        "kind": "factual", "verdict": "contradicted", "score": 0.1,
    }  # fmt: skip
    return ReviewRequest.model_validate(
        {
            "review_id": fact_id("acme", answer_id, "review"), "answer_id": answer_id, "tenant": "acme", "user_id": "user-17",
            "session_id": "s-1", "query": QUERY, "answer": ANSWER, "risk_mode": "gatekeeper", "held": True,
            "reasons": ["high_hallucination_risk"], "signals": ["hedging"], "hallucination_risk": "high",
            "grounding_score": 0.2, "gate_score": 0.5, "answer_metrics": {"faithfulness": 0.2}, "claims": [claim],
            "contexts": [{"number": 1, "chunk_id": "c1", "content": "Loki needs 2 GiB."}], "contexts_total": 1,
            "releasable": {
                "state": "held", "body": "Loki needs 16 GiB [1](/s/1).", "references": "\n\n---\n\n[1] Loki\n",
                "query_type": "ops", "completed_at": AT.isoformat(),
            },
            "model_id": "llama", "priority": number % 100 / 100, "rank": 4, "pipeline_version": "v",
            "evaluator_versions": {"pipeline": "v"},
            "requested_at": (AT - timedelta(minutes=number)).isoformat(),
            "deadline_at": (AT + timedelta(hours=24)).isoformat(),
        } | changes
    )  # fmt: skip


async def store_requests(store: AnalyticsStore, requests: Sequence[ReviewRequest]) -> None:
    """Write their rows, as the agents do."""
    await store.store(row for request in requests for row in review_rows(request))


async def store_decision(store: AnalyticsStore, request: ReviewRequest, *, ruling: Any = "final", **said: Any) -> None:
    """Write the rows of a decision, as the agents do."""
    values: dict[str, Any] = {"by": "first", "profile": {}, "at": AT, "action": "approve"} | said
    decision = decided(request, **values, second_review=ruling == "second")
    await store.store([decision_row(decision, ruling), *([closing_row(decision)] if ruling == "final" else [])])
