"""The audit: answers with their citations, low grounding (seed 004, 8.4), and who looked at what."""

from typing import Annotated

from fastapi import APIRouter, Query

from workers.console.paging import Cursor, Limit, next_cursor, place_of
from workers.console.problems import documented
from workers.console.requests import StrictRoute
from workers.console.resources import Shared
from workers.console.routes.answers import Since, Tenant, Until
from workers.console.security import Admin
from workers.console.views import Access, AccessPage, AuditPage, logged_citations
from workers.stores.answers import Period

router = APIRouter(prefix="/api/audit", tags=["audit"], route_class=StrictRoute)


@router.get("/citations", responses=documented(401, 403, 422, 429, 503))
async def audit_citations(
    principal: Admin,
    resources: Shared,
    tenant: Tenant = None,
    only_invalid: Annotated[bool, Query(description="Only answers with a reference that resolves to nothing.")] = False,
    since: Since = None,
    until: Until = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> AuditPage:
    """Every answer with its citations and what it could not ground, the latest first."""
    return await _audit(principal, resources, tenant, None, only_invalid, Period(since, until), cursor, limit)


@router.get("/low-grounding", responses=documented(401, 403, 422, 429, 503))
async def audit_low_grounding(
    principal: Admin,
    resources: Shared,
    tenant: Tenant = None,
    below: Annotated[float | None, Query(ge=0, le=1, description="Threshold; that of the settings by default.")] = None,
    since: Since = None,
    until: Until = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> AuditPage:
    """Answers whose grounding score is below the threshold, the latest first."""
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
    """Who was shown which answers, the latest first."""
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
