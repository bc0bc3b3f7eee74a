"""Answers by HTTP: our own, those of other formats, CloudEvents, OpenTelemetry exports.

What is accepted is in the broker's log. A request that is repeated gives the same identifiers, so that
nothing is judged twice; with an ``Idempotency-Key`` also for answers that have no name of their own.
"""

import asyncio
import zlib
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Header, Path, Query, Request, Response
from pydantic import BaseModel, Field
from pydantic_core import from_json, to_json
from redis.exceptions import RedisError

from schemas.base import UnreadableEvent
from workers import metrics
from workers.console.principal import Principal
from workers.console.problems import FieldProblem, Problem, documented
from workers.console.requests import StrictRoute
from workers.console.resources import ConsoleResources, Shared
from workers.console.security import Ingester
from workers.delivery.errors import PoisonError, describe
from workers.delivery.records import Output
from workers.gateways import native
from workers.gateways.adapted import Adapted, Received
from workers.gateways.envelopes import Opened, from_http
from workers.gateways.errors import NothingToJudge, UnadaptableRecord
from workers.gateways.formats import Format
from workers.gateways.otlp import encoded
from workers.gateways.outputs import outputs_of, taken_of
from workers.logs import get_logger
from workers.privacy import Privacy

AGENT = "console"
MAX_RECORDS = 500
"""Most records of a batch."""
PROTOBUF = "application/x-protobuf"
REFUSED_CALLS = "calls that cannot be taken, such as an answer of more than 60,000 characters, or too large in all"

log = get_logger(__name__)

router = APIRouter(prefix="/v1", tags=["intake"], route_class=StrictRoute)

Key = Annotated[
    str | None,
    Header(alias="Idempotency-Key", min_length=1, max_length=200, description="A repeat of the request has the same."),
]
Tenant = Annotated[str | None, Query(min_length=1, max_length=200, description="Whose all of them are.")]
FormatName = Annotated[str, Path(min_length=1, max_length=200, description="A format, built in or of a mapping.")]

_ONE: dict[str, Any] = {"type": "object", "minProperties": 1}
_OWN: dict[str, Any] = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
_ERRORS = documented(401, 403, 413, 415, 422, 429, 503)


class Taken(BaseModel):
    """What became of a request."""

    accepted: list[str] = Field(description="Identifiers of the answers, in the order of the request.")
    skipped: int = Field(default=0, description="Records that hold no answer, such as calls for embeddings.")
    refused: int = Field(default=0, description="Calls of exports of OpenTelemetry that cannot be taken.")


def _body(schema: dict[str, Any], *, batch: bool = True) -> dict[str, Any]:
    either = {"anyOf": [schema, {"type": "array", "items": schema, "minItems": 1, "maxItems": MAX_RECORDS}]}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": either if batch else schema}}}}


@router.post("/answers", status_code=202, responses=_ERRORS, openapi_extra=_body(_OWN))
async def take_answers(
    request: Request, principal: Ingester, resources: Shared, tenant: Tenant = None, key: Key = None
) -> Taken:
    """Send answers to be judged: one, or a list of them, also as CloudEvents.

    ``answer_id`` and ``completed_at`` may be left out.
    """
    return await _take(request, principal, resources, native.NAME, tenant, key)


@router.post("/answers/{form}", status_code=202, responses=_ERRORS | documented(404), openapi_extra=_body(_ONE))
async def take_records(
    form: FormatName, request: Request, principal: Ingester, resources: Shared, tenant: Tenant = None, key: Key = None
) -> Taken:
    """Send records of another format to be judged: one, or a list of them, also as CloudEvents."""
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
    """Send spans as an OpenTelemetry exporter does: OTLP/HTTP, JSON or protobuf, also compressed with gzip."""
    taken = await _take(request, principal, resources, "otlp", tenant, None)
    return _exported(request, "trace", "ExportTraceServiceResponse", {"rejectedSpans": taken.refused})


@router.post(
    "/logs",
    responses=_ERRORS,
    openapi_extra=_body(
        {"type": "object", "properties": {"resourceLogs": {"type": "array"}}, "required": ["resourceLogs"]}, batch=False
    ),
)
async def take_logs(request: Request, principal: Ingester, resources: Shared, tenant: Tenant = None) -> Response:
    """Send events as an OpenTelemetry exporter does: OTLP/HTTP, JSON or protobuf, also compressed with gzip."""
    taken = await _take(request, principal, resources, "otlp-logs", tenant, None)
    return _exported(request, "logs", "ExportLogsServiceResponse", {"rejectedLogRecords": taken.refused})


def _exported(request: Request, signal: str, message: str, rejected: dict[str, int]) -> Response:
    """A success in the encoding of the request: a message without fields, or with how many calls were refused."""
    told = {name: str(refused) for name, refused in rejected.items() if refused}
    content = {"partialSuccess": told | {"errorMessage": REFUSED_CALLS}} if told else {}
    if _media_type(request) != PROTOBUF:
        return Response(to_json(content), media_type="application/json")
    return Response(encoded(content, signal, message), media_type=PROTOBUF)


async def _take(
    request: Request, principal: Principal, resources: ConsoleResources, form: str, tenant: str | None, key: str | None
) -> Taken:
    """What became of a request."""
    try:
        how = resources.settings.gateways.format_named(form)
    except KeyError as error:
        raise Problem(404, str(error.args[0])) from None
    body = _decompressed(await request.body(), request, resources.settings.console.max_body_bytes)
    with resources.intake.taking(len(body)):
        known = _KnownRequests(resources, principal, key, sha256(f"{form}\n{tenant}\n".encode() + body).hexdigest())
        if (before := await known.find()) is not None:
            return before
        received = Received(known.received_at, _fixed_tenant(principal, tenant))
        opened = [
            replace(
                each, received=replace(each.received, identifier=each.received.identifier or known.identifier(number))
            )
            for number, each in enumerate(_records(body, request, received))
        ]
        taken, outputs = await asyncio.to_thread(_adapted, opened, how, principal, resources)
        await resources.producer.send(outputs, agent=AGENT)
        await known.keep(taken)
    return taken


def _records(body: bytes, request: Request, received: Received) -> list[Opened]:
    """The records of a request: those of a batch of CloudEvents, those of a list, or one."""
    opened = from_http(body, dict(request.headers), received)
    # In protobuf the length of a message may look like the beginning of a list.
    may_be_list = len(opened) == 1 and _media_type(request) != PROTOBUF
    found = [each for one in opened for each in (_listed(one) if may_be_list else [one])]
    if not 1 <= len(found) <= MAX_RECORDS:
        raise Problem(422, f"a request has 1 to {MAX_RECORDS} records; send several")
    return found


def _listed(opened: Opened) -> list[Opened]:
    if (opened.value or b"").lstrip()[:1] != b"[":
        return [opened]
    try:
        return [replace(opened, value=to_json(each, inf_nan_mode="null")) for each in from_json(opened.value or b"")]
    except ValueError:
        raise UnadaptableRecord("the body is not valid JSON; send UTF-8 JSON") from None


def _adapted(
    opened: list[Opened], how: Format, principal: Principal, resources: ConsoleResources
) -> tuple[Taken, list[Output]]:
    """All that is to be sent: of a request with a record that cannot be taken, nothing is."""
    taken, outputs, limit = Taken(accepted=[]), list[Output](), resources.settings.kafka.max_input_bytes
    privacy = Privacy(resources.settings.privacy, limit)

    def outputs_for(found: Adapted) -> list[Output]:
        principal.require_tenant(found.answer.tenant)
        return outputs_of(found, privacy, limit, agent=AGENT, pipeline_version=resources.pipeline_version)

    for number, each in enumerate(opened):
        try:
            found = taken_of(how.answers(each.value, each.received), outputs_for, in_part=how.in_part)
            taken.accepted += [each.answer.answer_id for each in found.answers]
            taken.refused += found.refused
            outputs += found.outputs
        except NothingToJudge as nothing:
            metrics.RECORDS_SKIPPED.labels(AGENT, nothing.reason).inc()
            taken.skipped += 1
        except (PoisonError, UnreadableEvent) as error:
            where = FieldProblem(field=f"body.{number}", message=describe(error))
            raise Problem(422, f"record {number} cannot be taken: {describe(error)}", fields=[where]) from None
    return taken, outputs


def _fixed_tenant(principal: Principal, wanted: str | None) -> str | None:
    """Whose all records are: as asked for, or the only one that the token is for; else each says it itself."""
    return principal.tenant(wanted) if wanted or len(principal.tenants) == 1 else None


def _media_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _decompressed(body: bytes, request: Request, limit: int) -> bytes:
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding == "identity":
        return body
    if encoding != "gzip":
        raise Problem(415, "this Content-Encoding is not read; send gzip or none")
    unpacking = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        content = unpacking.decompress(body, limit)
    except zlib.error:
        raise UnadaptableRecord("the body is no gzip; send what Content-Encoding says") from None
    if unpacking.unconsumed_tail:
        raise Problem(413, f"a body has at most {limit} bytes, also unpacked; send less at once")
    return content


class _KnownRequests:
    """A request with this key: when it came first and what was answered; kept in Redis.

    Without Redis the names alone stay the same: they are of key and content, so that another request under the
    same key takes the place of no answer.

    Args:
        resources: of the console.
        principal: who asks; keys of different senders never meet.
        key: of the request, if it has one.
        digest: of what was sent.

    Attributes:
        received_at: when it came; once it has been looked for, when it came first.
    """

    def __init__(self, resources: ConsoleResources, principal: Principal, key: str | None, digest: str) -> None:
        self._redis = resources.redis
        self._prefix = f"{resources.settings.redis.key_prefix}idempotency:"
        self._seconds = int(resources.settings.gateways.idempotency_hours * 3_600)
        self._key = key and sha256(f"{principal.name}\x1f{key}".encode()).hexdigest()
        self._name = key and sha256(f"{principal.name}\x1f{key}\x1f{digest}".encode()).hexdigest()
        self._digest = digest
        self.received_at = resources.now()

    def identifier(self, number: int) -> str | None:
        """The name of a record that has none."""
        return f"key-{self._name}-{number}" if self._name else None

    async def find(self) -> Taken | None:
        """What was answered before; ``None`` where nothing was, and it is noted then that the request has come.

        Raises:
            Problem: 422, something else was accepted under the key.
        """
        # Noted only where nothing is, in one step with the look: a note never takes the place of another request's.
        found = await self._set({"at": self.received_at.isoformat()}, nx=True, get=True)
        content = orjson.loads(found or b"{}")
        known, taken = content.get("digest") == self._digest, content.get("taken")
        if taken and not known:
            raise Problem(422, "this Idempotency-Key came with another request; use a new one for each")
        if taken:
            return Taken.model_validate(taken)
        if known:
            # What came before may be with the broker, and nobody has lived to note it: it must be the same answer,
            # and its day is part of its place in the stores.
            self.received_at = datetime.fromisoformat(content["at"])
        return None

    async def keep(self, taken: Taken) -> None:
        """Keep what is answered."""
        await self._set({"taken": taken.model_dump()})

    async def _set(self, told: dict[str, Any], **options: Any) -> Any:
        if self._redis is None or self._key is None:
            return None
        content = orjson.dumps({"digest": self._digest} | told)
        try:
            return await self._redis.set(self._prefix + self._key, content, ex=self._seconds, **options)
        except (RedisError, OSError) as error:
            # The names stay the same all the same, so that a repeat is sent again and judged as one.
            log.warning("idempotency_keys_away", error_class=type(error).__name__)
            return None
