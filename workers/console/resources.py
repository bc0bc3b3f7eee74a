"""Hold the resources that the console's routes share."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated

from fastapi import Depends, Request

from workers.check.check_service import CheckService
from workers.console.erased_answers import ErasedAnswers
from workers.console.http.backpressure import IntakeGate
from workers.console.http.tenant_quotas import TenantQuotas
from workers.console.identity.access_log import AccessLog
from workers.console.identity.principal import Principal
from workers.delivery.producer import ConfirmedProducer
from workers.inference.embedding import EmbeddingService
from workers.intake.trace_sources import TraceSources
from workers.review.queue.second_share import sample_of
from workers.review.review_service import ReviewService
from workers.review.team_actions import TeamActions
from workers.settings import Settings
from workers.settings.sections.scopes import Scope
from workers.stores.clickhouse.analytics_store import AnalyticsStore
from workers.stores.lancedb.memory_store import MemoryStore
from workers.stores.queries.answer_queries import AnswerStore
from workers.stores.queries.audit_queries import AuditStore
from workers.stores.queries.citation_queries import CitationStore
from workers.stores.queries.overview_queries import OverviewStore
from workers.stores.queries.reviews.blind_reviews import Sample
from workers.stores.queries.version_queries import VersionStore
from workers.stores.redis.client import RedisClient


@dataclass(slots=True)
class ConsoleResources:
    """Stores and clients of the console.

    Attributes:
        settings: all settings.
        pipeline_version: version of this process, for headers.
        analytics: ClickHouse.
        answers: queries of answers.
        audit: queries of decisions and accesses.
        citations: queries of citations.
        overview: queries of figures.
        versions: queries of pipeline versions and their settings.
        producer: sends feedback, answers and decisions, and waits for the acknowledgement.
        accesses: records accesses to answers.
        erased: answers that were erased at the request of a person.
        intake: limit on the bytes that wait for the broker.
        quotas: answers a second that each tenant may send.
        redis: shared state that consoles may lose; ``None`` to work without Redis.
        sources: sources of traces that arrive in several exports.
        memory: conversational memory; ``None`` if not opened.
        embedding: embedding model for memory search; ``None`` without memory.
        check: synchronous evaluation of answers; ``None`` if no model is opened.
        review: the review queue; ``None`` if this console serves no reviews.
        team: assignments and bulk actions; ``None`` if this console serves no reviews.
        lag: lag in records by agent; ``None`` if no agents run in this process.
        now: the clock.
    """

    settings: Settings
    pipeline_version: str
    analytics: AnalyticsStore
    answers: AnswerStore
    audit: AuditStore
    citations: CitationStore
    overview: OverviewStore
    versions: VersionStore
    producer: ConfirmedProducer
    accesses: AccessLog
    erased: ErasedAnswers
    intake: IntakeGate
    quotas: TenantQuotas
    redis: RedisClient | None = None
    sources: TraceSources = field(default_factory=lambda: TraceSources(None, "", 0))
    memory: MemoryStore | None = None
    embedding: EmbeddingService | None = None
    check: CheckService | None = None
    review: ReviewService | None = None
    team: TeamActions | None = None
    lag: Callable[[], Awaitable[Mapping[str, int]]] | None = None
    now: Callable[[], datetime] = lambda: datetime.now(UTC)


def blind_of(principal: Principal, resources: ConsoleResources) -> Sample | None:
    """Return the requests that the caller may still review independently: their decisions are hidden until then."""
    if Scope.REVIEW not in principal.scopes:
        return None
    return sample_of(resources.settings.review, principal.name, resources.now())


def resources_of(request: Request) -> ConsoleResources:
    """Return the resources of the application that answers this request."""
    resources: ConsoleResources = request.app.state.resources
    return resources


Shared = Annotated[ConsoleResources, Depends(resources_of)]
"""The resources, as a parameter of a route."""
