"""Spans of OpenTelemetry: one for each record that an agent handles, part of the gateway's trace.

The parent of a span is the ``traceparent`` (W3C Trace Context) in the record's headers, else the one in the
answer itself. What the agent sends carries the span's own context, so the next agent's span is its child. An answer
that came without a trace begins one whose identifier is the beginning of the SHA-256 of the record's key: all
agents that read it meet in that trace, without asking each other.

Off unless an endpoint is set; then ``opentelemetry-sdk`` must be installed (the extra ``tracing``). Spans hold
names, places and outcomes, never text.
"""

import re
from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from schemas.headers import TRACEPARENT, header
from workers.delivery.errors import TouchstoneError
from workers.delivery.records import Output, Record, Result, Work
from workers.settings import TracingSettings

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter

_IN_ANSWER = re.compile(rb'"traceparent"\s{0,10}:\s{0,10}"(00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2})"')
EXPORT_SECONDS = 5.0
"""One export, and the last one at the end, may take this long; spans of a collector that is away are dropped."""


class TracingNotInstalled(TouchstoneError):
    """Spans are wanted, and the libraries that make them are not there."""


class Tracing:
    """Makes and exports spans.

    Args:
        settings: where to, and how many.
        version: of the pipeline; stands on every span.
        exporter: takes the spans; by default OTLP over HTTP to the endpoint.

    Raises:
        TracingNotInstalled: naming what to install.
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
                f"tracing.endpoint is set, and {error.name} is not installed; install touchstone-worker[tracing]"
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

    def begin(self, agent: str, works: Sequence[Work]) -> "BatchSpans":
        """Begin a span for each work."""
        return BatchSpans([self._begin(agent, work.record) for work in works], self._context)

    def close(self) -> None:
        """Send what is left; blocks for some seconds at most."""
        self._provider.force_flush(int(EXPORT_SECONDS * 1_000))
        self._provider.shutdown()

    def _begin(self, agent: str, record: Record) -> Any:
        from opentelemetry.trace import SpanKind

        parent = self._context.extract({"traceparent": parent_of(record) or ""})
        self._identifiers.begin(record.key)
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
    """The spans of a batch: put on what it sends, ended when that is confirmed or has failed."""

    def __init__(self, spans: Sequence[Any], context: Any) -> None:
        self._spans = spans
        self._context = context

    def stamped(self, results: Sequence[Result]) -> list[Result]:
        """The results, with each output in the context of its work's span."""
        return [
            result if isinstance(result, Exception) else [self._stamp(output, span) for output in result]
            for result, span in zip(results, self._spans, strict=True)
        ]

    def end(self, results: Sequence[Result]) -> None:
        """End the spans of a batch that is settled."""
        for result, span in zip(results, self._spans, strict=True):
            if isinstance(result, Exception):
                _fail(span, result)
            else:
                span.set_attribute("touchstone.outputs", len(result))
            span.end()

    def fail(self, error: BaseException) -> None:
        """End all spans with what the whole batch met."""
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
    """The trace context of a record: in its headers, else in the answer that it holds."""
    found = header(record.headers, "traceparent")
    if found and TRACEPARENT.fullmatch(found):
        return found
    match = _IN_ANSWER.search(record.value or b"")
    return match[1].decode() if match else None


def _fail(span: Any, error: BaseException) -> None:
    from opentelemetry.trace import Status, StatusCode

    # The class alone: a message may quote what somebody sent.
    span.set_attribute("error.type", type(error).__name__)
    span.set_status(Status(StatusCode.ERROR))


def _identifiers() -> Any:
    from opentelemetry.sdk.trace.id_generator import RandomIdGenerator

    class Identifiers(RandomIdGenerator):
        """Random, but for the traces that begin here: those are told by the record's key."""

        _key: bytes | None = None

        def begin(self, key: bytes | None) -> None:
            """The next trace is of this key; called right before, in the same thread."""
            self._key = key

        def generate_trace_id(self) -> int:
            key, self._key = self._key, None
            return super().generate_trace_id() if key is None else int.from_bytes(sha256(key).digest()[:16])

    return Identifiers()
