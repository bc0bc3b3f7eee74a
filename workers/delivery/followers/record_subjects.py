"""Find the person, the answer and the time that a record is about.

They are read from plain JSON, without the topic's model: a record that the model cannot read,
such as a dead letter, is still about a person.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json

from schemas.base import UtcDatetime
from schemas.identifiers import DEFAULT_TENANT, named_by_key
from workers.delivery.records import Record

WRAPPED = ("answer", "columns")
"""Fields that hold the content of an enriched answer and of a row."""

ANSWER_FIELDS = ("answer_id", "query_id", "response_id")
"""Names of an answer's identifier in events and in the columns of rows."""

TIME_FIELDS = ("requested_at", "completed_at", "timestamp", "occurred_at", "created_at")
"""Names of the time of an event, in the order of their use; the time of the query precedes the answer's."""

MAX_PARSED_BYTES = 262_144
"""Maximum size of a value that is parsed only to find its tenant: about a millisecond."""

_TIME: TypeAdapter[Any] = TypeAdapter(UtcDatetime)


@dataclass(frozen=True, slots=True)
class Subject:
    """Person, answer and time of a record.

    Attributes:
        tenant: tenant of the record; ``None`` if the record is unreadable.
        user_id: the person, if the record names one.
        answer_id: the answer, if the record names one.
        is_theirs: True if the person asked the question of the answer; the author of feedback may be another person.
        at: seconds since the epoch: the event's time or the record's, whichever is earlier.
    """

    tenant: str | None
    user_id: str | None
    answer_id: str | None
    is_theirs: bool
    at: float | None


def subject_of(record: Record) -> Subject:
    """Return the person, the answer and the time that a record names."""
    content = _content(record.value)
    named = next((name for field in ANSWER_FIELDS if (name := _text(content, field))), None)
    owner, keyed = named_by_key(record.key.decode("utf-8", "replace")) if record.key else (None, None)
    return Subject(
        tenant=_text(content, "tenant") or owner or (DEFAULT_TENANT if content else None),
        user_id=_text(content, "user_id"),
        # An unreadable record still has its key, which names the answer on nearly every topic.
        answer_id=named or keyed,
        # Feedback of kind "execution" names the person who asked; all other feedback names its author.
        is_theirs=named is not None and ("occurred_at" not in content or content.get("kind") == "execution"),
        at=min((time for time in (_time(content), record.timestamp) if time is not None and time > 0), default=None),
    )


def tenant_of(record: Record) -> str:
    """Return the tenant that a record names; that of a large or unreadable value is taken from the key alone."""
    owner, _ = named_by_key(record.key.decode("utf-8", "replace")) if record.key else (None, None)
    if owner is not None or len(record.value or b"") > MAX_PARSED_BYTES:
        return owner or DEFAULT_TENANT
    return _text(_content(record.value), "tenant") or DEFAULT_TENANT


def parse_record(value: bytes) -> Any:
    """Parse the value of a record of any writer: whatever a model of an event accepts, and deeper nesting.

    Raises:
        ValueError: the value is not JSON.
    """
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:
        # Models also read NaN, Infinity, 1e400 and long integers; their parser takes several times as long.
        return from_json(value)


def _content(value: bytes | None) -> Mapping[str, Any]:
    try:
        content = parse_record(value or b"null")
    except ValueError:
        return {}
    if not isinstance(content, dict):
        return {}
    inner: dict[str, Any] = next((content[name] for name in WRAPPED if isinstance(content.get(name), dict)), {})
    return content | _first_row(content) | inner


def _first_row(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of the first of several rows of one answer, without those that all of them share."""
    match content.get("rows"):
        case [{"columns": list(names), "values": [list(values), *_]}, *_]:
            return dict(zip(map(str, names), values, strict=False))
    return {}


def _text(content: Mapping[str, Any], name: str) -> str | None:
    found = content.get(name)
    return found if isinstance(found, str) and found else None


def _time(content: Mapping[str, Any]) -> float | None:
    given = next((content[name] for name in TIME_FIELDS if content.get(name) is not None), None)
    try:
        return None if given is None else float(_TIME.validate_python(given).timestamp())
    except ValidationError:
        return None
