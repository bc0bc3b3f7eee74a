"""Citations: by identifier, and by the source that they rest on (seed 004)."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from schemas.citations import CitationDetail, SourceDetail
from workers.console.etags import tagged
from workers.console.principal import Principal
from workers.console.problems import Problem, documented
from workers.console.requests import StrictRoute
from workers.console.resources import Shared
from workers.console.security import Reader

router = APIRouter(prefix="/api/citations", tags=["citations"], route_class=StrictRoute)

FETCHED = frozenset({"fetched_at"})

CitationId = Annotated[str, Path(min_length=1, max_length=200)]
Tenant = Annotated[str | None, Query(min_length=1, max_length=200, description="Whose.")]


@router.get(
    "/source/{source}/{record_id:path}",
    response_model=SourceDetail,
    responses=documented(304, 401, 403, 404, 422, 429, 503),
)
async def get_source(
    source: Annotated[str, Path(min_length=1, max_length=200, description="Its table, or its type.")],
    record_id: Annotated[str, Path(min_length=1, max_length=200)],
    request: Request,
    principal: Reader,
    resources: Shared,
    tenant: Tenant = None,
) -> Response:
    """A source with every content that was cited of it, the one cited last first, and its citations.

    That it is shown is noted, with the answers of the citations that are named. Without a tenant, that of the token if it has one, else ``default``.
    """
    owner = principal.tenant(tenant)
    found = await resources.citations.source(owner, source, record_id, now=resources.now())
    if found is None:
        raise Problem(404, "nothing of this source was ever cited; see whether the tenant is right")
    resources.accesses.note(principal, "source", owner, found.answers)
    return tagged(request, found, changing=FETCHED)


@router.get(
    "/{citation_id}",
    response_model=CitationDetail,
    responses=documented(304, 401, 403, 404, 422, 429, 503),
)
async def get_citation(
    citation_id: CitationId, request: Request, principal: Reader, resources: Shared, tenant: Tenant = None
) -> Response:
    """A citation with the content as it was cited and the other citations of its source."""
    return tagged(request, await found_citation(resources, principal, citation_id, tenant), changing=FETCHED)


async def found_citation(
    resources: Shared, principal: Principal, citation_id: str, tenant: str | None
) -> CitationDetail:
    """A citation that a principal may see; that it is shown is noted.

    Raises:
        Problem: 403 or 404.
    """
    found = await resources.citations.citation(principal.chosen_tenants(tenant), citation_id, now=resources.now())
    if found is None:
        raise Problem(404, "there is no such citation")
    resources.accesses.note(principal, "citation", found.tenant, [found.answer_id])
    return found
