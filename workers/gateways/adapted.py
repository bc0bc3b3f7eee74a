"""Build answers from drafts: identifiers, length limits, missing fields and kept fields are handled here.

An adapter finds the parts of an answer in a foreign record and puts them into a ``Draft``. No value is guessed: a
field that the record does not hold stays empty, is evaluated as missing, and is named in ``metadata.gateway.missing``.
Fields of the record without a place in the answer are kept under ``metadata.record``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from typing import Any, Literal

from pydantic import ValidationError
from pydantic_core import to_json

from schemas.answers import MAX_CONTEXTS, MAX_STEPS, MAX_TURNS, GeneratedAnswer
from schemas.base import UnreadableEvent
from schemas.feedback import ExecutionSignals, FeedbackEvent
from workers.feedback.observed_events import execution_event
from workers.gateways.apis.reply import MAX_CITATIONS
from workers.gateways.errors import UnadaptableRecord
from workers.gateways.reading.lenient_reading import count, text, trace_of, traceparent
from workers.gateways.reading.marked_fields import last_field, question

MAX_IDENTIFIER = 200
MAX_SHORT = 2_000
MAX_QUERY = 20_000
MAX_CONTENT = 100_000
"""Length limits of an answer's fields (``schemas.base``), code points; longer values are cut, and the cut is noted."""
MAX_TRACE_ID = 64
MAX_STEP_OUTPUT = 5_000
"""Maximum length of a step's output, code points."""
MAX_CONVERSATION = 60_000
"""Maximum length of all earlier turns together, code points; the oldest are left out."""
_SOURCE_OF = frozenset({"chunk_id", "number", "cited_text"})
"""Fields that can identify the source of a citation; at least one is required."""

Withheld = Literal["query", "answer", "contexts"]


@dataclass(frozen=True, slots=True)
class Received:
    """Metadata of a foreign record.

    Attributes:
        at: time of arrival; used if the record holds no time.
        tenant: overrides the record's tenant; ``None`` keeps the record's tenant.
        identifier: identifier from the envelope, for records without their own.
        traceparent: trace context from the envelope or the headers.
    """

    at: datetime
    tenant: str | None = None
    identifier: str | None = None
    traceparent: str | None = None


@dataclass(frozen=True, slots=True)
class Adapted:
    """An answer adapted from a foreign record.

    Attributes:
        answer: the answer to evaluate.
        feedback: execution feedback from the record.
        refused: number of refused calls of the same record; set on the record's first answer only.
        unread: number of spans of the same record that were not recognised, by reason; set on the first answer only.
    """

    answer: GeneratedAnswer
    feedback: tuple[FeedbackEvent, ...] = ()
    refused: int = 0
    unread: Mapping[str, int] = field(default_factory=dict)

    @property
    def missing(self) -> list[str]:
        """Return the names of the fields that the record did not hold."""
        return list(self.answer.metadata.get("gateway", {}).get("missing", ()))

    @property
    def given_id(self) -> str | None:
        """Return the identifier of the record if it was too long for the answer, at most ``MAX_SHORT`` characters."""
        found = self.answer.metadata.get("gateway", {}).get("given_answer_id")
        return found if isinstance(found, str) else None

    @property
    def kept(self) -> dict[str, Any]:
        """Return the fields of the record that have no place in an answer."""
        return dict(self.answer.metadata.get("record", {}))


@dataclass(slots=True)
class Draft:
    """Parts of an answer found by an adapter; each part is optional.

    Attributes:
        identifier: the record's own identifier of the answer.
        answer: text of the answer; ``None`` if the record holds none.
        contexts: fields of ``ContextChunk``; ``None`` if the format cannot carry contexts.
        conversation: fields of ``Turn`` before the query, the oldest first.
        steps: fields of ``Step``, in their order.
        citations: fields of ``ProvidedCitation``.
        withheld: parts that the gateway has and did not send.
        answered_model: name of the model in the response, with its version.
        error_type: the gateway's error type.
        first_token_at: time of the first token.
        latency_seconds: latency of the call, for records without a start time.
        cost_usd: cost of the call, US dollars.
        cache_hit: whether a cache answered the call.
        kept: fields of the record without a place in the answer.
    """

    identifier: str | None = None
    tenant: str | None = None
    session_id: str | None = None
    user_id: str | None = None
    query: str | None = None
    answer: str | None = None
    contexts: list[dict[str, Any]] | None = None
    conversation: list[dict[str, Any]] = field(default_factory=list)
    steps: list[dict[str, Any]] = field(default_factory=list)
    citations: list[dict[str, Any]] = field(default_factory=list)
    withheld: set[Withheld] = field(default_factory=set)
    model_id: str | None = None
    answered_model: str | None = None
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
    """Build and validate the answer of a draft.

    Args:
        draft: parts of the answer.
        form: name of the format.
        record: the record; its digest identifies an answer without an identifier.
        received: metadata of the record.

    Raises:
        UnadaptableRecord: a value is not valid. Only the answer's text can be too long, because all other values are
            cut.
    """
    _unmark(draft)
    cut: list[str] = []
    given = draft.identifier or received.identifier
    answer_id = _identifier(given) or digest_identifier(record, received.tenant)
    fields = _fields(draft, received, cut) | {
        "answer_id": answer_id,
        "metadata": _metadata(draft, form, cut, given) | ({"record": draft.kept} if draft.kept else {}),
    }
    try:
        answer = GeneratedAnswer.model_validate(fields)
    except ValidationError as error:
        detail = error.errors(include_url=False, include_input=False, include_context=False)[0]
        name = ".".join(str(part) for part in detail["loc"])
        raise UnadaptableRecord(f"{form}: the value read as {name} is invalid: {detail['msg'][:200]}") from None
    return Adapted(answer, tuple(_feedback(draft, answer)))


def _unmark(draft: Draft) -> None:
    """Leave out the markers of DSPy's fields."""
    said = last_field(draft.answer) if draft.answer and not draft.citations else None
    if said is not None:
        draft.answer, draft.query = said, question(draft.query or "") or draft.query


def named_apart(drafts: Sequence[Draft | None], received: Received) -> list[Received]:
    """Return the metadata of each answer of one record.

    If several answers have no identifier, each gets the envelope's identifier and its position.

    Args:
        drafts: drafts in the order of the record; ``None`` for a part without an answer.
        received: metadata of the record.
    """
    unnamed = sum(draft is not None and not draft.identifier for draft in drafts)
    if unnamed < 2 or received.identifier is None:
        return [received] * len(drafts)
    return [replace(received, identifier=f"{received.identifier}-{place}") for place in range(len(drafts))]


def fitting(answer: GeneratedAnswer, max_bytes: int) -> tuple[GeneratedAnswer, bytes]:
    """Return an answer and its serialised value; drop the kept fields and early turns if it does not fit with them.

    Args:
        answer: the answer.
        max_bytes: maximum size of the value, bytes.

    Raises:
        UnadaptableRecord: the answer is too large without the kept fields.
        UnreadableEvent: the answer is nested too deeply without the kept fields.
    """
    value = answer.to_bytes()
    try:
        if len(value) <= max_bytes:
            return GeneratedAnswer.from_bytes(value), value
    except UnreadableEvent:
        if "record" not in answer.metadata:
            raise
    if "record" in answer.metadata:
        metadata = {name: part for name, part in answer.metadata.items() if name != "record"}
        return fitting(_noting_cut(answer, "record", {"metadata": metadata}), max_bytes)
    if answer.steps:
        return fitting(_noting_cut(answer, "steps", {"steps": []}), max_bytes)
    if answer.conversation:
        later = answer.conversation[(len(answer.conversation) + 1) // 2 :]
        return fitting(_noting_cut(answer, "conversation", {"conversation": later}), max_bytes)
    raise UnadaptableRecord(
        f"answer {answer.answer_id} has {len(value)} bytes; at most {max_bytes} are accepted; send fewer or "
        "shorter contexts"
    )


def _noting_cut(answer: GeneratedAnswer, name: str, update: dict[str, Any]) -> GeneratedAnswer:
    """Return an answer with changed fields and a note on what was left out."""
    metadata = update.get("metadata", answer.metadata)
    gateway = dict(metadata.get("gateway", {}))
    cut = gateway.get("cut", ())
    gateway["cut"] = [*cut, *([] if name in cut else [name])]
    return answer.model_copy(update=update | {"metadata": metadata | {"gateway": gateway}})


def _fields(draft: Draft, received: Received, cut: list[str]) -> dict[str, Any]:
    # An HTTP request carries a trace context of its own, that of the delivery; it comes last.
    context = draft.traceparent or traceparent(draft.trace_id, draft.span_id) or received.traceparent
    # Stores and exporters read the trace identifier first, so it must match the trace context.
    trace_id = trace_of(context) or draft.trace_id
    trace = {"traceparent": context, "trace_id": _clipped(trace_id, MAX_TRACE_ID)}
    return {
        "tenant": _identifier(received.tenant or draft.tenant) or "default",
        "session_id": _identifier(draft.session_id),
        "user_id": _identifier(draft.user_id),
        "query": _shortened(draft.query or "", MAX_QUERY, "query", cut),
        "answer": draft.answer or "",
        "contexts": _contexts(draft.contexts, cut),
        "conversation": _turns(draft.conversation, cut),
        "steps": _steps(draft.steps, cut),
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


def _metadata(draft: Draft, form: str, cut: list[str], given: str | None) -> dict[str, Any]:
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
    # An identifier that is too long is replaced by its digest; the given one stays with the answer.
    long = given[:MAX_SHORT] if given and len(given) > MAX_IDENTIFIER else None
    answered = _clipped(draft.answered_model, MAX_IDENTIFIER)
    noted = {"missing": missing, "cut": cut, "given_answer_id": long}
    if answered != draft.model_id:
        noted["answered_model"] = answered
    return {"gateway": {"format": form} | {name: value for name, value in noted.items() if value}}


def _contexts(chunks: list[dict[str, Any]] | None, cut: list[str]) -> list[dict[str, Any]] | None:
    if not chunks:
        return None
    if len(chunks) > MAX_CONTEXTS:
        cut.append("contexts")
    return [_chunk(chunk, place, cut) for place, chunk in enumerate(chunks[:MAX_CONTEXTS], 1)]


def _turns(turns: Sequence[Mapping[str, Any]], cut: list[str]) -> list[dict[str, Any]]:
    """Return the last turns that fit; a turn that is too long by itself ends the conversation there."""
    kept: list[dict[str, Any]] = []
    left = MAX_CONVERSATION
    for turn in reversed(turns[-MAX_TURNS:]):
        left -= len(turn["content"])
        if left < 0:
            break
        kept.insert(0, dict(turn))
    if len(kept) < len(turns):
        cut.append("conversation")
    return kept


def _steps(steps: Sequence[Mapping[str, Any]], cut: list[str]) -> list[dict[str, Any]]:
    """Return the first steps with their texts shortened."""
    if len(steps) > MAX_STEPS:
        cut.append("steps")
    shown = []
    for step in steps[:MAX_STEPS]:
        identifiers = [_identifier(text(each)) for each in step.get("chunk_ids", ())[:MAX_CONTEXTS]]
        shown.append({
            **step,
            "name": _clipped(step.get("name"), MAX_IDENTIFIER) or "",
            "model": _clipped(step.get("model"), MAX_IDENTIFIER),
            "input": (step.get("input") or "")[:MAX_SHORT],
            "output": (step.get("output") or "")[:MAX_STEP_OUTPUT],
            "chunk_ids": [each for each in identifiers if each],
        })  # fmt: skip
    return shown


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
        # Distances and ranks are on another scale than 0..1 and go to the metadata.
        shown |= (
            {"retrieval_score": score}
            if 0 <= score <= 1
            else {"metadata": shown.get("metadata", {}) | {"score": score}}
        )
    return shown


def _citation(citation: Mapping[str, Any]) -> dict[str, Any]:
    """Return the valid fields of a citation; an invalid field would refuse the whole answer."""
    shown = {
        "chunk_id": _identifier(text(citation.get("chunk_id"))),
        "number": count(citation.get("number")) or None,
        "cited_text": _clipped(text(citation.get("cited_text")), MAX_SHORT),
        "start": count(citation.get("start")),
        "end": count(citation.get("end")),
    }
    return {name: value for name, value in shown.items() if value is not None}


def _feedback(draft: Draft, answer: GeneratedAnswer) -> list[FeedbackEvent]:
    """Return execution feedback for values that an answer cannot hold: cost, first token, latency and error type."""
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


def bounded_identifier(value: str) -> str:
    """Return an identifier, or ``sha256-`` and the digest of its UTF-8 if it is longer than 200 characters."""
    return _identifier(value) or value


def _identifier(value: str | None) -> str | None:
    if not value or len(value) <= MAX_IDENTIFIER:
        return value or None
    return f"sha256-{sha256(value.encode('utf-8', 'surrogatepass')).hexdigest()}"


def digest_identifier(record: Any, tenant: str | None) -> str:
    """Return an identifier from a record's content; equal content of one tenant has an equal identifier.

    Args:
        record: the record.
        tenant: tenant from outside the record; ``None`` if the record itself names the tenant.
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
