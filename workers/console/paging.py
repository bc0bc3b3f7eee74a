"""Pages of a list: a cursor says behind which row the next page begins, whatever has come since."""

import base64
from collections.abc import Sequence
from typing import Annotated, Any

import orjson
from fastapi import Query

from workers.console.problems import FieldProblem, Problem
from workers.stores.answers import Place

MAX_CURSOR = 1_000

Limit = Annotated[int, Query(ge=1, le=200, description="Rows of a page, at most.")]
Cursor = Annotated[str | None, Query(max_length=MAX_CURSOR, description="next_cursor of the page before.")]


def encode_cursor(values: Sequence[str | int | float]) -> str:
    """A cursor that holds the sort key of a page's last row."""
    return base64.urlsafe_b64encode(orjson.dumps(list(values))).decode().rstrip("=")


def decode_cursor(cursor: str, kinds: Sequence[type]) -> list[Any]:
    """The values in a cursor.

    Args:
        cursor: as ``encode_cursor`` made it.
        kinds: types of the values.

    Raises:
        Problem: 422, it is none of ours.
    """
    try:
        values = orjson.loads(
            base64.b64decode(cursor.encode() + b"=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        )
    except ValueError:
        values = None
    if not isinstance(values, list) or [type(value) for value in values] != list(kinds):
        raise Problem(
            422,
            "the cursor is not one of ours",
            fields=[FieldProblem(field="query.cursor", message="send next_cursor of the page before, or none")],
        )
    return values


def place_of(cursor: str | None) -> Place:
    """The row behind which a list by time goes on.

    Raises:
        Problem: 422, the cursor is none of ours.
    """
    if cursor is None:
        return Place()
    milliseconds, identifier = decode_cursor(cursor, (int, str))
    if abs(milliseconds) >= 2**43 or len(identifier) > 400:
        raise Problem(422, "the cursor is not one of ours")
    return Place(milliseconds, identifier)


def next_cursor(rows: Sequence[dict[str, Any]], limit: int, time: str, identifier: str) -> str | None:
    """The cursor behind a page; ``None`` behind the last one.

    Args:
        rows: what was found, asked for with one more than ``limit``.
        limit: rows of a page.
        time: column with the time in milliseconds.
        identifier: column with the identifier.
    """
    if len(rows) <= limit:
        return None
    last = rows[limit - 1]
    return encode_cursor([last[time], last[identifier]])
