"""Opening what the console needs, and closing it again."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from redis.asyncio import Redis

from workers.addresses import Addresses
from workers.checking.service import CheckService
from workers.console.access import AccessLog
from workers.console.backpressure import IntakeGate
from workers.console.resources import ConsoleResources
from workers.delivery.producer import ConfirmedProducer
from workers.inference.embedding import EmbeddingService
from workers.inference.opening import open_embedding, open_verification
from workers.inference.sharing import open_shared_vectors
from workers.inference.verification import VerificationService
from workers.review.service import ReviewService
from workers.review.shared import SharedState
from workers.settings import Settings
from workers.stores.analytics import AnalyticsStore, connect
from workers.stores.answers import AnswerStore
from workers.stores.citations import CitationStore
from workers.stores.memory import MemoryStore
from workers.stores.migrations import migrate
from workers.stores.overview import OverviewStore
from workers.stores.reviews import ReviewStore
from workers.versions import pipeline_version


@dataclass(frozen=True, slots=True)
class WorkerParts:
    """What a worker in the same process lends.

    Attributes:
        embedding: its model.
        memory: its memory.
        lag: records that each of its agents is behind; ``None`` where no agents run.
        verifier: its verifier, where the settings name one.
    """

    embedding: EmbeddingService
    memory: MemoryStore
    lag: Callable[[], Mapping[str, int]] | None
    verifier: VerificationService | None = None


@asynccontextmanager
async def opened_resources(
    settings: Settings, addresses: Addresses, worker: WorkerParts | None = None
) -> AsyncIterator[ConsoleResources]:
    """The console's resources, open until the context ends.

    Args:
        settings: all settings.
        addresses: of broker and stores.
        worker: parts of a worker in this process; without one they are opened here.

    Raises:
        TouchstoneError: something does not answer; the message says what and the remedy.
    """
    version, database = pipeline_version(settings), settings.clickhouse.database
    async with AsyncExitStack() as stack:
        client = await connect(settings.clickhouse, addresses.clickhouse)
        analytics = AnalyticsStore(client, database)
        stack.push_async_callback(analytics.close)
        await migrate(client, database)
        producer = ConfirmedProducer(settings, addresses.kafka)
        await producer.start()
        stack.push_async_callback(producer.stop)
        redis = Redis.from_url(addresses.redis, socket_timeout=settings.redis.timeout_seconds)
        stack.push_async_callback(redis.aclose)
        accesses = AccessLog(producer, version, lambda: datetime.now(UTC))
        accesses.start()
        stack.push_async_callback(accesses.stop)
        review = ReviewService(
            ReviewStore(client, database),
            SharedState(redis, settings.redis.key_prefix),
            producer,
            settings,
            version,
            lambda: datetime.now(UTC),
        )
        review.start()
        stack.push_async_callback(review.stop)
        if worker is None:
            worker = await _own_parts(settings, addresses.redis, stack)
        check = CheckService(settings, worker.embedding, version, lambda: datetime.now(UTC), worker.verifier)
        stack.push_async_callback(check.stop)
        yield ConsoleResources(
            settings=settings,
            pipeline_version=version,
            analytics=analytics,
            answers=AnswerStore(analytics, database),
            citations=CitationStore(client, database),
            overview=OverviewStore(analytics, database),
            producer=producer,
            accesses=accesses,
            check=check,
            intake=IntakeGate(settings.gateways.in_flight_bytes),
            redis=redis,
            review=review,
            memory=worker.memory,
            embedding=worker.embedding,
            lag=worker.lag,
        )


async def _own_parts(settings: Settings, redis_url: str, stack: AsyncExitStack) -> WorkerParts:
    embedding = await open_embedding(settings, shared=open_shared_vectors(settings, redis_url))
    stack.push_async_callback(embedding.stop)
    verifier = await open_verification(settings)
    if verifier is not None:
        stack.push_async_callback(verifier.stop)
    memory = MemoryStore(settings.memory_uri, embedding.dimensions)
    await memory.open()
    stack.push_async_callback(memory.close)
    return WorkerParts(embedding, memory, None, verifier)
