"""Mask incoming records before any agent, log or dead letter sees them.

All agents share this module. Records of topics that this project writes are masked already.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from pydantic_core import from_json, to_json

from schemas.base import Event
from schemas.headers import Headers
from schemas.identifiers import DEFAULT_TENANT
from schemas.topics import ANSWERS_GENERATED, TOPICS
from workers.delivery.records import Record
from workers.masking.masks import Masker
from workers.observability import metrics
from workers.settings import PrivacySettings

E = TypeVar("E", bound=Event)

OURS = frozenset(topic.name for topic in TOPICS if topic.direction != "in")
"""Topics that this project writes; records of all other topics come from outside."""
KNOWN = frozenset(topic.name for topic in TOPICS)


class Privacy:
    """Mask records by the policy of their tenant.

    Args:
        settings: masking policies and the key.
        max_bytes: maximum size of an answer to read, bytes.
    """

    def __init__(self, settings: PrivacySettings, max_bytes: int) -> None:
        self._settings = settings
        self._max_bytes = max_bytes
        self._key = settings.key.get_secret_value().encode() if settings.key else b""

    @property
    def is_on(self) -> bool:
        """Return whether masking is on for any tenant."""
        return self._settings.is_on

    def concerns(self, record: Record) -> bool:
        """Return whether a record may need masking; called for each record, so it does not read the value."""
        return self.is_on and record.topic not in OURS and record.value is not None

    def masker(self, tenant: str) -> Masker:
        """Return the masker of a tenant."""
        return Masker(tenant, self._settings.rules_of(tenant), self._key)

    def record(self, record: Record, agent: str) -> Record:
        """Mask a record of an input topic.

        A record that is too large, not a JSON object or in a foreign format cannot be masked. It is marked as withheld:
        its dead letter contains its position and a digest, but not its content. An answer that is adapted from a
        foreign record is masked before it is sent.

        Args:
            record: the incoming record.
            agent: name of the reading agent, for the metric.
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
        """Mask the value of an answer or feedback record before it is sent; return an unreadable value unchanged."""
        event = _read(value) if self.is_on else None
        return value if event is None else _write(self._masked(event))

    def user_id(self, tenant: str, user_id: str) -> str:
        """Return a person's identifier as masked records hold it; a text is masked in another way than a field."""
        masked: str = self.masker(tenant).event({"user_id": user_id})["user_id"]
        return masked

    def event(self, event: E) -> E:
        """Mask an event before it is stored or sent.

        Raises:
            UnreadableEvent: the masked event exceeds a length limit.
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
