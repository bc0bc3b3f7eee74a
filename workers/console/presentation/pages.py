"""Serve the pages: rendered on the server, escaped by default, with the console's own scripts."""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from pydantic import BeforeValidator
from starlette.responses import RedirectResponse

from schemas.base import Label
from schemas.citations import CitationDetail
from workers.console.http.paging import Cursor
from workers.console.http.requests import StrictRoute
from workers.console.identity.principal import Principal
from workers.console.presentation.answer_history import version_words
from workers.console.presentation.marked_markdown import marked_markdown
from workers.console.presentation.page_basics import Anyone, Reader, given_filters, page
from workers.console.presentation.plain_markdown import claim_words
from workers.console.presentation.rendering import (
    answer_runs,
    passage_runs,
    passages,
)
from workers.console.presentation.source_list import uncited_digests, uncited_texts
from workers.console.presentation.verdicts import VERDICTS
from workers.console.presentation.views import CitationView, answer_detail, explanation_of
from workers.console.resources import Shared, blind_of
from workers.console.routes.answers import AnswerId, SearchQuery, Tenant, found_answers, stored_answer
from workers.console.routes.citations import CitationId, found_citation
from workers.console.routes.overview import PERIODS, PeriodName, overview_of
from workers.decision.reader_text.source_addresses import source_address
from workers.review.review_models import Reviewer
from workers.settings.sections.scopes import Scope
from workers.stores.clickhouse.row_reading import Row
from workers.stores.queries.answer_queries import MAX_SEARCHED, MAX_TEXT
from workers.stores.queries.audit_queries import AuditFilter
from workers.stores.queries.reviews.review_team_queries import AcceptanceBy, Interval
from workers.stores.queries.searched_texts import words_of_search

router = APIRouter(include_in_schema=False, route_class=StrictRoute)

PAGE_SIZE = 25
ACCEPTANCE_DAYS: Mapping[Interval, int] = {"day": 30, "week": 182}
"""Days of the chart of acceptance, by the length of its intervals."""
MOST_DISAGREEMENTS = 20
"""Maximum number of differing reviews that the overview lists."""
ChosenTenant = Annotated[Tenant, BeforeValidator(lambda given: given or None)]
"""Tenant of a form; empty for all."""
MOST_ACCESSES = 50
"""Maximum number of accesses to an answer that its page lists."""


@router.get("/login")
async def login(request: Request) -> Response:
    """Show the login page."""
    return page("login.html", request, None)


@router.get("/")
async def overview(
    request: Request,
    principal: Anyone,
    resources: Shared,
    period: PeriodName = "24h",
    tenant: ChosenTenant = None,
    accepted_by: AcceptanceBy = "model",
    accepted_every: Interval = "day",
    accepted_model: Label = "",
) -> Response:
    """Show the overview of a period: volume, quality, delay and backlog; reviewers without read rights see the queue."""
    if Scope.READ not in principal.scopes:
        return RedirectResponse("/review" if Scope.REVIEW in principal.scopes else "/audit/decisions", 303)
    tenants = principal.chosen_tenants(tenant)
    may_review = Scope.REVIEW in principal.scopes
    days = ACCEPTANCE_DAYS[accepted_every]
    review, team, who = resources.review, resources.team, Reviewer(principal.name, principal.tenants)
    figures, known, stats, disagreements, acceptance = await asyncio.gather(
        overview_of(principal, resources, period, tenant),
        resources.overview.tenants(principal.chosen_tenants(None), resources.now() - PERIODS[period]),
        review.stats(who) if review else _nothing(),
        review.disagreements(who) if review and may_review else _nothing(),
        team.acceptance(tenants, accepted_by, accepted_every, days, accepted_model)
        if team and may_review
        else _nothing(),
    )
    disagreements = (disagreements or [])[:MOST_DISAGREEMENTS]
    resources.accesses.note_page(principal, "disagreements", [(each.tenant, each.answer_id) for each in disagreements])
    chosen = {"accepted_by": accepted_by, "accepted_every": accepted_every, "accepted_model": accepted_model}
    return page(
        "overview.html", request, principal, chosen=chosen if acceptance else {},
        figures=figures, stats=stats, disagreements=disagreements, period=period, tenant=tenant or "",
        acceptance=acceptance, acceptance_days=days,
        tenants=sorted({*known, *filter(None, [tenant])}),
    )  # fmt: skip


async def _nothing() -> None:
    """Stand for figures that the caller may not see."""


@router.get("/search")
async def search(
    request: Request, principal: Reader, resources: Shared, cursor: Cursor = None, before: Cursor = None
) -> Response:
    """Show answers filtered by words, model, risk, state and time."""
    given, chosen = given_filters(request, SearchQuery)
    try:
        wanted = SearchQuery.model_validate(chosen)
    except ValueError:
        return page("search.html", request, principal, 422, given=given, found=None)
    words = words_of_search(wanted.q) if wanted.q else []
    shown = MAX_SEARCHED if words else MAX_TEXT + 1  # one more: what is left out has an ellipsis
    found = await found_answers(
        resources, principal, wanted, cursor or None, before or None, PAGE_SIZE, count=True, shown=shown
    )
    links = {
        name: urlencode(chosen | {parameter: value})
        for name, parameter, value in (
            ("next", "cursor", found.next_cursor),
            ("previous", "before", found.previous_cursor),
        )
        if value
    }
    others = {} if "verdict_by" in chosen else {"verdict_by": "evaluation"}
    other_verdicts = urlencode({name: value for name, value in chosen.items() if name != "verdict_by"} | others)
    return page(
        "search.html", request, principal, given=given, found=found, links=links, words=words,
        other_verdicts=other_verdicts, shown=shown, chosen=urlencode(chosen),
    )  # fmt: skip


@router.get("/answers/{answer_id:path}")
async def answer(
    answer_id: AnswerId, request: Request, principal: Reader, resources: Shared, tenant: Tenant = None
) -> Response:
    """Show an answer with claims, citations, decision, feedback and history."""
    stored = await stored_answer(resources, principal, answer_id, tenant)
    detail = answer_detail(stored)
    turns = await resources.answers.earlier(
        detail.tenant, detail.session_id, detail.answer_id, detail.completed_at, blind_of(principal, resources)
    )
    resources.accesses.note_page(principal, "conversation", [(turn["tenant"], turn["answer_id"]) for turn in turns])
    looked: dict[str, list[Row]] | None = None
    if Scope.ADMIN in principal.scopes:
        kinds = [AuditFilter([detail.tenant], detail.answer_id, state=kind) for kind in ("reading", "list")]
        reading, lists = await asyncio.gather(
            *(resources.audit.listed("accesses", kind, MOST_ACCESSES) for kind in kinds)
        )
        withdrawn = detail.withdrawal is not None
        looked = {
            name: [row | {"version": version_words(detail.shown, row["at"], withdrawn=withdrawn)} for row in rows]
            for name, rows in (("reading", reading), ("list", lists))
        }
    digests = sorted(set(uncited_digests(stored).values()))
    contents = await resources.citations.contents(detail.tenant, digests) if digests else {}
    primary: dict[int, list[int]] = {}
    for place, claim in enumerate(detail.claims, 1):
        if claim.primary_number:
            primary.setdefault(claim.primary_number, []).append(place)
    added = {each.number for each in detail.citations if each.valid and "attributed" in each.forms}
    explanation = explanation_of(stored, resources.settings)
    thresholds = {row.fact: row.threshold for row in explanation.rows}
    return page(
        "answer.html", request, principal, uncited=uncited_texts(stored, contents),
        answer=detail, turns=turns, looked=looked, MOST_ACCESSES=MOST_ACCESSES,
        runs=answer_runs(detail.answer, detail.claims, detail.citations),
        rendered=marked_markdown(detail.answer, detail.claims, VERDICTS, detail.citations),
        claim_words=claim_words(detail.answer, detail.claims),
        by_number={citation.number: citation for citation in detail.citations if citation.valid},
        primary=primary, added=added,
        explanation=explanation,
        addresses={
            source.number: source_address(source, resources.settings.release.url_rules) for source in detail.sources
        },
        minima={"gate": explanation.gate["threshold"], "grounding": thresholds["grounding_below_minimum"]},
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
    sources = detail.sources if detail else []
    version = next((source.version for source in sources if cited and source.number == cited.number), "")
    return {
        "version": version,
        "citation": found,
        "cited": cited,
        "claims": claims,
        "unsupported": [claim for claim in detail.claims if cited and cited.number in claim.cited_unsupported]
        if detail
        else [],
        "runs": runs,
        "is_primary": is_primary,
    }
