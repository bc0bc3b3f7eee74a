"""The span processor for applications: whole traces, bounded, and nothing of it reaches the application."""

import json
import os
import threading
import time
from collections.abc import Sequence
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from workers.gateways.trace_processor import TraceSpanProcessor


class Kept(SpanExporter):
    """Keeps the names of the spans of each export, and can be held up."""

    def __init__(self) -> None:
        self.exports: list[list[str]] = []
        self.free = threading.Event()
        self.free.set()
        self.error: Exception | None = None

    def export(self, spans: Sequence[ReadableSpan]) -> Any:
        self.free.wait(60)
        if self.error is not None:
            raise self.error
        self.exports.append([span.name for span in spans])
        return SpanExportResult.SUCCESS


def opened(exporter: SpanExporter, **options: Any) -> tuple[Any, TracerProvider, TraceSpanProcessor]:
    processor = TraceSpanProcessor(exporter, **options)
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(processor)
    return provider.get_tracer("app"), provider, processor


def test_the_spans_of_a_trace_are_in_one_export_however_long_it_takes() -> None:
    exporter = Kept()
    tracer, _, processor = opened(exporter)
    with tracer.start_as_current_span("question"):
        with tracer.start_as_current_span("retrieval"):
            pass
        with tracer.start_as_current_span("call"):
            pass
        assert exporter.exports == [], "the question has not ended"
    assert processor.force_flush()
    assert exporter.exports == [["retrieval", "call", "question"]]
    processor.shutdown()


def test_traces_that_overlap_are_not_mixed_up() -> None:
    exporter = Kept()
    exporter.free.clear()
    tracer, provider, _ = opened(exporter)
    first = tracer.start_span("first")
    second = tracer.start_span("second")
    second.end()
    first.end()
    exporter.free.set()
    provider.shutdown()
    assert sorted(name for export in exporter.exports for name in export) == ["first", "second"]


def test_what_has_ended_of_an_open_trace_is_exported_after_the_wait() -> None:
    exporter = Kept()
    tracer, provider, _ = opened(exporter, max_wait_seconds=0.0)
    with tracer.start_as_current_span("session"):
        with tracer.start_as_current_span("call"):
            pass
        provider.force_flush()
        assert exporter.exports == [["call"]]
    provider.shutdown()
    assert exporter.exports == [["call"], ["session"]]


def test_spans_that_do_not_fit_are_dropped_and_counted() -> None:
    exporter = Kept()
    tracer, provider, processor = opened(exporter, max_spans=2)
    with tracer.start_as_current_span("question"):
        for name in ("a", "b", "c"):
            with tracer.start_as_current_span(name):
                pass
    provider.shutdown()
    assert (exporter.exports, processor.dropped) == ([["a", "b"]], 2)


@pytest.mark.parametrize("error", [OSError("away"), ValueError("odd")])
def test_an_exporter_that_fails_costs_the_application_nothing(error: Exception) -> None:
    exporter = Kept()
    exporter.error = error
    tracer, provider, processor = opened(exporter)
    with tracer.start_as_current_span("question"):
        pass
    assert processor.force_flush()
    assert processor.dropped == 1
    exporter.error = None
    with tracer.start_as_current_span("next"):
        pass
    provider.shutdown()
    assert exporter.exports == [["next"]]


def test_after_the_shutdown_spans_are_counted_as_dropped() -> None:
    tracer, _, processor = opened(Kept())
    processor.shutdown()
    with tracer.start_as_current_span("late"):
        pass
    assert processor.dropped == 1
    processor.shutdown()


def test_a_forked_process_exports_its_own_spans_and_none_of_its_parent() -> None:
    exporter = Kept()
    exporter.free.clear()
    tracer, _, processor = opened(exporter)
    tracer.start_span("of the parent").end()
    assert processor._thread is not None, "the thread runs before the fork, as with gunicorn --preload"
    kept = tracer.start_span("open in the parent")
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            exporter.free = threading.Event()
            exporter.free.set()
            tracer.start_span("of the child").end()
            processor.force_flush(10_000)
            os.write(writing, json.dumps(exporter.exports).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as told:
        assert json.loads(told.read()) == [["of the child"]]
    os.waitpid(child, 0)
    exporter.free.set()
    kept.end()
    processor.shutdown()
    assert [name for export in exporter.exports for name in export] == ["of the parent", "open in the parent"]


def test_traces_whose_spans_never_end_are_forgotten() -> None:
    exporter = Kept()
    tracer, _, processor = opened(exporter, max_wait_seconds=0.0)
    lost = [tracer.start_span(f"lost {number}") for number in range(100)]
    with tracer.start_as_current_span("question"):
        pass
    until = time.monotonic() + 30
    while processor._traces:
        assert time.monotonic() < until
        threading.Event().wait(0.01)
    lost[7].end()
    assert processor.force_flush()
    assert exporter.exports == [["question"], ["lost 7"]], "a span that ends after all is exported"
    processor.shutdown()


def test_open_traces_outlive_a_flush() -> None:
    exporter = Kept()
    tracer, _, processor = opened(exporter)
    with tracer.start_as_current_span("question"):
        assert processor.force_flush()
        with tracer.start_as_current_span("call"):
            pass
    assert processor.force_flush()
    assert exporter.exports == [["call", "question"]]
    processor.shutdown()
