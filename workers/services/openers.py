"""Open a store or a client until a context ends."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from workers.delivery.producer import ConfirmedProducer
from workers.settings import Settings
from workers.stores.clickhouse.analytics_store import AnalyticsStore, connect
from workers.stores.clickhouse.migrations import migrate_database


@asynccontextmanager
async def open_clickhouse(
    settings: Settings, url: str, *, query_seconds: float | None = None
) -> AsyncIterator[AnalyticsStore]:
    """Connect to ClickHouse and bring its schema up to date.

    Args:
        settings: user, password, timeout and database.
        url: http(s)://host:port.
        query_seconds: longest wait for a query; by default the timeout of the settings.

    Raises:
        StoreUnavailable: no server responds at this address.
    """
    await migrate_database(settings.clickhouse, url)
    store = AnalyticsStore(await connect(settings.clickhouse, url), settings.clickhouse.database, query_seconds)
    try:
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def open_producer(settings: Settings, bootstrap_servers: str) -> AsyncIterator[ConfirmedProducer]:
    """Connect a producer to the broker.

    Args:
        settings: names, limits and credentials.
        bootstrap_servers: host:port, comma separated.

    Raises:
        BrokerUnavailable: no broker responds.
    """
    producer = ConfirmedProducer(settings, bootstrap_servers)
    try:
        await producer.start()
        yield producer
    finally:
        await producer.stop()
