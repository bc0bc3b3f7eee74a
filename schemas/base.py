"""What all events share: bounded field types, the base model and its (de)serialisation.

Unknown fields are kept, so that an event passes through an older worker unharmed.
Times are aware and normalised to UTC. Text bounds are in code points; they exist so
that one record can never exhaust a worker, and so that what grows from an input
record still fits into the broker's maximum (see ``docs/decisions/0003``).
"""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import from_json

SCHEMA_VERSION = "1.0"
"""Version written by this code, ``major.minor``; a reader refuses an unknown major."""

SUPPORTED_MAJOR_VERSIONS = frozenset({"1"})


class UnreadableEvent(ValueError):
    """A record that no reader of this version can understand.

    Attributes:
        code: ``not_json``, ``unknown_version`` or ``invalid``; stable, used as metric label.
        fields: dotted names of the offending fields, empty where the whole value is at fault.
    """

    def __init__(self, code: str, message: str, fields: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.fields = fields


def _to_utc(value: datetime) -> datetime:
    return value.astimezone(UTC)


UtcDatetime = Annotated[AwareDatetime, AfterValidator(_to_utc)]
"""An aware time, converted to UTC."""

Score = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
"""A share or score in 0..1; never NaN (a judgement that failed is ``null``)."""

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

SourceText = Annotated[str, Field(max_length=100_000)]
"""The content of one context chunk."""

Offset = Annotated[int, Field(ge=0)]
"""A position in a text, in code points, or in a partition, in records."""

Metadata = dict[str, Any]
"""Free JSON; its size is bounded by the size of the record."""

RiskLevel = Literal["low", "medium", "high"]
RiskMode = Literal["observer", "gatekeeper"]


class Part(BaseModel):
    """A part of an event: unknown fields kept, defaults validated nowhere but once."""

    model_config = ConfigDict(extra="allow", ser_json_inf_nan="null", protected_namespaces=())


class Event(Part):
    """The base of everything that travels as the value of a record."""

    schema_version: str = Field(
        default=SCHEMA_VERSION,
        pattern=r"^\d+\.\d+$",
        description="Version of this contract, major.minor; a new minor only adds fields.",
    )

    def to_bytes(self) -> bytes:
        """Serialise to UTF-8 JSON.

        Returns:
            The value of a record.
        """
        return self.model_dump_json(exclude_none=False).encode()

    @classmethod
    def from_bytes(cls, value: bytes | None) -> Self:
        """Read the value of a record.

        Args:
            value: UTF-8 JSON, or ``None`` for a tombstone.

        Raises:
            UnreadableEvent: naming the field and the remedy; the text never contains
                the field's value, because errors are logged and values are private.
        """
        if value is None:
            raise UnreadableEvent("not_json", "the record has no value; send a JSON object")
        try:
            event = cls.model_validate_json(value)
        except ValidationError as error:
            # A later major version may look quite different: say that first.
            _refuse_unknown_version(_claimed_version(value))
            raise _unreadable(cls.__name__, error) from None
        _refuse_unknown_version(event.schema_version)
        return event


def _claimed_version(value: bytes) -> str | None:
    try:
        content = from_json(value)
    except ValueError:
        return None
    version = content.get("schema_version") if isinstance(content, dict) else None
    return version if isinstance(version, str) else None


def _refuse_unknown_version(version: str | None) -> None:
    if version is None or version.partition(".")[0] in SUPPORTED_MAJOR_VERSIONS:
        return
    raise UnreadableEvent(
        "unknown_version",
        f"schema_version {version[:20]!r} is not understood here; this worker reads major "
        f"{', '.join(sorted(SUPPORTED_MAJOR_VERSIONS))}: upgrade it or send that version",
        ("schema_version",),
    )


def _unreadable(model: str, error: ValidationError) -> UnreadableEvent:
    """Turn pydantic's error into one that names fields and hides values."""
    details = error.errors(include_url=False, include_context=False, include_input=False)
    if details and details[0]["type"] == "json_invalid":
        return UnreadableEvent("not_json", f"not valid JSON ({details[0]['msg']}); send UTF-8 JSON")
    names = tuple(".".join(str(part) for part in detail["loc"]) or "value" for detail in details)
    shown = "; ".join(f"{name}: {detail['msg']}" for name, detail in zip(names[:5], details[:5], strict=True))
    more = f" and {len(details) - 5} more" if len(details) > 5 else ""
    return UnreadableEvent("invalid", f"{model} is invalid: {shown}{more}", names)
