"""Join the sources of a trace that arrive in an earlier export than the call of the model.

Exporters send spans by time, so that a retrieval and its call are often in different requests. The spans of retrievals
are kept in Redis for a bounded time, by trace, and are added to later exports with calls of the same trace. Redis may
lose them: then the answer has no contexts, as without Redis.
"""

import zlib
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from pydantic_core import from_json, to_json
from redis.asyncio import Redis
from redis.exceptions import RedisError

from workers.gateways.lenient_reading import mapping, objects
from workers.gateways.traces.otlp_spans import ExportedSpan, exported_spans
from workers.observability.logs import get_logger

MAX_TRACES = 200
"""Maximum number of traces of one export whose sources are kept or looked up."""
MAX_BYTES = 1_000_000
"""Maximum size of the kept spans of one export and trace, bytes before compression."""
MAX_EXPORTS = 50
"""Maximum number of exports of one trace that are kept."""

log = get_logger(__name__)


class TraceSources:
    """Keep spans of retrievals by trace.

    Args:
        redis: the store; ``None`` keeps nothing.
        prefix: beginning of the keys.
        seconds: time for which spans are kept; 0 keeps nothing.
    """

    def __init__(self, redis: Redis | None, prefix: str, seconds: float) -> None:
        self._redis = redis if seconds > 0 else None
        self._prefix = prefix
        self._seconds = seconds

    async def joined(self, export: Any, caller: str) -> Any:
        """Return an export with the sources of its traces that arrived before, and keep its own.

        Args:
            export: the export in its JSON form.
            caller: name of the caller and tenant; the traces of different callers are independent.
        """
        if self._redis is None or not isinstance(mapping(export).get("resourceSpans"), list):
            return export
        spans = [span for span in exported_spans(export) if span.trace_id]
        calls = list(dict.fromkeys(span.trace_id for span in spans if span.is_inference))[:MAX_TRACES]
        try:
            found = await self._recall(calls, caller)
            await self._keep([span for span in spans if span.documents], caller)
        except (RedisError, OSError) as error:
            log.warning("trace_lookup_failed", error_class=type(error).__name__)
            return export
        known = {(span.trace_id, span.span_id) for span in spans}
        earlier = [span for span in found if (span.get("traceId"), span.get("spanId")) not in known]
        if not earlier:
            return export
        return {**export, "resourceSpans": [*export["resourceSpans"], {"scopeSpans": [{"spans": earlier}]}]}

    async def _recall(self, traces: Sequence[str], caller: str) -> list[Mapping[str, Any]]:
        if not traces:
            return []
        assert self._redis is not None
        async with self._redis.pipeline(transaction=False) as pipeline:
            for trace in traces:
                pipeline.lrange(self._key(trace, caller), 0, MAX_EXPORTS - 1)
            kept = await pipeline.execute()
        return [span for exports in kept for each in exports for span in objects(from_json(zlib.decompress(each)))]

    async def _keep(self, spans: Sequence[ExportedSpan], caller: str) -> None:
        by_trace: dict[str, list[dict[str, Any]]] = {}
        for span in spans:
            # Identifiers in one form: exports in protobuf and in JSON write them differently.
            ids = {"traceId": span.trace_id, "spanId": span.span_id, "parentSpanId": span.parent_id}
            by_trace.setdefault(span.trace_id, []).append({**span.raw, **ids})
        if not by_trace:
            return
        assert self._redis is not None
        async with self._redis.pipeline(transaction=False) as pipeline:
            for trace, kept in list(by_trace.items())[:MAX_TRACES]:
                content = to_json(kept, inf_nan_mode="null")
                if len(content) <= MAX_BYTES:
                    key = self._key(trace, caller)
                    pipeline.rpush(key, zlib.compress(content, 1))
                    pipeline.ltrim(key, -MAX_EXPORTS, -1)
                    pipeline.expire(key, max(1, round(self._seconds)))
            await pipeline.execute()

    def _key(self, trace: str, caller: str) -> str:
        name = sha256("\x1f".join((caller, trace)).encode()).hexdigest()
        return f"{self._prefix}trace-sources:{name}"
