"""The console's overview: figures of one tenant are made of that tenant's rows."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from workers.addresses import Addresses
from workers.settings import Settings
from workers.stores.analytics import AnalyticsStore, connect
from workers.stores.migrations import migrate
from workers.stores.overview import OverviewStore

NOW = datetime(2026, 11, 2, 12, tzinfo=UTC)
AT = "2026-11-02 11:00:00.000"
PERIOD = (NOW - timedelta(days=1), NOW)


@pytest.fixture
async def analytics(settings: Settings, addresses: Addresses) -> AsyncIterator[AnalyticsStore]:
    client = await connect(settings.clickhouse, addresses.clickhouse)
    await migrate(client, settings.clickhouse.database)
    yield AnalyticsStore(client, settings.clickhouse.database)
    await client.command(f"DROP DATABASE IF EXISTS {settings.clickhouse.database}")
    await client.close()


async def test_an_identifier_that_two_tenants_use_mixes_neither_rewards_nor_sources(
    analytics: AnalyticsStore, settings: Settings
) -> None:
    both = [{"tenant": tenant, "answer_id": "shared", "completed_at": AT} for tenant in ("acme", "globex")]
    await analytics.insert("answers", [row | {"model_id": f"of-{row['tenant']}", "enriched_at": AT} for row in both])
    cited = {"citation_id": "c", "valid": True, "number": 1}
    await analytics.insert("citations", [row | cited | {"source_name": f"of-{row['tenant']}"} for row in both])
    await analytics.insert("claims", [row | {"claim_id": "k", "cited_unsupported": [1]} for row in both])
    reward = {"answer_id": "shared", "tenant": "acme", "explicit_reward": 0.25, "reward": 0.25, "revision": 1}
    await analytics.insert("rewards", [reward])
    store = OverviewStore(analytics, settings.clickhouse.database)

    everything = await store.overview([], *PERIOD)
    rewards = {row["model_id"]: (row["reward"], row["rewarded"]) for row in everything.models}
    assert rewards == {"of-acme": (0.25, 1), "of-globex": (None, 0)}
    for tenant in ("acme", "globex"):
        found = await store.overview([tenant], *PERIOD)
        assert [row["model_id"] for row in found.models] == [f"of-{tenant}"]
        sources = [(row["name"], row["citations"], row["answers"], row["unsupported"]) for row in found.sources]
        assert sources == [(f"of-{tenant}", 1, 1, 1)]
