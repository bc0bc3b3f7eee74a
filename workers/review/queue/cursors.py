"""Write and read the cursors of queue pages.

A client sends the cursor of one page back to get the next page. A cursor is valid only for the
queue state it was written for, because open and decided requests are sorted differently.
"""

import base64
from datetime import UTC, datetime
from typing import Any

import orjson

from workers.review.review_errors import InvalidDecision
from workers.stores.queries.reviews.review_queue_rows import DecidedCursor, QueueCursor, QueueState
from workers.stores.tables.review_tables import QueueRow

EARLIEST, LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
"""Range of valid event times, end exclusive."""


def write_cursor(place: QueueRow, state: QueueState) -> str:
    """Return the cursor of the page that follows a place."""
    if state == "open":
        content = [state, place.priority, place.requested_at, place.review_id]
    else:
        content = [state, place.decided_at or EARLIEST, place.review_id]
    return base64.urlsafe_b64encode(orjson.dumps(content)).decode()


def open_cursor(cursor: str | None) -> QueueCursor | None:
    """Read the cursor of a page of open requests; return ``None`` for the first page.

    Raises:
        InvalidDecision: the cursor is malformed or was written for another state.
    """
    if cursor is None:
        return None
    match _content(cursor):
        case ["open", int() | float() as priority, str() as requested, str() as review_id]:
            return QueueCursor(float(priority), _time(requested), review_id)
    raise _refusal()


def decided_cursor(cursor: str | None, state: QueueState) -> DecidedCursor | None:
    """Read the cursor of a page of decided requests or second reviews; return ``None`` for the first page.

    Raises:
        InvalidDecision: the cursor is malformed or was written for another state.
    """
    if cursor is None:
        return None
    match _content(cursor):
        case [str() as made_for, str() as decided, str() as review_id] if made_for == state:
            return DecidedCursor(_time(decided), review_id)
    raise _refusal()


def _content(cursor: str) -> Any:
    try:
        return orjson.loads(base64.urlsafe_b64decode(cursor.encode()))
    except ValueError:
        raise _refusal() from None


def _time(text: str) -> datetime:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise _refusal() from None
    if time.tzinfo is None or not EARLIEST <= time < LATEST:
        raise _refusal()
    return time


def _refusal() -> InvalidDecision:
    return InvalidDecision("cursor", "send next_cursor of the previous page unchanged, with the same state")
