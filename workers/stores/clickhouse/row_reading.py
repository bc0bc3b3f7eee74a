"""Read rows from ClickHouse."""

import asyncio
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar
from urllib.parse import quote

from clickhouse_connect.driver.query import QueryResult

from workers.errors import StoreUnavailable
from workers.stores.clickhouse.analytics_store import CLIENT_ERRORS, AnalyticsStore
from workers.stores.size_parts import size_parts

Row = dict[str, Any]
T = TypeVar("T")

_OPTIONAL = re.compile(r"/\*(\w+)\*/(.*?)/\*/\1\*/", re.DOTALL)

PARAMETER_BYTES = 60_000
"""Size of the longest list in a parameter as it is sent, bytes. ClickHouse refuses values of 128 KiB and more, and
backslashes double a text at most."""


class Reading:
    """Base of the stores that read.

    Args:
        analytics: connected store.
        database: name of the database with the tables.
    """

    def __init__(self, analytics: AnalyticsStore, database: str) -> None:
        self._analytics = analytics
        self._database = database

    async def rows(self, statement: str, **parameters: Any) -> list[Row]:
        """Return rows by column name, with times in UTC.

        Args:
            statement: SQL with the placeholder ``{database}`` and with query parameters in doubled braces.
            parameters: values by name; parameters that the statement does not name are left out, and with an empty one its
                optional parts.

        Raises:
            StoreUnavailable: ClickHouse does not respond.
        """
        statement = without_empty(statement, parameters)
        named = {name: value for name, value in parameters.items() if f"{{{{{name}:" in statement}
        return await self.named_rows(statement.format(database=self._database), named)

    async def named_rows(self, statement: str, parameters: Mapping[str, Any]) -> list[Row]:
        """Return rows by column name, with times in UTC, for a complete statement.

        Raises:
            StoreUnavailable: ClickHouse does not respond.
        """
        result = await _result(self._analytics, statement, parameters)
        return [{name: _in_utc(value) for name, value in row.items()} for row in result.named_results()]


def optional(name: str, part: str) -> str:
    """Return a part of a statement that is left out if a parameter is empty.

    ClickHouse would run the subqueries of a condition also where the parameter makes it true.
    """
    return f"/*{name}*/{part}/*/{name}*/"


def without_empty(statement: str, parameters: Mapping[str, Any]) -> str:
    """Return a statement without the optional parts whose parameters are empty.

    Raises:
        KeyError: a parameter is missing. An optional part may hide rows, so that it is never left out by mistake.
    """
    return _OPTIONAL.sub(lambda part: without_empty(part[2], parameters) if parameters[part[1]] else "", statement)


async def ask(analytics: AnalyticsStore, statement: str, parameters: Mapping[str, Any]) -> Sequence[Sequence[Any]]:
    """Return rows in the order of the selected columns, for a complete statement.

    Raises:
        StoreUnavailable: ClickHouse does not respond.
    """
    rows: Sequence[Sequence[Any]] = (await _result(analytics, statement, parameters)).result_rows
    return rows


def in_parameters(values: Iterable[T], texts: Callable[[T], Iterable[str]]) -> Iterator[list[T]]:
    """Divide values into lists that fit into one parameter of a statement.

    Args:
        values: values in their order.
        texts: returns the texts that one value adds to the parameter.
    """

    def size(value: T) -> int:
        # Quotes, comma and parentheses are sent as three bytes each.
        return sum(len(quote(text, safe="")) + 15 for text in texts(value))

    return size_parts(values, size, PARAMETER_BYTES)


def without_zone(time: datetime) -> datetime:
    """Return a time in UTC without zone: the client would convert a zone to the server's."""
    return time.astimezone(UTC).replace(tzinfo=None)


async def _result(analytics: AnalyticsStore, statement: str, parameters: Mapping[str, Any]) -> QueryResult:
    limit = asyncio.timeout(analytics.query_seconds)
    try:
        async with limit:
            return await analytics.client.query(statement, parameters=dict(parameters))
    except CLIENT_ERRORS as error:
        if limit.expired():
            raise StoreUnavailable(
                f"ClickHouse has not answered within {analytics.query_seconds:g} s; try again, and see whether it responds"
            ) from error
        raise StoreUnavailable(f"ClickHouse did not respond to a query ({type(error).__name__})") from error


def _in_utc(value: Any) -> Any:
    return value.replace(tzinfo=UTC) if isinstance(value, datetime) else value
