"""Build OpenTelemetry events ``gen_ai.evaluation.result`` in OTLP/HTTP requests.

Source: semantic conventions for generative AI, events (stability: development), and OTLP 1.9 for logs. An event is a
log record with an event name. It carries the trace context of the answer, so that it belongs to the span in the
answer's ``traceparent``; ``gen_ai.response.id`` is always set. ``log.record.uid`` is deterministic, so that a receiver
can drop repeats, as its definition says.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import orjson

from schemas.enriched import EnrichedAnswer
from schemas.identifiers import content_id, evaluation_id
from workers.delivery.tracing import TracingNotInstalled
from workers.exporters.evaluations import Evaluation, evaluations
from workers.observability.caller_traces import trace_place

if TYPE_CHECKING:
    from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord

EVENT_NAME = "gen_ai.evaluation.result"
CONTENT_TYPE = "application/x-protobuf"
TRACE_DIGITS = 32


class OtlpEvents:
    """Encode OTLP log requests and decode their responses.

    Args:
        service_name: value of the resource attribute ``service.name``.
        version: pipeline version.

    Raises:
        TracingNotInstalled: the OpenTelemetry packages are missing; the message names the extra to install.
    """

    def __init__(self, service_name: str, version: str) -> None:
        try:
            from opentelemetry.proto.collector.logs.v1 import logs_service_pb2
            from opentelemetry.proto.common.v1 import common_pb2
            from opentelemetry.proto.logs.v1 import logs_pb2
            from opentelemetry.proto.resource.v1 import resource_pb2
        except ImportError as error:
            raise TracingNotInstalled(
                f"otel.endpoint is set, but {error.name} is not installed; install touchstone-worker[tracing]"
            ) from error
        self._service, self._logs, self._common = logs_service_pb2, logs_pb2, common_pb2
        self._resource = resource_pb2.Resource(
            attributes=self._attributes({"service.name": service_name, "service.version": version})
        )
        self._scope = common_pb2.InstrumentationScope(name="touchstone", version=version)

    def request(self, enriched: EnrichedAnswer) -> bytes:
        """Encode a request with all evaluations of an answer as protobuf."""
        records = [self._record(enriched, evaluation) for evaluation in evaluations(enriched)]
        logs = self._logs.ScopeLogs(scope=self._scope, log_records=records)
        resource = self._logs.ResourceLogs(resource=self._resource, scope_logs=[logs])
        request: bytes = self._service.ExportLogsServiceRequest(resource_logs=[resource]).SerializeToString()
        return request

    def rejected(self, answer: bytes) -> int:
        """Return the number of events that a receiver rejected (OTLP partial success); 0 for an empty response.

        Args:
            answer: body of the response, JSON or protobuf.

        Raises:
            ValueError: the body is not an OTLP logs response.
        """
        try:
            if answer.lstrip().startswith(b"{"):
                partial = orjson.loads(answer).get("partialSuccess") or {}
                return int(partial.get("rejectedLogRecords") or 0)
            told = self._service.ExportLogsServiceResponse.FromString(answer)
            return int(told.partial_success.rejected_log_records)
        except Exception as error:  # protobuf raises its own class, which is untyped
            raise ValueError("not an ExportLogsServiceResponse") from error

    def _record(self, enriched: EnrichedAnswer, evaluation: Evaluation) -> "LogRecord":
        at = int(enriched.enriched_at.timestamp() * 1_000_000) * 1_000
        record = self._logs.LogRecord(
            time_unix_nano=at,
            observed_time_unix_nano=at,
            severity_number=self._logs.SEVERITY_NUMBER_INFO,
            event_name=EVENT_NAME,
            attributes=self._attributes(event_attributes(enriched, evaluation)),
        )
        place = trace_place(enriched.answer)
        if place is not None and (trace_id := _bytes(place.trace_id, TRACE_DIGITS)):
            record.trace_id = trace_id
            record.span_id = bytes.fromhex(place.span_id or "")
            record.flags = place.flags
        return record

    def _attributes(self, values: dict[str, str | float]) -> list[Any]:
        def value(of: str | float) -> Any:
            return (
                self._common.AnyValue(string_value=of)
                if isinstance(of, str)
                else self._common.AnyValue(double_value=of)
            )

        return [self._common.KeyValue(key=name, value=value(of)) for name, of in values.items()]


def event_attributes(enriched: EnrichedAnswer, evaluation: Evaluation) -> dict[str, str | float]:
    """Return the attributes of one event; attributes without a value are omitted."""
    values: dict[str, str | float | None] = {
        "gen_ai.evaluation.name": evaluation.name,
        "gen_ai.evaluation.score.value": evaluation.value,
        "gen_ai.evaluation.score.label": evaluation.label,
        "gen_ai.evaluation.explanation": evaluation.explanation or None,
        "gen_ai.response.id": enriched.answer_id,
        "error.type": evaluation.error,
        # Different results need different identifiers: a complete result may follow a degraded one.
        "log.record.uid": content_id(
            enriched.tenant,
            evaluation_id(enriched.tenant, enriched.answer_id, evaluation.name),
            str(enriched.rank),
            enriched.pipeline_version,
            repr(evaluation.value),
            evaluation.label or "",
            evaluation.error or "",
        ),
        "touchstone.tenant": enriched.tenant,
        "touchstone.pipeline_version": enriched.pipeline_version,
    }
    return {name: value for name, value in values.items() if value is not None}


def parsed_headers(given: str) -> dict[str, str]:
    """Parse headers in the form of OTEL_EXPORTER_OTLP_HEADERS: ``name=value,name=value``, values percent-encoded."""
    pairs: Sequence[tuple[str, str, str]] = [pair.partition("=") for pair in given.split(",") if pair.strip()]
    return {name.strip(): unquote(value.strip()) for name, _, value in pairs}


def _bytes(digits: str, length: int) -> bytes | None:
    """Return the bytes of an identifier, or ``None`` if it is all zero or not a valid OpenTelemetry identifier."""
    try:
        found = bytes.fromhex(digits)
    except ValueError:
        return None
    # ``bytes.fromhex`` skips spaces, so the number of digits does not give the length.
    return found if len(found) * 2 == length and any(found) else None
