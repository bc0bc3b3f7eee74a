"""Webhooks: what is told of alerts and review requests, and how it is signed.

Source of the signature: Standard Webhooks 1.0.0, which has libraries for receivers in most languages. Signed is
``id.timestamp.body`` with HMAC-SHA256; the identifier is that of the event, so that a receiver drops repeats by it.

No text of an answer, a query or a source leaves by a webhook: identifiers, figures and words of ours, and a link.
"""

import hmac
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any
from urllib.parse import quote

import orjson

from schemas.release import Alert
from schemas.review import ReviewRequest

SECRET_PREFIX = "whsec_"  # noqa: S105 -- what every secret begins with

SEVERITIES = ("info", "warning", "critical")
"""From the least."""


@dataclass(frozen=True, slots=True)
class Notice:
    """Something to be told by webhook.

    Attributes:
        identifier: of the event; told twice, it is the same.
        kind: as ``alert.raised``.
        at: when it happened.
        data: what is told.
        link: where a person looks at it, if the console's address is known.
    """

    identifier: str
    kind: str
    at: datetime
    data: Mapping[str, Any]
    link: str | None

    def body(self) -> bytes:
        """What is sent as JSON: type, timestamp and data, as Standard Webhooks has them."""
        data = {**self.data, **({"url": self.link} if self.link else {})}
        return orjson.dumps({"type": self.kind, "timestamp": _utc(self.at), "data": data})


ALERT_FIELDS = frozenset(
    {"alert_id", "alert_type", "severity", "message", "answer_id", "tenant", "metadata", "raised_at"}
)
REVIEW_FIELDS = frozenset(
    {
        "review_id", "answer_id", "tenant", "risk_mode", "held", "reasons", "hallucination_risk", "grounding_score",
        "gate_score", "model_id", "queue", "priority", "requested_at", "deadline_at",
    }
)  # fmt: skip


def alert_notice(alert: Alert, console_url: str | None) -> Notice:
    """What is told of an alert."""
    data = alert.model_dump(mode="json", include=set(ALERT_FIELDS))
    return Notice(alert.alert_id, "alert.raised", alert.raised_at, data, _link(console_url, "answers", alert.answer_id))


def review_notice(request: ReviewRequest, console_url: str | None) -> Notice:
    """What is told of a review request."""
    data = request.model_dump(mode="json", include=set(REVIEW_FIELDS))
    link = _link(console_url, "review", request.review_id)
    return Notice(request.review_id, "review.requested", request.requested_at, data, link)


def signature_headers(identifier: str, now: datetime, body: bytes, secret: str) -> dict[str, str]:
    """The headers by which a receiver knows who has sent a body, and when.

    Args:
        identifier: of the event.
        now: time of this attempt.
        body: exactly what is sent.
        secret: ``whsec_`` and the key in base64.
    """
    timestamp = str(int(now.timestamp()))
    key = b64decode(secret.removeprefix(SECRET_PREFIX))
    signed = hmac.new(key, f"{identifier}.{timestamp}.".encode() + body, sha256).digest()
    return {
        "webhook-id": identifier,
        "webhook-timestamp": timestamp,
        "webhook-signature": f"v1,{b64encode(signed).decode()}",
    }


def _link(console_url: str | None, page: str, identifier: str) -> str | None:
    return f"{console_url.rstrip('/')}/{page}/{quote(identifier)}" if console_url else None


def _utc(at: datetime) -> str:
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")
