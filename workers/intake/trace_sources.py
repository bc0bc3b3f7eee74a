"""Join the sources of a trace that arrive in another export than the call of the model.

Exporters send spans by time, so that a retrieval and its call are often in different requests. The spans of retrievals and
tools are kept in Redis for a bounded time, by trace and tenant, and are added to exports with calls of the same. Redis
may lose them: then the answer has no contexts, as without Redis.

1. ``keep`` stores the sources of an export when it arrives.
2. ``wait`` returns once the sources of its incomplete traces are there, or its time is over. A trace is incomplete if
   the parent of one of its spans is not in the export.
3. ``joined`` adds what is there.
"""

import asyncio
import time
import zlib
from collections.abc import Coroutine, Mapping, Sequence
from hashlib import sha256
from typing import Any, Literal, TypeVar

from pydantic_core import from_json, to_json

from workers.gateways.reading.lenient_reading import mapping, objects
from workers.gateways.traces.otlp_spans import TENANT, ExportedSpan, exported_spans
from workers.gateways.traces.otlp_tenants import spans_by_tenant
from workers.observability.logs import get_logger
from workers.stores.redis.client import REDIS_ERRORS, RedisClient

_Trace = tuple[str, str]
"""Identifier and tenant of a trace."""
MAX_TRACES = 200
"""Maximum number of traces of one export whose sources are kept or looked up."""
MAX_BYTES = 1_000_000
"""Maximum size of the kept spans of one export and trace, bytes before compression."""
MAX_EXPORTS = 50
"""Maximum number of exports of one trace that are kept."""
LARGE_EXPORT = 512
"""Number of spans from which an export does not wait: its exporter sends full batches and would drop spans meanwhile."""
LOOK_SECONDS = 0.1
"""Interval between two looks for the sources of a trace, seconds."""
PAUSE_SECONDS = 5.0
"""Pause after a failure of Redis: otherwise each record would wait for the timeout of a command."""

T = TypeVar("T")
Operation = Literal["read", "write"]

log = get_logger(__name__)


def _lacking(spans: Sequence[ExportedSpan]) -> list[_Trace]:
    """Return the incomplete traces with a call and without sources."""
    if len(spans) >= LARGE_EXPORT:
        return []
    known = {(span.trace_id, span.span_id) for span in spans}
    calls = {(span.trace_id, span.tenant) for span in spans if span.is_inference}
    told = {(span.trace_id, span.tenant) for span in spans if span.documents}
    incomplete = {
        (span.trace_id, span.tenant)
        for span in spans
        if span.parent_id and (span.trace_id, span.parent_id) not in known
    }
    return sorted((calls & incomplete) - told)[:MAX_TRACES]


class TraceSources:
    """Keep spans of retrievals by trace.

    Args:
        redis: the store; ``None`` keeps nothing.
        prefix: beginning of the keys.
        seconds: time for which spans are kept; 0 keeps nothing.
    """

    def __init__(self, redis: RedisClient | None, prefix: str, seconds: float) -> None:
        self._redis = redis if seconds > 0 else None
        self._prefix = prefix
        self._seconds = seconds
        # Reads and writes pause separately: a full server still answers reads.
        self._not_before: dict[Operation, float] = {}

    async def keep(self, export: Any, caller: str, tenant: str | None) -> None:
        """Store the sources of an export.

        Traces of different callers and of different tenants are independent.

        Args:
            export: the export in its JSON form.
            caller: name of the caller.
            tenant: tenant of all spans; ``None`` if each names its own.
        """
        found = [span for span in self._spans(export, tenant) if span.documents or span.tool_result]
        if found:
            await self._ask("write", self._keep(found, caller), None)

    async def wait(self, export: Any, caller: str, tenant: str | None, seconds: float) -> None:
        """Wait for the sources of the incomplete traces of an export.

        Args:
            export: the export in its JSON form; its own sources are kept.
            caller: name of the caller.
            tenant: tenant of all spans; ``None`` if each names its own.
            seconds: maximum wait.
        """
        lacking = _lacking(self._spans(export, tenant))
        until = asyncio.get_running_loop().time() + seconds
        while lacking and (lacking := await self._ask("read", self._absent(lacking, caller), [])):
            left = until - asyncio.get_running_loop().time()
            if left <= 0:
                return
            await asyncio.sleep(min(left, LOOK_SECONDS))

    async def joined(self, export: Any, caller: str, tenant: str | None) -> Any:
        """Return an export with the sources of its traces that arrived in other exports.

        Args:
            export: the export in its JSON form.
            caller: name of the caller.
            tenant: tenant of all spans; ``None`` if each names its own.
        """
        spans = self._spans(export, tenant)
        calls = list(dict.fromkeys((span.trace_id, span.tenant) for span in spans if span.is_inference))[:MAX_TRACES]
        found = await self._ask("read", self._recall(calls, caller), []) if calls else []
        known = {(span.trace_id, span.span_id, span.tenant) for span in spans}
        others = [
            _of_tenant(span, of_tenant)
            for span, of_tenant in found
            if (span.get("traceId"), span.get("spanId"), of_tenant) not in known
        ]
        return {**export, "resourceSpans": [*export["resourceSpans"], *others]} if others else export

    def _spans(self, export: Any, tenant: str | None) -> list[ExportedSpan]:
        if self._redis is None or not isinstance(mapping(export).get("resourceSpans"), list):
            return []
        spans = [span for span in exported_spans(export) if span.trace_id]
        spans_by_tenant(spans, tenant)
        return spans

    async def _ask(self, operation: Operation, command: Coroutine[Any, Any, T], otherwise: T) -> T:
        """Return the result of a command; another value if Redis does not respond, or did not a moment ago."""
        not_before = self._not_before.get(operation)
        if not_before is not None:
            if time.monotonic() < not_before:
                command.close()
                return otherwise
            # One command tries whether Redis responds again; those beside it do not wait with it.
            self._not_before[operation] = time.monotonic() + PAUSE_SECONDS
        try:
            found = await command
        except REDIS_ERRORS as error:
            if not self._not_before:
                log.warning("trace_lookup_failed", operation=operation, error_class=type(error).__name__)
            self._not_before[operation] = time.monotonic() + PAUSE_SECONDS
            return otherwise
        self._not_before.pop(operation, None)
        return found

    async def _absent(self, traces: Sequence[_Trace], caller: str) -> list[_Trace]:
        """Return the traces of which no sources are kept."""
        assert self._redis is not None
        async with self._redis.pipeline(transaction=False) as pipeline:
            for trace in traces:
                pipeline.exists(self._key(trace, caller))
            found = await pipeline.execute()
        return [trace for trace, there in zip(traces, found, strict=True) if not there]

    async def _recall(self, traces: Sequence[_Trace], caller: str) -> list[tuple[Mapping[str, Any], str]]:
        assert self._redis is not None
        async with self._redis.pipeline(transaction=False) as pipeline:
            for trace in traces:
                pipeline.lrange(self._key(trace, caller), 0, MAX_EXPORTS - 1)
            kept = await pipeline.execute()
        return [
            (span, tenant)
            for (_, tenant), exports in zip(traces, kept, strict=True)
            for each in exports
            for span in objects(from_json(zlib.decompress(each)))
        ]

    async def _keep(self, spans: Sequence[ExportedSpan], caller: str) -> None:
        by_trace: dict[_Trace, list[dict[str, Any]]] = {}
        for span in spans:
            # Identifiers in one form: exports in protobuf and in JSON write them differently.
            ids = {"traceId": span.trace_id, "spanId": span.span_id, "parentSpanId": span.parent_id}
            by_trace.setdefault((span.trace_id, span.tenant), []).append({**span.raw, **ids})
        assert self._redis is not None
        async with self._redis.pipeline(transaction=False) as pipeline:
            for trace, kept in list(by_trace.items())[:MAX_TRACES]:
                content = to_json(kept, inf_nan_mode="null")
                if len(content) > MAX_BYTES:
                    log.warning("trace_sources_dropped", trace_id=trace[0], bytes=len(content), limit=MAX_BYTES)
                else:
                    key = self._key(trace, caller)
                    pipeline.rpush(key, zlib.compress(content, 1))
                    pipeline.ltrim(key, -MAX_EXPORTS, -1)
                    pipeline.expire(key, max(1, round(self._seconds)))
            await pipeline.execute()

    def _key(self, trace: _Trace, caller: str) -> str:
        name = sha256(to_json([caller, *trace])).hexdigest()
        return f"{self._prefix}trace-sources:{name}"


def _of_tenant(span: Mapping[str, Any], tenant: str) -> dict[str, Any]:
    """Return a span of an earlier export within a resource that names its tenant."""
    attribute = {"key": TENANT, "value": {"stringValue": tenant}}
    return {"resource": {"attributes": [attribute]}, "scopeSpans": [{"spans": [span]}]}
