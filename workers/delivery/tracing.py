"""Make an OpenTelemetry span for each record that an agent handles, as part of the gateway's trace.

The parent of a span is the ``traceparent`` (W3C Trace Context) in the record's headers, else the one in the
answer itself. The agent's outputs carry the context of its span, so the next agent's span is a child. An answer
without a trace begins a new one. The new trace's identifier is the beginning of the SHA-256 of the record's key,
so that all agents that read the answer use the same trace without coordination.

Tracing is off unless an endpoint is set; then ``opentelemetry-sdk`` must be installed (the extra ``tracing``).
Spans hold names, offsets and outcomes, never text.
"""

import re
from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from schemas.headers import TRACEPARENT, header
from schemas.identifiers import DEFAULT_TENANT, record_key
from workers.delivery.followers.record_subjects import subject_of
from workers.delivery.records import Output, Record, Result, WorkItem
from workers.errors import TouchstoneError
from workers.settings import TracingSettings

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter

_IN_ANSWER = re.compile(rb'"traceparent"\s{0,10}:\s{0,10}"(00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2})"')
EXPORT_SECONDS = 5.0
"""Deadline of an export, also of the last one; spans for an unavailable collector are dropped."""


class TracingNotInstalled(TouchstoneError):
    """Tracing is on, and its libraries are not installed."""


class Tracing:
    """Makes and exports spans.

    Args:
        settings: endpoint, service name and share of sampled traces.
        version: version of the pipeline, put on every span.
        exporter: exports the spans; by default OTLP over HTTP to the endpoint.

    Raises:
        TracingNotInstalled: a library is missing; the message names the package to install.
    """

    def __init__(self, settings: TracingSettings, version: str, exporter: "SpanExporter | None" = None) -> None:
        try:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
            from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
            from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
        except ImportError as error:
            raise TracingNotInstalled(
                f"tracing.endpoint is set, but {error.name} is not installed; install touchstone-worker[tracing]"
            ) from error
        exporter = exporter or OTLPSpanExporter(endpoint=settings.endpoint, timeout=EXPORT_SECONDS)
        self._identifiers = _identifiers()
        self._provider = TracerProvider(
            sampler=ParentBased(TraceIdRatioBased(settings.sample)),
            resource=Resource.create({"service.name": settings.service_name, "service.version": version}),
            id_generator=self._identifiers,
            shutdown_on_exit=False,
        )
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("touchstone")
        self._context = TraceContextTextMapPropagator()

    def begin(self, agent: str, works: Sequence[WorkItem]) -> "BatchSpans":
        """Begin a span for each work item."""
        return BatchSpans([self._begin(agent, work.record) for work in works], self._context)

    def close(self) -> None:
        """Export the remaining spans; block for a few seconds at most."""
        self._provider.force_flush(int(EXPORT_SECONDS * 1_000))
        self._provider.shutdown()

    def _begin(self, agent: str, record: Record) -> Any:
        from opentelemetry.trace import SpanKind

        parent = self._context.extract({"traceparent": parent_of(record) or ""})
        subject = subject_of(record)
        key = record_key(subject.tenant or DEFAULT_TENANT, subject.answer_id) if subject.answer_id else None
        self._identifiers.begin(key)
        return self._tracer.start_span(
            f"touchstone {agent}",
            context=parent,
            kind=SpanKind.CONSUMER,
            attributes={
                "messaging.system": "kafka",
                "messaging.operation.type": "process",
                "messaging.destination.name": record.topic,
                "messaging.destination.partition.id": str(record.partition),
                "messaging.kafka.offset": record.offset,
                "touchstone.agent": agent,
            },
        )


class BatchSpans:
    """Spans of a batch: put into the outputs, and ended when the outputs are confirmed or have failed."""

    def __init__(self, spans: Sequence[Any], context: Any) -> None:
        self._spans = spans
        self._context = context

    def stamped(self, results: Sequence[Result]) -> list[Result]:
        """Return the results, with the context of the item's span in each output."""
        return [
            result if isinstance(result, Exception) else [self._stamp(output, span) for output in result]
            for result, span in zip(results, self._spans, strict=True)
        ]

    def end(self, results: Sequence[Result]) -> None:
        """End the spans of a settled batch."""
        for result, span in zip(results, self._spans, strict=True):
            if isinstance(result, Exception):
                _fail(span, result)
            else:
                span.set_attribute("touchstone.outputs", len(result))
            span.end()

    def fail(self, error: BaseException) -> None:
        """End all spans with the error of the whole batch."""
        for span in self._spans:
            _fail(span, error)
            span.end()

    def _stamp(self, output: Output, span: Any) -> Output:
        from opentelemetry.trace import set_span_in_context

        carrier: dict[str, str] = {}
        self._context.inject(carrier, set_span_in_context(span))
        headers = [(name, value) for name, value in output.headers if name != "traceparent"]
        headers += [(name, value.encode()) for name, value in carrier.items() if name == "traceparent"]
        return Output(output.topic, output.key, output.value, headers, output.partition)


def parent_of(record: Record) -> str | None:
    """Return the trace context in a record's headers, else the one in its answer, else ``None``."""
    found = header(record.headers, "traceparent")
    if found and TRACEPARENT.fullmatch(found):
        return found
    match = _IN_ANSWER.search(record.value or b"")
    return match[1].decode() if match else None


def _fail(span: Any, error: BaseException) -> None:
    from opentelemetry.trace import Status, StatusCode

    # Record only the class: an error message may quote a user's text.
    span.set_attribute("error.type", type(error).__name__)
    span.set_status(Status(StatusCode.ERROR))


def _identifiers() -> Any:
    from opentelemetry.sdk.trace.id_generator import RandomIdGenerator

    class Identifiers(RandomIdGenerator):
        """Makes random identifiers, except for new traces, whose identifiers derive from the answer."""

        _key: str | None = None

        def begin(self, key: str | None) -> None:
            """Set the key of the next trace; call right before the span starts, in the same thread."""
            self._key = key

        def generate_trace_id(self) -> int:
            key, self._key = self._key, None
            return super().generate_trace_id() if key is None else int.from_bytes(sha256(key.encode()).digest()[:16])

    return Identifiers()
