"""Read the spans and events of an OTLP export in its JSON form: attributes as plain values, flattened lists rebuilt.

OTLP's JSON has identifiers in hexadecimal and 64-bit numbers as texts; protobuf's JSON mapping has identifiers in
base64. Attributes that flatten a list (``llm.input_messages.0.message.content``) become the list again. Messages come
as attributes, as events of a span or as log records (see ``otlp_messages``).
"""

from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from workers.gateways.apis.chat_messages import tool_results
from workers.gateways.reading.contexts import chunk_of
from workers.gateways.reading.lenient_reading import first_text, items, mapping, number, objects, text, time, unfolded
from workers.gateways.reading.tool_calls import call_of
from workers.gateways.traces import otlp_messages
from workers.gateways.traces.otlp_dialects import DOCUMENTS, KIND, documents_in, translated

MAX_ITEMS = 1_000
"""Maximum number of messages or documents in a flattened list."""
MAX_DEPTH = 16
"""Maximum nesting of a flattened name."""
INFERENCE = frozenset({"chat", "generate_content", "text_completion"})
FRAMES = frozenset({"CHAIN", "AGENT"})
FRAME_OPERATIONS = frozenset({"invoke_agent", "invoke_workflow", "agent_step", "execute_task"})
CHECKS = frozenset({"EVALUATOR", "GUARDRAIL"})
"""Kinds of spans around calls of models, and of evaluations."""
DETAILS = "gen_ai.client.inference.operation.details"
"""Name of the event that holds the messages, within the span or as a log record."""
_FOUND = ("db.query.result", "db.search.result")
"""Events of OpenLLMetry's spans of vector stores, one for each document."""
TENANT = "touchstone.tenant"
"""Attribute of a span or a resource that names the tenant."""
_PREFIXES = ("gen_ai.prompt", "gen_ai.completion", "llm.input_messages", "llm.output_messages", "retrieval.documents",
             "reranker.output_documents")  # fmt: skip
"""Prefixes of lists that are flattened into attributes: ``llm.input_messages.0.message.role``."""
_ERROR = (2, "2", "STATUS_CODE_ERROR")
_TOOL_RESULTS = ("gen_ai.tool.call.result", "ai.toolCall.result", "output.value")
_TOOL_ARGUMENTS = ("gen_ai.tool.call.arguments", "tool.parameters", "ai.toolCall.args", "input.value")
"""Attributes of the conventions 1.38, the AI SDK and OpenInference."""
_OPERATION = "gen_ai.operation.name"
_KIND = KIND


@dataclass(slots=True)
class ExportedSpan:
    """A span or an event, with its attributes as plain values and its flattened lists rebuilt.

    ``tenant`` is empty until ``otlp_tenants`` has set it.
    """

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
    parent_id: str = ""
    tenant: str = ""

    def text(self, *names: str) -> str | None:
        """Return the first attribute of these names that holds a text."""
        return first_text(self.attributes, *names)

    @property
    def named_tenant(self) -> str | None:
        """Return the tenant that the span or its resource names."""
        return self.text(TENANT) or first_text(self.resource, TENANT)

    @property
    def is_inference(self) -> bool:
        """Return whether the span is a call of a model."""
        operation, kind = self.text(_OPERATION), (self.text(_KIND) or "").upper()
        if operation is not None:
            return operation in INFERENCE
        if kind or self.name == otlp_messages.CHOICE:
            return kind in ("", "LLM")
        told = bool(self.lists.get("gen_ai.completion")) or "gen_ai.output.messages" in self.attributes
        return told and not self.is_frame

    @property
    def is_frame(self) -> bool:
        """Return whether the span is what a framework records around its calls: an agent, a chain, a workflow."""
        kind, traceloop = (self.text(_KIND) or "").upper(), self.text("traceloop.span.kind")
        return kind in FRAMES or traceloop in ("workflow", "agent", "task") or self.text(_OPERATION) in FRAME_OPERATIONS

    @property
    def is_agent(self) -> bool:
        """Return whether the span is the run of an agent or a workflow, which ends with one answer."""
        kind, traceloop = (self.text(_KIND) or "").upper(), self.text("traceloop.span.kind")
        return (
            kind == "AGENT"
            or traceloop in ("workflow", "agent")
            or self.text(_OPERATION) in ("invoke_agent", "invoke_workflow")
        )

    @property
    def is_check(self) -> bool:
        """Return whether the span is an evaluation or a guardrail, whose calls are no answers."""
        return (self.text(_KIND) or "").upper() in CHECKS

    @property
    def input(self) -> Any:
        """Return what the span records as its input: messages, or a value."""
        given = self.attributes.get("gen_ai.input.messages")
        return given if given is not None else self.attributes.get("input.value")

    @property
    def output(self) -> Any:
        """Return what the span records as its output: messages, a result, or a value."""
        names = ("gen_ai.output.messages", "final_result", "output.value")
        return next((self.attributes[name] for name in names if self.attributes.get(name) is not None), None)

    @property
    def tool_result(self) -> dict[str, Any] | None:
        """Return the result of the tool that the span executed, as fields of ``ContextChunk``; ``None`` for others."""
        kinds = ((self.text(_KIND) or "").upper(), self.text("traceloop.span.kind"), self.text(_OPERATION))
        if kinds[0] != "TOOL" and kinds[1] != "tool" and kinds[2] != "execute_tool":
            return None
        given = self.attributes
        result = next((given[name] for name in _TOOL_RESULTS if given.get(name) is not None), None)
        if result is None and not self.failed:
            return None  # instrumentations capture no content by default
        # LangChain puts out its message: {"type": "tool", "data": {…}}.
        result = unfolded(result)
        message = mapping(mapping(result).get("data")) or mapping(mapping(result).get("kwargs"))
        message = message if "content" in message else {"content": result}
        call = call_of(message) | call_of({
            "id": first_text(message, "tool_call_id") or self.text("gen_ai.tool.call.id", "tool_call.id", "ai.toolCall.id"),
            "name": self.text("gen_ai.tool.name", "tool.name", "ai.toolCall.name", "traceloop.entity.name") or self.name,
            "arguments": next((given[name] for name in _TOOL_ARGUMENTS if given.get(name) is not None), None),
            "status": "error" if self.failed else None,
            "error": (self.message or self.text("error.type", "exception.message")) if self.failed else None,
            "called_at": self.start.isoformat() if self.start else None,
        })  # fmt: skip
        content = next(tool_results({"role": "tool", "content": message["content"]}), {"content": ""})
        return {
            "chunk_id": call.get("id") or self.span_id or None,
            "content": content["content"],
            "source_type": "tool",
            "source_name": call.get("name"),
            "tool": call,
        }

    @property
    def documents(self) -> list[dict[str, Any]]:
        """Return the retrieved sources; reranked documents replace the retrieved ones."""
        given = items(unfolded(self.attributes.get("gen_ai.retrieval.documents")))
        lists = [self.lists.get("reranker.output_documents") or self.lists.get("retrieval.documents") or ()]
        documents = [*given, *(mapping(each).get("document", each) for found in lists for each in found)]
        if not documents and (self.text(_KIND) or "").upper() == "RETRIEVER":
            # A text here may be what Python shows of an object.
            documents = [each for each in documents_in(self.output) or () if isinstance(unfolded(each), dict)]
        return [chunk for each in documents if (chunk := chunk_of(_with_metadata(each))) is not None]


_Message = tuple[str, Any, ExportedSpan]
"""Name, body and surrounding span of a log record that holds one message."""


def exported_spans(export: Mapping[str, Any]) -> Iterator[ExportedSpan]:
    """Yield the spans of an export, with what their events say of a call."""
    for resource, scope in _scopes(export, "resourceSpans", "scopeSpans"):
        for raw in objects(scope.get("spans")):
            status = mapping(raw.get("status"))
            span = _new(raw, resource, "startTimeUnixNano", "endTimeUnixNano")
            span.failed = status.get("code") in _ERROR or span.attributes.get("error.type") == "langfuse_error"
            span.message = (text(status.get("message")) or span.text("exception.message")) if span.failed else None
            told: list[tuple[str, Any]] = []
            found: list[Any] = []
            for event in objects(raw.get("events")):
                name, attributes = str(event.get("name")), _attributes(event.get("attributes"))
                if name == DETAILS or name.startswith("exception"):
                    span.attributes = {**attributes, **span.attributes}
                elif name in otlp_messages.NAMES:
                    told.append((name, attributes.get(otlp_messages.CONTENT, attributes)))
                elif name in _FOUND and text(attributes.get(f"{name}.document")) is not None:
                    found.append({field: attributes.get(f"{name}.{field}") for field in ("id", "document", "metadata")})
            # Pydantic AI's first format has the events in an attribute.
            listed = (
                (first_text(each, "event.name"), each) for each in objects(unfolded(span.attributes.get("events")))
            )
            told += [(name, each) for name, each in listed if name in otlp_messages.NAMES]
            documents = {DOCUMENTS: found} if found else {}
            span.attributes = {**documents, **otlp_messages.attributes_of(told), **span.attributes}
            yield span


def exported_events(export: Mapping[str, Any]) -> Iterator[ExportedSpan]:
    """Yield the calls in log records: one for each record of details, or one for all messages of a span."""
    messages: dict[tuple[str, str, str], list[_Message]] = {}
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
                # Messages without a span are unrelated to each other.
                named = (span.trace_id, span.span_id) if span.span_id else ("", str(id(raw)))
                key = (*named, span.named_tenant or "")
                messages.setdefault(key, []).append((name, body, span))
    for told in messages.values():
        yield from _call_of(told)


def _call_of(messages: Sequence[_Message]) -> Iterator[ExportedSpan]:
    """Yield the call of these messages if the model has answered."""
    found = otlp_messages.attributes_of((name, body) for name, body, _ in messages)
    if found:
        span = next(span for name, _, span in messages if name == otlp_messages.CHOICE)
        span.name = otlp_messages.CHOICE
        span.attributes = {**found, **span.attributes}
        yield span


def _with_metadata(document: Any) -> Any:
    """Return a document, decoded from JSON text where that is an object with a content, and its metadata likewise."""
    inner = unfolded(document)
    document = inner if chunk_of(mapping(inner)) is not None else document
    source = mapping(document)
    return {**source, "metadata": unfolded(source["metadata"])} if "metadata" in source else document


def _scopes(
    export: Mapping[str, Any], resources: str, scopes: str
) -> Iterator[tuple[dict[str, Any], Mapping[str, Any]]]:
    for resource in objects(export.get(resources)):
        attributes = _attributes(mapping(resource.get("resource")).get("attributes"))
        for scope in objects(resource.get(scopes)):
            yield attributes, scope


def _new(raw: Mapping[str, Any], resource: dict[str, Any], start: str, end: str) -> ExportedSpan:
    attributes = translated(_attributes(raw.get("attributes")))
    lists = {prefix: _unflattened(attributes, f"{prefix}.") for prefix in _PREFIXES}
    flat = tuple(f"{prefix}." for prefix in _PREFIXES)
    return ExportedSpan(
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
        parent_id=_identifier(raw.get("parentSpanId"), 16),
    )


def _identifier(value: Any, digits: int) -> str:
    """Return an identifier in hexadecimal, from JSON's hexadecimal form or the base64 form of protobuf's JSON mapping.

    An identifier of zeros only counts as missing.
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
    """Return the value in an OTLP wrapper such as ``{"stringValue": "x"}``."""
    for kind, value in mapping(wrapped).items():
        if kind == "intValue":
            return _integer(value)
        if kind == "arrayValue":
            return [_value(each) for each in items(mapping(value).get("values"))]
        if kind == "kvlistValue":
            return _attributes(mapping(value).get("values"))
        return value
    return None


def _integer(value: Any) -> int | float | None:
    """Return a 64-bit number with all its digits, which identify a person or a session."""
    try:
        return int(value) if isinstance(value, int | str) and not isinstance(value, bool) else number(value)
    except ValueError:
        return number(value)


def _unflattened(attributes: Mapping[str, Any], prefix: str) -> list[Any]:
    """Rebuild a list of objects from attributes like ``prefix.0.message.role``; at most ``MAX_ITEMS`` entries."""
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
    """Convert objects whose names are all numbers to lists."""
    if not isinstance(value, dict):
        return value
    inner = {name: _as_lists(each) for name, each in value.items()}
    if inner and all(name.isascii() and name.isdigit() for name in inner):
        return [inner[name] for name in sorted(inner, key=int)]
    return inner
