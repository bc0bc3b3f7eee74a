"""Read CloudEvents envelopes: structured (one JSON object) and binary (attributes in headers).

Source: CloudEvents 1.0.2 with its bindings for HTTP (headers ``ce-…``) and Kafka (headers ``ce_…``), read with the
CloudEvents project's package ``cloudevents``. A record without an envelope is returned unchanged. Kafka Connect's envelope, a schema and a payload, is
taken off values of Kafka.
"""

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from cloudevents.core.base import BaseCloudEvent
from cloudevents.core.bindings import http, kafka
from cloudevents.core.exceptions import BaseCloudEventException
from cloudevents.core.formats.json import JSONFormat
from pydantic_core import to_json

from workers.gateways.adapted import Received
from workers.gateways.errors import UnadaptableRecord
from workers.gateways.reading.lenient_reading import an_object, is_traceparent, items, mapping, parsed, time

STRUCTURED = "application/cloudevents+json"
BATCH = "application/cloudevents-batch+json"
CONTENT_TYPE = "content-type"
SPECVERSION = "1.0"
_CONNECT = re.compile(rb'\s*\{\s*"schema"\s*:')


@dataclass(frozen=True, slots=True)
class Opened:
    """Content of an envelope.

    Attributes:
        value: bytes of the record.
        received: metadata of the record, completed from the envelope.
    """

    value: bytes | None
    received: Received


def from_kafka(value: bytes | None, headers: Iterable[tuple[str, bytes | None]], received: Received) -> Opened:
    """Return the record in a Kafka record's value, without its envelope.

    Args:
        value: value of the Kafka record.
        headers: headers of the Kafka record.
        received: metadata of the record.

    Raises:
        UnadaptableRecord: the envelope is incomplete or invalid.
    """
    named = {name.lower(): content for name, content in headers if content is not None}
    is_binary = not {"ce_specversion", "ce_id"}.isdisjoint(named)
    if value is None or not (
        is_binary or _media_type(named.get(CONTENT_TYPE, b"").decode("utf-8", "replace")) == STRUCTURED
    ):
        return Opened(value and _unwrapped(value), _traced(received, _text(named.get("traceparent"))))
    # The key is not part of the event, and unrelated headers may hold any bytes.
    known = {name: content for name, content in named.items() if name == CONTENT_TYPE or name.startswith("ce_")}
    if is_binary:
        known.setdefault("ce_specversion", SPECVERSION.encode())
    _check_id(_text(named.get("ce_id")) if is_binary else mapping(parsed(value, "the event")).get("id"))
    message = kafka.KafkaMessage(headers=known, key=None, value=value)
    event = _read(lambda: kafka.from_kafka(message, JSONFormat()))
    return Opened(value if is_binary else _content(event), _known(event, received, _text(named.get("traceparent"))))


def _unwrapped(value: bytes) -> bytes:
    """Return the payload of a value that Kafka Connect's ``JsonConverter`` has wrapped with its schema, its default."""
    if not _CONNECT.match(value):
        return value
    with suppress(UnadaptableRecord):
        found = mapping(parsed(value, "the record"))
        if found.keys() == {"schema", "payload"}:
            payload = found["payload"]
            return payload.encode() if isinstance(payload, str) else to_json(payload, inf_nan_mode="null")
    return value


def from_http(body: bytes, headers: Mapping[str, str], received: Received) -> list[Opened]:
    """Return the records in a request's body: one record, or those of a batch.

    Args:
        body: body of the request.
        headers: headers of the request.
        received: metadata of the request.

    Raises:
        UnadaptableRecord: an envelope is incomplete or invalid.
    """
    named = {name.lower(): content for name, content in headers.items()}
    media_type = _media_type(named.get(CONTENT_TYPE, ""))
    context = named.get("traceparent")
    if media_type == BATCH:
        return [_structured(each, received, context) for each in items(parsed(body, "the batch"))]
    if media_type == STRUCTURED:
        return [_structured(parsed(body, "the event"), received, context)]
    if {"ce-specversion", "ce-id"}.isdisjoint(named):
        return [Opened(body, _traced(received, context))]
    known = {name: content for name, content in named.items() if name == CONTENT_TYPE or name.startswith("ce-")}
    known.setdefault("ce-specversion", SPECVERSION)
    _check_id(known.get("ce-id"))
    event = _read(lambda: http.from_http(http.HTTPMessage(headers=known, body=body), JSONFormat()))
    return [Opened(body, _known(event, received, context))]


def _structured(event: Any, received: Received, context: str | None) -> Opened:
    _check_id(an_object(event, "the event").get("id"))
    message = http.HTTPMessage(headers={CONTENT_TYPE: STRUCTURED}, body=to_json(event, inf_nan_mode="null"))
    read = _read(lambda: http.from_http(message, JSONFormat()))
    return Opened(_content(read), _known(read, received, context))


def _check_id(identifier: Any) -> None:
    """Refuse an event without ``id``: the package would invent one, and a repeat would be another answer."""
    if not isinstance(identifier, str) or not identifier.strip():
        raise UnadaptableRecord("the CloudEvent is invalid: id; it needs id, source, type and specversion 1.0", "id")


def _read(read: Any) -> BaseCloudEvent:
    try:
        event: BaseCloudEvent = read()
    except BaseCloudEventException as error:
        told = getattr(error, "errors", None)
        names = ", ".join(sorted(told)) if isinstance(told, dict) and told else type(error).__name__
        raise UnadaptableRecord(
            f"the CloudEvent is invalid: {names}; it needs id, source, type and specversion 1.0"
        ) from None
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise UnadaptableRecord(
            f"the CloudEvent cannot be read ({type(error).__name__}); it needs id, source, type, specversion 1.0 "
            "and data"
        ) from None
    if event.get_specversion() != SPECVERSION:
        raise UnadaptableRecord("the CloudEvent has an unsupported specversion; send 1.0")
    return event


def _content(event: BaseCloudEvent) -> bytes:
    data = event.get_data()
    return bytes(data) if isinstance(data, bytes | bytearray) else to_json(data, inf_nan_mode="null")


def _known(event: BaseCloudEvent, received: Received, context: str | None) -> Received:
    """Return the metadata from an envelope: source and id give the identifier, the event's time the record's time."""
    name = f"{event.get_source()}/{event.get_id()}"
    extension = event.get_extension("traceparent")
    # The event's extension holds the trace of its origin; the header may hold that of a hop.
    told = extension if isinstance(extension, str) and is_traceparent(extension) else context
    return _traced(
        replace(
            received,
            # Events of different tenants may have equal identifiers.
            identifier=name if received.tenant is None else f"{received.tenant}:{name}",
            at=time(str(event.get_time())) or received.at,
        ),
        told,
    )


def _traced(received: Received, context: str | None) -> Received:
    return replace(received, traceparent=context) if context and is_traceparent(context) else received


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode("utf-8", "replace")


def _media_type(value: str) -> str:
    return value.partition(";")[0].strip().lower()
