"""Rights that statements need of ClickHouse, and those that a role is granted.

The local engine has no access control. So the statements that reach it are written down and held against the grants.
"""

import re
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

import pytest
from clickhouse_connect.driver.asyncclient import AsyncClient

Rights = set[tuple[str, str]]
"""Pairs of a right and a table, as ("ALTER DELETE", "answers")."""

_GRANT = re.compile(r"GRANT (?P<rights>[A-Z, ]+) ON \w+\.(?P<table>\w+) TO (?P<roles>.+)")
_CHANGES = {"INSERT INTO": "INSERT", "ALTER TABLE": "ALTER DELETE"}


def needed(statement: str, database: str) -> Rights:
    """Return the rights on tables of a database that a statement needs; a statement that defines needs its own words."""
    tables = re.findall(rf"\b{database}\.(\w+)", statement)
    words = " ".join(statement.split()[:2]).upper()
    if words.startswith("EXISTS"):
        return set()  # every right on a table shows that there is one
    if words in _CHANGES and ("DELETE" in statement) == (words == "ALTER TABLE"):
        read = tables[1:] if words == "INSERT INTO" else tables
        return {(_CHANGES[words], tables[0]), *(("SELECT", table) for table in read)}
    right = "SELECT" if words.startswith(("SELECT", "WITH")) else words
    return {(right, table) for table in tables}


def granted(statements: Iterable[str], role: str) -> Rights:
    """Return the rights of a role."""
    found = (_GRANT.fullmatch(statement) for statement in statements)
    return {
        (right, grant["table"])
        for grant in found
        if grant is not None and role in grant["roles"].split(", ")
        for right in grant["rights"].split(", ")
    }


def recorded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list to which every statement of every client is added from now on, before it runs."""
    statements: list[str] = []

    def noting(method: Callable[..., Any], form: str) -> Callable[..., Any]:
        @wraps(method)
        def noted(self: AsyncClient, text: str, *further: Any, **named: Any) -> Any:
            statements.append(form.format(text))
            return method(self, text, *further, **named)

        return noted

    for name, form in (("query", "{}"), ("command", "{}"), ("raw_insert", "INSERT INTO {}")):
        monkeypatch.setattr(AsyncClient, name, noting(getattr(AsyncClient, name), form))
    return statements
