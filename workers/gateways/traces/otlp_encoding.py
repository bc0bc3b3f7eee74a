"""Decode OTLP exports from JSON or protobuf to their JSON form, and encode responses."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from workers.gateways.errors import UnadaptableRecord
from workers.gateways.reading.lenient_reading import parsed


def decoded(value: bytes | None) -> Any:
    """Decode an export of spans from JSON or protobuf to its JSON form.

    Args:
        value: value of the record.

    Raises:
        UnadaptableRecord: the value is neither an OTLP JSON nor an OTLP protobuf export, or protobuf is not installed.
    """
    return _decoded(value, "trace", "ExportTraceServiceRequest")


def decoded_logs(value: bytes | None) -> Any:
    """Decode an export of log records from JSON or protobuf to its JSON form.

    Args:
        value: value of the record.

    Raises:
        UnadaptableRecord: the value is neither an OTLP JSON nor an OTLP protobuf export, or protobuf is not installed.
    """
    return _decoded(value, "logs", "ExportLogsServiceRequest")


def _decoded(value: bytes | None, signal: str, message: str) -> Any:
    if not value:
        raise UnadaptableRecord("the export is empty; send an OTLP export request")
    if value.lstrip()[:1] == b"{":
        try:
            return parsed(value, "the export")
        except UnadaptableRecord:
            # A protobuf export begins with a line feed and the length of its first message; the length 123 is the
            # character "{".
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
    """Encode the JSON form of an export's response as protobuf; return no bytes for an empty response.

    Args:
        content: the response in its JSON form.
        signal: ``trace`` or ``logs``.
        message: name of the protobuf message.

    Raises:
        ImportError: the OpenTelemetry protobuf package is not installed.
    """
    if not content:
        return b""
    from google.protobuf.json_format import ParseDict

    response: bytes = ParseDict(content, getattr(_service(signal), message)()).SerializeToString()
    return response
