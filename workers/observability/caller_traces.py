"""Locate an answer in the traces of its caller, for receivers that attach scores to them."""

from dataclasses import dataclass
from hashlib import sha256

from schemas.answers import GeneratedAnswer
from schemas.headers import TRACEPARENT
from schemas.identifiers import record_key

SAMPLED = 0x01
"""Flag of W3C Trace Context for a recorded trace."""


@dataclass(frozen=True, slots=True)
class TracePlace:
    """A place in a trace.

    Attributes:
        trace_id: trace identifier; 32 hexadecimal digits for OpenTelemetry.
        span_id: span identifier, 16 hexadecimal digits; ``None`` if only the trace is known.
        flags: flags of W3C Trace Context; a trace without known flags counts as sampled.
    """

    trace_id: str
    span_id: str | None = None
    flags: int = SAMPLED


def trace_place(answer: GeneratedAnswer) -> TracePlace | None:
    """Return the place of an answer: by its ``traceparent``, else by its trace's
    identifier; ``None`` without either.
    """
    trace = answer.trace
    if trace is None:
        return None
    if trace.traceparent is not None and TRACEPARENT.fullmatch(trace.traceparent):
        _, trace_id, span_id, flags = trace.traceparent.split("-")
        return TracePlace(trace_id, span_id, int(flags, 16))
    return TracePlace(trace.trace_id) if trace.trace_id else None


def named_place(answer: GeneratedAnswer) -> TracePlace:
    """Return the place for receivers with their own trace identifiers: the identifier named by the sender has priority.

    It equals the column ``trace_id`` of ClickHouse. A span counts only within the named trace. An answer without a
    trace gets the result of ``seeded_trace_id``.
    """
    place = trace_place(answer)
    named = answer.trace.trace_id if answer.trace else None
    if named and (place is None or place.trace_id != named):
        return TracePlace(named)
    return place or TracePlace(seeded_trace_id(answer.tenant, answer.answer_id))


def seeded_trace_id(tenant: str, answer_id: str) -> str:
    """Return the trace identifier of an answer without one: 32 hexadecimal digits of the SHA-256 of its record key.

    Langfuse's ``create_trace_id(seed=key)`` and Touchstone's own spans use the same rule. In the default tenant the key
    is the answer's identifier.
    """
    return sha256(record_key(tenant, answer_id).encode()).hexdigest()[:32]


def exemplar(answer: GeneratedAnswer) -> dict[str, str] | None:
    """Return the exemplar of an observation: the trace of its answer, if that is recorded anywhere."""
    place = trace_place(answer)
    if place is None or place.span_id is None or not place.flags & SAMPLED:
        return None
    return {"trace_id": place.trace_id, "span_id": place.span_id}
