"""Serve the pages: rendered on the server, escaped by default, with the console's own scripts."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from http import HTTPStatus
from pathlib import Path as FilePath
from typing import Annotated, Any
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Depends, Query, Request, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from pydantic import Field
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.responses import HTMLResponse, RedirectResponse

from schemas.base import Identifier
from schemas.citations import CitationDetail
from workers.console.http.paging import Cursor, next_cursor, place_of
from workers.console.http.problems import Problem, problem_response
from workers.console.identity.principal import Principal
from workers.console.identity.security import Bearer, Cookie, Require
from workers.console.presentation.marked_markdown import marked_markdown
from workers.console.presentation.rendering import (
    Span,
    answer_runs,
    citation_kind,
    markdown,
    passage_runs,
    web_address,
)
from workers.console.presentation.views import AnswerSummary, CitationView, ClaimView, answer_detail, explanation_of
from workers.console.presentation.words import SCORES, level_of, words_of
from workers.console.resources import ConsoleResources, Shared
from workers.console.routes.answers import AnswerId, SearchQuery, Tenant, stored_answer
from workers.console.routes.citations import CitationId, found_citation
from workers.console.routes.overview import PERIODS, PeriodName, overview_of
from workers.console.routes.review import Service, refusals
from workers.evaluation.text.visible_text import visible
from workers.review.review_models import USUAL_REASONS, Filters, Reviewer, ReviewItem
from workers.review.review_service import ReviewService
from workers.settings.scopes import Scope

router = APIRouter(include_in_schema=False)

PAGE_SIZE = 25
ENVIRONMENT = Environment(
    loader=FileSystemLoader(FilePath(__file__).with_name("templates")),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
VERDICTS = {
    "supported": ("✓", "supported"),
    "contradicted": ("✗", "contradicted"),
    "unsupported": ("?", "unsupported"),
    "not_checked": ("–", "not checked"),
}
"""Sign and label of each verdict, because some readers cannot distinguish the colours."""

DECIDED = {"approve": "Approved", "reject": "Rejected", "correct": "Corrected"}
"""Words for final decisions."""


def _score(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _time(value: Any) -> str:
    return value.strftime("%Y-%m-%d %H:%M:%S UTC") if value else "–"


def _lapse(span: timedelta) -> str:
    """Format a duration in its two largest units."""
    minutes = int(abs(span.total_seconds()) // 60)
    hours, days = minutes // 60, minutes // 1440
    if days:
        return f"{days} d {hours % 24} h"
    return f"{hours} h {minutes % 60} min" if hours else f"{minutes} min"


OWN_VERDICTS = (
    ("supported", "supported"), ("contradicted", "contradicted"), ("unsupported", "unsupported"), ("cannot_tell", "can't tell"),
)  # fmt: skip
"""Verdicts of a reviewer on a claim, in the order of their keys, with their words."""

ENVIRONMENT.filters |= {
    "visible": visible, "score": _score, "time": _time, "lapse": _lapse, "words": words_of, "level": level_of, "markdown": markdown, "segment": lambda v: quote(v, safe=""),
}  # fmt: skip
ENVIRONMENT.globals |= {
    "VERDICTS": VERDICTS, "DECIDED": DECIDED, "citation_kind": citation_kind, "web_address": web_address, "PERIODS": list(PERIODS),
    "USUAL_REASONS": USUAL_REASONS, "SCORES": SCORES, "OWN_VERDICTS": OWN_VERDICTS,
}  # fmt: skip


class LoginNeeded(Exception):
    """An unknown caller asked for a page."""


class RequireOnPage(Require):
    """Dependency that admits callers with one of its scopes and sends unknown callers to the login page."""

    async def __call__(self, request: Request, bearer: Bearer, cookie: Cookie) -> Principal:
        """Return the authenticated caller if it has one of the scopes.

        Raises:
            LoginNeeded: a GET request of an unknown caller.
            Problem: 401, another request of an unknown caller; 403, the scope is missing; 429, the rate
                limit is reached.
        """
        try:
            return await super().__call__(request, bearer, cookie)
        except Problem as problem:
            if problem.status_code == 401 and request.method == "GET":
                raise LoginNeeded from problem
            raise


Reader = Annotated[Principal, Depends(RequireOnPage(Scope.READ))]
Reviewing = Annotated[Principal, Depends(RequireOnPage(Scope.REVIEW))]
Reading = Annotated[Principal, Depends(RequireOnPage(Scope.READ, Scope.REVIEW))]


def page(template: str, request: Request, principal: Principal | None, status: int = 200, **values: Any) -> Response:
    """Render a template as a response."""
    content = ENVIRONMENT.get_template(template).render(
        path=request.url.path, principal=principal, Scope=Scope, **values
    )
    return HTMLResponse(content, status)


def login_redirect(request: Request) -> Response:
    """Redirect to the login page, which returns to the requested page."""
    wanted = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    return RedirectResponse(f"/login?{urlencode({'next': wanted})}", 303)


def respond(request: Request, problem: StarletteHTTPException) -> Response:
    """Answer a problem with a page for browsers, else with a problem document."""
    if request.url.path.startswith(("/api/", "/v1/")) or "text/html" not in request.headers.get("Accept", ""):
        return problem_response(problem)
    title = HTTPStatus(problem.status_code).phrase
    principal: Principal | None = getattr(request.state, "principal", None)
    return page("problem.html", request, principal, problem.status_code, title=title, detail=str(problem.detail))


@router.get("/login")
async def login(request: Request) -> Response:
    """Show the login page."""
    return page("login.html", request, None)


@router.get("/")
async def overview(
    request: Request, principal: Reading, resources: Shared, period: PeriodName = "24h", tenant: Tenant = None
) -> Response:
    """Show the overview of a period: volume, quality, delay and backlog; reviewers without read rights see the queue."""
    if Scope.READ not in principal.scopes:
        return RedirectResponse("/review", 303)
    figures = await overview_of(principal, resources, period, tenant)
    who = Reviewer(principal.name, principal.tenants)
    stats = await resources.review.stats(who) if resources.review else None
    may_review = resources.review is not None and Scope.REVIEW in principal.scopes
    disagreements = await resources.review.disagreements(who) if resources.review and may_review else []
    return page(
        "overview.html", request, principal,
        figures=figures, stats=stats, disagreements=disagreements, period=period, tenant=tenant or "",
    )  # fmt: skip


@router.get("/search")
async def search(
    request: Request,
    principal: Reader,
    resources: Shared,
    q: Annotated[str, Query(max_length=500)] = "",
    tenant: str = "",
    model: str = "",
    risk: str = "",
    state: str = "",
    since: str = "",
    until: str = "",
    cursor: Cursor = None,
) -> Response:
    """Show answers filtered by text, model, risk, state and time."""
    given = {"q": q, "tenant": tenant, "model": model, "risk": risk, "state": state}
    days = {name: f"{day}T00:00:00Z" for name, day in (("since", since), ("until", until)) if day}
    try:
        wanted = SearchQuery.model_validate({name: value for name, value in given.items() if value} | days)
    except ValueError:
        return page(
            "search.html",
            request,
            principal,
            422,
            given=given | {"since": since, "until": until},
            items=None,
            more=None,
        )
    rows = await resources.answers.listed(wanted.chosen(principal), PAGE_SIZE + 1, place_of(cursor))
    items = [AnswerSummary.model_validate(row) for row in rows[:PAGE_SIZE]]
    resources.accesses.note_page(principal, "search", [(item.tenant, item.answer_id) for item in items])
    following = next_cursor(rows, PAGE_SIZE, "completed_ms", "answer_id")
    shown = given | {"since": since, "until": until}
    more = (
        urlencode({name: value for name, value in shown.items() if value} | {"cursor": following})
        if following
        else None
    )
    return page("search.html", request, principal, given=shown, items=items, more=more)


@router.get("/answers/{answer_id:path}")
async def answer(
    answer_id: AnswerId, request: Request, principal: Reader, resources: Shared, tenant: Tenant = None
) -> Response:
    """Show an answer with claims, citations, decision, feedback and history."""
    stored = await stored_answer(resources, principal, answer_id, tenant)
    detail = answer_detail(stored)
    return page(
        "answer.html", request, principal,
        answer=detail,
        runs=answer_runs(detail.answer, detail.claims, detail.citations),
        by_number={citation.number: citation for citation in detail.citations if citation.valid},
        primary={claim.primary_number for claim in detail.claims if claim.primary_number},
        explanation=explanation_of(stored, resources.settings),
    )  # fmt: skip


@router.get("/citations/{citation_id}")
async def citation(
    citation_id: CitationId, request: Request, principal: Reader, resources: Shared, tenant: Tenant = None
) -> Response:
    """Show a citation with its source and the marked passages."""
    return page("citation.html", request, principal, **await _source(resources, principal, citation_id, tenant))


@router.get("/citations/{citation_id}/panel")
async def citation_panel(
    citation_id: CitationId, request: Request, principal: Reader, resources: Shared, tenant: Tenant = None
) -> Response:
    """Show a citation as a panel next to an answer."""
    return page("source.html", request, principal, **await _source(resources, principal, citation_id, tenant))


async def _source(resources: Shared, principal: Principal, citation_id: str, tenant: str | None) -> Mapping[str, Any]:
    found: CitationDetail = await found_citation(resources, principal, citation_id, tenant)
    stored = await resources.answers.answer([found.tenant], found.answer_id)
    detail = answer_detail(stored) if stored else None
    claims = [claim for claim in detail.claims if claim.source_digest == found.source_digest] if detail else []
    runs = passage_runs(found.source_content or "", passages(claims))
    cited: CitationView | None = None
    if detail:
        cited = next((each for each in detail.citations if each.citation_id == citation_id), None)
    is_primary = any(cited and claim.primary_number == cited.number for claim in claims)
    return {"citation": found, "cited": cited, "claims": claims, "runs": runs, "is_primary": is_primary}


def passages(claims: list[ClaimView]) -> list[Span[ClaimView]]:
    """Return the evidence spans of claims in their source."""
    return [
        Span(claim.evidence_start, claim.evidence_end, claim)
        for claim in claims
        if claim.evidence_start is not None and claim.evidence_end is not None
    ]


# ---------------------------------------------------------------- review


class NextRequest(Filters):
    """Filters of the next review request, and requests to leave out."""

    without: list[Identifier] = Field(default_factory=list, max_length=500)


@router.get("/review")
async def review(request: Request, principal: Reviewing, service: Service, resources: Shared) -> Response:
    """Show the review queue, one request at a time."""
    return await _review_page(request, principal, service, resources)


@router.get("/review/{review_id}")
async def review_one(
    review_id: str, request: Request, principal: Reviewing, service: Service, resources: Shared
) -> Response:
    """Show the review queue, starting with this request."""
    item = await _review_item(review_id, principal, service, resources)
    return await _review_page(request, principal, service, resources, item)


@router.get("/review/{review_id}/item")
async def review_item(
    review_id: str, request: Request, principal: Reviewing, service: Service, resources: Shared
) -> Response:
    """Render the current state of a request as a page fragment."""
    item = await _review_item(review_id, principal, service, resources)
    return page("review_item.html", request, principal, **_review_values(item, resources.now()))


@router.post("/review/next")
async def review_next(
    wanted: NextRequest, request: Request, principal: Reviewing, service: Service, resources: Shared
) -> Response:
    """Lock the next request for this reviewer and render it as a page fragment; 204 if there is none."""
    filters = Filters(**wanted.model_dump(exclude={"without"}))
    if filters.tenant is not None:
        principal.require_tenant(filters.tenant)
    with refusals():
        item = await service.next(filters, Reviewer(principal.name, principal.tenants), without=wanted.without)
    if item is None:
        return Response(status_code=204)
    resources.accesses.note(principal, "review", item.tenant, [item.answer_id])
    return page("review_item.html", request, principal, **_review_values(item, resources.now()))


async def _review_item(
    review_id: str, principal: Principal, service: ReviewService, resources: ConsoleResources
) -> ReviewItem:
    with refusals():
        item = await service.item(review_id, Reviewer(principal.name, principal.tenants))
    resources.accesses.note(principal, "review", item.tenant, [item.answer_id])
    return item


async def _review_page(
    request: Request,
    principal: Principal,
    service: ReviewService,
    resources: ConsoleResources,
    item: ReviewItem | None = None,
) -> Response:
    stats = await service.stats(Reviewer(principal.name, principal.tenants))
    values = _review_values(item, resources.now()) if item else {"item": None}
    lock_seconds = resources.settings.review.lock_seconds
    return page("review.html", request, principal, stats=stats, lock_seconds=lock_seconds, **values)


def _review_values(item: ReviewItem, now: datetime) -> dict[str, Any]:
    """Return the values that the template of a request needs."""
    claims = [_review_claim(claim.model_dump()) for claim in item.claims]
    contexts = [
        (
            context,
            passage_runs(context.content, passages([claim for claim in claims if claim.chunk_id == context.chunk_id])),
        )
        for context in item.contexts
    ]
    return {
        "item": item,
        "now": now,
        "claims": claims,
        "runs": answer_runs(item.answer, claims, []),
        "rendered": marked_markdown(item.answer, claims, VERDICTS),
        "contexts": contexts,
    }


def _review_claim(claim: dict[str, Any]) -> ClaimView:
    """Convert a claim of the review service to the claim model of the pages."""
    evidence = claim.pop("evidence") or {"chunk_id": "", "text": "", "start": None, "end": None}
    return ClaimView(
        **claim,
        chunk_id=evidence["chunk_id"], evidence=evidence["text"],
        evidence_start=evidence["start"], evidence_end=evidence["end"], source_digest="",
        cited_numbers=[], primary_number=None, redundant_numbers=[], proposed_numbers=[], cited_unsupported=[],
        better_number=None,
    )  # fmt: skip
