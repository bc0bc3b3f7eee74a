"""From what a format tells to an answer: one place for identifiers, bounds, what is missing and what is kept.

An adapter finds the parts of an answer in a foreign record and puts them into a ``Draft``.
Nothing is guessed: what the record does not tell is left out, judged as missing, and named in
``metadata.gateway.missing``. What no field takes is kept under ``metadata.record``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from typing import Any, Literal

from pydantic import ValidationError
from pydantic_core import to_json

from schemas.answers import MAX_CONTEXTS, GeneratedAnswer
from schemas.base import UnreadableEvent
from schemas.feedback import ExecutionSignals, FeedbackEvent
from workers.gateways.errors import UnadaptableRecord
from workers.gateways.reading import count, text, trace_of, traceparent
from workers.gateways.reply import MAX_CITATIONS
from workers.steps.observations import execution_event

MAX_IDENTIFIER = 200
MAX_SHORT = 2_000
MAX_QUERY = 20_000
MAX_CONTENT = 100_000
"""Bounds of the fields of an answer (``schemas.base``), code points; longer ones are cut and the cut is told."""
MAX_TRACE_ID = 64
_SOURCE_OF = frozenset({"chunk_id", "number", "cited_text"})
"""Fields of a citation of which one must say what is cited."""

Withheld = Literal["query", "answer", "contexts"]


@dataclass(frozen=True, slots=True)
class Received:
    """What is known of a record besides what it holds.

    Attributes:
        at: when it came; counts where the record tells no time.
        tenant: whose it is, whatever the record says; ``None`` leaves it to the record.
        identifier: what it is called by its envelope, for records without a name of their own.
        traceparent: trace context that came beside it.
    """

    at: datetime
    tenant: str | None = None
    identifier: str | None = None
    traceparent: str | None = None


@dataclass(frozen=True, slots=True)
class Adapted:
    """What became of one answer of a foreign record.

    Attributes:
        answer: to be judged.
        feedback: what the format tells of the call beside it.
        refused: how many other calls of the record could not be taken; its first answer tells it.
    """

    answer: GeneratedAnswer
    feedback: tuple[FeedbackEvent, ...] = ()
    refused: int = 0

    @property
    def missing(self) -> list[str]:
        """Fields that the record did not tell."""
        return list(self.answer.metadata.get("gateway", {}).get("missing", ()))

    @property
    def kept(self) -> dict[str, Any]:
        """Fields of the record that no field of an answer takes."""
        return dict(self.answer.metadata.get("record", {}))


@dataclass(slots=True)
class Draft:
    """What an adapter found; everything may be missing.

    Attributes:
        identifier: the record's own name for the answer.
        answer: its text; ``None`` where the record holds none.
        contexts: fields of ``ContextChunk``; ``None`` where the record cannot say.
        citations: fields of ``ProvidedCitation``.
        withheld: parts that the gateway has and did not send.
        error_type: the gateway's word for what went wrong.
        first_token_at: when the first token was there.
        latency_seconds: of the call, where its beginning is not told.
        cost_usd: of the call.
        cache_hit: whether it was answered from a cache.
        kept: what no other field takes.
    """

    identifier: str | None = None
    tenant: str | None = None
    session_id: str | None = None
    user_id: str | None = None
    query: str | None = None
    answer: str | None = None
    contexts: list[dict[str, Any]] | None = None
    citations: list[dict[str, Any]] = field(default_factory=list)
    withheld: set[Withheld] = field(default_factory=set)
    model_id: str | None = None
    provider: str | None = None
    prompt_version: str | None = None
    temperature: float | None = None
    query_type: str | None = None
    risk_mode: str | None = None
    reference_answer: str | None = None
    status: Literal["success", "error"] = "success"
    error: str | None = None
    error_type: str | None = None
    finish_reason: str | None = None
    requested_at: datetime | None = None
    first_token_at: datetime | None = None
    completed_at: datetime | None = None
    latency_seconds: float | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    trace_id: str | None = None
    span_id: str | None = None
    traceparent: str | None = None
    cost_usd: float | None = None
    cache_hit: bool | None = None
    kept: dict[str, Any] = field(default_factory=dict)


def finished(draft: Draft, form: str, record: Any, received: Received) -> Adapted:
    """The answer of a draft.

    Args:
        draft: what was found.
        form: name of the format.
        record: as it came; its digest names an answer that nobody else has named.
        received: what is known besides.

    Raises:
        UnadaptableRecord: a value does not fit, which can be the answer's text alone: all else is cut.
    """
    cut: list[str] = []
    answer_id = _identifier(draft.identifier or received.identifier) or digest_identifier(record, received.tenant)
    fields = _fields(draft, received, cut) | {
        "answer_id": answer_id,
        "metadata": _metadata(draft, form, cut) | ({"record": draft.kept} if draft.kept else {}),
    }
    try:
        answer = GeneratedAnswer.model_validate(fields)
    except ValidationError as error:
        detail = error.errors(include_url=False, include_input=False, include_context=False)[0]
        name = ".".join(str(part) for part in detail["loc"])
        raise UnadaptableRecord(f"{form}: what was read as {name} cannot be taken: {detail['msg'][:200]}") from None
    return Adapted(answer, tuple(_feedback(draft, answer)))


def named_apart(drafts: Sequence[Draft | None], received: Received) -> list[Received]:
    """What is known of each answer of one record: where several have no name, each has its place beside the envelope's.

    Args:
        drafts: in the order of the record; ``None`` for what holds no answer.
        received: what is known of the record.
    """
    unnamed = sum(draft is not None and not draft.identifier for draft in drafts)
    if unnamed < 2 or received.identifier is None:
        return [received] * len(drafts)
    return [replace(received, identifier=f"{received.identifier}-{place}") for place in range(len(drafts))]


def fitting(answer: GeneratedAnswer, max_bytes: int) -> tuple[GeneratedAnswer, bytes]:
    """An answer and its value, without what was kept aside if it is too large or too deep with it.

    Raises:
        UnadaptableRecord: it is too large without it as well.
        UnreadableEvent: it is too deep without it as well.
    """
    value = answer.to_bytes()
    try:
        if len(value) <= max_bytes:
            return GeneratedAnswer.from_bytes(value), value
    except UnreadableEvent:
        if "record" not in answer.metadata:
            raise
    if "record" in answer.metadata:
        gateway = dict(answer.metadata.get("gateway", {}))
        gateway["cut"] = [*gateway.get("cut", ()), "record"]
        metadata = {name: part for name, part in answer.metadata.items() if name != "record"}
        return fitting(answer.model_copy(update={"metadata": metadata | {"gateway": gateway}}), max_bytes)
    raise UnadaptableRecord(
        f"answer {answer.answer_id} has {len(value)} bytes and at most {max_bytes} are accepted; send fewer or "
        "shorter contexts"
    )


def _fields(draft: Draft, received: Received, cut: list[str]) -> dict[str, Any]:
    # A request has a trace as well, which is that of its delivery.
    context = draft.traceparent or traceparent(draft.trace_id, draft.span_id) or received.traceparent
    # Stores and exporters look at the identifier first: it must be that of the context.
    trace_id = trace_of(context) or draft.trace_id
    trace = {"traceparent": context, "trace_id": _clipped(trace_id, MAX_TRACE_ID)}
    return {
        "tenant": _identifier(received.tenant or draft.tenant) or "default",
        "session_id": _identifier(draft.session_id),
        "user_id": _identifier(draft.user_id),
        "query": _shortened(draft.query or "", MAX_QUERY, "query", cut),
        "answer": draft.answer or "",
        "contexts": _contexts(draft.contexts, cut),
        "citations": [
            shown for each in draft.citations[:MAX_CITATIONS] if not _SOURCE_OF.isdisjoint(shown := _citation(each))
        ],
        "withheld": sorted(draft.withheld),
        "model": {
            "id": _clipped(draft.model_id, MAX_IDENTIFIER) or "unknown",
            "provider": _clipped(draft.provider, MAX_IDENTIFIER),
            "prompt_version": _clipped(draft.prompt_version, MAX_IDENTIFIER),
            "temperature": draft.temperature
            if draft.temperature is not None and 0 <= draft.temperature <= 10
            else None,
        },
        "query_type": _clipped(draft.query_type, MAX_IDENTIFIER),
        "risk_mode": draft.risk_mode if draft.risk_mode in ("observer", "gatekeeper") else None,
        "reference_answer": draft.reference_answer,
        "status": draft.status,
        "error": _clipped(draft.error, MAX_SHORT),
        "finish_reason": _clipped(draft.finish_reason, MAX_IDENTIFIER),
        "requested_at": draft.requested_at,
        "completed_at": draft.completed_at or received.at,
        "usage": {"prompt_tokens": draft.prompt_tokens, "completion_tokens": draft.completion_tokens}
        if draft.prompt_tokens is not None or draft.completion_tokens is not None
        else None,
        "trace": trace if any(trace.values()) else None,
    }


def _metadata(draft: Draft, form: str, cut: list[str]) -> dict[str, Any]:
    told = {
        "answer_id": draft.identifier,
        "query": draft.query,
        "answer": draft.answer or draft.status == "error",
        "contexts": draft.contexts,
        "model": draft.model_id,
        "requested_at": draft.requested_at or draft.latency_seconds is not None,
        "completed_at": draft.completed_at,
    }
    missing = [name for name, value in told.items() if not value]
    return {
        "gateway": {"format": form} | {name: value for name, value in (("missing", missing), ("cut", cut)) if value}
    }


def _contexts(chunks: list[dict[str, Any]] | None, cut: list[str]) -> list[dict[str, Any]] | None:
    if not chunks:
        return None
    if len(chunks) > MAX_CONTEXTS:
        cut.append("contexts")
    return [_chunk(chunk, place, cut) for place, chunk in enumerate(chunks[:MAX_CONTEXTS], 1)]


def _chunk(chunk: Mapping[str, Any], place: int, cut: list[str]) -> dict[str, Any]:
    shown = {name: value for name, value in chunk.items() if value is not None}
    shown["chunk_id"] = _identifier(shown.get("chunk_id")) or f"context-{place}"
    shown["content"] = _shortened(shown.get("content", ""), MAX_CONTENT, f"contexts.{place - 1}.content", cut)
    for name in ("source_name", "source_table", "record_id", "entity"):
        if name in shown:
            shown[name] = _clipped(shown[name], MAX_IDENTIFIER)
    for name in ("source_path", "source_event"):
        if name in shown:
            shown[name] = _clipped(shown[name], MAX_SHORT)
    score = shown.pop("retrieval_score", None)
    if isinstance(score, int | float) and not isinstance(score, bool):
        # Distances and ranks are scores as well, of another scale.
        shown |= (
            {"retrieval_score": score}
            if 0 <= score <= 1
            else {"metadata": shown.get("metadata", {}) | {"score": score}}
        )
    return shown


def _citation(citation: Mapping[str, Any]) -> dict[str, Any]:
    """A citation with what of it fits: what is wrong would refuse the whole answer."""
    shown = {
        "chunk_id": _identifier(text(citation.get("chunk_id"))),
        "number": count(citation.get("number")) or None,
        "cited_text": _clipped(text(citation.get("cited_text")), MAX_SHORT),
        "start": count(citation.get("start")),
        "end": count(citation.get("end")),
    }
    return {name: value for name, value in shown.items() if value is not None}


def _feedback(draft: Draft, answer: GeneratedAnswer) -> list[FeedbackEvent]:
    """What the gateway tells of the call and the answer does not: its cost, its first token, its own word for a failure."""
    first = (
        (draft.first_token_at - draft.requested_at).total_seconds()
        if draft.first_token_at and draft.requested_at
        else None
    )
    latency = draft.latency_seconds
    if latency is None and draft.requested_at and draft.completed_at:
        latency = (draft.completed_at - draft.requested_at).total_seconds()
    more = {
        "first_token_seconds": first if first is not None and first >= 0 else None,
        "cost_usd": draft.cost_usd,
        "cache_hit": draft.cache_hit,
    }
    if draft.status == "success" and draft.latency_seconds is None and all(value is None for value in more.values()):
        return []
    signals = ExecutionSignals(
        status=draft.status,
        error_type=_clipped(draft.error_type, MAX_IDENTIFIER) if draft.status == "error" else None,
        latency_seconds=latency if latency is not None and latency >= 0 else None,
        **more,
    )
    return [execution_event(answer, signals, "gateway")]


def _identifier(value: str | None) -> str | None:
    """An identifier as it is, or its digest where it is too long to be one."""
    if not value or len(value) <= MAX_IDENTIFIER:
        return value or None
    return f"sha256-{sha256(value.encode('utf-8', 'surrogatepass')).hexdigest()}"


def digest_identifier(record: Any, tenant: str | None) -> str:
    """A name for a record that nobody has named: the same content of the same tenant has the same.

    Args:
        record: as it came.
        tenant: whose it is, where the record itself does not say it.
    """
    named = record if tenant is None else {"tenant": tenant, "record": record}
    return f"sha256-{sha256(to_json(_sorted(named), inf_nan_mode='constants')).hexdigest()}"


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _sorted(value[name]) for name in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


def _clipped(value: str | None, length: int) -> str | None:
    return value[:length] if value else None


def _shortened(value: str, length: int, name: str, cut: list[str]) -> str:
    if len(value) > length:
        cut.append(name)
    return value[:length]
