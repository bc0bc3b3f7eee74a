"""Where an answer stands in its caller's traces, for receivers that hang their scores there."""

from dataclasses import dataclass
from hashlib import sha256

from schemas.answers import GeneratedAnswer
from schemas.headers import TRACEPARENT

SAMPLED = 0x01
"""The flag of W3C Trace Context by which a trace is recorded."""


@dataclass(frozen=True, slots=True)
class TracePlace:
    """A place in a trace.

    Attributes:
        trace_id: of the trace; 32 hexadecimal digits where it is one of OpenTelemetry.
        span_id: of the span, 16 hexadecimal digits; ``None`` where only the trace is known.
        flags: of W3C Trace Context; a trace of which nothing else is known counts as sampled.
    """

    trace_id: str
    span_id: str | None = None
    flags: int = SAMPLED


def trace_place(answer: GeneratedAnswer) -> TracePlace | None:
    """Where an answer stands: by its ``traceparent``, else by its trace's identifier; ``None`` without either."""
    trace = answer.trace
    if trace is None:
        return None
    if trace.traceparent is not None and TRACEPARENT.fullmatch(trace.traceparent):
        _, trace_id, span_id, flags = trace.traceparent.split("-")
        return TracePlace(trace_id, span_id, int(flags, 16))
    return TracePlace(trace.trace_id) if trace.trace_id else None


def named_place(answer: GeneratedAnswer) -> TracePlace:
    """The place for receivers with trace identifiers of their own: that which the sender names counts.

    As the column ``trace_id`` of ClickHouse; a span counts only within the named trace. An answer without
    a trace has the one that ``seeded_trace_id`` tells.
    """
    place = trace_place(answer)
    named = answer.trace.trace_id if answer.trace else None
    if named and (place is None or place.trace_id != named):
        return TracePlace(named)
    return place or TracePlace(seeded_trace_id(answer.answer_id))


def seeded_trace_id(answer_id: str) -> str:
    """The trace of an answer that names none: 32 hexadecimal digits of the SHA-256 of its identifier.

    So does Langfuse's ``create_trace_id(seed=answer_id)``, and so do Touchstone's own spans.
    """
    return sha256(answer_id.encode()).hexdigest()[:32]


def exemplar(answer: GeneratedAnswer) -> dict[str, str] | None:
    """What a histogram says of the answer behind an observation: its trace, if that is recorded anywhere."""
    place = trace_place(answer)
    if place is None or place.span_id is None or not place.flags & SAMPLED:
        return None
    return {"trace_id": place.trace_id, "span_id": place.span_id}
