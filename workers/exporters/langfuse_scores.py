"""Build score events for Langfuse's public ingestion API (``POST /api/public/ingestion``), or single scores for
``POST /api/public/scores`` where an installation has the first no longer.

Source: Langfuse's API definition (ingestion.yml: IngestionRequest, ScoreEvent, ScoreBody, TraceEvent,
IngestionResponse).
Langfuse continues to accept ``score-create`` on this API; ``trace-create`` works with Langfuse 3 only.

The body's ``id`` identifies the score: a second event with the same ``id`` replaces the first. The envelope's ``id``
depends on the content, so that Langfuse drops a repeat and accepts a revision. The ``timestamp`` depends on the event
only: Langfuse partitions scores by day, and a timestamp of another day would create a second score.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

from schemas.enriched import EnrichedAnswer
from schemas.feedback import FeedbackEvent
from schemas.identifiers import DEFAULT_TENANT, content_id, evaluation_id, feedback_score_id
from workers.exporters.evaluations import Evaluation, evaluations
from workers.observability.caller_traces import named_place, seeded_trace_id

PATH = "/api/public/ingestion"
SCORES_PATH = "/api/public/scores"
MAX_BATCH_BYTES = 3_000_000
"""Maximum size of one request, bytes; Langfuse accepts 3.5 MB."""
FEEDBACK_TAG = "feedback-linked"
"""Tag of traces that have user feedback."""
SATISFIED = frozenset({"approve", "upvote"})
"""User actions that count as satisfaction."""
_VOTES = {"up": "upvote", "down": "downvote"}

Event = dict[str, Any]


@dataclass(frozen=True, slots=True)
class LangfuseStyle:
    """Options for one Langfuse installation.

    Attributes:
        environment: environment of the scores; ``None`` for Langfuse's default.
        tag_traces: also tag the traces that have user feedback.
    """

    environment: str | None = None
    tag_traces: bool = False


def answer_events(enriched: EnrichedAnswer, style: LangfuseStyle) -> list[Event]:
    """Build the score events of an answer, attached to the observation in the answer's trace context.

    Args:
        enriched: the answer with its evaluations.
        style: options for this Langfuse installation.
    """
    place = named_place(enriched.answer)
    # The rank orders a complete result after a degraded one, whichever is exported last.
    at = enriched.answer.completed_at + timedelta(milliseconds=enriched.rank)
    metadata = {
        "answer_id": enriched.answer_id,
        "tenant": enriched.tenant,
        "pipeline_version": enriched.pipeline_version,
        "degraded": enriched.degraded,
    }
    common = {"traceId": place.trace_id, "observationId": place.span_id, "metadata": metadata}
    return [
        _score(
            evaluation_id(enriched.tenant, enriched.answer_id, name),
            name,
            value,
            at,
            style,
            {**common, "comment": comment},
        )
        for evaluation in evaluations(enriched)
        for name, value, comment in _values(evaluation)
    ]


def _values(evaluation: Evaluation) -> Iterator[tuple[str, float | str | bool, str | None]]:
    comment = evaluation.explanation or None
    if evaluation.value is not None:
        yield evaluation.name, evaluation.value, comment
        if evaluation.label is not None:
            yield f"{evaluation.name}_passed", evaluation.label == "pass", comment
    elif evaluation.label is not None:
        yield evaluation.name, evaluation.label, comment


def feedback_events(event: FeedbackEvent, trace_id: str | None, style: LangfuseStyle) -> list[Event]:
    """Build the score events for user feedback: ``user_satisfaction`` and ``user_rating``.

    Votes and review actions give ``user_satisfaction``, stars give ``user_rating``.

    Args:
        event: the feedback.
        trace_id: trace of the answer; ``None`` if the answer is unknown.
        style: options for this Langfuse installation.

    Returns:
        The events; an empty list if the feedback holds no explicit signal.
    """
    said = event.explicit
    if said is None:
        return []
    action = said.review_action or _VOTES.get(said.vote or "")
    found: list[Event] = []
    common: dict[str, Any] = {"traceId": trace_id or seeded_trace_id(event.tenant, event.answer_id)}
    about = {"answer_id": event.answer_id, "tenant": event.tenant}
    if action is not None:
        told = {
            "user_action": action,
            "upvote": action == "upvote",
            "downvote": action == "downvote",
            "user_comment": said.comment,
        }
        name, comment = "user_satisfaction", f"User {action} on generated answer"
        score = common | {"comment": comment, "metadata": {**told, "tags": [FEEDBACK_TAG], **about}}
        found.append(_feedback_score(event, name, float(action in SATISFIED), style, score))
        if style.tag_traces and trace_id is not None:
            body = {"id": trace_id, "tags": [FEEDBACK_TAG], "metadata": told}
            found.append(_event("trace-create", event.occurred_at, body))
    if said.rating is not None:
        score = common | {"comment": said.comment, "metadata": about}
        found.append(_feedback_score(event, "user_rating", float(said.rating), style, score))
    return found


def _feedback_score(event: FeedbackEvent, name: str, value: float, style: LangfuseStyle, body: Event) -> Event:
    identifier = feedback_score_id(event.tenant, event.answer_id, event.feedback_id, name)
    return _score(identifier, name, value, event.occurred_at, style, body)


def _score(
    identifier: str, name: str, value: float | str | bool, at: datetime, style: LangfuseStyle, more: Event
) -> Event:
    kind = "CATEGORICAL" if isinstance(value, str) else "BOOLEAN" if isinstance(value, bool) else "NUMERIC"
    body = {
        "id": identifier,
        "name": name,
        "value": int(value) if isinstance(value, bool) else value,
        "dataType": kind,
        "environment": style.environment,
        **more,
    }
    return _event("score-create", at, {key: held for key, held in body.items() if held is not None})


def _event(kind: str, at: datetime, body: Event) -> Event:
    time = at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    # The content names its tenant.
    identifier = content_id(DEFAULT_TENANT, kind, time, orjson.dumps(body, option=orjson.OPT_SORT_KEYS).decode())
    return {"id": identifier, "type": kind, "timestamp": time, "body": body}


def requests(events: Iterable[Event], max_bytes: int = MAX_BATCH_BYTES) -> Iterator[tuple[list[str], bytes]]:
    """Yield requests within the size limit that hold all events; an event with a repeated ``id`` is sent once.

    Args:
        events: score and trace events.
        max_bytes: maximum size of the events in one request, bytes.

    Yields:
        The identifiers of the events in a request, and the request's body.
    """
    distinct = {event["id"]: orjson.dumps(event) for event in events}
    names: list[str] = []
    parts: list[bytes] = []
    size = 0
    for name, part in distinct.items():
        if parts and size + len(part) + 1 > max_bytes:
            yield names, _body(parts)
            names, parts, size = [], [], 0
        names.append(name)
        parts.append(part)
        size += len(part) + 1
    if parts:
        yield names, _body(parts)


def _body(parts: Sequence[bytes]) -> bytes:
    return b'{"batch":[' + b",".join(parts) + b"]}"


def statuses(answer: bytes) -> Mapping[str, int]:
    """Return the HTTP status of each event, by event identifier, from a response with status 207.

    Raises:
        ValueError: the body is not an ingestion response.
    """
    told = orjson.loads(answer)
    try:
        return {str(each["id"]): int(each["status"]) for part in ("errors", "successes") for each in told[part]}
    except (KeyError, TypeError) as error:
        raise ValueError("the fields successes and errors are missing") from error
