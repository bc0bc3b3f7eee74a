"""Judging one answer now: what a gateway asks before it shows an answer."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from workers.checking.models import AnswerToCheck, CheckedAnswer
from workers.checking.service import CheckTimedOut
from workers.console.problems import Problem, documented
from workers.console.requests import StrictRoute
from workers.console.resources import Shared
from workers.console.security import Ingester

router = APIRouter(prefix="/v1", tags=["check"], route_class=StrictRoute)

DeadlineMs = Annotated[
    int | None, Query(ge=20, le=30_000, description="Longest wait in milliseconds; that of the settings by default.")
]


@router.post("/check", response_model=CheckedAnswer, responses=documented(401, 403, 413, 422, 429, 503, 504))
async def check_answer(
    answer: AnswerToCheck, principal: Ingester, resources: Shared, deadline_ms: DeadlineMs = None
) -> Response:
    """Judge an answer now, as the stream does; nothing is stored, sent on or remembered."""
    principal.require_tenant(answer.tenant)
    if resources.check is None:
        raise Problem(503, "no model is opened here; ask a console that has one")
    seconds = None if deadline_ms is None else deadline_ms / 1_000
    try:
        told = await resources.check.check(answer, seconds)
    except CheckTimedOut as error:
        raise Problem(504, str(error)) from None
    return Response(told, media_type="application/json")
