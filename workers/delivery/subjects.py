"""Whose record it is: the person and the answer that it is about, and from when.

Read from plain JSON, without the topic's model: what nobody can read any more, such as a dead
letter, is about a person all the same.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from pydantic import TypeAdapter, ValidationError

from schemas.base import UtcDatetime
from workers.delivery.records import Record

WRAPPED = ("answer", "columns")
"""Fields in which an enriched answer and a row hold what they are about."""

ANSWER_FIELDS = ("answer_id", "query_id", "response_id")
"""Names of an answer's identifier, in events and in the columns of seeds 001 and 004."""

TIME_FIELDS = ("requested_at", "completed_at", "timestamp", "occurred_at", "created_at")
"""Names of the time of an event; of an answer the query's counts, which came first."""

_TIME: TypeAdapter[Any] = TypeAdapter(UtcDatetime)


@dataclass(frozen=True, slots=True)
class Subject:
    """What a record is about.

    Attributes:
        tenant: whose record.
        user_id: the person, if one is named.
        answer_id: the answer, if one is named.
        is_theirs: whether the answer is to what the person asked; of feedback the person is who gave it.
        at: seconds since the epoch: the event's time or the record's, whichever is earlier.
    """

    tenant: str
    user_id: str | None
    answer_id: str | None
    is_theirs: bool
    at: float | None


def subject_of(record: Record) -> Subject:
    """What a record is about, as far as it says so."""
    content = _content(record.value)
    named = next((name for field in ANSWER_FIELDS if (name := _text(content, field))), None)
    return Subject(
        tenant=_text(content, "tenant") or "default",
        user_id=_text(content, "user_id"),
        # What cannot be read still has its key, which is the answer's identifier on nearly every topic.
        answer_id=named or _key(record),
        # A call is told with who asked (see the agent signals); all other feedback with who gave it.
        is_theirs=named is not None and ("occurred_at" not in content or content.get("kind") == "execution"),
        at=min((time for time in (_time(content), record.timestamp) if time is not None and time > 0), default=None),
    )


def _content(value: bytes | None) -> Mapping[str, Any]:
    try:
        content = orjson.loads(value or b"null")
    except orjson.JSONDecodeError:
        return {}
    if not isinstance(content, dict):
        return {}
    inner: dict[str, Any] = next((content[name] for name in WRAPPED if isinstance(content.get(name), dict)), {})
    return content | inner


def _text(content: Mapping[str, Any], name: str) -> str | None:
    found = content.get(name)
    return found if isinstance(found, str) and found else None


def _key(record: Record) -> str | None:
    return record.key.decode("utf-8", "replace") if record.key else None


def _time(content: Mapping[str, Any]) -> float | None:
    given = next((content[name] for name in TIME_FIELDS if content.get(name) is not None), None)
    try:
        return None if given is None else float(_TIME.validate_python(given).timestamp())
    except ValidationError:
        return None
