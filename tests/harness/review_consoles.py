"""Consoles of the review queue on real stores, and what they have published."""

import asyncio
import signal
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from redis.asyncio import Redis

from schemas.review import ReviewDecision, ReviewEvent
from schemas.topics import REVIEW_DECISIONS, REVIEW_EVENTS, Topic
from tests.harness.deployment import until
from tests.harness.reviews import AT
from workers.review.queue.shared_state import SharedStateAway
from workers.review.review_models import DecisionBody, Reviewer
from workers.review.review_service import ReviewService
from workers.stores.clickhouse.analytics_store import AnalyticsStore
from workers.stores.clickhouse.rows.review_rows import review_event_row

ANNA, BEN = Reviewer("first"), Reviewer("second")
APPROVE = DecisionBody(user_action="approve")

Console = Callable[..., ReviewService]
Published = Callable[[Topic], "asyncio.Future[list[bytes]]"]


class Clock:
    def __init__(self) -> None:
        self.now = AT

    def __call__(self) -> datetime:
        return self.now


@dataclass
class SlowRedis:
    """A Valkey of one test, which can be frozen, and a client with a short timeout."""

    client: Redis
    process: asyncio.subprocess.Process

    def freeze(self) -> None:
        """Let every command run into its timeout."""
        self.process.send_signal(signal.SIGSTOP)

    async def thaw(self, service: ReviewService) -> None:
        """Answer again, and wait until a console asks again."""
        self.process.send_signal(signal.SIGCONT)

        async def answers() -> bool:
            try:
                await service._locks._shared.ask("ping")
            except SharedStateAway:
                return False
            return True

        await until(answers, "the console asks Redis again", 60)


async def decisions(published: Published) -> list[ReviewDecision]:
    """Return the decisions on their topic."""
    return [ReviewDecision.from_bytes(value) for value in await published(REVIEW_DECISIONS)]


async def store_events(rows: AnalyticsStore, published: Published) -> None:
    """Write the rows of all events, as the agents do."""
    await rows.store([review_event_row(ReviewEvent.from_bytes(value)) for value in await published(REVIEW_EVENTS)])
