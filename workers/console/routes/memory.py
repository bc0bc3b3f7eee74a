"""Search conversational memory by meaning, with the origin of each turn."""

from typing import Annotated

from fastapi import APIRouter, Query

from workers.console.http.problems import Problem, documented
from workers.console.http.requests import StrictRoute
from workers.console.identity.security import Reader
from workers.console.presentation.views import Remembered, RememberedPage
from workers.console.resources import Shared, blind_of

router = APIRouter(prefix="/api/memory", tags=["memory"], route_class=StrictRoute)

MemoryTenant = Annotated[
    str | None,
    Query(
        min_length=1,
        max_length=200,
        description="Tenant whose memory is searched, one at a time; by default the only tenant of the token, else default.",
    ),
]


@router.get("", responses=documented(401, 403, 422, 429, 503))
async def search_memory(
    q: Annotated[str, Query(min_length=1, max_length=2_000, description="Text to search for.")],
    principal: Reader,
    resources: Shared,
    tenant: MemoryTenant = None,
    user_id: Annotated[str, Query(max_length=200, description="Only turns of this user.")] = "",
    session_id: Annotated[str, Query(max_length=200, description="Only turns of this session.")] = "",
    limit: Annotated[int, Query(ge=1, le=50)] = 5,
) -> RememberedPage:
    """Find remembered turns of one tenant by meaning, the nearest first, with answer, sources and scores of each.

    The nearest turns are returned also if they are far from the text: ``similarity`` tells.
    """
    owner = principal.tenant(tenant)
    if resources.memory is None or resources.embedding is None:
        raise Problem(503, "this console has no memory; start it with the worker's setting memory.uri")
    vectors = await resources.embedding.embed([q])
    rows = await resources.memory.nearest(owner, vectors[q], limit, user_id=user_id, session_id=session_id)
    names = [(owner, row["answer_id"]) for row in rows]
    hidden = await resources.answers.hidden(names, blind_of(principal, resources))
    # That a held answer is remembered tells its decision, as its feedback does.
    shown = [row for row in rows if (owner, row["answer_id"]) not in hidden]
    resources.accesses.note(principal, "memory", owner, [row["answer_id"] for row in shown])
    return RememberedPage(items=[Remembered.model_validate(row) for row in shown], hidden=len(rows) - len(shown))
