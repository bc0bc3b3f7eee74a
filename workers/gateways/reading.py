"""Reading what others wrote: values of the wrong type count as missing, never as an error."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from pydantic_core import from_json

from schemas.base import EVENT_YEARS
from workers.gateways.errors import UnadaptableRecord

_UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
"""Above which number a time since the epoch counts nanoseconds, microseconds, milliseconds: as seconds
each of them would lie more than 3,000 years ahead."""

_DIGITS = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_TRACE_ID = re.compile(r"(?!0{32})[0-9a-f]{32}")
_SPAN_ID = re.compile(r"(?!0{16})[0-9a-f]{16}")
_TRACEPARENT = re.compile(rf"(?!ff)[0-9a-f]{{2}}-{_TRACE_ID.pattern}-{_SPAN_ID.pattern}-[0-9a-f]{{2}}")


def parsed(value: bytes | str | None, what: str = "the record") -> Any:
    """The JSON of a value.

    Raises:
        UnadaptableRecord: it is none.
    """
    if not value:
        raise UnadaptableRecord(f"{what} is empty; send a JSON object")
    try:
        return from_json(value)
    except ValueError as error:
        raise UnadaptableRecord(f"{what} is not valid JSON ({str(error)[:100]}); send UTF-8 JSON") from None


def unfolded(value: Any) -> Any:
    """A value that stands as JSON within a text, where attributes hold nothing but texts; else as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return from_json(value)
        except ValueError:
            return value
    return value


def an_object(value: Any, field: str) -> dict[str, Any]:
    """A value that must be an object.

    Raises:
        UnadaptableRecord: it is none.
    """
    if not isinstance(value, dict):
        raise UnadaptableRecord(f"{field} must be a JSON object; it is {kind_of(value)}")
    return value


def kind_of(value: Any) -> str:
    """What JSON calls a value."""
    if value is None:
        return "null"
    kinds = {bool: "true or false", str: "a text", dict: "an object", list: "a list"}
    return kinds.get(type(value), "a number")


def mapping(value: Any) -> Mapping[str, Any]:
    """An object, or an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> Sequence[Any]:
    """A list, or an empty one."""
    return value if isinstance(value, list) else ()


def objects(value: Any) -> Iterator[Mapping[str, Any]]:
    """The objects of a list."""
    return (item for item in items(value) if isinstance(item, dict))


def text(value: Any) -> str | None:
    """A text with something in it; a number becomes its digits."""
    if isinstance(value, str):
        return value if value.strip() else None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return None


def first_text(source: Mapping[str, Any], *names: str) -> str | None:
    """The first of these fields that holds a text."""
    return next((found for name in names if (found := text(source.get(name))) is not None), None)


def number(value: Any) -> float | None:
    """A finite number, also one written as a text."""
    if isinstance(value, str) and _DIGITS.fullmatch(value.strip()):
        value = float(value)
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300:
        return float(value)
    return None


def count(value: Any) -> int | None:
    """A number of things, zero or more."""
    found = number(value)
    return int(found) if found is not None and 0 <= found < 2**31 else None


def time(value: Any) -> datetime | None:
    """A time: ISO 8601, or a number since the epoch in seconds, milli-, micro- or nanoseconds.

    One without a zone is taken for UTC; one outside the years that stores hold counts as missing.
    """
    since = number(value)
    try:
        if since is not None:
            unit = next((per_second for above, per_second in _UNITS if since > above), 1.0)
            found = datetime.fromtimestamp(since / unit, UTC)
        elif isinstance(value, str):
            found = datetime.fromisoformat(value.strip())
            found = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
        else:
            return None
    except (ValueError, OverflowError, OSError):
        return None
    return found if found.year in EVENT_YEARS else None


def traceparent(trace_id: str | None, span_id: str | None) -> str | None:
    """W3C trace context of a span, if these are its identifiers in hexadecimal."""
    if trace_id and span_id and _TRACE_ID.fullmatch(trace_id) and _SPAN_ID.fullmatch(span_id):
        return f"00-{trace_id}-{span_id}-01"
    return None


def is_traceparent(value: str) -> bool:
    """Whether a text is a W3C trace context."""
    return _TRACEPARENT.fullmatch(value) is not None


def trace_of(context: str | None) -> str | None:
    """The trace that a trace context names, in hexadecimal."""
    parts = (context or "").split("-")
    return (
        parts[1] if len(parts) == len(("version", "trace", "span", "flags")) and _TRACE_ID.fullmatch(parts[1]) else None
    )


def without(source: Mapping[str, Any], names: frozenset[str]) -> dict[str, Any]:
    """What is left of an object without these fields and without what is empty."""
    return {name: value for name, value in source.items() if name not in names and value not in (None, "", [], {})}
