"""Build and sign webhook messages for alerts and review requests.

The signature is that of Standard Webhooks 1.0.0, which has libraries for receivers in most languages. The identifier is
that of the event, so that a receiver can drop repeats.

Webhooks carry identifiers, scores, fixed texts and a link. They carry no text of an answer, a query or a source.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from pydantic_core import to_json
from standardwebhooks import Webhook

from schemas.release import Alert
from schemas.review import ReviewRequest

SEVERITIES = ("info", "warning", "critical")
"""Severities in ascending order."""


@dataclass(frozen=True, slots=True)
class Notice:
    """A webhook message.

    Attributes:
        identifier: identifier of the event; a repeat has the same one.
        kind: event type, for example ``alert.raised``.
        at: time of the event.
        data: payload of the message.
        link: address of the console page, if the console's address is known.
    """

    identifier: str
    kind: str
    at: datetime
    data: Mapping[str, Any]
    link: str | None

    def body(self) -> bytes:
        """Return the JSON body: type, timestamp and data, as defined by Standard Webhooks."""
        data = {**self.data, **({"url": self.link} if self.link else {})}
        # The metadata of an alert may hold integers of any size, which orjson refuses.
        return to_json({"type": self.kind, "timestamp": _utc(self.at), "data": data}, inf_nan_mode="null")


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
    """Build the notice of an alert."""
    data = alert.model_dump(mode="json", include=set(ALERT_FIELDS))
    link = _link(console_url, "answers", alert.answer_id)
    link = f"{link}?tenant={quote(alert.tenant, safe='')}" if link else None
    return Notice(alert.alert_id, "alert.raised", alert.raised_at, data, link)


def review_notice(request: ReviewRequest, console_url: str | None) -> Notice:
    """Build the notice of a review request."""
    data = request.model_dump(mode="json", include=set(REVIEW_FIELDS))
    if "grounding_not_evaluated" in request.reasons:
        data["gate_score"] = None  # the mean of few characteristics would read as a measured score of the answer
    link = _link(console_url, "review", request.review_id)
    return Notice(request.review_id, "review.requested", request.requested_at, data, link)


def signature_headers(identifier: str, now: datetime, body: bytes, secret: str) -> dict[str, str]:
    """Return the signature headers with which a receiver verifies the sender and the time.

    Args:
        identifier: identifier of the event.
        now: time of this attempt.
        body: the exact bytes of the body.
        secret: ``whsec_`` and the key in base64.
    """
    return {
        "webhook-id": identifier,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": Webhook(secret).sign(identifier, now.astimezone(UTC), body.decode()),
    }


def _link(console_url: str | None, page: str, identifier: str) -> str | None:
    return f"{console_url.rstrip('/')}/{page}/{quote(identifier)}" if console_url else None


def _utc(at: datetime) -> str:
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")
