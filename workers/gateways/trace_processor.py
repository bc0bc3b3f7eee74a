"""Export the spans of a trace together, so that a call of a model and its sources arrive in one request.

The processor runs in the application's process. It needs only this file of Touchstone and the package
``opentelemetry-sdk``: install Touchstone with the application, or copy this file there. A ``BatchSpanProcessor`` exports
by time, so that a retrieval and the call after it often arrive in different requests.

* The spans of a trace are exported when its last open span has ended, in a thread of the processor.
* A trace whose spans stay open is exported in parts: what has ended, after ``max_wait_seconds``.
* Processes that are forked, as those of a server that loads the application first, export their own spans.
* No exception reaches the application. Spans that do not fit into the queue are dropped and counted (``dropped``).
"""

import atexit
import logging
import os
import threading
import time
import weakref
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor
from opentelemetry.sdk.trace.export import SpanExporter

MAX_WAIT_SECONDS = 300.0
"""Time after which the ended spans of an open trace are exported."""
MAX_SPANS = 20_000
"""Maximum number of spans in the queue."""
EXPORT_SPANS = 400
"""Number of spans from which an export holds no further trace; one trace is never divided."""
TICK_SECONDS = 0.1

log = logging.getLogger("touchstone.traces")


@dataclass(slots=True)
class _Trace:
    open: int = 0
    ended: list[ReadableSpan] = field(default_factory=list)
    since: float = 0.0


class TraceSpanProcessor(SpanProcessor):
    """Export whole traces.

    Args:
        exporter: sends the spans.
        max_wait_seconds: time after which the ended spans of a trace with open spans are exported.
        max_spans: maximum number of spans in the queue.

    Attributes:
        dropped: number of spans that did not fit into the queue, or that the exporter failed to send.
    """

    def __init__(
        self, exporter: SpanExporter, max_wait_seconds: float = MAX_WAIT_SECONDS, max_spans: int = MAX_SPANS
    ) -> None:
        self.dropped = 0
        self._exporter = exporter
        self._max_wait_seconds = max_wait_seconds
        self._max_spans = max_spans
        # Those that have waited longest come first.
        self._traces: dict[int, _Trace] = {}
        self._complete: list[list[ReadableSpan]] = []
        self._held = 0
        self._exporting = 0
        self._changed = threading.Condition()
        self._stopped = False
        self._thread: threading.Thread | None = None
        atexit.register(self.shutdown)
        if hasattr(os, "register_at_fork"):
            forked = weakref.WeakMethod(self._forked)
            os.register_at_fork(after_in_child=lambda: (method := forked()) and method())

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Count an open span of its trace."""
        context = span.get_span_context()
        if context is None or not context.trace_flags.sampled:
            return
        with self._changed:
            self._traces.setdefault(context.trace_id, _Trace(since=time.monotonic())).open += 1

    def on_end(self, span: ReadableSpan) -> None:
        """Keep an ended span; hand on its trace if no span of it is open."""
        context = span.get_span_context()
        if context is None or not context.trace_flags.sampled:
            return
        with self._changed:
            trace = self._traces.setdefault(context.trace_id, _Trace(open=1, since=time.monotonic()))
            trace.open -= 1
            if self._stopped or self._held >= self._max_spans:
                self.dropped += 1
            else:
                self._held += 1
                trace.ended.append(span)
            if trace.open <= 0:
                del self._traces[context.trace_id]
                if trace.ended:
                    self._complete.append(trace.ended)
            if self._thread is None and not self._stopped:
                # The import of a module starts no thread.
                self._thread = threading.Thread(target=self._run, name="touchstone-traces", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Export everything that has ended, also of open traces; return whether it was done in time."""
        until = time.monotonic() + timeout_millis / 1000
        with self._changed:
            self._hand_on_ended(0.0, forget=False)
            while self._complete or self._exporting:
                if time.monotonic() >= until or (self._thread is None and self._stopped):
                    return False
                self._changed.wait(TICK_SECONDS)
        return True

    def shutdown(self) -> None:
        """Export everything that has ended, and end the thread and the exporter."""
        if self._stopped:
            return
        self.force_flush()
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(TICK_SECONDS * 10)
        self._exporter.shutdown()

    def _run(self) -> None:
        while True:
            with self._changed:
                if not self._complete:
                    self._changed.wait(TICK_SECONDS)
                    self._hand_on_ended(self._max_wait_seconds, forget=True)
                spans = self._next()
                if not spans and self._stopped:
                    return
            if spans:
                self._export(spans)

    def _next(self) -> list[ReadableSpan]:
        spans: list[ReadableSpan] = []
        while self._complete and (not spans or len(spans) + len(self._complete[0]) <= EXPORT_SPANS):
            spans += self._complete.pop(0)
        self._exporting = len(spans)
        return spans

    def _export(self, spans: list[ReadableSpan]) -> None:
        failed = True
        try:
            result: Any = self._exporter.export(spans)
            failed = getattr(result, "name", "SUCCESS") != "SUCCESS"
        except Exception:
            log.warning("%d spans could not be exported", len(spans), exc_info=True)
        with self._changed:
            self._held -= len(spans)
            self._exporting = 0
            self.dropped += len(spans) if failed else 0
            self._changed.notify_all()

    def _hand_on_ended(self, seconds: float, forget: bool) -> None:
        """Hand on the ended spans of traces that have been open for this time, and forget those without any."""
        now = time.monotonic()
        for number, trace in list(takewhile(lambda each: now - each[1].since >= seconds, self._traces.items())):
            if trace.ended:
                self._complete.append(trace.ended)
                trace.ended, trace.since = [], now
                self._traces[number] = self._traces.pop(number)
            elif forget:
                del self._traces[number]  # the end of a span enters its trace again

    def _forked(self) -> None:
        """Begin with empty queues in a child process: threads do not survive a fork, and the parent exports its own spans."""
        self._changed = threading.Condition()
        self._thread = None
        self._traces, self._complete = {}, []
        self._held = self._exporting = 0
