"""What tests of stores share: clients of a deployment's database, and a store over one that is fresh."""

from collections.abc import AsyncIterator

import pytest
from clickhouse_connect.driver.asyncclient import AsyncClient

from tests.harness.deployment import Deployment
from workers.addresses import Addresses
from workers.settings import Settings
from workers.stores.analytics import AnalyticsStore, connect
from workers.stores.migrations import migrate


@pytest.fixture
async def client(deployment: Deployment) -> AsyncIterator[AsyncClient]:
    """A client of the database of a test's own deployment, which is dropped afterwards."""
    opened = await deployment.client()
    yield opened
    await opened.command(f"DROP DATABASE IF EXISTS {deployment.name}")
    await opened.close()


@pytest.fixture
async def analytics(settings: Settings, addresses: Addresses) -> AsyncIterator[AnalyticsStore]:
    """A store over a fresh database with every table, which is dropped afterwards."""
    opened = await connect(settings.clickhouse, addresses.clickhouse)
    await migrate(opened, settings.clickhouse.database)
    yield AnalyticsStore(opened, settings.clickhouse.database)
    await opened.command(f"DROP DATABASE IF EXISTS {settings.clickhouse.database}")
    await opened.close()
