"""What the console's routes share, opened once."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

from fastapi import Depends, Request
from redis.asyncio import Redis

from workers.checking.service import CheckService
from workers.console.access import AccessLog
from workers.console.backpressure import IntakeGate
from workers.delivery.producer import ConfirmedProducer
from workers.inference.embedding import EmbeddingService
from workers.review.service import ReviewService
from workers.settings import Settings
from workers.stores.analytics import AnalyticsStore
from workers.stores.answers import AnswerStore
from workers.stores.citations import CitationStore
from workers.stores.memory import MemoryStore
from workers.stores.overview import OverviewStore


@dataclass(slots=True)
class ConsoleResources:
    """Stores and clients of the console.

    Attributes:
        settings: all settings.
        pipeline_version: of this process, for headers of what it writes.
        analytics: ClickHouse.
        answers: reads answers.
        citations: reads citations.
        overview: reads figures.
        producer: sends feedback, answers and decisions, confirmed.
        accesses: notes who looked at which answer.
        intake: bounds the answers that wait for the broker.
        redis: for what several consoles share and may lose; ``None`` without one.
        memory: conversational memory; ``None`` where it is not opened.
        embedding: makes the vectors for searching memory; ``None`` without memory.
        check: judges answers for who waits; ``None`` where no model is opened.
        review: the review queue; ``None`` where none is served.
        lag: records that each agent is behind, where the agents run in this process.
        now: the clock.
    """

    settings: Settings
    pipeline_version: str
    analytics: AnalyticsStore
    answers: AnswerStore
    citations: CitationStore
    overview: OverviewStore
    producer: ConfirmedProducer
    accesses: AccessLog
    intake: IntakeGate
    redis: Redis | None = None
    memory: MemoryStore | None = None
    embedding: EmbeddingService | None = None
    check: CheckService | None = None
    review: ReviewService | None = None
    lag: Callable[[], Mapping[str, int]] | None = None
    now: Callable[[], datetime] = lambda: datetime.now(UTC)


def resources_of(request: Request) -> ConsoleResources:
    """The resources of the application that answers this request."""
    resources: ConsoleResources = request.app.state.resources
    return resources


Shared = Annotated[ConsoleResources, Depends(resources_of)]
"""The resources, as a parameter of a route."""
