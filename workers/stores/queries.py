"""The named questions to ClickHouse, one SQL file each, for dashboards, console and tests alike.

A file begins with a comment: the question in its first line, then what the columns mean. Values
are ClickHouse's own query parameters, ``{name:Type}``; those below mean the same in every file.
"""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from clickhouse_connect.driver.asyncclient import AsyncClient
from clickhouse_connect.driver.exceptions import Error

from workers.delivery.errors import StoreUnavailable, TouchstoneError
from workers.paths import deploy_directory

PARAMETERS = {
    "database": "where the tables are",
    "from": "beginning of the time asked for; figures by the hour begin with its hour",
    "to": "its end, not included",
    "tenant": "whose answers; all that the reader may see if empty",
    "run": "current, live, or the name of a replay; current is the promoted one where it has judged all, else live",
    "interval": "seconds of a bucket of time; at least an hour",
    "by": "the column to compare by: model_id, prompt_version or query_type",
    "limit": "most rows",
    "below": "grounding score under which answers are listed; 2 for all",
    "hourly_cost": "what an hour of a reviewer costs",
}
"""Every parameter, and what it means."""

DEFAULTS: dict[str, Any] = {
    "tenant": "", "run": "current", "interval": 3_600, "by": "model_id", "limit": 25, "below": 2.0, "hourly_cost": 50.0,
}  # fmt: skip
"""Values of parameters that a caller may leave out."""

BY = ("model_id", "prompt_version", "query_type")
"""What `by` may name."""

_PARAMETER = re.compile(r"\{(\w+):((?:[^{}()]|\([^()]*\))+)\}")


class UnknownQuery(TouchstoneError):
    """There is no question of that name."""


@dataclass(frozen=True, slots=True)
class NamedQuery:
    """One question.

    Attributes:
        name: the file's name without its ending.
        question: what it answers, in a sentence.
        description: what its columns mean, with their units.
        sql: one statement.
        parameters: ClickHouse types by name.
    """

    name: str
    question: str
    description: str
    sql: str
    parameters: dict[str, str]

    def values(self, database: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """Values of all its parameters.

        Args:
            database: where the tables are.
            given: values by name; what is left out has its default, what it does not know is left out.

        Raises:
            ValueError: a value is missing, or `by` names no such column.
        """
        known = DEFAULTS | dict(given) | {"database": database}
        missing = sorted(set(self.parameters) - set(known))
        if missing:
            raise ValueError(f"the query {self.name} needs {', '.join(missing)}; pass them")
        if "by" in self.parameters and known["by"] not in BY:
            raise ValueError(f"by must be one of {', '.join(BY)}")
        return {name: known[name] for name in self.parameters}


@lru_cache(maxsize=1)
def read_queries() -> dict[str, NamedQuery]:
    """All questions by name."""
    return {path.stem: _read(path) for path in sorted((deploy_directory() / "clickhouse" / "queries").glob("*.sql"))}


def named_query(name: str) -> NamedQuery:
    """The question of that name.

    Raises:
        UnknownQuery: naming those there are.
    """
    queries = read_queries()
    if name not in queries:
        raise UnknownQuery(f"no query is called {name}; there are {', '.join(queries)}")
    return queries[name]


async def ask_named(client: AsyncClient, database: str, name: str, given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Ask a question.

    Args:
        client: connected client.
        database: where the tables are.
        name: which question.
        given: values by name; times in UTC without a zone.

    Returns:
        Rows by column.

    Raises:
        UnknownQuery: there is none of that name.
        ValueError: a value is missing or wrong.
        StoreUnavailable: ClickHouse does not answer.
    """
    query = named_query(name)
    values = query.values(database, given)
    try:
        result = await client.query(query.sql, parameters=values)
    except (Error, OSError, TimeoutError, asyncio.IncompleteReadError) as error:
        raise StoreUnavailable(f"ClickHouse did not answer {name} ({type(error).__name__})") from error
    return list(result.named_results())


def _read(path: Path) -> NamedQuery:
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    comment = [line.removeprefix("--").strip() for line in lines if line.startswith("--")]
    sql = "\n".join(line for line in lines if not line.startswith("--"))
    return NamedQuery(path.stem, comment[0], " ".join(comment[1:]), sql, dict(_PARAMETER.findall(sql)))
