"""Asking ClickHouse for rows by column."""

import asyncio
from datetime import UTC, datetime
from typing import Any

from clickhouse_connect.driver.exceptions import Error

from workers.delivery.errors import StoreUnavailable
from workers.stores.analytics import AnalyticsStore

Row = dict[str, Any]


class Reading:
    """A store that only reads.

    Args:
        analytics: connected store.
        database: where the tables are.
    """

    def __init__(self, analytics: AnalyticsStore, database: str) -> None:
        self._analytics = analytics
        self._database = database

    async def rows(self, statement: str, **parameters: Any) -> list[Row]:
        """Rows by column, times in UTC.

        Args:
            statement: with ``{database}`` still to be filled in, parameters in doubled braces.
            parameters: by name; those that the statement does not name are left out.

        Raises:
            StoreUnavailable: ClickHouse does not answer.
        """
        named = {name: value for name, value in parameters.items() if f"{{{{{name}:" in statement}
        try:
            result = await self._analytics.client.query(statement.format(database=self._database), parameters=named)
        except (Error, OSError, TimeoutError, asyncio.IncompleteReadError) as error:
            raise StoreUnavailable(f"ClickHouse did not answer a look-up ({type(error).__name__})") from error
        return [{name: _in_utc(value) for name, value in row.items()} for row in result.named_results()]


def _in_utc(value: Any) -> Any:
    return value.replace(tzinfo=UTC) if isinstance(value, datetime) else value
