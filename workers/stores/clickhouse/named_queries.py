"""Read the named ClickHouse queries, one SQL file each, for dashboards and tests.

A file begins with a comment: the purpose in its first line, then the meaning of the columns. Values are query
parameters of ClickHouse, ``{name:Type}``. The parameters below mean the same in every file.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from workers.errors import TouchstoneError
from workers.process.paths import deploy_directory

PARAMETERS = {
    "database": "database of the tables",
    "from": "start of the time range; hourly figures begin with its hour",
    "to": "end of the time range, exclusive",
    "tenant": "tenant of the answers; all visible tenants if empty",
    "run": "current, live, or the name of a replay; current is the promoted replay where it has evaluated all "
    "answers, else live",
    "interval": "length of a time bucket in seconds; at least an hour",
    "by": "the column to compare by: model_id, prompt_version or query_type",
    "limit": "maximum number of rows",
    "below": "grounding score below which answers are listed; 2 for all",
    "hourly_cost": "cost of an hour of a reviewer",
}
"""Meaning of each parameter."""

_PARAMETER = re.compile(r"\{(\w+):((?:[^{}()]|\([^()]*\))+)\}")


class UnknownQuery(TouchstoneError):
    """Report that no query has this name."""


@dataclass(frozen=True, slots=True)
class NamedQuery:
    """Named query.

    Attributes:
        name: the file's name without its ending.
        question: the question that the query answers, one sentence.
        description: meaning and units of the columns.
        sql: one statement.
        parameters: ClickHouse types by name.
    """

    name: str
    question: str
    description: str
    sql: str
    parameters: dict[str, str]


@lru_cache(maxsize=1)
def read_queries() -> dict[str, NamedQuery]:
    """Return all queries by name."""
    return {path.stem: _read(path) for path in sorted((deploy_directory() / "clickhouse" / "queries").glob("*.sql"))}


def named_query(name: str) -> NamedQuery:
    """Return the query of that name.

    Raises:
        UnknownQuery: no query has this name; the message lists the names.
    """
    queries = read_queries()
    if name not in queries:
        raise UnknownQuery(f"unknown query {name}; choose one of {', '.join(queries)}")
    return queries[name]


def _read(path: Path) -> NamedQuery:
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    comment = [line.removeprefix("--").strip() for line in lines if line.startswith("--")]
    sql = "\n".join(line for line in lines if not line.startswith("--"))
    return NamedQuery(path.stem, comment[0], " ".join(comment[1:]), sql, dict(_PARAMETER.findall(sql)))
