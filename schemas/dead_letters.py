"""Dead letters: records that were given up, with their reason."""

import base64
from collections.abc import Iterable, Mapping

from pydantic import Field

from schemas.base import Event, Identifier, Label, Offset, ShortText, UtcDatetime

HEADER_PREFIX = "dlq_"
"""Headers that carry the reason start so; the record's own headers stand beside them."""

FIELDS = ("topic", "partition", "offset", "agent", "error_class", "error", "attempts", "failed_at", "pipeline_version")


class DeadLetter(Event):
    """A dead letter as it is shown and stored.

    On the topic itself the value is the original value to the byte, the key and the headers
    are the original ones, and what is here stands in headers ``dlq_*``.
    """

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
    key_base64: str | None = None
    value_base64: str | None = None
    headers_base64: dict[str, str] = Field(default_factory=dict)


def reason_headers(letter: DeadLetter) -> list[tuple[str, bytes]]:
    """The headers that carry the reason.

    Returns:
        Pairs of name and UTF-8 text.
    """
    values = letter.model_dump(mode="json", include=set(FIELDS) | {"dead_letter_id"})
    return [(HEADER_PREFIX + name, str(value).encode()) for name, value in values.items()]


def read_dead_letter(
    key: bytes | None, value: bytes | None, headers: Iterable[tuple[str, bytes]] | Mapping[str, bytes]
) -> DeadLetter:
    """Put a record of the dead-letter topic together again.

    Raises:
        pydantic.ValidationError: if the reason's headers are not there.
    """
    pairs = list(headers.items() if isinstance(headers, Mapping) else headers)
    reason = {
        name.removeprefix(HEADER_PREFIX): content.decode("utf-8", "replace")
        for name, content in pairs
        if name.startswith(HEADER_PREFIX)
    }
    original = {name: _base64(content) for name, content in pairs if not name.startswith(HEADER_PREFIX)}
    return DeadLetter.model_validate(
        reason
        | {
            "key_base64": None if key is None else _base64(key),
            "value_base64": None if value is None else _base64(value),
            "headers_base64": original,
        }
    )


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()
