"""Feedback in ClickHouse: every event noted, all of one answer found again."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from clickhouse_connect.driver.exceptions import Error

from schemas.feedback import QUERY_FEATURES, FeedbackEvent
from workers.delivery.errors import StoreUnavailable
from workers.steps.contextual import WeightedMoments
from workers.steps.posteriors import WeightedRewards
from workers.steps.rewards import EVENTS_OF_A_KIND
from workers.stores.analytics import AnalyticsStore

# The bound of workers.steps.rewards, by the same order; the count is that of all events.
KNOWN = """
SELECT answer_id, noted, event
FROM (
    SELECT answer_id, event, feedback_id,
           if(review_action IS NULL, toString(kind), 'review') AS class,
           class IN ('execution', 'review') AS first_counts,
           toUnixTimestamp64Micro(occurred_at) * if(first_counts, 1, -1) AS place,
           count() OVER (PARTITION BY answer_id) AS noted
    FROM {database}.{table} FINAL
    WHERE answer_id IN {{answers:Array(String)}}
)
ORDER BY answer_id, class, place, if(first_counts, feedback_id, ''), feedback_id DESC
LIMIT {limit} BY answer_id, class
"""

# Of a query the constant and its features, and of these the products of each with itself and those behind it.
MOMENTS = """
SELECT tenant, model_id, query_type, sumForEach(arrayMap(product -> weight * product, products)),
       sumForEach(arrayMap(term -> weight * term * difference, terms)), sum(weight * difference * difference), sum(weight)
FROM (
    SELECT tenant, model_id, query_type, reward - 0.5 AS difference, {weight} AS weight,
           arrayConcat([1.], query_features) AS terms,
           arrayFlatten(arrayMap((one, place) -> arrayMap(other -> one * other, arraySlice(terms, place)),
                                 terms, arrayEnumerate(terms))) AS products
    FROM {database}.rewards FINAL
    WHERE length(query_features) = {features} AND {counted}
)
GROUP BY tenant, model_id, query_type
"""

ANSWERS_AT_ONCE = 20
"""Answers whose events are read at once: with their bound, 20,000 events in memory at most."""

# Ages in seconds; beyond 20 half-lives a reward weighs less than a millionth.
WEIGHT = """exp2(-greatest(0, toUnixTimestamp64Milli({now:DateTime64(3, 'UTC')}) - toUnixTimestamp64Milli(answered_at))
    / 1000 / {half_life:Float64})"""
COUNTED = """model_id != 'unknown'
    AND answered_at > {now:DateTime64(3, 'UTC')} - toIntervalSecond(toInt64(20 * {half_life:Float64}))"""
WEIGHTED = """
SELECT tenant, model_id, query_type, sum(weight * reward), sum(weight * (1 - reward))
FROM (
    SELECT tenant, model_id, query_type, reward, {weight} AS weight FROM {database}.rewards FINAL WHERE {counted}
)
GROUP BY tenant, model_id, query_type
ORDER BY tenant, model_id, query_type
"""


@dataclass(frozen=True, slots=True)
class KnownFeedback:
    """What is noted of an answer.

    Attributes:
        events: within the bound of each kind, in no order.
        noted: how many there are, with those beyond the bound.
    """

    events: list[FeedbackEvent]
    noted: int


class FeedbackStore:
    """Notes feedback events and reads what is noted.

    Args:
        analytics: connected store.
        database: where the table is.
        table: where noted events are read from.
    """

    def __init__(self, analytics: AnalyticsStore, database: str, table: str = "feedback") -> None:
        self._analytics = analytics
        self._known = KNOWN.format(database=database, table=table, limit=EVENTS_OF_A_KIND)
        parts = {"database": database, "weight": WEIGHT, "counted": COUNTED}
        self._weighted = WEIGHTED.format(**parts)
        self._moments = MOMENTS.format(**parts, features=QUERY_FEATURES)

    async def note(self, events: Sequence[FeedbackEvent]) -> None:
        """Note events; one that is noted already stays one.

        Raises:
            RejectedByStore: ClickHouse refuses the values.
            StoreUnavailable: it did not confirm.
        """
        await self._analytics.insert("feedback", [feedback_row(event) for event in events])

    async def known(self, answer_ids: Sequence[str]) -> dict[str, KnownFeedback]:
        """What is noted of some answers, at most ``ANSWERS_AT_ONCE``; without those of which nothing is.

        Raises:
            StoreUnavailable: ClickHouse does not answer.
        """
        rows = await ask(self._analytics, self._known, {"answers": list(answer_ids)})
        return await asyncio.to_thread(_known, rows)

    async def weighted_rewards(self, now: datetime, half_life_days: float) -> list[WeightedRewards]:
        """Sums of rewards for each tenant, model and query type; old ones weigh less.

        Args:
            now: ages count from here.
            half_life_days: age at which a reward counts half.

        Raises:
            StoreUnavailable: ClickHouse does not answer.
        """
        rows = await ask(self._analytics, self._weighted, _ages(now, half_life_days))
        return [WeightedRewards(*row) for row in rows]

    async def weighted_moments(self, now: datetime, half_life_days: float) -> list[WeightedMoments]:
        """The same of rewards whose query was embedded, with what their queries were like.

        Args:
            now: ages count from here.
            half_life_days: age at which a reward counts half.

        Raises:
            StoreUnavailable: ClickHouse does not answer.
        """
        rows = await ask(self._analytics, self._moments, _ages(now, half_life_days))
        return [WeightedMoments(*row) for row in rows]


def feedback_row(event: FeedbackEvent) -> dict[str, Any]:
    """The columns of an event."""
    return {
        "answer_id": event.answer_id,
        "feedback_id": event.feedback_id,
        "occurred_at": event.occurred_at.isoformat(),
        "tenant": event.tenant,
        "kind": event.kind,
        "user_id": event.user_id or "",
        "session_id": event.session_id or "",
        "event": event.to_bytes().decode(),
    }


def _ages(now: datetime, half_life_days: float) -> dict[str, Any]:
    return {"now": without_zone(now), "half_life": half_life_days * 86_400}


def _known(rows: Sequence[Sequence[Any]]) -> dict[str, KnownFeedback]:
    found: dict[str, KnownFeedback] = {}
    for answer_id, noted, event in rows:
        known = found.setdefault(answer_id, KnownFeedback([], noted))
        known.events.append(FeedbackEvent.model_validate_json(event))
    return found


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
