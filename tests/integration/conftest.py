"""What tests of stores share: clients of a database that is dropped afterwards."""

from collections.abc import AsyncIterator

import pytest
from clickhouse_connect.driver.asyncclient import AsyncClient

from tests.harness.deployment import Deployment
from tests.harness.migrated import return_tables
from workers.settings import Settings
from workers.settings.addresses import Addresses
from workers.stores.clickhouse.analytics_store import connect


@pytest.fixture
async def client(deployment: Deployment) -> AsyncIterator[AsyncClient]:
    """A client of the database of a test's own deployment, which is given back afterwards."""
    opened = await deployment.client()
    yield opened
    await return_tables(opened, deployment.name)
    await opened.close()


@pytest.fixture
def database(settings: Settings) -> str:
    """The name of the database in the settings of a test."""
    return settings.clickhouse.database


@pytest.fixture
async def empty_database(settings: Settings, addresses: Addresses) -> AsyncIterator[AsyncClient]:
    """A client of a server on which the database of the settings does not exist yet."""
    opened = await connect(settings.clickhouse, addresses.clickhouse)
    yield opened
    await opened.command(f"DROP DATABASE IF EXISTS {settings.clickhouse.database}")
    await opened.close()
