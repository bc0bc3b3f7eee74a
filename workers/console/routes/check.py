"""Evaluate one answer synchronously, for a gateway that waits before it shows the answer."""

import asyncio
from collections.abc import Coroutine
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from schemas.answers import GeneratedAnswer
from workers.check.check_models import AnswerToCheck, CheckedAnswer
from workers.check.check_service import CheckTimedOut
from workers.console.foreign_records import FormatName, decompressed, fixed_tenant, format_of, records_of
from workers.console.http.problems import Problem, documented
from workers.console.http.requests import StrictRoute
from workers.console.identity.principal import Principal
from workers.console.identity.security import Ingester
from workers.console.resources import ConsoleResources, Shared
from workers.gateways.adapted import Received
from workers.gateways.errors import NothingToJudge
from workers.observability import metrics

router = APIRouter(prefix="/v1", tags=["check"], route_class=StrictRoute)

NO_MODELS = "this console has no evaluation models; use a console with models"
CALLER_GONE = 499
"""Status for a disconnected caller, as proxies log it; no client receives it."""

DeadlineMs = Annotated[
    int | None,
    Query(ge=20, le=30_000, description="Maximum wait in milliseconds; by default the value of the settings."),
]


_ERRORS = documented(401, 403, 413, 422, 429, 503, 504)
_RECORD = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": {"type": "object", "minProperties": 1}}},
    }
}


@router.post("/check", response_model=CheckedAnswer, responses=_ERRORS)
async def check_answer(
    answer: AnswerToCheck, request: Request, principal: Ingester, resources: Shared, deadline_ms: DeadlineMs = None
) -> Response:
    """Evaluate an answer now, as the stream does; the answer is not stored, forwarded or remembered."""
    return await _checked(answer, request, principal, resources, deadline_ms)


@router.post(
    "/check/{form}", response_model=CheckedAnswer, responses=_ERRORS | documented(400, 404, 415), openapi_extra=_RECORD
)
async def check_record(
    form: FormatName, request: Request, principal: Ingester, resources: Shared, deadline_ms: DeadlineMs = None
) -> Response:
    """Evaluate the answer of a record in another format now; the record must contain exactly one answer."""
    how = format_of(form, resources)
    body = decompressed(await request.body(), request, resources.settings.console.max_body_bytes)
    received = Received(resources.now(), fixed_tenant(principal, None))
    (record, *more) = records_of(body, request, received)
    try:
        found = [] if more else await asyncio.to_thread(how.answers, record.value, record.received)
    except NothingToJudge as nothing:
        raise Problem(
            422, f"the record contains no answer ({nothing.reason}); show it without a check", no_answer=nothing.reason
        ) from None
    if len(found) != 1:
        raise Problem(422, "the request contains several answers; check one answer per request")
    return await _checked(found[0].answer, request, principal, resources, deadline_ms)


async def _checked(
    answer: GeneratedAnswer, request: Request, principal: Principal, resources: ConsoleResources, deadline: int | None
) -> Response:
    principal.require_tenant(answer.tenant)
    if resources.check is None:
        raise Problem(503, NO_MODELS)
    seconds = None if deadline is None else deadline / 1_000
    try:
        told = await _unless_gone(request, resources.check.check(answer, seconds))
    except CheckTimedOut as error:
        raise Problem(504, str(error)) from None
    if told is None:
        return Response(status_code=CALLER_GONE)
    return Response(told.model_dump_json(), media_type="application/json")


async def _unless_gone(request: Request, work: Coroutine[Any, Any, CheckedAnswer]) -> CheckedAnswer | None:
    """Return the result of the work, or ``None`` if the caller disconnects first.

    The work is cancelled if the caller disconnects.
    """
    working = asyncio.create_task(work, name="check")
    watching = asyncio.create_task(_hung_up(request), name="check caller")
    try:
        await asyncio.wait([working, watching], return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        metrics.CHECKS.labels("gone").inc()
        return None
    finally:
        watching.cancel()
        working.cancel()


async def _hung_up(request: Request) -> None:
    # The body was read before, so the next message is the disconnect.
    while (await request.receive())["type"] != "http.disconnect":
        pass
