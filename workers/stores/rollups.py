"""Figures by the hour: ClickHouse refreshes them every minute by itself, and at once when told to."""

from clickhouse_connect.driver.asyncclient import AsyncClient

REFRESHED = (
    "answer_hours_refresh", "source_hours_refresh", "stage_hours_refresh", "worst_hours_refresh", "reward_hours_refresh",
)  # fmt: skip
"""The views that write figures by the hour."""


async def refresh_rollups(client: AsyncClient, database: str) -> None:
    """Bring the figures by the hour up to date now, and wait until they are.

    Args:
        client: a client whose user may refresh views.
        database: where the views are.

    Raises:
        clickhouse_connect.driver.exceptions.Error: a refresh failed.
    """
    for name in REFRESHED:
        # One that is under way may have begun before the rows came; another one follows it.
        await client.command(f"SYSTEM WAIT VIEW {database}.{name}")
        await client.command(f"SYSTEM REFRESH VIEW {database}.{name}")
        await client.command(f"SYSTEM WAIT VIEW {database}.{name}")
