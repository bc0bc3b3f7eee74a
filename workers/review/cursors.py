"""Where a page of the queue ends, as text that the next request sends back.

A cursor holds the state that it was made for: open requests are in another order than decided ones.
"""

import base64
from datetime import UTC, datetime
from typing import Any

import orjson

from workers.review.errors import InvalidDecision
from workers.stores.reviews import DecidedCursor, QueueCursor, QueuePlace, QueueState

EARLIEST, LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
"""Times that events may have."""


def write_cursor(place: QueuePlace, state: QueueState) -> str:
    """The cursor behind a place."""
    if state == "open":
        content = [state, place.priority, place.requested_at, place.review_id]
    else:
        content = [state, place.decided_at or EARLIEST, place.review_id]
    return base64.urlsafe_b64encode(orjson.dumps(content)).decode()


def open_cursor(cursor: str | None) -> QueueCursor | None:
    """Where a page of open requests begins; ``None`` at the start.

    Raises:
        InvalidDecision: the cursor is none of ours, or of another state.
    """
    if cursor is None:
        return None
    match _content(cursor):
        case ["open", int() | float() as priority, str() as requested, str() as review_id]:
            return QueueCursor(float(priority), _time(requested), review_id)
    raise _refusal()


def decided_cursor(cursor: str | None, state: QueueState) -> DecidedCursor | None:
    """Where a page of decided requests or of second reviews begins; ``None`` at the start.

    Raises:
        InvalidDecision: the cursor is none of ours, or of another state.
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
    return InvalidDecision("cursor", "send next_cursor of the page before, as it was, with the same state")
