"""Evaluate an answer while its text arrives: JSON lines come in, server-sent events go out on the same connection.

The body is read while the response is written. Nothing else may read it then: Starlette's streaming response watches
for the end of the connection by reading the body, and would drop the text. So this response has a watch of its own.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import uuid4

import orjson
from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ValidationError
from starlette.types import Message, Receive, Scope, Send

from schemas.answers import GeneratedAnswer
from schemas.base import UnreadableEvent
from workers.check.check_models import AnswerBegun, CheckedAnswer, CheckedPart
from workers.check.check_service import CheckTimedOut
from workers.check.growing_answer import MAX_CODE_POINTS, GrowingAnswer, checked_parts
from workers.console.foreign_records import fixed_tenant
from workers.console.http.problems import MAX_FIELDS, FieldProblem, Problem, documented, problem_response
from workers.console.http.requests import StrictRoute
from workers.console.identity.principal import Principal
from workers.console.identity.security import Ingester
from workers.console.resources import Shared
from workers.console.routes.check import CALLER_GONE, NO_MODELS, DeadlineMs
from workers.decision.stream_stop import StopOn
from workers.errors import JudgementError, PoisonError, UnavailableError, describe
from workers.gateways import pairs
from workers.gateways.adapted import Received
from workers.observability import metrics
from workers.observability.logs import get_logger

MAX_SECONDS = 600.0
"""Maximum duration of a stream, seconds."""
COMMENT_SECONDS = 15.0
"""Time without an event after which a comment is sent, because proxies close idle connections, seconds."""
EVENTS = "text/event-stream"

log = get_logger(__name__)

router = APIRouter(prefix="/v1", tags=["check"], route_class=StrictRoute)

Build = Callable[[str], GeneratedAnswer]
_BODY = {
    "description": 'JSON lines: the first is the answer without its text, each further one is `{"text": …}`.',
    "required": True,
    "content": {"application/json": {"schema": {"type": "object", "minProperties": 1}}},
}
_ERRORS = documented(400, 401, 403, 413, 422, 429, 503)


@router.post(
    "/check/stream",
    response_class=Response,
    responses=_ERRORS
    | {200: {"description": "Events `sentences`, `stop`, `verdict`, `error`", "content": {EVENTS: {}}}},
    openapi_extra={"requestBody": _BODY},
)
async def check_stream(
    request: Request,
    principal: Ingester,
    resources: Shared,
    deadline_ms: DeadlineMs = None,
    form: Annotated[
        Literal["touchstone", "openai", "anthropic", "google", "bedrock", "cohere"],
        Query(
            alias="format",
            description='Format of the first line; of a model service: `{"request": …}` and fields beside it.',
        ),
    ] = "touchstone",
    stop_on: Annotated[
        StopOn | None, Query(description="Findings that stop the stream; by default the value of the settings.")
    ] = None,
) -> Response:
    """Evaluate an answer while its text arrives.

    Each event `sentences` holds the findings on the sentences that were finished since the last one. The event `verdict`
    holds those on the whole answer, equal to the response of `/v1/check`. The event `stop` holds findings that stop the
    stream; `error` holds a problem document. Each of these three is the last event.
    """
    service = resources.check
    if service is None:
        raise Problem(503, NO_MODELS)
    lines = _Lines()
    head = await _first_line(request, lines)
    if head is None:
        return Response(status_code=CALLER_GONE)
    begun, build = _answer_begun(head, form, principal, resources.now())
    seconds = None if deadline_ms is None else deadline_ms / 1_000
    growing = GrowingAnswer(begun)
    events = checked_parts(
        growing,
        lambda text, memory: service.check(build(text), seconds, memory),
        stop_on or resources.settings.check.stop_on,
    )
    return _CheckStream(lines, growing, events)


class _Lines:
    """Split the chunks of a body into JSON objects, one a line."""

    def __init__(self) -> None:
        self._rest = b""
        self._found: list[bytes] = []
        self.complete = False

    def feed(self, message: Message) -> None:
        """Take a message of the connection."""
        *whole, self._rest = (self._rest + message.get("body", b"")).split(b"\n")
        if not message.get("more_body", False):
            self.complete = True
            whole.append(self._rest)
        self._found += [line for line in whole if line.strip()]

    def objects(self) -> Iterator[dict[str, Any]]:
        """Yield and remove the objects that have arrived.

        Raises:
            Problem: 422, a line is not a JSON object.
        """
        while self._found:
            try:
                found = orjson.loads(self._found.pop(0))
            except orjson.JSONDecodeError:
                raise Problem(422, "a line of the body is not valid JSON; send one JSON object a line") from None
            if not isinstance(found, dict):
                raise Problem(422, "a line of the body is not a JSON object; send one JSON object a line")
            yield found


async def _first_line(request: Request, lines: _Lines) -> dict[str, Any] | None:
    """Return the first object of a body, or ``None`` if the caller disconnects before."""
    while not lines.complete:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            return None
        lines.feed(message)
        if (head := next(lines.objects(), None)) is not None:
            return head
    raise Problem(422, "the body has no line; send the answer without its text as the first line")


def _answer_begun(head: dict[str, Any], form: str, principal: Principal, now: datetime) -> tuple[str, Build]:
    """Return the first text of an answer, and the function that builds the answer with a text.

    Raises:
        Problem: 422, the first line is not valid; 403, the token does not include the tenant.
        PoisonError: the first line does not have its format.
    """
    if not head:
        raise Problem(422, "the first line is empty; send the answer without its text")
    if form != "touchstone":
        return "", _pair_with_text(head, form, principal, now)
    try:
        begun = AnswerBegun.model_validate(head)
    except ValidationError as error:
        fields = [
            FieldProblem(field=".".join(str(part) for part in ("body", *detail["loc"])), message=str(detail["msg"]))
            for detail in error.errors(include_url=False, include_input=False, include_context=False)[:MAX_FIELDS]
        ]
        raise Problem(422, "the first line is invalid; see fields", fields=fields) from None
    principal.require_tenant(begun.tenant)
    return begun.answer, lambda text: begun.model_copy(update={"answer": text})


def _pair_with_text(pair: dict[str, Any], form: str, principal: Principal, now: datetime) -> Build:
    """Return the function that builds the answer of a request to a model service with a response's text."""
    received = Received(now, fixed_tenant(principal, None))
    named = {"id": f"check-{uuid4()}", **pair}

    def build(text: str) -> GeneratedAnswer:
        return pairs.with_text(named, text, form, received).answer

    principal.require_tenant(build("").tenant)
    return build


class _CheckStream(Response):
    """Read the rest of a body and write events at the same time, until the last event or the caller's end."""

    media_type = EVENTS

    def __init__(
        self, lines: _Lines, growing: GrowingAnswer, events: AsyncGenerator[CheckedPart | CheckedAnswer, None]
    ) -> None:
        super().__init__(headers={"X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._lines, self._growing, self._events = lines, growing, events

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request."""
        reading = asyncio.create_task(self._read(receive), name="check stream reader")
        writing = asyncio.create_task(self._write(send), name="check stream writer")
        try:
            await asyncio.wait([reading, writing], return_when=asyncio.FIRST_COMPLETED)
            if writing.done():
                writing.result()
            else:
                metrics.CHECKS.labels("gone").inc()
        finally:
            reading.cancel()
            writing.cancel()
            await asyncio.gather(reading, writing, return_exceptions=True)
            await self._events.aclose()

    async def _read(self, receive: Receive) -> None:
        """Pass on the text, and return when the caller has disconnected."""
        while True:
            self._take_lines()
            try:
                message = await receive()
            except Problem as problem:  # the body is too large
                self._growing.end(problem)
                await asyncio.Event().wait()
            if message["type"] == "http.disconnect":
                return
            self._lines.feed(message)

    def _take_lines(self) -> None:
        try:
            for each in self._lines.objects():
                text = each.get("text")
                if not isinstance(text, str):
                    raise Problem(422, 'a line has no text; send {"text": "…"} after the first line')
                if len(self._growing.text) + len(text) > MAX_CODE_POINTS:
                    raise Problem(422, f"the answer has more than {MAX_CODE_POINTS} code points; send a shorter answer")
                self._growing.add(text)
        except Problem as problem:
            self._growing.end(problem)
        if self._lines.complete:
            self._growing.end()

    async def _write(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        try:
            async with asyncio.timeout(MAX_SECONDS):
                await self._write_events(lambda content: send(_body(content, more=True)))
        except Exception as error:
            await send(_body(_event("error", bytes(problem_response(_problem(error)).body)), more=True))
        await send(_body(b"", more=False))

    async def _write_events(self, write: Callable[[bytes], Awaitable[None]]) -> None:
        while True:
            coming = asyncio.ensure_future(anext(self._events, None))
            try:
                while not (await asyncio.wait([coming], timeout=COMMENT_SECONDS))[0]:
                    await write(b": waiting\n\n")
                found = coming.result()
            finally:
                coming.cancel()
                await asyncio.gather(coming, return_exceptions=True)
            if found is None:
                return
            await write(_event(_event_name(found), _json(found)))


def _event_name(found: CheckedPart | CheckedAnswer) -> str:
    if isinstance(found, CheckedAnswer):
        return "verdict"
    return "stop" if found.stop else "sentences"


def _json(model: BaseModel) -> bytes:
    return model.model_dump_json().encode()


def _event(name: str, data: bytes) -> bytes:
    return b"event: " + name.encode() + b"\ndata: " + data + b"\n\n"


def _body(content: bytes, *, more: bool) -> Message:
    return {"type": "http.response.body", "body": content, "more_body": more}


def _problem(error: Exception) -> Problem:
    """Return an error of a stream as the problem that a request without a stream would have."""
    match error:
        case Problem():
            return error
        case TimeoutError():
            return Problem(408, f"the stream is open for {MAX_SECONDS:g} s; send the answer in less time")
        case CheckTimedOut():
            return Problem(504, str(error))
        case UnavailableError() | JudgementError():
            return Problem(503, describe(error))
        case PoisonError() | UnreadableEvent():
            return Problem(422, describe(error))
        case _:
            log.error("console_request_failed", path="/v1/check/stream", exc_info=error)
            return Problem(500, "internal error; the console's log contains the traceback")
