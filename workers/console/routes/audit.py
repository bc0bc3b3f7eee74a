"""Serve the audit: answers with their citations, answers with low grounding, and recorded accesses."""

from typing import Annotated

from fastapi import APIRouter, Query

from workers.console.http.paging import Cursor, Limit, next_cursor, place_of
from workers.console.http.problems import documented
from workers.console.http.requests import StrictRoute
from workers.console.identity.security import Admin
from workers.console.presentation.views import Access, AccessPage, AuditPage, logged_citations
from workers.console.resources import Shared
from workers.console.routes.answers import Since, Tenant, Until
from workers.stores.queries.answer_queries import Period

router = APIRouter(prefix="/api/audit", tags=["audit"], route_class=StrictRoute)


@router.get("/citations", responses=documented(401, 403, 422, 429, 503))
async def audit_citations(
    principal: Admin,
    resources: Shared,
    tenant: Tenant = None,
    only_invalid: Annotated[bool, Query(description="Only answers with an invalid reference.")] = False,
    since: Since = None,
    until: Until = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> AuditPage:
    """List every answer with its citations and ungrounded claims, the latest first."""
    return await _audit(principal, resources, tenant, None, only_invalid, Period(since, until), cursor, limit)


@router.get("/low-grounding", responses=documented(401, 403, 422, 429, 503))
async def audit_low_grounding(
    principal: Admin,
    resources: Shared,
    tenant: Tenant = None,
    below: Annotated[
        float | None, Query(ge=0, le=1, description="Threshold; by default the value of the settings.")
    ] = None,
    since: Since = None,
    until: Until = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> AuditPage:
    """List answers whose grounding score is below the threshold, the latest first."""
    threshold = resources.settings.grounding.grounding_minimum if below is None else below
    return await _audit(principal, resources, tenant, threshold, False, Period(since, until), cursor, limit)


@router.get("/accesses", responses=documented(401, 403, 422, 429, 503))
async def audit_accesses(
    principal: Admin,
    resources: Shared,
    tenant: Tenant = None,
    answer_id: Annotated[str, Query(max_length=200, description="Only accesses to this answer.")] = "",
    since: Since = None,
    until: Until = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> AccessPage:
    """List the recorded accesses to answers, the latest first."""
    rows = await resources.answers.accesses(
        principal.chosen_tenants(tenant), answer_id, Period(since, until), limit + 1, place_of(cursor)
    )
    return AccessPage(
        items=[Access.model_validate(row) for row in rows[:limit]],
        next_cursor=next_cursor(rows, limit, "at_ms", "access_id"),
    )


async def _audit(
    principal: Admin, resources: Shared, tenant: str | None, below: float | None, only_invalid: bool, period: Period,
    cursor: str | None, limit: int,
) -> AuditPage:  # fmt: skip
    rows = await resources.answers.audit(
        principal.chosen_tenants(tenant), below, only_invalid, period, limit + 1, place_of(cursor)
    )
    page = [logged_citations(row) for row in rows[:limit]]
    resources.accesses.note_page(principal, "audit", [(item.tenant, item.response_id) for item in page])
    return AuditPage(items=page, next_cursor=next_cursor(rows, limit, "completed_ms", "response_id"))
