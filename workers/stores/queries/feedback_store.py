"""Store feedback events in ClickHouse and find those of an answer."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from schemas.feedback import QUERY_FEATURES, FeedbackEvent
from workers.feedback.beta_posterior import WeightedRewards
from workers.feedback.contextual_reward import WeightedMoments
from workers.feedback.rewards import EVENTS_OF_A_KIND
from workers.stores.clickhouse.analytics_store import AnalyticsStore
from workers.stores.clickhouse.row_reading import ask, without_zone
from workers.stores.clickhouse.rows.feedback_rows import feedback_row

# The same bound and order as in workers.feedback.rewards. The count includes all events.
KNOWN = """
SELECT tenant, answer_id, noted, event
FROM (
    SELECT tenant, answer_id, event, feedback_id,
           if(review_action IS NULL, toString(kind), 'review') AS class,
           class IN ('execution', 'review') AS first_counts,
           toUnixTimestamp64Micro(occurred_at) * if(first_counts, 1, -1) AS place,
           count() OVER (PARTITION BY tenant, answer_id) AS noted
    FROM {database}.{table} FINAL
    WHERE tenant IN {{tenants:Array(String)}} AND answer_id IN {{answers:Array(String)}}
)
ORDER BY tenant, answer_id, class, place, if(first_counts, feedback_id, ''), feedback_id DESC
LIMIT {limit} BY tenant, answer_id, class
"""

# The constant and the features of a query, and the product of each with itself and with those after it.
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
"""Number of answers whose events are read at once. With the limit of each, at most 20,000 events are in memory."""

# Ages in seconds; beyond 20 half-lives a reward weighs less than a millionth.
WEIGHT = """exp2(-greatest(0, toUnixTimestamp64Milli({now:DateTime64(3, 'UTC')}) - toUnixTimestamp64Milli(answered_at))
    / 1000 / {half_life:Float64})"""
SINCE = "{now:DateTime64(3, 'UTC')} - toIntervalSecond(toInt64(20 * {half_life:Float64}))"
COUNTED = f"model_id != 'unknown' AND answered_at > {SINCE}"
# Hours are summed by a view every minute. Only hours that have changed since its last run are summed here; the two
# minutes are for rows that were on their way then. The list of changed hours is a scalar, so it is made once: read
# twice, an hour that changes in between would count twice or not at all. Every reward has the age of the middle of its
# hour. The rounding hides the order of additions, which varies.
WEIGHTED = """
WITH (
    SELECT groupUniqArray((tenant::String, hour)) FROM {database}.reward_facts
    WHERE inserted_at > (SELECT max(computed_at) FROM {database}.reward_hours) - toIntervalMinute(2) AND hour > {since}
) AS changed
SELECT tenant, model_id, query_type, round(sum(weight * rewards), 9) AS successes,
       round(sum(weight * (answers - rewards)), 9) AS failures
FROM (
    SELECT tenant, model_id, query_type, hour, answers, reward_sum AS rewards FROM {database}.reward_hours FINAL
    WHERE hour > {since} AND (tenant, hour) NOT IN changed
    UNION ALL
    SELECT tenant, model_id, query_type, hour, countIf(counts) AS answers, sumIf(reward, counts) AS rewards
    FROM {database}.reward_facts FINAL
    WHERE (tenant, hour) IN (SELECT one.1, one.2 FROM (SELECT arrayJoin(changed) AS one))
    GROUP BY tenant, model_id, query_type, hour
)
ARRAY JOIN [exp2(-greatest(0, (toUnixTimestamp64Milli({{now:DateTime64(3, 'UTC')}}) / 1000 - toUnixTimestamp(hour) - 1800)
    / {{half_life:Float64}}))] AS weight
WHERE model_id != 'unknown'
GROUP BY tenant, model_id, query_type
HAVING sum(answers) > 0
ORDER BY tenant, model_id, query_type
"""


@dataclass(frozen=True, slots=True)
class KnownFeedback:
    """Stored feedback on an answer.

    Attributes:
        events: events within the limit of each kind, in no order.
        noted: number of events, including those beyond the limit.
    """

    events: list[FeedbackEvent]
    noted: int


class FeedbackStore:
    """Store of feedback events.

    Args:
        analytics: connected store.
        database: name of the database with the table.
        table: table that events are read from.
    """

    def __init__(self, analytics: AnalyticsStore, database: str, table: str = "feedback") -> None:
        self._analytics = analytics
        self._known = KNOWN.format(database=database, table=table, limit=EVENTS_OF_A_KIND)
        self._weighted = WEIGHTED.format(database=database, since=SINCE)
        self._moments = MOMENTS.format(database=database, weight=WEIGHT, counted=COUNTED, features=QUERY_FEATURES)

    async def note(self, events: Sequence[FeedbackEvent]) -> None:
        """Store events. A repeated event counts once.

        Raises:
            RejectedByStore: ClickHouse refused the values.
            StoreUnavailable: ClickHouse did not acknowledge.
        """
        await self._analytics.store(map(feedback_row, events))

    async def known(self, answers: Sequence[tuple[str, str]]) -> dict[tuple[str, str], KnownFeedback]:
        """Return the feedback of at most ``ANSWERS_AT_ONCE`` answers, given by tenant and identifier.

        Answers without feedback are left out.

        Raises:
            StoreUnavailable: ClickHouse does not respond.
        """
        tenants, answer_ids = (sorted(set(names)) for names in zip(*answers, strict=True)) if answers else ([], [])
        rows = await ask(self._analytics, self._known, {"tenants": tenants, "answers": answer_ids})
        known = await asyncio.to_thread(_known, rows)
        return {answer: known[answer] for answer in answers if answer in known}

    async def weighted_rewards(self, now: datetime, half_life_days: float) -> list[WeightedRewards]:
        """Sum rewards by tenant, model and query type. Old rewards weigh less.

        The rows that are read are sums by hour, and the facts of hours that have changed within some minutes. Their
        number does not grow with the number of rewards of earlier hours.

        Args:
            now: time from which ages count.
            half_life_days: age at which a reward counts half.

        Raises:
            StoreUnavailable: ClickHouse does not respond.
        """
        rows = await ask(self._analytics, self._weighted, _ages(now, half_life_days))
        return [WeightedRewards(*row) for row in rows]

    async def weighted_moments(self, now: datetime, half_life_days: float) -> list[WeightedMoments]:
        """Sum the rewards of embedded queries, with the moments of the query features.

        Args:
            now: time from which ages count.
            half_life_days: age at which a reward counts half.

        Raises:
            StoreUnavailable: ClickHouse does not respond.
        """
        rows = await ask(self._analytics, self._moments, _ages(now, half_life_days))
        return [WeightedMoments(*row) for row in rows]


def _ages(now: datetime, half_life_days: float) -> dict[str, Any]:
    return {"now": without_zone(now), "half_life": half_life_days * 86_400}


def _known(rows: Sequence[Sequence[Any]]) -> dict[tuple[str, str], KnownFeedback]:
    found: dict[tuple[str, str], KnownFeedback] = {}
    for tenant, answer_id, noted, event in rows:
        known = found.setdefault((tenant, answer_id), KnownFeedback([], noted))
        known.events.append(FeedbackEvent.model_validate_json(event))
    return found
