"""Masking at the door: records from outside are masked before any agent, log or dead letter sees them.

One place for all agents. Records of topics that we write ourselves hold masks already.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from pydantic_core import from_json, to_json

from schemas.base import Event
from schemas.headers import Headers
from schemas.topics import ANSWERS_GENERATED, TOPICS
from workers import metrics
from workers.delivery.records import Record
from workers.settings import PrivacySettings
from workers.steps.masking import Masker

E = TypeVar("E", bound=Event)

OURS = frozenset(topic.name for topic in TOPICS if topic.direction != "in")
"""Topics whose records we write; all others come from outside."""
KNOWN = frozenset(topic.name for topic in TOPICS)

DEFAULT_TENANT = "default"
"""Of an event that names none, as its model has it."""


class Privacy:
    """Masks records by the policy of their tenant.

    Args:
        settings: the policies and the key.
        max_bytes: largest answer that is read.
    """

    def __init__(self, settings: PrivacySettings, max_bytes: int) -> None:
        self._settings = settings
        self._max_bytes = max_bytes
        self._key = settings.key.get_secret_value().encode() if settings.key else b""

    @property
    def is_on(self) -> bool:
        """Whether anything is masked for anybody."""
        return self._settings.is_on

    def concerns(self, record: Record) -> bool:
        """Whether a record may have to be masked; asked for each, so it costs nothing."""
        return self.is_on and record.topic not in OURS and record.value is not None

    def masker(self, tenant: str) -> Masker:
        """What masks for a tenant."""
        return Masker(tenant, self._settings.rules_of(tenant), self._key)

    def record(self, record: Record, agent: str) -> Record:
        """A record of an input topic, masked.

        What is too large, no JSON object or of a foreign format cannot be masked: it is marked as withheld, and its dead
        letter says where it stands and how to recognise it, without what it holds. What is made of a foreign record is
        masked before it is sent.

        Args:
            record: as it came.
            agent: who reads it, for the metric.
        """
        if record.topic not in KNOWN:
            return replace(record, withheld=True)
        too_large = record.topic == ANSWERS_GENERATED.name and len(record.value or b"") > self._max_bytes
        event = None if too_large else _read(record.value or b"")
        if event is None:
            return replace(record, withheld=True)
        masker = self.masker(_tenant(event))
        if not masker.rules.detectors:
            return record
        masked = masker.event(event)
        headers = _headers(record.headers, masker)
        for kind, count in masker.counts.items():
            metrics.MASKED_VALUES.labels(agent, kind).inc(count)
        return replace(record, value=_write(masked), headers=headers) if masker.counts else record

    def value(self, value: bytes) -> bytes:
        """An answer or feedback, masked before it is sent; what cannot be read stays as it is."""
        event = _read(value) if self.is_on else None
        return value if event is None else _write(self._masked(event))

    def event(self, event: E) -> E:
        """An event of ours, masked before it is kept or sent.

        Raises:
            UnreadableEvent: masked, it has become too long.
        """
        content = _read(event.to_bytes()) if self.is_on else None
        return event if content is None else type(event).from_bytes(_write(self._masked(content)))

    def _masked(self, event: dict[str, Any]) -> dict[str, Any]:
        return self.masker(_tenant(event)).event(event)


def _read(value: bytes) -> dict[str, Any] | None:
    try:
        event = from_json(value)
    except ValueError:
        return None
    return event if isinstance(event, dict) else None


def _write(event: dict[str, Any]) -> bytes:
    return to_json(event, inf_nan_mode="constants")


def _tenant(event: Mapping[str, object]) -> str:
    tenant = event.get("tenant", DEFAULT_TENANT)
    return tenant if isinstance(tenant, str) else DEFAULT_TENANT


def _headers(headers: Headers, masker: Masker) -> Headers:
    masked: Headers = []
    for name, value in headers:
        text = masker.counted((value or b"").decode("utf-8", "surrogateescape")).text
        masked.append((name, None if value is None else text.encode("utf-8", "surrogateescape")))
    return masked
