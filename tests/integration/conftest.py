"""What tests of stores share: a client of a deployment's database."""

from collections.abc import AsyncIterator

import pytest
from clickhouse_connect.driver.asyncclient import AsyncClient

from tests.harness.deployment import Deployment


@pytest.fixture
async def client(deployment: Deployment) -> AsyncIterator[AsyncClient]:
    """A client of the database of a test's own deployment, which is dropped afterwards."""
    opened = await deployment.client()
    yield opened
    await opened.command(f"DROP DATABASE IF EXISTS {deployment.name}")
    await opened.close()
