"""Judging one answer now: what a gateway asks before it shows an answer."""

import asyncio
from collections.abc import Coroutine
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from workers import metrics
from workers.checking.models import AnswerToCheck, CheckedAnswer
from workers.checking.service import CheckTimedOut
from workers.console.problems import Problem, documented
from workers.console.requests import StrictRoute
from workers.console.resources import Shared
from workers.console.security import Ingester

router = APIRouter(prefix="/v1", tags=["check"], route_class=StrictRoute)

CALLER_GONE = 499
"""Told to nobody; what proxies write into their logs for a caller who hung up."""

DeadlineMs = Annotated[
    int | None, Query(ge=20, le=30_000, description="Longest wait in milliseconds; that of the settings by default.")
]


@router.post("/check", response_model=CheckedAnswer, responses=documented(401, 403, 413, 422, 429, 503, 504))
async def check_answer(
    answer: AnswerToCheck, request: Request, principal: Ingester, resources: Shared, deadline_ms: DeadlineMs = None
) -> Response:
    """Judge an answer now, as the stream does; nothing is stored, sent on or remembered."""
    principal.require_tenant(answer.tenant)
    if resources.check is None:
        raise Problem(503, "no model is opened here; ask a console that has one")
    seconds = None if deadline_ms is None else deadline_ms / 1_000
    try:
        told = await _unless_gone(request, resources.check.check(answer, seconds))
    except CheckTimedOut as error:
        raise Problem(504, str(error)) from None
    return Response(told, media_type="application/json") if told is not None else Response(status_code=CALLER_GONE)


async def _unless_gone(request: Request, work: Coroutine[Any, Any, bytes]) -> bytes | None:
    """What work returns, or ``None`` where the caller hung up before: the work is cancelled then."""
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
    # The body has been read: what comes after it is the end of the connection.
    while (await request.receive())["type"] != "http.disconnect":
        pass
