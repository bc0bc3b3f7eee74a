"""Marks of decisions count for 15 minutes, also while Redis is away."""

from datetime import UTC, datetime, timedelta

from workers.review.queue.locks import MARK_SECONDS, DecisionMark, ReviewLocks
from workers.review.queue.shared_state import SharedState
from workers.settings import RedisSettings
from workers.stores.redis.client import open_redis

NOW = datetime(2026, 11, 3, tzinfo=UTC)
NOBODY_LISTENS = "redis://127.0.0.1:1/0"


async def test_a_mark_of_a_decision_is_forgotten_after_its_time_and_not_before() -> None:
    redis = open_redis(NOBODY_LISTENS, RedisSettings())
    locks = ReviewLocks(SharedState(redis, "test:"), 60)
    try:
        for name, seconds in (("first", 0), ("second", 1), ("last", MARK_SECONDS + 1)):
            await locks.mark(name, DecisionMark(f"decision-{name}", "ann", NOW + timedelta(seconds=seconds)))
        assert sorted(await locks.recent()) == ["last", "second"]
    finally:
        await redis.aclose()
