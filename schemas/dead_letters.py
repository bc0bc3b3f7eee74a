"""Dead letters: records that were given up, with their reason."""

import base64
from collections.abc import Iterable

from pydantic import Field

from schemas.base import Event, Identifier, Label, Offset, ShortText, UtcDatetime
from schemas.headers import Headers

HEADER_PREFIX = "dlq_"
"""Headers that carry the reason start so; the record's own headers stand before them."""

FIRST_HEADER = HEADER_PREFIX + "dead_letter_id"
"""Where the reason begins: its headers are the last ones, whatever a producer has put before them."""

KEYLESS_HEADER = HEADER_PREFIX + "keyless"
"""There where the letter has a key of its own, since a record needs a key or a value to be sent."""

HEADER_FIELDS = (
    "dead_letter_id", "topic", "partition", "offset", "agent", "error_class", "error", "attempts", "failed_at",
    "pipeline_version", "value_omitted", "value_sha256",
)  # fmt: skip
"""What stands in the headers, in this order."""

PairOfBase64 = tuple[str, str | None]


class DeadLetterReason(Event):
    """What was given up, by whom and why; nothing of the record itself."""

    dead_letter_id: Identifier = Field(description="UUIDv5 of (topic, partition, offset, agent).")
    topic: Label
    partition: Offset
    offset: Offset
    agent: Label
    error_class: Label
    error: ShortText = Field(description="What was wrong, without the payload.")
    attempts: int = Field(default=1, ge=1)
    failed_at: UtcDatetime
    pipeline_version: Label = ""
    value_omitted: Offset | None = Field(default=None, description="Bytes of a value that had no room here.")
    value_sha256: Label | None = Field(default=None, description="Digest of a value that had no room here.")
    requeued_at: UtcDatetime | None = Field(default=None, description="When it was last sent again; in the store.")
    requeue_count: int = Field(default=0, ge=0, description="How often it was sent again; in the store.")


class DeadLetter(DeadLetterReason):
    """A dead letter as it is shown and stored.

    On the topic itself the value is the original value to the byte, the key and the headers
    are the original ones, and the reason stands in headers ``dlq_*`` after them. A record
    that leaves no room for the reason is omitted (key, value and headers): the letter then
    says how long and of which digest the value is that stands at its place.
    """

    key_base64: str | None = Field(default=None, description="Null for a record without key.")
    value_base64: str | None = Field(default=None, description="Null for a tombstone, empty for an empty value.")
    headers_base64: list[PairOfBase64] = Field(
        default_factory=list, description="The record's own headers in their order; names may repeat."
    )

    @property
    def key(self) -> bytes | None:
        """The original key."""
        return _decoded(self.key_base64)

    @property
    def value(self) -> bytes | None:
        """The original value, ``None`` for a tombstone or an omitted one."""
        return _decoded(self.value_base64)

    @property
    def headers(self) -> Headers:
        """The original headers."""
        return [(name, _decoded(content)) for name, content in self.headers_base64]


def reason_headers(reason: DeadLetterReason) -> Headers:
    """The headers that carry the reason, to be put after the record's own.

    Returns:
        Pairs of name and UTF-8 text.
    """
    values = reason.model_dump(mode="json", include=set(HEADER_FIELDS))
    return [(HEADER_PREFIX + name, str(values[name]).encode()) for name in HEADER_FIELDS if values[name] is not None]


def read_dead_letter(key: bytes | None, value: bytes | None, headers: Iterable[tuple[str, bytes | None]]) -> DeadLetter:
    """Put a record of the dead-letter topic together again.

    Raises:
        pydantic.ValidationError: if the reason's headers are not there.
    """
    pairs = list(headers)
    # A producer may have sent headers of these names: only the last ones are ours.
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
