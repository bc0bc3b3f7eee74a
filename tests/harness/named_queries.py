"""Run a named query as a dashboard does."""

from collections.abc import Mapping
from typing import Any

from clickhouse_connect.driver.asyncclient import AsyncClient

from workers.stores.clickhouse.named_queries import NamedQuery, named_query

DEFAULTS: dict[str, Any] = {
    "tenant": "", "run": "current", "interval": 3_600, "by": "model_id", "limit": 25, "below": 2.0, "hourly_cost": 50.0,
}  # fmt: skip
"""Values of parameters that a caller may leave out."""


def query_values(query: NamedQuery, database: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of all parameters of a query."""
    known = DEFAULTS | dict(given) | {"database": database}
    return {name: known[name] for name in query.parameters}


async def ask_named(client: AsyncClient, database: str, name: str, given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of a named query; times are given in UTC without a zone."""
    query = named_query(name)
    result = await client.query(query.sql, parameters=query_values(query, database, given))
    return list(result.named_results())
