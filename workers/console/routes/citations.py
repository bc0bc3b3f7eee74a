"""Serve citations by identifier and by source."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from schemas.citations import CitationDetail, SourceDetail
from workers.console.http.etags import tagged
from workers.console.http.problems import Problem, documented
from workers.console.http.requests import StrictRoute
from workers.console.identity.principal import Principal
from workers.console.identity.security import Reader
from workers.console.resources import Shared

router = APIRouter(prefix="/api/citations", tags=["citations"], route_class=StrictRoute)

FETCHED = frozenset({"fetched_at"})

CitationId = Annotated[str, Path(min_length=1, max_length=200)]
Tenant = Annotated[str | None, Query(min_length=1, max_length=200, description="Tenant of the source.")]


@router.get(
    "/source/{source}/{record_id:path}",
    response_model=SourceDetail,
    responses=documented(304, 401, 403, 404, 422, 429, 503),
)
async def get_source(
    source: Annotated[str, Path(min_length=1, max_length=200, description="Table of the source, or its type.")],
    record_id: Annotated[str, Path(min_length=1, max_length=200)],
    request: Request,
    principal: Reader,
    resources: Shared,
    tenant: Tenant = None,
) -> Response:
    """Return a source with all its cited contents, the last cited first, and its citations.

    The access is recorded for the answers of the returned citations. The default tenant is the
    only tenant of the token, else ``default``.
    """
    owner = principal.tenant(tenant)
    found = await resources.citations.source(owner, source, record_id, now=resources.now())
    if found is None:
        raise Problem(404, "this source was never cited; check the tenant")
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
    """Return a citation with the cited content and the other citations of its source."""
    return tagged(request, await found_citation(resources, principal, citation_id, tenant), changing=FETCHED)


async def found_citation(
    resources: Shared, principal: Principal, citation_id: str, tenant: str | None
) -> CitationDetail:
    """Return a citation that the principal may see, and record the access.

    Raises:
        Problem: 403, the token does not include the tenant; 404, the citation does not exist.
        AccessLogFull: the access cannot be recorded.
    """
    found = await resources.citations.citation(principal.chosen_tenants(tenant), citation_id, now=resources.now())
    if found is None:
        raise Problem(404, "unknown citation")
    resources.accesses.note(principal, "citation", found.tenant, [found.answer_id])
    return found
