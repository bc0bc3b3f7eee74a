"""Who is exported to, on this machine: each takes what its public documentation says, and nothing else."""

import asyncio
import base64
import hmac
import json
import re
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import Annotated, Any, Literal

from aiohttp import web
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest, ExportLogsServiceResponse
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator


@dataclass
class Receiver(ABC):
    """Answers requests; the next ones as it is told.

    Attributes:
        troubles: statuses of the next requests, with headers; then all is well again.
        away: as long as it is set, every request is answered with this status.
        pieces: answers come in so many, one after the other.
        pages: bodies of the next answers, which somebody before the receiver gives.
        lost: how many of the next requests are taken and never answered.
        requests: how many have come.
    """

    troubles: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    away: int | None = None
    pieces: int = 1
    pages: list[bytes] = field(default_factory=list)
    lost: int = 0
    requests: int = 0
    url: str = ""

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.requests += 1
        if self.away is not None:
            return web.Response(status=self.away)
        if self.troubles:
            status, headers = self.troubles.pop(0)
            return web.Response(status=status, headers=headers)
        if self.pages:
            return web.Response(body=self.pages.pop(0), content_type="text/html")
        whole = await self.take(request, await request.read())
        if self.lost:
            self.lost -= 1
            assert request.transport is not None
            request.transport.close()
        return whole if self.pieces == 1 else await self._in_pieces(request, whole)

    async def _in_pieces(self, request: web.Request, whole: web.Response) -> web.StreamResponse:
        body = whole.body
        assert isinstance(body, bytes)
        response = web.StreamResponse(status=whole.status)
        await response.prepare(request)
        size = -(-len(body) // self.pieces)
        for start in range(0, len(body), size):
            await response.write(body[start : start + size])
            await asyncio.sleep(0.01)
        return response

    @abstractmethod
    async def take(self, request: web.Request, body: bytes) -> web.Response:
        """Answer a request that nothing is wrong with."""


@asynccontextmanager
async def serving(receiver: Receiver, *paths: str) -> AsyncIterator[Receiver]:
    """Serve a receiver on a free port."""
    app = web.Application(client_max_size=20_000_000)
    app.add_routes([web.post(path, receiver.answer) for path in paths])
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    receiver.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield receiver
    finally:
        await runner.cleanup()


# ---------------------------------------------------------------- OTLP

EVALUATION_ATTRIBUTES = {
    "gen_ai.evaluation.name": "string_value",
    "gen_ai.evaluation.score.value": "double_value",
    "gen_ai.evaluation.score.label": "string_value",
    "gen_ai.evaluation.explanation": "string_value",
    "gen_ai.response.id": "string_value",
    "error.type": "string_value",
    "log.record.uid": "string_value",
}
"""Of the event gen_ai.evaluation.result, with their types; the name is required."""


@dataclass
class OtlpCollector(Receiver):
    """Takes logs as OTLP over HTTP has them, of the event alone that we send."""

    headers: dict[str, str] = field(default_factory=dict)
    reject: Callable[[dict[str, Any]], bool] = lambda event: False
    events: list[dict[str, Any]] = field(default_factory=list)
    resources: list[dict[str, str]] = field(default_factory=list)

    async def take(self, request: web.Request, body: bytes) -> web.Response:
        assert request.headers["Content-Type"] == "application/x-protobuf"
        for name, value in self.headers.items():
            if request.headers.get(name) != value:
                return web.Response(status=401)
        response = ExportLogsServiceResponse()
        for resource in ExportLogsServiceRequest.FromString(body).resource_logs:
            self.resources.append({each.key: each.value.string_value for each in resource.resource.attributes})
            for scope in resource.scope_logs:
                for record in scope.log_records:
                    event = self._event(record)
                    if self.reject(event):
                        response.partial_success.rejected_log_records += 1
                    else:
                        self.events.append(event)
        return web.Response(body=response.SerializeToString(), content_type="application/x-protobuf")

    def _event(self, record: Any) -> dict[str, Any]:
        assert record.event_name == "gen_ai.evaluation.result"
        assert record.time_unix_nano
        assert len(record.trace_id) in (0, 16)
        assert len(record.span_id) in (0, 8)
        event: dict[str, Any] = {
            "trace_id": record.trace_id.hex(),
            "span_id": record.span_id.hex(),
            "flags": record.flags,
        }
        for each in record.attributes:
            kind = each.value.WhichOneof("value")
            assert kind == EVALUATION_ATTRIBUTES.get(each.key, kind), each.key
            assert each.key not in event
            assert each.key in EVALUATION_ATTRIBUTES or each.key.startswith("touchstone."), each.key
            event[each.key] = getattr(each.value, kind)
        assert event["gen_ai.evaluation.name"]
        return event


# ---------------------------------------------------------------- Langfuse

MAX_INGESTION_BYTES = 3_500_000


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


def _is_environment(name: str) -> bool:
    return re.fullmatch(r"(?!langfuse)[a-z0-9_-]{1,40}", name) is not None


class ScoreBody(_Strict):
    """ingestion.yml, ScoreBody."""

    id: str | None = None
    traceId: str | None = None  # noqa: N815
    sessionId: str | None = None  # noqa: N815
    observationId: str | None = None  # noqa: N815
    datasetRunId: str | None = None  # noqa: N815
    name: str = Field(min_length=1)
    environment: str | None = None
    queueId: str | None = None  # noqa: N815
    value: float | str
    comment: str | None = None
    metadata: Any = None
    dataType: Literal["NUMERIC", "CATEGORICAL", "BOOLEAN"] | None = None  # noqa: N815
    configId: str | None = None  # noqa: N815

    @model_validator(mode="after")
    def _fits(self) -> "ScoreBody":
        if not (self.traceId or self.sessionId or self.datasetRunId):
            raise ValueError("a score belongs to a trace, a session or a run")
        if self.observationId is not None and self.traceId is None:
            raise ValueError("an observation stands in a trace")
        if (self.dataType == "CATEGORICAL") is not isinstance(self.value, str):
            raise ValueError("categorical scores are strings, all others numbers")
        if self.dataType == "BOOLEAN" and self.value not in (0, 1):
            raise ValueError("a boolean score is 0 or 1")
        if self.environment is not None and not _is_environment(self.environment):
            raise ValueError("no name of an environment")
        return self


class TraceBody(_Strict):
    """ingestion.yml, TraceBody."""

    id: str | None = None
    timestamp: str | None = None
    name: str | None = None
    userId: str | None = None  # noqa: N815
    input: Any = None
    output: Any = None
    sessionId: str | None = None  # noqa: N815
    release: str | None = None
    version: str | None = None
    metadata: Any = None
    tags: list[str] | None = None
    environment: str | None = None
    public: bool | None = None


class _Envelope(_Strict):
    id: str = Field(min_length=1)
    timestamp: str = Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,6}(Z|[+-]\d\d:\d\d)$")
    metadata: Any = None


class ScoreEvent(_Envelope):
    type: Literal["score-create"]
    body: ScoreBody


class TraceEvent(_Envelope):
    type: Literal["trace-create"]
    body: TraceBody


_EVENT: TypeAdapter[ScoreEvent | TraceEvent] = TypeAdapter(
    Annotated[ScoreEvent | TraceEvent, Field(discriminator="type")]
)


@dataclass
class Langfuse(Receiver):
    """Langfuse's ingestion: 207 with successes and errors; scores by day and identifier, the latest one counts.

    Attributes:
        version: 3 takes traces as well, 4 scores alone; 5 has no ingestion of batches.
        refuse: names of scores that it does not take, as by a score configuration.
    """

    keys: tuple[str, str] = ("pk-lf-1", "sk-lf-1")
    version: int = 4
    refuse: set[str] = field(default_factory=set)
    envelopes: set[str] = field(default_factory=set)
    history: dict[tuple[str, str], list[tuple[datetime, dict[str, Any]]]] = field(default_factory=dict)
    traces: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def scores(self) -> list[dict[str, Any]]:
        """The scores there are now."""
        return [max(said, key=lambda each: each[0])[1] for said in self.history.values()]

    def of(self, answer_id: str) -> dict[str, dict[str, Any]]:
        """Scores of an answer by name."""
        return {score["name"]: score for score in self.scores if score["metadata"]["answer_id"] == answer_id}

    async def take(self, request: web.Request, body: bytes) -> web.Response:
        expected = "Basic " + base64.b64encode(":".join(self.keys).encode()).decode()
        if request.headers.get("Authorization") != expected:
            return web.json_response({"message": "Invalid credentials"}, status=401)
        if len(body) > MAX_INGESTION_BYTES:
            return web.json_response({"message": "too large"}, status=413)
        sent = json.loads(body)
        if request.path.endswith("/scores"):
            return self._take_single(sent)
        if self.version > 4:
            return web.json_response({"message": "Not Found"}, status=404)
        if not isinstance(sent, dict) or set(sent) - {"batch", "metadata"} or not isinstance(sent.get("batch"), list):
            return web.json_response({"message": "Invalid request data"}, status=400)
        told: dict[str, list[dict[str, Any]]] = {"successes": [], "errors": []}
        for event in sent["batch"]:
            problem = self._take(event)
            if problem is None:
                told["successes"].append({"id": event["id"], "status": 201})
            else:
                told["errors"].append({"id": event["id"], "status": 400, "message": problem, "error": problem})
        return web.json_response(told, status=207)

    def _take_single(self, sent: dict[str, Any]) -> web.Response:
        try:
            score = ScoreBody.model_validate(sent)
        except ValidationError as error:
            return web.json_response({"message": str(error)}, status=400)
        if score.name in self.refuse:
            return web.json_response({"message": "the score does not comply with its configuration"}, status=400)
        said = self.history.setdefault(("today", score.id or ""), [])
        said.append((datetime.now(UTC), score.model_dump(exclude_none=True)))
        return web.json_response({"id": score.id})

    def _take(self, sent: dict[str, Any]) -> str | None:
        try:
            event = _EVENT.validate_python(sent)
        except ValidationError as error:
            return str(error)
        if event.id in self.envelopes:
            return None
        if isinstance(event, TraceEvent):
            if self.version > 3:
                return "Only score-create events are accepted"
            trace = self.traces.setdefault(event.body.id or "", {"tags": set(), "metadata": {}})
            trace["tags"] |= set(event.body.tags or ())
            trace["metadata"] |= event.body.metadata or {}
        else:
            if event.body.name in self.refuse:
                return "the score does not comply with its configuration"
            at = datetime.fromisoformat(event.timestamp)
            said = self.history.setdefault((str(at.date()), event.body.id or event.id), [])
            said.append((at, event.body.model_dump(exclude_none=True)))
        self.envelopes.add(event.id)
        return None


# ---------------------------------------------------------------- webhooks


@dataclass
class WebhookReceiver(Receiver):
    """Takes what is signed by Standard Webhooks; notes what comes, and what comes again."""

    secret: str | None = None
    clock: Callable[[], float] = time.time
    refuse: Callable[[dict[str, Any]], bool] = lambda message: False
    messages: list[dict[str, Any]] = field(default_factory=list)
    identifiers: list[str] = field(default_factory=list)

    async def take(self, request: web.Request, body: bytes) -> web.Response:
        assert request.headers["Content-Type"] == "application/json"
        if self.secret is not None:
            identifier, timestamp = request.headers["webhook-id"], request.headers["webhook-timestamp"]
            key = base64.b64decode(self.secret.removeprefix("whsec_"))
            digest = hmac.new(key, f"{identifier}.{timestamp}.".encode() + body, sha256).digest()
            if request.headers["webhook-signature"] != f"v1,{base64.b64encode(digest).decode()}":
                return web.Response(status=401)
            if abs(self.clock() - int(timestamp)) > 300:
                return web.Response(status=401)
            self.identifiers.append(identifier)
        message = json.loads(body)
        if self.refuse(message):
            return web.Response(status=400, text="invalid_payload")
        self.messages.append(message)
        return web.Response(text="ok")
