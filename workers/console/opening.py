"""Open and close the resources of the console."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime

from workers.check.check_service import CheckService
from workers.console.erased_answers import ErasedAnswers
from workers.console.http.backpressure import IntakeGate
from workers.console.http.tenant_quotas import TenantQuotas
from workers.console.identity.access_log import AccessLog
from workers.console.resources import ConsoleResources
from workers.delivery.followers.erasure_follower import read_erasures
from workers.intake.trace_sources import TraceSources
from workers.pipeline.versions import pipeline_version
from workers.review.queue.shared_state import SharedState
from workers.review.review_service import ReviewService
from workers.review.team_actions import TeamActions
from workers.services.openers import open_clickhouse, open_producer
from workers.services.shared_services import SharedServices
from workers.settings import Settings
from workers.settings.addresses import Addresses
from workers.stores.queries.answer_queries import AnswerStore
from workers.stores.queries.audit_queries import AuditStore
from workers.stores.queries.citation_queries import CitationStore
from workers.stores.queries.overview_queries import OverviewStore
from workers.stores.queries.reviews.review_queries import ReviewStore
from workers.stores.queries.version_queries import VersionStore
from workers.stores.redis.client import open_redis

QUERY_SECONDS = 8.0
"""Longest wait of a person for a query. Queries take milliseconds; a store that takes longer is frozen or overloaded."""


@asynccontextmanager
async def opened_resources(
    settings: Settings,
    addresses: Addresses,
    services: SharedServices | None = None,
    lag: Callable[[], Awaitable[Mapping[str, int]]] | None = None,
) -> AsyncIterator[ConsoleResources]:
    """Open the resources of the console until the context ends.

    Args:
        settings: all settings.
        addresses: addresses of broker and stores.
        services: models and memory shared with a worker in this process; the console's own if ``None``.
        lag: lag in records by agent; ``None`` without agents in this process.

    Raises:
        TouchstoneError: a dependency does not respond; the message names it and the next step.
    """
    version, database = pipeline_version(settings), settings.clickhouse.database
    services = services or SharedServices(settings, addresses)
    async with AsyncExitStack() as stack:
        # Not those of a worker: the console's queries must not wait for its inserts, nor the other way round.
        opening = open_clickhouse(settings, addresses.clickhouse, query_seconds=QUERY_SECONDS)
        analytics = await stack.enter_async_context(opening)
        producer = await stack.enter_async_context(open_producer(settings, addresses.kafka))
        redis = open_redis(addresses.redis, settings.redis)
        stack.push_async_callback(redis.aclose)
        accesses = AccessLog(producer, version, lambda: datetime.now(UTC))
        accesses.start()
        stack.push_async_callback(accesses.stop)
        reviews = ReviewStore(analytics, database)
        review = ReviewService(
            reviews,
            SharedState(redis, settings.redis.key_prefix),
            producer,
            settings,
            version,
            lambda: datetime.now(UTC),
        )
        review.start()
        stack.push_async_callback(review.stop)
        embedder = await stack.enter_async_context(services.embedder())
        verifier = await stack.enter_async_context(services.verifier())
        memory = await stack.enter_async_context(services.memory())
        check = CheckService(settings, embedder, version, lambda: datetime.now(UTC), verifier)
        stack.push_async_callback(check.stop)
        yield ConsoleResources(
            settings=settings,
            pipeline_version=version,
            analytics=analytics,
            answers=AnswerStore(analytics, database),
            audit=AuditStore(analytics, database),
            citations=CitationStore(analytics, database),
            overview=OverviewStore(analytics, database),
            versions=VersionStore(analytics, database),
            producer=producer,
            accesses=accesses,
            erased=ErasedAnswers(lambda: read_erasures(settings, addresses.kafka)),
            check=check,
            intake=IntakeGate(settings.gateways.in_flight_bytes),
            quotas=TenantQuotas(settings.gateways),
            redis=redis,
            sources=TraceSources(redis, settings.redis.key_prefix, settings.gateways.trace_seconds),
            review=review,
            team=TeamActions(review, reviews, settings.console.tokens, lambda: datetime.now(UTC)),
            memory=memory,
            embedding=embedder,
            lag=lag,
        )
