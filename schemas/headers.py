"""Build record headers: CloudEvents' Kafka binding, binary mode, with Touchstone's additions.

Source: CloudEvents 1.0.2, Kafka protocol binding, section 3.2.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime

SOURCE = "/touchstone"
TYPE_PREFIX = "touchstone."

TRACEPARENT = re.compile(r"00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")
"""W3C Trace Context, version 0."""

Headers = list[tuple[str, bytes | None]]
"""Headers in their order; names may repeat, and Kafka allows headers without a value."""


def event_headers(
    *,
    event_id: str,
    event_type: str,
    time: datetime,
    pipeline_version: str,
    traceparent: str | None = None,
    replay_id: str | None = None,
    agent: str = "",
) -> Headers:
    """Return the headers of an event that Touchstone writes.

    Args:
        event_id: deterministic identifier; with ``ce_source`` it names the event.
        event_type: name of the model.
        time: time of the event, aware.
        pipeline_version: fingerprint of all that can change an evaluation.
        traceparent: W3C trace context to pass on.
        replay_id: set for events of a replay.
        agent: agent that writes the event; part of the source.
    """
    values = {
        "ce_id": event_id,
        "ce_type": TYPE_PREFIX + event_type,
        "ce_source": f"{SOURCE}/{agent}" if agent else SOURCE,
        "ce_time": time.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        "ce_specversion": "1.0",
        "content-type": "application/json",
        "pipeline_version": pipeline_version,
        "traceparent": traceparent,
        "replay_id": replay_id,
    }
    return [(name, value.encode()) for name, value in values.items() if value]


def header(headers: Iterable[tuple[str, bytes | None]], name: str) -> str | None:
    """Return the first header of that name as text, or ``None``."""
    for key, value in headers:
        if key == name:
            return None if value is None else value.decode("utf-8", "replace")
    return None
