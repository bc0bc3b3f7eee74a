"""Page through lists with cursors.

A cursor holds the sort key of the last row of a page. Rows that arrive later do not shift the
next page.
"""

import base64
from collections.abc import Sequence
from typing import Annotated, Any

import orjson
from fastapi import Query

from workers.console.http.problems import FieldProblem, Problem
from workers.stores.queries.answer_queries import Place

MAX_CURSOR = 1_000

Limit = Annotated[int, Query(ge=1, le=200, description="Maximum number of rows of the page.")]
Cursor = Annotated[str | None, Query(max_length=MAX_CURSOR, description="next_cursor of the previous page.")]


def encode_cursor(values: Sequence[str | int | float]) -> str:
    """Return a cursor that holds the sort key of the last row of a page."""
    return base64.urlsafe_b64encode(orjson.dumps(list(values))).decode().rstrip("=")


def decode_cursor(cursor: str, kinds: Sequence[type], further: Sequence[type] = ()) -> list[Any]:
    """Return the values in a cursor.

    Args:
        cursor: text made by ``encode_cursor``.
        kinds: expected types of the values.
        further: types of values behind them, which cursors of an earlier version lack.

    Raises:
        Problem: 422, the cursor is malformed.
    """
    try:
        values = orjson.loads(
            base64.b64decode(cursor.encode() + b"=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        )
    except ValueError:
        values = None
    if not isinstance(values, list) or [type(value) for value in values] not in (
        [*kinds],
        [*kinds, *further],
    ):
        raise Problem(
            422,
            "the cursor is invalid",
            fields=[FieldProblem(field="query.cursor", message="send next_cursor of the previous page, or no cursor")],
        )
    return values


def place_of(cursor: str | None) -> Place:
    """Return the row after which a list sorted by time continues.

    Raises:
        Problem: 422, the cursor is malformed.
    """
    if cursor is None:
        return Place()
    milliseconds, *names = decode_cursor(cursor, (int, str), (str,))
    if abs(milliseconds) >= 2**43 or any(len(name) > 400 for name in names):
        raise Problem(422, "the cursor is invalid")
    return Place(milliseconds, *names)


def next_cursor(rows: Sequence[dict[str, Any]], limit: int, time: str, *names: str) -> str | None:
    """Return the cursor of the next page; ``None`` after the last page.

    Args:
        rows: rows found by a query for ``limit`` + 1 rows.
        limit: rows of a page.
        time: name of the column with the time in milliseconds.
        names: names of the columns with the identifier and, where two tenants may share it, with the tenant.
    """
    if len(rows) <= limit:
        return None
    last = rows[limit - 1]
    return encode_cursor([last[time], *(last[name] for name in names)])
