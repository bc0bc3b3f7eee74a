"""ClickHouse: how many reviews are open and how long the oldest has waited."""

from workers.stores.analytics import AnalyticsStore
from workers.stores.feedback import ask

# Only the partitions of the last weeks are read: what is older is on no topic any more either.
OPEN_REVIEWS = """
SELECT count(), greatest(0, max(dateDiff('second', requested_at, now64(3, 'UTC'))))
FROM {database}.reviews FINAL
WHERE decided_at IS NULL AND completed_at > now() - INTERVAL 35 DAY
"""


async def open_reviews(analytics: AnalyticsStore, database: str) -> tuple[int, float]:
    """Reviews without a decision.

    Returns:
        How many, and the age of the oldest in seconds, 0 where there is none.

    Raises:
        StoreUnavailable: ClickHouse does not answer.
    """
    ((count, oldest),) = await ask(analytics, OPEN_REVIEWS.format(database=database), {})
    return int(count), float(oldest or 0)
