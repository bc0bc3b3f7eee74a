"""Evaluate one answer synchronously, for a gateway that waits before it shows the answer."""

import asyncio
from collections.abc import Coroutine
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from workers.check.check_models import AnswerToCheck, CheckedAnswer
from workers.check.check_service import CheckTimedOut
from workers.console.http.problems import Problem, documented
from workers.console.http.requests import StrictRoute
from workers.console.identity.security import Ingester
from workers.console.resources import Shared
from workers.observability import metrics

router = APIRouter(prefix="/v1", tags=["check"], route_class=StrictRoute)

CALLER_GONE = 499
"""Status for a disconnected caller, as proxies log it; no client receives it."""

DeadlineMs = Annotated[
    int | None,
    Query(ge=20, le=30_000, description="Maximum wait in milliseconds; by default the value of the settings."),
]


@router.post("/check", response_model=CheckedAnswer, responses=documented(401, 403, 413, 422, 429, 503, 504))
async def check_answer(
    answer: AnswerToCheck, request: Request, principal: Ingester, resources: Shared, deadline_ms: DeadlineMs = None
) -> Response:
    """Evaluate an answer now, as the stream does; the answer is not stored, forwarded or remembered."""
    principal.require_tenant(answer.tenant)
    if resources.check is None:
        raise Problem(503, "this console has no evaluation models; use a console with models")
    seconds = None if deadline_ms is None else deadline_ms / 1_000
    try:
        told = await _unless_gone(request, resources.check.check(answer, seconds))
    except CheckTimedOut as error:
        raise Problem(504, str(error)) from None
    return Response(told, media_type="application/json") if told is not None else Response(status_code=CALLER_GONE)


async def _unless_gone(request: Request, work: Coroutine[Any, Any, bytes]) -> bytes | None:
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
