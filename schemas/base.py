"""Define bounded field types, the base model of all events, and its serialisation.

Unknown fields are kept, so that an older worker passes an event on unchanged. Times are aware and normalised to UTC.
Text limits are in code points. They ensure that one record cannot exhaust a worker, and that all results of an input
record fit into the broker's maximum (see ``docs/decisions/0003``).
"""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    FailFast,
    Field,
    ValidationError,
)
from pydantic_core import from_json, to_json

SCHEMA_VERSION = "1.0"
"""Version written by this code, ``major.minor``; a reader refuses an unknown major version."""

SUPPORTED_MAJOR_VERSIONS = frozenset({"1"})

YEARS = range(1900, 2200)
"""Valid years of all times: accepted by every store, and in range in every time zone."""


class UnreadableEvent(ValueError):
    """Report a record that this version cannot read.

    Attributes:
        code: ``not_json``, ``unknown_version`` or ``invalid``; stable, used as metric label.
        fields: dotted names of the first invalid fields; empty if the whole value is invalid.
    """

    def __init__(self, code: str, message: str, fields: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.fields = fields


def _to_utc(value: datetime) -> datetime:
    # Check before and after the conversion: a zone must not move the value out of Python's range or out of the valid
    # years.
    if value.year not in YEARS or (utc := value.astimezone(UTC)).year not in YEARS:
        raise ValueError(f"the year must be in {YEARS[0]}..{YEARS[-1]}, also in UTC")
    return utc


UtcDatetime = Annotated[AwareDatetime, AfterValidator(_to_utc)]
"""An aware time in the years 1900 to 2199, converted to UTC."""

EVENT_YEARS = range(1970, 2101)
"""Valid years of events about an answer: stores count days and hours from 1970 to 2105, and other values are returned
as another day.
"""


def _within_reach(value: datetime) -> datetime:
    if value.year not in EVENT_YEARS:
        raise ValueError(f"the year must be in {EVENT_YEARS[0]}..{EVENT_YEARS[-1]}, in UTC; send the time of the event")
    return value


EventTime = Annotated[UtcDatetime, AfterValidator(_within_reach)]
"""Time of an event that is stored by its day: the years 1970 to 2100."""

Score = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
"""A share or score in 0..1; never NaN (an evaluation that failed is ``null``)."""

FiniteFloat = Annotated[float, Field(allow_inf_nan=False)]
"""Any number that JSON can write."""

Seconds = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
"""A duration in seconds."""

Identifier = Annotated[str, Field(min_length=1, max_length=200)]
"""An opaque identifier."""

Label = Annotated[str, Field(max_length=200)]
"""A short name: a model, a table, a type."""

ShortText = Annotated[str, Field(max_length=2_000)]
"""A sentence or two."""

LongText = Annotated[str, Field(max_length=20_000)]
"""A query or comment."""

AnswerText = Annotated[str, Field(max_length=60_000)]
"""A generated answer."""

MAX_SOURCE_LENGTH = 100_000
"""Code points of a context chunk."""

SourceText = Annotated[str, Field(max_length=MAX_SOURCE_LENGTH)]
"""The content of one context chunk."""

Offset = Annotated[int, Field(ge=0, lt=2**63)]
"""A position in a text, in code points, or in a partition, in records."""

TokenCount = Annotated[int, Field(ge=0, lt=2**31)]
"""A number of tokens."""

T = TypeVar("T")
Many = Annotated[list[T], FailFast()]
"""A list of which only the first invalid item is reported: 300,000 reports would take longer than the work."""

MAX_NAMES = 100


def _few(value: object) -> object:
    # Check the number first, so that a million invalid values are not all reported.
    if isinstance(value, dict) and len(value) > MAX_NAMES:
        raise ValueError(f"send at most {MAX_NAMES} entries")
    return value


ByName = Annotated[dict[str, T], Field(max_length=MAX_NAMES), BeforeValidator(_few)]
"""A few values by name."""

Metadata = dict[str, Any]
"""Free JSON; its size is bounded by the size of the record."""

RiskLevel = Literal["low", "medium", "high"]
RiskMode = Literal["observer", "gatekeeper"]


class Part(BaseModel):
    """Base class of a part of an event; it keeps unknown fields and validates defaults once."""

    model_config = ConfigDict(extra="allow", ser_json_inf_nan="null", protected_namespaces=())


class Event(Part):
    """Base class of every value of a record."""

    nesting_reserve: ClassVar[int] = 0
    """Number of nesting levels that a record must leave free, because it is part of other records. JSON is read to 200
    levels, and an accepted record must be readable in all of them.
    """

    copies: ClassVar[Mapping[str, set[str]]] = {}
    """Fields of a part that repeat other fields of the same event, by the name of the part."""

    schema_version: str = Field(
        default=SCHEMA_VERSION,
        pattern=r"^[0-9]+\.[0-9]+$",
        description="Version of this contract, major.minor; a new minor only adds fields.",
    )

    def to_bytes(self, *, all_fields: bool = True) -> bytes:
        """Serialise to UTF-8 JSON.

        Args:
            all_fields: False leaves out fields that have their default value, and ``copies``. Readers fill in the
                defaults. The version of the contract is always written.

        Returns:
            The value of a record.
        """
        if all_fields:
            return self.model_dump_json(exclude_none=False).encode()
        value = self.model_dump_json(exclude_defaults=True, exclude=dict(self.copies)).encode()
        return value if self.schema_version != SCHEMA_VERSION else _VERSION_FIRST + value[1:]

    @classmethod
    def from_bytes(cls, value: bytes | None) -> Self:
        """Read the value of a record.

        Args:
            value: UTF-8 JSON, or ``None`` for a tombstone.

        Raises:
            UnreadableEvent: the message names the field and the remedy. It never contains the field's value, because
                errors are logged and values are private.
        """
        if value is None:
            raise UnreadableEvent("not_json", "the record has no value; send a JSON object")
        value = _finite(value)
        try:
            event = cls.model_validate_json(value)
        except ValidationError as error:
            # A later major version may have another structure, so check the version first.
            _refuse_unknown_version(_claimed_version(value))
            raise unreadable(cls, error) from None
        _refuse_unknown_version(event.schema_version)
        _refuse_deep_nesting(value, cls.nesting_reserve)
        return event


_VERSION_FIRST = b'{"schema_version":"' + SCHEMA_VERSION.encode() + b'",'

_DIGITS = bytes.maketrans(b"123456789E", b"000000000e")
_LARGE_EXPONENTS = (b"0e000", b"0e+000")
_MANY_DIGITS = b"0" * 300
_BEFORE_NUMBERS = b"[:, \t\r\n"
_MAX_LOOKS = 100
"""Exponents that are looked at; more of them count as a number that may overflow."""


def _may_overflow(value: bytes) -> bool:
    """Return true if a number may overflow to infinity; a false positive is harmless.

    Every digit is read as 0, because the search for fixed bytes takes a third of the time of a pattern. Identifiers in
    hexadecimal digits often contain such an exponent, but no number: something else is before their digits.
    """
    shape = value.translate(_DIGITS)
    if _MANY_DIGITS in shape:
        return True
    looks = 0
    for exponent in _LARGE_EXPONENTS:
        at = shape.find(exponent)
        while at >= 0:
            before = shape[max(0, at - len(_MANY_DIGITS)) : at].rstrip(b"0.-")[-1:]
            looks += 1
            if before in _BEFORE_NUMBERS or looks > _MAX_LOOKS:
                return True
            at = shape.find(exponent, at + 1)
    return False


def _finite(value: bytes) -> bytes:
    """Serialise a value with ``null`` for numbers that JSON lacks: NaN, Infinity, 1e999.

    Python writes them, for example for a log probability of minus infinity. They would be written as ``null`` in any
    case, so an event read in this way equals its serialised form.
    """
    if b"NaN" not in value and b"Infinity" not in value and not _may_overflow(value):
        return value
    try:
        return to_json(from_json(value), inf_nan_mode="null")
    except ValueError:
        return value  # not JSON at all; validation reports it


def _refuse_deep_nesting(value: bytes, reserve: int) -> None:
    if not reserve or value.count(b"[") + value.count(b"{") < 100:
        return
    try:
        from_json(b"[" * reserve + value + b"]" * reserve)
    except ValueError:
        raise UnreadableEvent("invalid", f"nested deeper than {200 - reserve} levels; send flatter JSON") from None


def _claimed_version(value: bytes) -> str | None:
    try:
        content = from_json(value)
    except ValueError:
        return None
    version = content.get("schema_version") if isinstance(content, dict) else None
    return version if isinstance(version, str) else None


_VERSION = re.compile(r"[0-9]{1,9}\.[0-9]{1,9}", re.ASCII)
_SHOWN = 5


def _refuse_unknown_version(version: str | None) -> None:
    if version is None or version.partition(".")[0] in SUPPORTED_MAJOR_VERSIONS:
        return
    # A value that is not a version may be anything that a sender put there by mistake.
    shown = f"schema_version {version}" if _VERSION.fullmatch(version) else "this schema_version"
    raise UnreadableEvent(
        "unknown_version",
        f"{shown} is not supported; this worker reads major {', '.join(sorted(SUPPORTED_MAJOR_VERSIONS))}: "
        "upgrade the worker, or send that version",
        ("schema_version",),
    )


def unreadable(model: type[Event], error: ValidationError) -> UnreadableEvent:
    """Convert pydantic's error into one that names fields and hides values."""
    details = error.errors(include_url=False, include_context=False, include_input=False)
    if details and details[0]["type"] == "json_invalid":
        return UnreadableEvent("not_json", f"not valid JSON ({details[0]['msg']}); send UTF-8 JSON")
    known = _field_names(model)
    # The keys of a free mapping come from the sender: they are values, not names.
    names = tuple(
        ".".join(str(part) if isinstance(part, int) or part in known else "*" for part in detail["loc"]) or "value"
        for detail in details[:_SHOWN]
    )
    shown = "; ".join(f"{name}: {detail['msg'][:200]}" for name, detail in zip(names, details, strict=False))
    more = f" and {len(details) - _SHOWN} more" if len(details) > _SHOWN else ""
    return UnreadableEvent("invalid", f"{model.__name__} is invalid: {shown}{more}", names)


@lru_cache(maxsize=64)
def _field_names(model: type[Event]) -> frozenset[str]:
    """Return the names of all fields of a model and of its parts."""

    def names(node: Any) -> Iterator[str]:
        if isinstance(node, dict):
            yield from node.get("properties", {})
            for part in node.values():
                yield from names(part)
        elif isinstance(node, list):
            for part in node:
                yield from names(part)

    return frozenset(names(model.model_json_schema()))
