"""Serve the pages for auditors: decisions on answers, and accesses to answers."""

from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from starlette.responses import RedirectResponse

from workers.console.http.paging import Cursor
from workers.console.http.requests import StrictRoute
from workers.console.presentation.page_basics import Auditing, given_filters, page
from workers.console.resources import Shared, blind_of
from workers.console.routes.audit import SAME_STATE, AuditQuery, erasures_of, logged
from workers.stores.queries.answer_queries import Period
from workers.stores.queries.audit_queries import AuditLog
from workers.stores.queries.totals import agreeing_total

router = APIRouter(include_in_schema=False, route_class=StrictRoute)

PAGE_SIZE = 50
MOST_QUESTIONS = 53
"""Maximum number of answers of an access whose questions the page has; the files have all."""
OF_ONE_LOG = frozenset({"state", "model"})
"""Filters that decisions and accesses do not share."""


@router.get("/audit")
async def audit(request: Request, _: Auditing) -> Response:
    """Redirect to the list of decisions, with the filters of the address."""
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(f"/audit/decisions{query}", 303)


@router.get("/audit/{log}")
async def audit_log(
    log: AuditLog, request: Request, principal: Auditing, resources: Shared, cursor: Cursor = None
) -> Response:
    """Show the decisions or the accesses that match, the latest first, with links to download them."""
    given, values = given_filters(request, AuditQuery)
    if given["state"] == "withdrawn" and log == "decisions":
        given["state"] = SAME_STATE["withdrawn"]  # the form has one choice for both names
    shared = urlencode({name: value for name, value in given.items() if value and name not in OF_ONE_LOG})
    options = await resources.audit.options(log, principal.chosen_tenants(None))
    try:
        wanted = AuditQuery.model_validate(values)
    except ValueError:
        return page(
            "audit.html", request, principal, 422, log=log, given=given, shared=shared, options=options, rows=None
        )
    rows, following = await logged(resources, principal, log, wanted, cursor or None, PAGE_SIZE, MOST_QUESTIONS)
    counted, hidden = await resources.audit.count(log, wanted.chosen(log, principal, blind_of(principal, resources)))
    # Nothing of an erased answer is left in the tables, so the list would look as if there had been no decision.
    erasures = await erasures_of(resources, principal, wanted.tenant, Period()) if log == "decisions" else []
    return page(
        "audit.html", request, principal, erasures=erasures or [],
        log=log, given=given, shared=shared, options=options, rows=rows, automatic_left_out=log == "decisions" and wanted.without_automatic, closed_left_out=log == "decisions" and wanted.without_closed, total=agreeing_total(counted, len(rows), first=not cursor, more=following is not None), hidden=hidden, address=urlencode(values), first=not cursor,
        more=urlencode(values | {"cursor": following}) if following else None,
    )  # fmt: skip
