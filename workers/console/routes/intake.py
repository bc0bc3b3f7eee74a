"""Accept answers over HTTP: native answers, other formats, CloudEvents, OpenTelemetry exports.

The broker has acknowledged every accepted record. A repeated request produces the same
identifiers, so that no answer is evaluated twice. Answers without an identifier need an
``Idempotency-Key`` for this.
"""

import asyncio
from collections import Counter
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Header, Query, Request, Response
from pydantic import BaseModel, Field
from pydantic_core import to_json

from schemas.base import UnreadableEvent
from workers.console.foreign_records import (
    MAX_RECORDS,
    PROTOBUF,
    FormatName,
    decompressed,
    fixed_tenant,
    format_of,
    media_type,
    records_of,
)
from workers.console.http.problems import FieldProblem, Problem, documented
from workers.console.http.requests import StrictRoute
from workers.console.identity.principal import Principal
from workers.console.identity.security import Ingester
from workers.console.resources import ConsoleResources, Shared
from workers.delivery.records import Output
from workers.errors import PoisonError, describe
from workers.gateways import native
from workers.gateways.adapted import Adapted, Received
from workers.gateways.errors import NothingToJudge
from workers.gateways.formats import Format
from workers.gateways.reading.envelopes import Opened
from workers.gateways.traces.otlp_encoding import encoded
from workers.gateways.traces.otlp_unread import as_message
from workers.intake.intake_outputs import count_unread, outputs_of, sum_counts, taken_of
from workers.observability import metrics
from workers.observability.logs import get_logger
from workers.privacy.record_masking import Privacy
from workers.stores.redis.client import REDIS_ERRORS

AGENT = "console"
IDEMPOTENCY_SECONDS = 24 * 3_600
"""Time for which an Idempotency-Key is known."""
REFUSED_CALLS = (
    "refused calls, such as answers of more than 60,000 characters, calls that are too large, or messages of an "
    "unknown shape"
)

log = get_logger(__name__)

router = APIRouter(prefix="/v1", tags=["intake"], route_class=StrictRoute)

Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=200,
        description="Key that makes repeats of the request safe: repeats have the same key.",
    ),
]
Tenant = Annotated[str | None, Query(min_length=1, max_length=200, description="Tenant of all records.")]

_ONE: dict[str, Any] = {"type": "object", "minProperties": 1}
_OWN: dict[str, Any] = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
_ERRORS = documented(400, 401, 403, 413, 415, 422, 429, 503)


class Taken(BaseModel):
    """Describe the result of an intake request."""

    accepted: list[str] = Field(description="Identifiers of the answers, in the order of the request.")
    skipped: int = Field(default=0, description="Number of records without an answer, such as embedding calls.")
    refused: int = Field(default=0, description="Number of refused calls in OpenTelemetry exports.")
    renamed: dict[str, str] = Field(
        default_factory=dict,
        description="Identifiers of more than 200 characters (their first 2,000), with those of their answers.",
    )
    unread: dict[str, int] = Field(default_factory=dict, exclude=True)


def _body(schema: dict[str, Any], *, batch: bool = True) -> dict[str, Any]:
    either = {"anyOf": [schema, {"type": "array", "items": schema, "minItems": 1, "maxItems": MAX_RECORDS}]}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": either if batch else schema}}}}


@router.post("/answers", status_code=202, responses=_ERRORS, openapi_extra=_body(_OWN))
async def take_answers(
    request: Request, principal: Ingester, resources: Shared, tenant: Tenant = None, key: Key = None
) -> Taken:
    """Send answers for evaluation: one answer or a list, also as CloudEvents.

    ``answer_id`` and ``completed_at`` are optional.
    """
    return await _take(request, principal, resources, native.NAME, tenant, key)


@router.post("/answers/{form}", status_code=202, responses=_ERRORS | documented(404), openapi_extra=_body(_ONE))
async def take_records(
    form: FormatName, request: Request, principal: Ingester, resources: Shared, tenant: Tenant = None, key: Key = None
) -> Taken:
    """Send records of another format for evaluation: one record or a list, also as CloudEvents."""
    return await _take(request, principal, resources, form, tenant, key)


@router.post(
    "/traces",
    responses=_ERRORS,
    openapi_extra=_body(
        {"type": "object", "properties": {"resourceSpans": {"type": "array"}}, "required": ["resourceSpans"]},
        batch=False,
    ),
)
async def take_traces(request: Request, principal: Ingester, resources: Shared, tenant: Tenant = None) -> Response:
    """Receive spans of an OpenTelemetry exporter: OTLP/HTTP, JSON or protobuf, optionally compressed with gzip."""
    taken = await _take(request, principal, resources, "otlp", tenant, None)
    return _exported(request, "trace", "ExportTraceServiceResponse", "rejectedSpans", taken)


@router.post(
    "/logs",
    responses=_ERRORS,
    openapi_extra=_body(
        {"type": "object", "properties": {"resourceLogs": {"type": "array"}}, "required": ["resourceLogs"]}, batch=False
    ),
)
async def take_logs(request: Request, principal: Ingester, resources: Shared, tenant: Tenant = None) -> Response:
    """Receive log events of an OpenTelemetry exporter: OTLP/HTTP, JSON or protobuf, optionally compressed with gzip."""
    taken = await _take(request, principal, resources, "otlp-logs", tenant, None)
    return _exported(request, "logs", "ExportLogsServiceResponse", "rejectedLogRecords", taken)


def _exported(request: Request, signal: str, message: str, rejected: str, taken: Taken) -> Response:
    """Build the success response in the encoding of the request: empty, or with what was not accepted and why.

    A message without rejected spans is a warning (OTLP 1.9, "Partial Success").
    """
    reasons = [REFUSED_CALLS] if taken.refused else []
    reasons += [as_message(taken.unread)] if taken.unread else []
    partial = {"errorMessage": "; ".join(reasons)} | ({rejected: str(taken.refused)} if taken.refused else {})
    content = {"partialSuccess": partial} if reasons else {}
    if media_type(request) != PROTOBUF:
        return Response(to_json(content), media_type="application/json")
    return Response(encoded(content, signal, message), media_type=PROTOBUF)


async def _take(
    request: Request, principal: Principal, resources: ConsoleResources, form: str, tenant: str | None, key: str | None
) -> Taken:
    """Adapt the records of a request, send them to the broker and return the result.

    Raises:
        Problem: 400, damaged gzip; 404, unknown format; 413, too large; 415, unsupported encoding; 422, invalid record;
            429, too many bytes wait for the broker, or the quota of a tenant is used up; 503, the format's plug-in is ambiguous or broken.
    """
    how = format_of(form, resources)
    body = decompressed(await request.body(), request, resources.settings.console.max_body_bytes)
    with resources.intake.taking(len(body)):
        fixed = fixed_tenant(principal, tenant)
        digest = sha256(f"{form}\n{tenant}\n".encode() + body).hexdigest()
        known = _KnownRequests(resources, principal, fixed, key, digest)
        if (before := await known.find()) is not None:
            return before
        received = Received(known.received_at, fixed)
        opened = [
            replace(
                each, received=replace(each.received, identifier=each.received.identifier or known.identifier(number))
            )
            for number, each in enumerate(records_of(body, request, received))
        ]
        contents = await asyncio.to_thread(_decoded, opened, how)
        if how.by_trace:
            sources, seconds = resources.sources, resources.settings.gateways.trace_wait_seconds
            of_whom = principal.name, received.tenant
            await asyncio.gather(*(sources.keep(each, *of_whom) for each in contents))
            await asyncio.gather(*(sources.wait(each, *of_whom, seconds) for each in contents))
            contents = await asyncio.gather(*(sources.joined(each, *of_whom) for each in contents))
        taken, outputs, tenants = await asyncio.to_thread(_adapted, opened, contents, how, principal, resources)
        resources.quotas.book(tenants)
        await resources.producer.send(outputs, agent=AGENT)
        await known.keep(taken)
    return taken


def _decoded(opened: list[Opened], how: Format) -> list[Any]:
    """Return the decoded contents; the error in place of a content that cannot be decoded."""
    contents: list[Any] = []
    for each in opened:
        try:
            contents.append(how.decode(each.value))
        except (PoisonError, UnreadableEvent) as error:
            contents.append(error)
    return contents


def _adapted(
    opened: list[Opened], contents: list[Any], how: Format, principal: Principal, resources: ConsoleResources
) -> tuple[Taken, list[Output], Counter[str]]:
    """Build the outputs of a request, and count its answers by tenant.

    A record that cannot be adapted fails the whole request.
    """
    taken, outputs, tenants = Taken(accepted=[]), list[Output](), Counter[str]()
    limit = resources.settings.kafka.max_input_bytes
    privacy = Privacy(resources.settings.privacy, limit)

    def outputs_for(found: Adapted) -> list[Output]:
        principal.require_tenant(found.answer.tenant)
        return outputs_of(found, privacy, limit, agent=AGENT, pipeline_version=resources.pipeline_version)

    for number, (each, content) in enumerate(zip(opened, contents, strict=True)):
        try:
            if isinstance(content, Exception):
                raise content
            found = taken_of(how.adapt(content, each.received), outputs_for, in_part=how.in_part)
            taken.accepted += [each.answer.answer_id for each in found.answers]
            taken.renamed |= {each.given_id: each.answer.answer_id for each in found.answers if each.given_id}
            taken.refused += found.refused
            taken.unread = sum_counts([taken.unread, found.unread])
            tenants.update(each.answer.tenant for each in found.answers)
            outputs += found.outputs
        except NothingToJudge as nothing:
            metrics.RECORDS_SKIPPED.labels(AGENT, nothing.reason).inc()
            taken.unread = sum_counts([taken.unread, nothing.unread])
            taken.skipped += 1
        except (PoisonError, UnreadableEvent) as error:
            field = getattr(error, "field", None)
            name = f"body.{number}.{field}" if field else f"body.{number}"
            where = FieldProblem(field=name, message=describe(error))
            raise Problem(422, f"record {number} cannot be accepted: {describe(error)}", fields=[where]) from None
    count_unread(AGENT, taken.unread)
    return taken, outputs, tenants


class _KnownRequests:
    """The stored state of an ``Idempotency-Key`` in Redis: first arrival and response.

    Without Redis only the identifiers stay equal. They are derived from key and content, so that a
    different request with the same key replaces no answer.

    Args:
        resources: resources of the console.
        principal: the caller; keys of different callers are independent.
        tenant: tenant of all records, ``None`` if each names its own; keys of different tenants are independent.
        key: key of the request; ``None`` without one.
        digest: SHA-256 of the request content.

    Attributes:
        received_at: arrival of this request; after ``find``, arrival of the first equal request.
    """

    def __init__(
        self, resources: ConsoleResources, principal: Principal, tenant: str | None, key: str | None, digest: str
    ) -> None:
        self._redis = resources.redis
        self._prefix = f"{resources.settings.redis.key_prefix}idempotency:"
        self._key = key and sha256(to_json([principal.name, tenant, key])).hexdigest()
        self._name = key and sha256(f"{principal.name}\x1f{key}\x1f{digest}".encode()).hexdigest()
        self._digest = digest
        self.received_at = resources.now()

    def identifier(self, number: int) -> str | None:
        """Return an identifier for a record that has none; ``None`` without a key."""
        return f"key-{self._name}-{number}" if self._name else None

    async def find(self) -> Taken | None:
        """Return the earlier response to the same request.

        Return ``None`` if there is none, and store the arrival of this request if the key is new.

        Raises:
            Problem: 422, a different request was accepted with this key.
        """
        # Read and write in one atomic step, and only if the key is new: a request never overwrites another one.
        found = await self._set({"at": self.received_at.isoformat()}, nx=True, get=True)
        content = orjson.loads(found or b"{}")
        known, taken = content.get("digest") == self._digest, content.get("taken")
        if taken and not known:
            raise Problem(422, "this Idempotency-Key was used for another request; use a new key for each request")
        if taken:
            return Taken.model_validate(taken)
        if known:
            # The first request may have reached the broker before the console crashed. The repeat must give the
            # same answer, and the day of arrival is part of the storage key.
            self.received_at = datetime.fromisoformat(content["at"])
        return None

    async def keep(self, taken: Taken) -> None:
        """Store the response."""
        await self._set({"taken": taken.model_dump()})

    async def _set(self, told: dict[str, Any], **options: Any) -> Any:
        if self._redis is None or self._key is None:
            return None
        content = orjson.dumps({"digest": self._digest} | told)
        try:
            return await self._redis.set(self._prefix + self._key, content, ex=IDEMPOTENCY_SECONDS, **options)
        except REDIS_ERRORS as error:
            # Identifiers are derived from the key and stay equal: a repeat is sent again and deduplicated later.
            log.warning("idempotency_access_failed", error_class=type(error).__name__)
            return None
