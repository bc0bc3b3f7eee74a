"""Read values from foreign records; a value of the wrong type counts as missing, not as an error."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from pydantic_core import from_json

from schemas.base import EVENT_YEARS
from workers.gateways.errors import UnadaptableRecord

_UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
"""Lower bounds above which a time since the epoch counts nanoseconds, microseconds or milliseconds, with the units a
second; read as seconds, each bound is more than 3,000 years ahead."""

FIRST_YEAR = 2000
"""Year before which a time counts as unknown: servers write 0, or the start of a clock, where they know none."""
_DIGITS = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_TRACE_ID = re.compile(r"(?!0{32})[0-9a-f]{32}")
_SPAN_ID = re.compile(r"(?!0{16})[0-9a-f]{16}")
_TRACEPARENT = re.compile(rf"(?!ff)[0-9a-f]{{2}}-{_TRACE_ID.pattern}-{_SPAN_ID.pattern}-[0-9a-f]{{2}}")


def parsed(value: bytes | str | None, what: str = "the record") -> Any:
    """Return a value decoded from JSON.

    Args:
        value: JSON text.
        what: name of the value for error messages.

    Raises:
        UnadaptableRecord: the value is empty or not valid JSON.
    """
    if not value:
        raise UnadaptableRecord(f"{what} is empty; send a JSON object")
    try:
        return from_json(value)
    except ValueError as error:
        raise UnadaptableRecord(f"{what} is not valid JSON ({str(error)[:100]}); send UTF-8 JSON") from None


def unfolded(value: Any) -> Any:
    """Return an object, list or text decoded from JSON text; return any other value unchanged."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "[", '"'):
        try:
            return from_json(value)
        except ValueError:
            return value
    return value


def an_object(value: Any, field: str) -> dict[str, Any]:
    """Return a value that must be a JSON object.

    Args:
        value: the value.
        field: name of the value for error messages.

    Raises:
        UnadaptableRecord: the value is not an object.
    """
    if not isinstance(value, dict):
        raise UnadaptableRecord(f"{field} must be a JSON object; it is {kind_of(value)}")
    return value


def kind_of(value: Any) -> str:
    """Return the name of a value's JSON type for error messages."""
    if value is None:
        return "null"
    kinds = {bool: "true or false", str: "a text", dict: "an object", list: "a list"}
    return kinds.get(type(value), "a number")


def mapping(value: Any) -> Mapping[str, Any]:
    """Return the value if it is an object, else an empty object."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> Sequence[Any]:
    """Return the value if it is a list, else an empty list."""
    return value if isinstance(value, list) else ()


def objects(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of a list; other entries are skipped."""
    return (item for item in items(value) if isinstance(item, dict))


def text(value: Any) -> str | None:
    """Return a text that is not blank, or the digits of a number; ``None`` for any other value."""
    if isinstance(value, str):
        return value if value.strip() else None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return None


def first_text(source: Mapping[str, Any], *names: str) -> str | None:
    """Return the text of the first of these fields that holds one; ``None`` if none does."""
    return next((found for name in names if (found := text(source.get(name))) is not None), None)


def number(value: Any) -> float | None:
    """Return a finite number, also from a decimal text; ``None`` for any other value."""
    if isinstance(value, str) and _DIGITS.fullmatch(value.strip()):
        value = float(value)
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300:
        return float(value)
    return None


def count(value: Any) -> int | None:
    """Return a count in 0..2**31 - 1, fractions cut off; ``None`` for any other value."""
    found = number(value)
    return int(found) if found is not None and 0 <= found < 2**31 else None


def total(*values: Any) -> int | None:
    """Return the sum of the counts among these values; ``None`` if none is a count."""
    counts = [found for value in values if (found := count(value)) is not None]
    return count(sum(counts)) if counts else None


def tokens_named(details: Mapping[str, Any], word: str) -> int | None:
    """Return the sum of the counts whose names hold a word, as Langfuse adds them (``input``, ``cache_read_input``)."""
    return total(*(value for name, value in details.items() if word in name.lower()))


def time(value: Any) -> datetime | None:
    """Return a time in UTC, from ISO 8601 or from seconds, milli-, micro- or nanoseconds since the epoch.

    A time without a zone counts as UTC. A time before ``FIRST_YEAR`` or outside ``EVENT_YEARS``, the years that stores
    accept, counts as missing.
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
    return found if found.year >= FIRST_YEAR and found.year in EVENT_YEARS else None


def traceparent(trace_id: str | None, span_id: str | None) -> str | None:
    """Return the W3C trace context of a span; ``None`` if an identifier is not valid hexadecimal."""
    if trace_id and span_id and _TRACE_ID.fullmatch(trace_id) and _SPAN_ID.fullmatch(span_id):
        return f"00-{trace_id}-{span_id}-01"
    return None


def is_traceparent(value: str) -> bool:
    """Return whether a text is a W3C trace context."""
    return _TRACEPARENT.fullmatch(value) is not None


def trace_of(context: str | None) -> str | None:
    """Return the trace identifier of a trace context in hexadecimal; ``None`` if there is none."""
    parts = (context or "").split("-")
    return (
        parts[1] if len(parts) == len(("version", "trace", "span", "flags")) and _TRACE_ID.fullmatch(parts[1]) else None
    )


def unknown_field(source: Mapping[str, Any], known: frozenset[str]) -> str | None:
    """Return the name of the first field that is not known and holds a text, a list or an object that is not empty."""
    found = (
        name for name, value in source.items() if name not in known and isinstance(value, str | list | dict) and value
    )
    return next(found, None)


def without(source: Mapping[str, Any], names: frozenset[str]) -> dict[str, Any]:
    """Return an object's fields except these names and except empty values."""
    return {name: value for name, value in source.items() if name not in names and value not in (None, "", [], {})}
