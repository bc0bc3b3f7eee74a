"""Define dead letters: records that were not processed, with the reason."""

import base64
from collections.abc import Iterable

from pydantic import Field

from schemas.base import Event, Identifier, Label, Offset, ShortText, UtcDatetime
from schemas.headers import Headers

HEADER_PREFIX = "dlq_"
"""Prefix of the headers with the reason; the record's own headers precede them."""

FIRST_HEADER = HEADER_PREFIX + "dead_letter_id"
"""First header of the reason. Its headers are the last ones, even if a producer sends headers of the same names."""

KEYLESS_HEADER = HEADER_PREFIX + "keyless"
"""Header of a letter with its own key, because a record needs a key or a value."""

HEADER_FIELDS = (
    "dead_letter_id", "topic", "partition", "offset", "agent", "error_class", "error", "attempts", "failed_at",
    "pipeline_version", "value_omitted", "value_sha256",
)  # fmt: skip
"""Names of the headers, in this order."""

PairOfBase64 = tuple[str, str | None]


class DeadLetterReason(Event):
    """Description of a failed record: agent, position and reason, without the content of the record."""

    dead_letter_id: Identifier = Field(description="UUIDv5 of (topic, partition, offset, agent).")
    topic: Label
    partition: Offset
    offset: Offset
    agent: Label
    error_class: Label
    error: ShortText = Field(description="Error message without the payload.")
    attempts: int = Field(default=1, ge=1)
    failed_at: UtcDatetime
    pipeline_version: Label = ""
    value_omitted: Offset | None = Field(
        default=None, description="Size in bytes of a value that exceeds the record limit."
    )
    value_sha256: Label | None = Field(default=None, description="Digest of a value that exceeds the record limit.")
    requeued_at: UtcDatetime | None = Field(
        default=None, description="Time of the last redrive; set in the store only."
    )
    requeue_count: int = Field(default=0, ge=0, description="Number of redrives; set in the store only.")


class DeadLetter(DeadLetterReason):
    """A dead letter as stored and displayed.

    On the topic, value, key and headers are those of the original record, and the reason is in headers ``dlq_*`` after
    them. If a record leaves no room for the reason, its key, value and headers are omitted. The letter then contains
    the length and the digest of the value.
    """

    key_base64: str | None = Field(default=None, description="Null for a record without key.")
    value_base64: str | None = Field(default=None, description="Null for a tombstone, empty for an empty value.")
    headers_base64: list[PairOfBase64] = Field(
        default_factory=list, description="The record's own headers in their order; names may repeat."
    )

    @property
    def key(self) -> bytes | None:
        """Decode the original key."""
        return _decoded(self.key_base64)

    @property
    def value(self) -> bytes | None:
        """Decode the original value; return ``None`` for a tombstone or an omitted value."""
        return _decoded(self.value_base64)

    @property
    def headers(self) -> Headers:
        """Decode the original headers."""
        return [(name, _decoded(content)) for name, content in self.headers_base64]


def reason_headers(reason: DeadLetterReason) -> Headers:
    """Return the headers with the reason, to be appended to the record's own headers.

    Returns:
        Pairs of name and UTF-8 text.
    """
    values = reason.model_dump(mode="json", include=set(HEADER_FIELDS))
    return [(HEADER_PREFIX + name, str(values[name]).encode()) for name in HEADER_FIELDS if values[name] is not None]


def read_dead_letter(key: bytes | None, value: bytes | None, headers: Iterable[tuple[str, bytes | None]]) -> DeadLetter:
    """Build a dead letter from a record of the dead-letter topic.

    Raises:
        pydantic.ValidationError: the headers of the reason are missing.
    """
    pairs = list(headers)
    # A producer may send headers of these names; only the last ones are Touchstone's.
    start = max((place for place, (name, _) in enumerate(pairs) if name == FIRST_HEADER), default=len(pairs))
    reason = {name.removeprefix(HEADER_PREFIX): content for name, content in pairs[start:]}
    return DeadLetter.model_validate(
        {name: (reason[name] or b"").decode("utf-8", "replace") for name in HEADER_FIELDS if name in reason}
        | {
            "key_base64": None if KEYLESS_HEADER.removeprefix(HEADER_PREFIX) in reason else _encoded(key),
            "value_base64": _encoded(value),
            "headers_base64": [(name, _encoded(content)) for name, content in pairs[:start]],
        }
    )


def _encoded(content: bytes | None) -> str | None:
    return None if content is None else base64.b64encode(content).decode()


def _decoded(content: str | None) -> bytes | None:
    return None if content is None else base64.b64decode(content)
