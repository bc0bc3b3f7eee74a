"""Feedback in ClickHouse: every event noted, all of one answer found again."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from clickhouse_connect.driver.exceptions import Error

from schemas.feedback import FeedbackEvent
from workers.delivery.errors import StoreUnavailable
from workers.steps.posteriors import WeightedRewards
from workers.stores.analytics import AnalyticsStore

KNOWN = "SELECT answer_id, event FROM {database}.feedback WHERE answer_id IN {{answers:Array(String)}}"


# Ages in seconds; beyond 20 half-lives a reward weighs less than a millionth.
WEIGHTED = """
SELECT tenant, model_id, query_type, sum(weight * reward), sum(weight * (1 - reward))
FROM (
    SELECT tenant, model_id, query_type, reward,
           exp2(-greatest(0, toUnixTimestamp64Milli({{now:DateTime64(3, 'UTC')}}) - toUnixTimestamp64Milli(answered_at))
                / 1000 / {{half_life:Float64}}) AS weight
    FROM {database}.rewards FINAL
    WHERE model_id != 'unknown'
      AND answered_at > {{now:DateTime64(3, 'UTC')}} - toIntervalSecond(toInt64(20 * {{half_life:Float64}}))
)
GROUP BY tenant, model_id, query_type
ORDER BY tenant, model_id, query_type
"""


class FeedbackStore:
    """Notes feedback events and reads what is noted.

    Args:
        analytics: connected store.
        database: where the table is.
    """

    def __init__(self, analytics: AnalyticsStore, database: str) -> None:
        self._analytics = analytics
        self._known = KNOWN.format(database=database)
        self._weighted = WEIGHTED.format(database=database)

    async def note(self, events: Sequence[FeedbackEvent]) -> None:
        """Note events; one that is noted already stays one.

        Raises:
            RejectedByStore: ClickHouse refuses the values.
            StoreUnavailable: it did not confirm.
        """
        rows = [
            {
                "answer_id": event.answer_id,
                "feedback_id": event.feedback_id,
                "occurred_at": event.occurred_at.isoformat(),
                "tenant": event.tenant,
                "kind": event.kind,
                "user_id": event.user_id or "",
                "session_id": event.session_id or "",
                "event": event.to_bytes().decode(),
            }
            for event in events
        ]
        await self._analytics.insert("feedback", rows)

    async def known(self, answer_ids: Sequence[str]) -> dict[str, list[FeedbackEvent]]:
        """All events that are noted of some answers, in no order, by answer.

        Raises:
            StoreUnavailable: ClickHouse does not answer.
        """
        if not answer_ids:
            return {}
        events: dict[str, list[FeedbackEvent]] = defaultdict(list)
        for answer_id, event in await ask(self._analytics, self._known, {"answers": list(answer_ids)}):
            events[answer_id].append(FeedbackEvent.model_validate_json(event))
        return events

    async def weighted_rewards(self, now: datetime, half_life_days: float) -> list[WeightedRewards]:
        """Sums of rewards for each tenant, model and query type; old ones weigh less.

        Args:
            now: ages count from here.
            half_life_days: age at which a reward counts half.

        Raises:
            StoreUnavailable: ClickHouse does not answer.
        """
        parameters = {"now": without_zone(now), "half_life": half_life_days * 86_400}
        return [WeightedRewards(*row) for row in await ask(self._analytics, self._weighted, parameters)]


async def ask(analytics: AnalyticsStore, sql: str, parameters: dict[str, Any]) -> Sequence[Sequence[Any]]:
    """Rows that answer a question about feedback.

    Raises:
        StoreUnavailable: ClickHouse does not answer.
    """
    try:
        result = await analytics.client.query(sql, parameters=parameters)
    except (Error, OSError, TimeoutError, asyncio.IncompleteReadError) as error:
        raise StoreUnavailable(f"ClickHouse did not answer about feedback ({type(error).__name__})") from error
    rows: Sequence[Sequence[Any]] = result.result_rows
    return rows


def without_zone(time: datetime) -> datetime:
    """UTC without its zone, which the client would turn into the server's."""
    return time.astimezone(UTC).replace(tzinfo=None)
