"""Consoles of the review queue, processes of their own to one another, with common stores."""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer
from clickhouse_connect.driver.asyncclient import AsyncClient
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from schemas.topics import Topic
from tests.harness.redis_servers import redis_servers
from tests.harness.review_consoles import Clock, Console, Published, SlowRedis
from workers.agents.base import AgentContext
from workers.agents.tasks.deadline_sweeper import DeadlineSweeper
from workers.delivery.followers.erasure_follower import ErasureRegister
from workers.delivery.producer import ConfirmedProducer
from workers.local.ports import LOOPBACK
from workers.review.queue.shared_state import SharedState
from workers.review.review_service import ReviewService
from workers.services.shared_services import SharedServices
from workers.settings import Settings
from workers.settings.addresses import Addresses
from workers.stores.clickhouse.analytics_store import AnalyticsStore
from workers.stores.queries.reviews.review_queries import ReviewStore


@pytest.fixture
def client(migrated_client: AsyncClient) -> AsyncClient:
    return migrated_client


@pytest.fixture
def rows(client: AsyncClient, settings: Settings) -> AnalyticsStore:
    return AnalyticsStore(client, settings.clickhouse.database)


@pytest.fixture
async def producer(settings: Settings, addresses: Addresses, topics: None) -> AsyncIterator[ConfirmedProducer]:
    opened = ConfirmedProducer(settings, addresses.kafka)
    await opened.start()
    yield opened
    await opened.stop()


@pytest.fixture
async def redis(addresses: Addresses) -> AsyncIterator[Redis]:
    opened = Redis.from_url(addresses.redis, socket_timeout=60)
    yield opened
    await opened.aclose()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def console(
    client: AsyncClient, producer: ConfirmedProducer, redis: Redis, settings: Settings, clock: Clock
) -> Console:
    """Makes consoles: processes of their own to one another, with common stores."""

    def make(*, with_redis: bool = True, through: Redis | None = None) -> ReviewService:
        shared = SharedState((through or redis) if with_redis else None, settings.redis.key_prefix)
        store = ReviewStore(AnalyticsStore(client, settings.clickhouse.database), settings.clickhouse.database)
        return ReviewService(store, shared, producer, settings, "v", clock)

    return make


@pytest.fixture
def published(settings: Settings, addresses: Addresses) -> Published:
    async def read(topic: Topic) -> list[bytes]:
        consumer = AIOKafkaConsumer(
            settings.topic_name(topic.name), bootstrap_servers=addresses.kafka, auto_offset_reset="earliest",
            enable_auto_commit=False,
        )  # fmt: skip
        await consumer.start()
        try:
            found: list[bytes] = []
            while batch := await consumer.getmany(timeout_ms=700):
                found += [record.value for records in batch.values() for record in records]
            return found
        finally:
            await consumer.stop()

    return lambda topic: asyncio.ensure_future(read(topic))


@pytest.fixture
async def slow_redis(tmp_path: Path) -> AsyncIterator[SlowRedis]:
    async with redis_servers(tmp_path) as servers:
        port = await servers.start()
        client = Redis(
            host=LOOPBACK, port=port, password=servers.password, socket_timeout=0.3, retry=Retry(NoBackoff(), 0)
        )
        yield SlowRedis(client, servers.processes[port])
        await client.aclose()


@pytest.fixture
def sweeper(
    rows: AnalyticsStore, producer: ConfirmedProducer, settings: Settings, addresses: Addresses, clock: Clock
) -> DeadlineSweeper:
    services, pool = SharedServices(settings, addresses), ThreadPoolExecutor(1)
    context = AgentContext(settings, addresses, "v", services, producer, ErasureRegister(), pool, clock)
    return DeadlineSweeper(context, ReviewStore(rows, settings.clickhouse.database))
