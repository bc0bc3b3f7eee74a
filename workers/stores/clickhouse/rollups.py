"""Refresh the hourly figures at once. ClickHouse itself refreshes them every minute."""

from clickhouse_connect.driver.asyncclient import AsyncClient

REFRESHED = (
    "answer_moves_refresh", "answer_hours_refresh", "source_hours_refresh", "stage_hours_refresh", "worst_hours_refresh", "reward_hours_refresh",
)  # fmt: skip
"""Views that write the hourly figures. The first one finds answers that have moved to another hour."""


async def refresh_rollups(client: AsyncClient, database: str) -> None:
    """Refresh the hourly figures now, and wait until they are up to date.

    Args:
        client: a client whose user may refresh views.
        database: name of the database with the views.

    Raises:
        clickhouse_connect.driver.exceptions.Error: a refresh failed.
    """
    for name in REFRESHED:
        # A refresh under way may have begun before the rows arrived, so another one follows.
        await client.command(f"SYSTEM WAIT VIEW {database}.{name}")
        await client.command(f"SYSTEM REFRESH VIEW {database}.{name}")
        await client.command(f"SYSTEM WAIT VIEW {database}.{name}")
