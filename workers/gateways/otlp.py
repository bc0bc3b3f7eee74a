"""OpenTelemetry: spans and events of GenAI clients in OTLP, JSON or protobuf, also with OpenInference's attributes.

Sources: OTLP 1.9 (JSON: identifiers in hexadecimal, 64-bit numbers as texts); the GenAI semantic
conventions (schema gen-ai-dev 1.42: ``gen_ai.input.messages`` and ``gen_ai.output.messages`` with parts,
``gen_ai.retrieval.documents``, event ``gen_ai.client.inference.operation.details``), also as they were up to 1.36
(``gen_ai.choice``: ``otlp_messages``); OpenInference's semantic
conventions (``llm.input_messages.0.message.content``, ``retrieval.documents.0.document.content``); OpenLLMetry's
``gen_ai.prompt.0.content``. Read November 2026.

One export is looked at as a whole: a call's contexts are the documents of the retrievals of the same
trace that ended before it began. What a batch processor sent in another export cannot be found.
"""

from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from importlib import import_module
from typing import Any

from schemas.answers import MAX_CONTEXTS
from workers.gateways import otlp_messages
from workers.gateways.adapted import Adapted, Draft, Received, Withheld, finished, named_apart
from workers.gateways.contexts import chunk_of
from workers.gateways.errors import NothingToJudge, UnadaptableRecord
from workers.gateways.messages import content_text, conversation
from workers.gateways.reading import (
    an_object,
    count,
    first_text,
    items,
    mapping,
    number,
    objects,
    parsed,
    text,
    time,
    unfolded,
    without,
)

NAME = "otlp"
MAX_ITEMS = 1_000
"""Most messages or documents of a flattened list."""
MAX_DEPTH = 16
"""Deepest nesting of a flattened name."""
MAX_SECONDS = 86_400.0
INFERENCE = frozenset({"chat", "generate_content", "text_completion"})
DETAILS = "gen_ai.client.inference.operation.details"
"""The event that holds what was said, within the span or as a log record of its own."""
_PREFIXES = ("gen_ai.prompt", "gen_ai.completion", "llm.input_messages", "llm.output_messages", "retrieval.documents",
             "reranker.output_documents")  # fmt: skip
"""Lists that are flattened into attributes: ``llm.input_messages.0.message.role``."""
_CALLER = "touchstone."
"""Attributes that name a field of the answer, for what the conventions have no name for."""
_ERROR = (2, "2", "STATUS_CODE_ERROR")
_OPERATION = "gen_ai.operation.name"
_KIND = "openinference.span.kind"
_TOLD = frozenset(
    {
        "gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.conversation.id", "gen_ai.request.model",
        "gen_ai.response.model", "gen_ai.provider.name", "gen_ai.system", "gen_ai.usage.input_tokens",
        "gen_ai.usage.output_tokens", "gen_ai.usage.prompt_tokens", "gen_ai.usage.completion_tokens",
        "gen_ai.request.temperature", "gen_ai.response.finish_reasons", "gen_ai.retrieval.documents", "session.id",
        "user.id", "enduser.id", "llm.model_name", "llm.provider", "llm.token_count.prompt",
        "llm.token_count.completion", "llm.cost.total", "llm.finish_reason", "input.value", "output.value",
        "error.type", "exception.type", "gen_ai.prompt.version", "gen_ai.response.time_to_first_chunk", "llm.prompt_template.version",
    }
)  # fmt: skip


@dataclass(slots=True)
class _Span:
    """A span or an event, with its attributes as plain values and its flattened lists rebuilt."""

    trace_id: str
    span_id: str
    name: str
    start: datetime | None
    end: datetime | None
    failed: bool
    message: str | None
    attributes: dict[str, Any] = field(default_factory=dict)
    lists: dict[str, list[Any]] = field(default_factory=dict)
    resource: dict[str, Any] = field(default_factory=dict)
    raw: Mapping[str, Any] = field(default_factory=dict)

    def text(self, *names: str) -> str | None:
        return first_text(self.attributes, *names)

    @property
    def is_inference(self) -> bool:
        operation, kind = self.text(_OPERATION), (self.text(_KIND) or "").upper()
        if operation is not None:
            return operation in INFERENCE
        if kind or self.name == otlp_messages.CHOICE:
            return kind in ("", "LLM")
        return bool(self.lists.get("gen_ai.completion"))

    @property
    def documents(self) -> list[dict[str, Any]]:
        """Sources that it retrieved; a reranker's are what is left of a retriever's."""
        given = items(unfolded(self.attributes.get("gen_ai.retrieval.documents")))
        lists = [self.lists.get("reranker.output_documents") or self.lists.get("retrieval.documents") or ()]
        documents = [*given, *(mapping(each).get("document", each) for found in lists for each in found)]
        return [chunk for each in documents if (chunk := chunk_of(_with_metadata(each))) is not None]


_Message = tuple[str, Any, _Span]
"""A log record of one message: its name, its body, and what stands around it."""


def decoded(value: bytes | None) -> Any:
    """An export of spans, from JSON or protobuf, as its JSON has it.

    Raises:
        UnadaptableRecord: it is neither.
    """
    return _decoded(value, "trace", "ExportTraceServiceRequest")


def decoded_logs(value: bytes | None) -> Any:
    """An export of log records.

    Raises:
        UnadaptableRecord: it is none.
    """
    return _decoded(value, "logs", "ExportLogsServiceRequest")


def adapt(record: Any, received: Received) -> list[Adapted]:
    """The answers of an export: one for each call of a model.

    Raises:
        NothingToJudge: it holds none, as most exports do.
        UnadaptableRecord: it is no export, or none of its calls can be taken.
    """
    export = an_object(record, "the export")
    if not isinstance(export.get("resourceSpans"), list) and not isinstance(export.get("resourceLogs"), list):
        raise UnadaptableRecord("otlp: resourceSpans (or resourceLogs) is missing; send an OTLP export request")
    spans = [*_spans(export), *_events(export)]
    retrievals: dict[str, list[_Retrieval]] = {}
    for span in spans:
        if documents := span.documents:
            retrievals.setdefault(span.trace_id, []).append(_Retrieval(span, documents))
    calls = [span for span in spans if span.is_inference]
    drafts = [_draft(span, _contexts(span, retrievals.get(span.trace_id, ()))) for span in calls]
    found: list[Adapted] = []
    refusals: list[UnadaptableRecord] = []
    for draft, span, known in zip(drafts, calls, named_apart(drafts, received), strict=True):
        if draft is None:
            continue
        try:
            found.append(finished(draft, NAME, [span.resource, span.raw], known))
        except UnadaptableRecord as refusal:
            refusals.append(refusal)
    if not found and refusals:
        raise refusals[0]
    if not found:
        raise NothingToJudge("no_answer")
    # The rest of an export goes on without a call that cannot be taken.
    return [replace(found[0], refused=len(refusals)), *found[1:]]


def _draft(span: _Span, retrieved: list[dict[str, Any]]) -> Draft | None:
    """The answer of a call; ``None`` where it asks for tools and says nothing."""
    attributes = span.attributes
    asked = conversation(_messages(span, "gen_ai.input.messages", "llm.input_messages", "gen_ai.prompt", "input.value"))
    answers = _messages(span, "gen_ai.output.messages", "llm.output_messages", "gen_ai.completion", "output.value")
    first = next(iter(items(answers)), answers)
    said = content_text(first)
    if said is None and not span.failed and _calls_tools(first):
        return None
    caller = {name.removeprefix(_CALLER): value for name, value in attributes.items() if name.startswith(_CALLER)}
    finish_reasons = items(attributes.get("gen_ai.response.finish_reasons"))
    withheld: set[Withheld] = set()
    if answers is None and not span.failed:
        # Instrumentations capture no content unless they are told to.
        withheld = {"answer"} if asked.query else {"query", "answer"}
    return Draft(
        identifier=f"{span.trace_id}-{span.span_id}" if span.trace_id and span.span_id else None,
        tenant=first_text(caller, "tenant") or first_text(span.resource, f"{_CALLER}tenant"),
        session_id=first_text(caller, "session_id") or span.text("gen_ai.conversation.id", "session.id"),
        user_id=first_text(caller, "user_id") or span.text("user.id", "enduser.id"),
        query=asked.query,
        answer=None if span.failed else said,
        contexts=[*retrieved, *asked.evidence],
        withheld=withheld,
        model_id=span.text("gen_ai.response.model", "gen_ai.request.model", "llm.model_name"),
        provider=span.text("gen_ai.provider.name", "gen_ai.system", "llm.provider"),
        prompt_version=span.text("gen_ai.prompt.version", "llm.prompt_template.version"),
        temperature=number(attributes.get("gen_ai.request.temperature")),
        query_type=first_text(caller, "query_type"),
        risk_mode=first_text(caller, "risk_mode"),
        status="error" if span.failed else "success",
        error=span.message,
        error_type=span.text("error.type", "exception.type"),
        finish_reason=first_text(mapping(first), "finish_reason")
        or text(next(iter(finish_reasons), None))
        or span.text("llm.finish_reason"),
        requested_at=span.start,
        completed_at=span.end,
        first_token_at=_after(span.start, number(attributes.get("gen_ai.response.time_to_first_chunk"))),
        prompt_tokens=_tokens(
            span, "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt"
        ),
        completion_tokens=_tokens(
            span, "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion"
        ),
        trace_id=span.trace_id,
        span_id=span.span_id,
        cost_usd=number(attributes.get("llm.cost.total")),
        kept=_kept(span),
    )


def _messages(span: _Span, given: str, *flattened: str) -> Any:
    """Messages of a span: structured or as JSON, else flattened, else the plain value; ``None`` for none."""
    if span.attributes.get(given) is not None:
        return unfolded(span.attributes[given])
    *lists, value = flattened
    for name in lists:
        if span.lists.get(name):
            return [_message(each) for each in span.lists[name]]
    plain = unfolded(span.attributes.get(value))
    # Frameworks put their own objects there; what is no message is left to metadata.
    if isinstance(plain, dict) and isinstance(plain.get("choices"), list):
        return [mapping(choice).get("message", choice) for choice in plain["choices"]]
    if isinstance(plain, dict) and isinstance(plain.get("messages"), list):
        return plain["messages"]
    return plain if isinstance(plain, str) and plain else None


def _message(item: Any) -> dict[str, Any]:
    """A message of OpenInference or OpenLLMetry as other messages are."""
    source = mapping(mapping(item).get("message", item))
    contents = [mapping(mapping(each).get("message_content")) for each in items(source.get("contents"))]
    message = dict(source)
    if contents:
        message["content"] = [{"type": "text", "text": each.get("text")} for each in contents if each.get("text")]
    return message


def _calls_tools(message: Any) -> bool:
    source = mapping(message)
    parts = objects(source.get("parts", source.get("content")))
    return bool(source.get("tool_calls")) or any(part.get("type") in ("tool_call", "tool_use") for part in parts)


@dataclass(frozen=True, slots=True)
class _Retrieval:
    """A span with the sources that it retrieved, read once."""

    span: _Span
    documents: list[dict[str, Any]]


def _contexts(call: _Span, retrievals: Sequence[_Retrieval]) -> list[dict[str, Any]]:
    """What was retrieved for a call: reranked documents in place of the rest, each once.

    Args:
        call: of a model.
        retrievals: of its trace.
    """
    # What bears no trace has nothing to do with another call without one.
    before = [each for each in retrievals if each.span is call or (call.trace_id and _precedes(each.span, call))]
    reranked = [each for each in before if each.span.lists.get("reranker.output_documents")]
    found: dict[tuple[Any, str], dict[str, Any]] = {}
    for chunk in (chunk for retrieval in reranked or before for chunk in retrieval.documents):
        found.setdefault((chunk.get("chunk_id"), chunk["content"]), chunk)
        if len(found) > MAX_CONTEXTS:
            break  # one more than an answer may carry, so that the cut is told
    return list(found.values())


def _precedes(span: _Span, call: _Span) -> bool:
    return span.end is None or call.start is None or span.end <= call.start


def _with_metadata(document: Any) -> Any:
    """A document whose metadata stands as JSON within a text."""
    source = mapping(document)
    return {**source, "metadata": unfolded(source["metadata"])} if "metadata" in source else document


def _tokens(span: _Span, *names: str) -> int | None:
    return next((found for name in names if (found := count(span.attributes.get(name))) is not None), None)


def _after(start: datetime | None, seconds: float | None) -> datetime | None:
    return start + timedelta(seconds=seconds) if start and seconds is not None and 0 <= seconds < MAX_SECONDS else None


def _kept(span: _Span) -> dict[str, Any]:
    attributes = {
        name: value for name, value in without(span.attributes, _TOLD).items() if not name.startswith(_CALLER)
    }
    return without({"span": span.name, "attributes": attributes, "resource": span.resource}, frozenset())


# ---------------------------------------------------------------- the wire


def _decoded(value: bytes | None, signal: str, message: str) -> Any:
    if not value:
        raise UnadaptableRecord("the export is empty; send an OTLP export request")
    if value.lstrip()[:1] == b"{":
        try:
            return parsed(value, "the export")
        except UnadaptableRecord:
            # Protobuf begins with a line feed and the length of its first message, which may be 123: "{".
            if value[:1] != b"\n":
                raise
    try:
        service = _service(signal)
    except ImportError:
        raise UnadaptableRecord(
            "the export is protobuf, which is read with the extra tracing: pip install 'touchstone-worker[tracing]'; "
            "or send OTLP as JSON"
        ) from None
    from google.protobuf.json_format import MessageToDict
    from google.protobuf.message import DecodeError

    request = getattr(service, message)()
    try:
        request.ParseFromString(value)
        return MessageToDict(request)
    except (DecodeError, ValueError, RecursionError) as error:
        raise UnadaptableRecord(
            f"the export is neither JSON nor the protobuf of an {message} ({type(error).__name__}); set encoding "
            "otlp_proto or otlp_json at the collector"
        ) from None


def _service(signal: str) -> Any:
    return import_module(f"opentelemetry.proto.collector.{signal}.v1.{signal}_service_pb2")


def encoded(content: Mapping[str, Any], signal: str, message: str) -> bytes:
    """A response to an export as protobuf, from its JSON; nothing for one without fields."""
    if not content:
        return b""
    from google.protobuf.json_format import ParseDict

    response: bytes = ParseDict(content, getattr(_service(signal), message)()).SerializeToString()
    return response


def _spans(export: Mapping[str, Any]) -> Iterator[_Span]:
    for resource, scope in _scopes(export, "resourceSpans", "scopeSpans"):
        for raw in objects(scope.get("spans")):
            status = mapping(raw.get("status"))
            span = _new(raw, resource, "startTimeUnixNano", "endTimeUnixNano")
            span.failed = status.get("code") in _ERROR
            span.message = text(status.get("message")) if span.failed else None
            told: list[tuple[str, Any]] = []
            for event in objects(raw.get("events")):
                name, attributes = str(event.get("name")), _attributes(event.get("attributes"))
                if name == DETAILS or name.startswith("exception"):
                    span.attributes = {**attributes, **span.attributes}
                elif name in otlp_messages.NAMES:
                    told.append((name, attributes.get(otlp_messages.CONTENT, attributes)))
            span.attributes = {**otlp_messages.attributes_of(told), **span.attributes}
            yield span


def _events(export: Mapping[str, Any]) -> Iterator[_Span]:
    """Calls that log records tell of: one in each record, or in all messages of one span together."""
    messages: dict[tuple[str, str], list[_Message]] = {}
    for resource, scope in _scopes(export, "resourceLogs", "scopeLogs"):
        for raw in objects(scope.get("logRecords")):
            span = _new(raw, resource, "", "timeUnixNano")
            name = first_text(raw, "eventName") or span.text("event.name")
            body = _value(raw.get("body"))
            if body is None:
                body = span.attributes.get(otlp_messages.CONTENT)
            span.end = span.end or time(raw.get("observedTimeUnixNano"))
            if name == DETAILS:
                span.attributes = {**mapping(body), **span.attributes}
                span.name, span.failed = DETAILS, span.text("error.type") is not None
                yield span
            elif name in otlp_messages.NAMES:
                # What bears no span has nothing to do with another message without one.
                key = (span.trace_id, span.span_id) if span.span_id else ("", str(id(raw)))
                messages.setdefault(key, []).append((name, body, span))
    for told in messages.values():
        yield from _call_of(told)


def _call_of(messages: Sequence[_Message]) -> Iterator[_Span]:
    """The call that these messages belong to, once the model has answered."""
    found = otlp_messages.attributes_of((name, body) for name, body, _ in messages)
    if found:
        span = next(span for name, _, span in messages if name == otlp_messages.CHOICE)
        span.name = otlp_messages.CHOICE
        span.attributes = {**found, **span.attributes}
        yield span


def _scopes(
    export: Mapping[str, Any], resources: str, scopes: str
) -> Iterator[tuple[dict[str, Any], Mapping[str, Any]]]:
    for resource in objects(export.get(resources)):
        attributes = _attributes(mapping(resource.get("resource")).get("attributes"))
        for scope in objects(resource.get(scopes)):
            yield attributes, scope


def _new(raw: Mapping[str, Any], resource: dict[str, Any], start: str, end: str) -> _Span:
    attributes = _attributes(raw.get("attributes"))
    lists = {prefix: _unflattened(attributes, f"{prefix}.") for prefix in _PREFIXES}
    flat = tuple(f"{prefix}." for prefix in _PREFIXES)
    return _Span(
        trace_id=_identifier(raw.get("traceId"), 32),
        span_id=_identifier(raw.get("spanId"), 16),
        name=first_text(raw, "name") or "",
        start=time(raw.get(start)),
        end=time(raw.get(end)),
        failed=False,
        message=None,
        attributes={name: value for name, value in attributes.items() if not name.startswith(flat)},
        lists={prefix: found for prefix, found in lists.items() if found},
        resource=resource,
        raw=raw,
    )


def _identifier(value: Any, digits: int) -> str:
    """An identifier in hexadecimal: as JSON has it, or from the base64 that protobuf's mapping makes of bytes.

    Only zeros mean that there is none.
    """
    found = text(value) or ""
    if len(found) == digits:
        found = found.lower()
    else:
        with suppress(ValueError):
            found = b64decode(found, validate=True).hex()
    return found if found.strip("0") else ""


def _attributes(pairs: Any) -> dict[str, Any]:
    return {str(pair.get("key")): _value(pair.get("value")) for pair in objects(pairs)}


def _value(wrapped: Any) -> Any:
    """A value out of OTLP's wrapping: ``{"stringValue": "x"}``."""
    for kind, value in mapping(wrapped).items():
        if kind == "intValue":
            return count(value) if count(value) is not None else number(value)
        if kind == "arrayValue":
            return [_value(each) for each in items(mapping(value).get("values"))]
        if kind == "kvlistValue":
            return _attributes(mapping(value).get("values"))
        return value
    return None


def _unflattened(attributes: Mapping[str, Any], prefix: str) -> list[Any]:
    """``prefix.0.message.role`` and the like as a list of nested objects; at most ``MAX_ITEMS`` of them."""
    found: dict[int, Any] = {}
    for name, value in attributes.items():
        index, _, rest = name.removeprefix(prefix).partition(".") if name.startswith(prefix) else ("", "", "")
        if index.isascii() and index.isdigit() and len(index) < len(str(MAX_ITEMS)) + 1:
            _put(found.setdefault(int(index), {}), rest.split("."), value)
    return [_as_lists(found[index]) for index in sorted(found)][:MAX_ITEMS]


def _put(target: dict[str, Any], path: list[str], value: Any) -> None:
    for step in path[:-1][:MAX_DEPTH]:
        inner = target.setdefault(step, {})
        if not isinstance(inner, dict):
            return
        target = inner
    target[path[-1]] = value


def _as_lists(value: Any) -> Any:
    """Objects whose names are all numbers as lists."""
    if not isinstance(value, dict):
        return value
    inner = {name: _as_lists(each) for name, each in value.items()}
    if inner and all(name.isascii() and name.isdigit() for name in inner):
        return [inner[name] for name in sorted(inner, key=int)]
    return inner
