"""Serve the pages of review: one request after the other, and the queue as a list.

Both keep their filters in their address.
"""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from pydantic import Field

from schemas.answers import GeneratedAnswer
from schemas.base import Identifier
from schemas.review import POLICY
from workers.check.check_models import CheckedAnswer
from workers.check.check_service import CheckTimedOut
from workers.console.http.problems import Problem
from workers.console.http.requests import StrictRoute
from workers.console.identity.principal import Principal
from workers.console.presentation.comparison_words import doubted_of_claims
from workers.console.presentation.marked_markdown import marked_markdown
from workers.console.presentation.minima import gate_range, minima_of
from workers.console.presentation.outcome import deadline_words, escalation_words
from workers.console.presentation.page_basics import Reviewing, ReviewingOrAuditing, given_filters, page
from workers.console.presentation.plain_markdown import claim_words, plain_text
from workers.console.presentation.rendering import answer_runs, passage_runs, passages
from workers.console.presentation.verdicts import VERDICTS
from workers.console.presentation.views import ClaimView
from workers.console.resources import ConsoleResources, Shared, blind_of
from workers.console.routes.check import NO_MODELS
from workers.console.routes.review import DisagreementQuery, Service, Team, give_back_if_left, refusals, reviewer_of
from workers.errors import OversizeRecord
from workers.review.guidelines import guidelines_of
from workers.review.review_errors import WITHDRAW
from workers.review.review_models import ComparisonBody, DecisionBody, Filters, Reviewer, ReviewItem
from workers.review.review_service import ReviewService
from workers.review.team_actions import TeamActions
from workers.settings.sections.scopes import Scope
from workers.stores.clickhouse.row_reading import Row
from workers.stores.queries.answer_queries import cut_at_word
from workers.stores.queries.audit_queries import LOADED_AHEAD
from workers.stores.queries.reviews.review_agreement_queries import MAX_DISAGREEMENTS
from workers.stores.queries.reviews.review_team_queries import NOBODY

router = APIRouter(include_in_schema=False, route_class=StrictRoute)

PAGE_SIZE = 50
COMPARISON_SECONDS = 20.0
"""Maximum wait of a reviewer for the comparison of a corrected text with the sources."""
FIGURES_DAYS = (1, 7, 14, 30, 90)
"""Periods of the figures of the reviewers to choose from, days."""
USUAL_DAYS = 7
OFFERED = {"model": "model_id", "tenant": "tenant"}
"""Columns of the reviews that differ whose values their filters offer, by filter."""
MOST_LEFT = 10
"""Maximum number of requests that are named among those that are left."""
MAX_BEGIN = 120
"""Maximum number of code points of the answers that stand with them: questions may be the same."""
MOST_TRAIL = 20
"""Maximum number of earlier pages of the list that an address remembers."""


def filters_of(request: Request) -> Filters:
    """Return the filters of an address; other and empty parameters filter nothing.

    Raises:
        Problem: 422, a filter has an invalid value.
    """
    given = {name: request.query_params.get(name, "").strip() for name in Filters.model_fields}
    if given["state"] not in ("", "decided"):
        # A page of open requests has no field for it: the state was chosen after it.
        given["reviewed_by"] = ""
    if given["state"] not in ("", "open") or given["reviewed_by"]:
        given["q"] = ""  # a field of open requests alone, as that
    try:
        return Filters.model_validate({name: value for name, value in given.items() if value})
    except ValueError:
        raise Problem(422, "a filter of this address has an invalid value; remove it and choose again") from None


def address_of(filters: Filters) -> str:
    """Return filters as the query part of an address, without those that filter nothing."""
    return urlencode(filters.model_dump(exclude_defaults=True, exclude_none=True))


def _page_address(filters: Filters, cursor: str, trail: list[str]) -> str:
    """Return the query part of a page of the list; the trail holds the cursors of the pages before it."""
    chosen = filters.model_dump(exclude_defaults=True, exclude_none=True)
    return urlencode(chosen | {"cursor": cursor, "trail": trail[-MOST_TRAIL:]}, doseq=True)


async def filter_values(team: TeamActions, who: Reviewer, filters: Filters) -> Mapping[str, Any]:
    """Return the values that the template of the filters needs."""
    facets = await team.facets(who)
    offered = {
        "tenant": facets.tenants, "model": facets.models, "reason": facets.reasons, "signal": facets.signals, "queue": facets.queues,
    }  # fmt: skip
    given = filters.model_dump()
    # A chosen value stays on offer when no open request has it any more.
    options = {name: sorted({*values, *filter(None, [given[name]])}) for name, values in offered.items()}
    people = team.people(who)
    # In any case, as the filter matches them; the spelling of a token or an assignment comes first.
    named = {name.lower(): name for name in (given["assignee"] or NOBODY, *facets.assignees, *people, NOBODY)}
    return {
        "given": given, "options": options, "people": people, "address": address_of(filters),
        "left_people": sorted({*named.values()} - {*people, NOBODY}),
    }  # fmt: skip


@router.get("/queue")
async def queue(request: Request, principal: Reviewing, service: Service, team: Team, resources: Shared) -> Response:
    """Show the queue as a list to pick from, with what the reviewers have decided."""
    filters = filters_of(request)
    if filters.tenant is not None:
        principal.require_tenant(filters.tenant)
    cursor, trail = request.query_params.get("cursor", ""), request.query_params.getlist("trail")[-MOST_TRAIL:]
    who = reviewer_of(principal)
    days = next((each for each in FIGURES_DAYS if str(each) == request.query_params.get("days")), USUAL_DAYS)
    with refusals():
        found = await service.queue(filters, who, cursor=cursor or None, limit=PAGE_SIZE)
    resources.accesses.note_page(principal, "queue", [(item.tenant, item.answer_id) for item in found.items])
    texts = await service.beginnings([(item.tenant, item.review_id) for item in found.items])
    return page(
        "queue.html", request, principal, undo_seconds=resources.settings.review.undo_seconds,
        review_address=address_of(filters.of_open if filters.state == "decided" else filters),
        found=found, more=_page_address(filters, found.next_cursor, [*trail, cursor]) if found.next_cursor else None,
        previous=_page_address(filters, trail[-1] if trail else "", trail[:-1]) if cursor else None, now=resources.now(), figures_days=days, periods=FIGURES_DAYS,
        may_review=team.may_review, begins=_begins(texts),
        minima={tenant: gate_range(resources.settings, tenant) for tenant in {item.tenant for item in found.items}},
        reviewers=await team.reviewers(who, days), **await filter_values(team, who, filters),
    )  # fmt: skip


@router.get("/queue/disagreements")
async def disagreements(
    request: Request, principal: ReviewingOrAuditing, service: Service, resources: Shared
) -> Response:
    """Show the reviews that differ from the final decision of their request, with their reasons."""
    given, values = given_filters(request, DisagreementQuery)
    known = await service.disagreements(reviewer_of(principal))
    options = {name: sorted({getattr(each, column) for each in known}) for name, column in OFFERED.items()}
    options["person"] = sorted({name for each in known for name in (each.first_by, each.second_by)})
    try:
        wanted = DisagreementQuery.model_validate(values)
    except ValueError:
        return page("disagreements.html", request, principal, 422, given=given, options=options, found=None)
    found = await service.disagreements(reviewer_of(principal), wanted.chosen(principal)) if values else known
    resources.accesses.note_page(principal, "disagreements", [(each.tenant, each.answer_id) for each in found])
    return page(
        "disagreements.html", request, principal, given=given, options=options, found=found, MOST=MAX_DISAGREEMENTS
    )


def _begins(texts: Mapping[tuple[str, str], str]) -> dict[tuple[str, str], str]:
    """Return the beginnings of answers on one line, by tenant and review identifier; an unknown text is empty."""
    return defaultdict(str, {key: cut_at_word(plain_text(text), MAX_BEGIN) for key, text in texts.items()})


class NextRequest(Filters):
    """Filters of the next review request, and requests to leave out.

    Attributes:
        without: requests to leave out.
        ahead: True if the page displays the request later, and reports that then.
    """

    without: list[Identifier] = Field(default_factory=list, max_length=500)
    ahead: bool = False


@router.get("/review")
async def review(request: Request, principal: Reviewing, service: Service, team: Team, resources: Shared) -> Response:
    """Show the review queue, one request at a time."""
    return await _review_page(request, principal, service, team, resources)


@router.get("/review/counts")
async def review_counts(request: Request, principal: Reviewing, service: Service) -> dict[str, int]:
    """Return how many requests that the filters choose are open, and of how many the readers wait, for the head of the page."""
    totals = await service.open_totals(reviewer_of(principal), filters_of(request))
    return {"open": totals.number, "held": totals.held or 0}


@router.get("/review/{review_id}")
async def review_one(
    review_id: str, request: Request, principal: Reviewing, service: Service, team: Team, resources: Shared
) -> Response:
    """Show the review queue, starting with this request."""
    item = await _review_item(review_id, principal, service)
    return await _review_page(request, principal, service, team, resources, item)


@router.get("/review/{review_id}/item")
async def review_item(
    review_id: str, request: Request, principal: Reviewing, service: Service, resources: Shared
) -> Response:
    """Render the current state of a request as a page fragment."""
    item = await _review_item(review_id, principal, service)
    return page("review_item.html", request, principal, **await _review_values(item, principal, resources))


@router.post("/review/{review_id}/outcome")
async def review_outcome(
    review_id: Identifier,
    body: DecisionBody,
    request: Request,
    principal: Reviewing,
    service: Service,
    resources: Shared,
) -> Response:
    """Render what readers would get from a decision as a page fragment."""
    with refusals():
        place, found = await service.outcome(review_id, body, reviewer_of(principal))
    resources.accesses.note(principal, "review", place.tenant, [place.answer_id])
    return page("outcome.html", request, principal, outcome=found)


@router.post("/review/{review_id}/comparison")
async def review_comparison(
    review_id: Identifier,
    body: ComparisonBody,
    request: Request,
    principal: Reviewing,
    service: Service,
    resources: Shared,
) -> Response:
    """Compare a corrected text with the sources of its answer, and render what differs as a page fragment."""
    with refusals():
        text = await service.to_compare(review_id, body.corrected_answer, reviewer_of(principal))
    checked = await _checked(text.answer, resources)
    resources.accesses.note(principal, "review", text.place.tenant, [text.place.answer_id])
    comparison = await service.keep_comparison(text, checked.claims, checked.pipeline_version)
    return page(
        "comparison.html", request, principal, comparison=comparison, doubted=doubted_of_claims(checked.claims),
        dangling=text.dangling, without_verifier=checked.without_verifier,
    )  # fmt: skip


async def _checked(answer: GeneratedAnswer, resources: ConsoleResources) -> CheckedAnswer:
    """Evaluate a corrected text.

    Raises:
        Problem: 422, text and sources are too large; 503, there are no models, or the evaluation failed; 504, it took too long.
        ChecksBusy: too many concurrent checks.
    """
    if resources.check is None:
        raise Problem(503, NO_MODELS)
    try:
        checked = await resources.check.check(answer, COMPARISON_SECONDS)
    except CheckTimedOut:
        raise Problem(
            504, f"it took longer than {COMPARISON_SECONDS:g} seconds; try again in a moment, or shorten the text"
        ) from None
    except OversizeRecord:
        raise Problem(422, "text and sources are too large to be evaluated together; shorten the text") from None
    if "grounding" in checked.failed:
        raise Problem(503, "the evaluation failed; try again in a moment")
    return checked


@router.post("/review/next")
async def review_next(
    wanted: NextRequest, request: Request, principal: Reviewing, service: Service, resources: Shared
) -> Response:
    """Lock the next request for this reviewer and render it as a page fragment; 204 if there is none."""
    filters = Filters(**wanted.model_dump(exclude={"without", "ahead"}))
    if filters.tenant is not None:
        principal.require_tenant(filters.tenant)
    with refusals():
        item = await service.next(filters, reviewer_of(principal), without=wanted.without, opened=not wanted.ahead)
    if item is None:
        return Response(status_code=204)
    values = await _review_values(item, principal, resources, ahead=wanted.ahead)
    shown = page("review_item.html", request, principal, **values)
    with refusals():
        await give_back_if_left(request, service, item.review_id, principal)
    return shown


@router.post("/review/remaining")
async def review_remaining(
    filters: Filters, request: Request, principal: Reviewing, service: Service, resources: Shared
) -> Response:
    """Render what is left once ``/review/next`` has nothing for this reviewer, as a page fragment."""
    if filters.tenant is not None:
        principal.require_tenant(filters.tenant)
    left = await service.remaining(filters, reviewer_of(principal))
    named = [*left.skipped[:MOST_LEFT], *left.escalated[:MOST_LEFT]]
    resources.accesses.note_page(principal, "queue", [(place.tenant, place.answer_id) for place in named])
    texts = await service.beginnings([place.key for place in named])
    return page(
        "remaining.html", request, principal, left=left, filters=filters, address=address_of(filters.of_open),
        decided_address=address_of(filters), MOST=MOST_LEFT, begins=_begins(texts),
    )  # fmt: skip


@router.post("/review/{review_id}/shown", status_code=204)
async def review_shown(
    review_id: Identifier, request: Request, principal: Reviewing, service: Service, resources: Shared
) -> None:
    """Lock a request that was loaded ahead, and record that it is displayed now."""
    with refusals():
        await service.opened(review_id, reviewer_of(principal))
        await give_back_if_left(request, service, review_id, principal)
    item = await _review_item(review_id, principal, service)
    _note(resources, principal, item, await _turns(item, principal, resources), ahead=False)


def _note(
    resources: ConsoleResources, principal: Principal, item: ReviewItem, turns: Sequence[Row], *, ahead: bool
) -> None:
    """Record who is shown the answer of a request and the turns before it, or whose page loads them ahead."""
    resources.accesses.note(principal, LOADED_AHEAD if ahead else "review", item.tenant, [item.answer_id])
    earlier = [(turn["tenant"], turn["answer_id"]) for turn in turns]
    resources.accesses.note_page(principal, LOADED_AHEAD if ahead else "conversation", earlier)


async def _review_item(review_id: str, principal: Principal, service: ReviewService) -> ReviewItem:
    with refusals():
        return await service.item(review_id, reviewer_of(principal))


async def _review_page(
    request: Request,
    principal: Principal,
    service: ReviewService,
    team: TeamActions,
    resources: ConsoleResources,
    item: ReviewItem | None = None,
) -> Response:
    who = reviewer_of(principal)
    filters = filters_of(request)
    today, totals = await asyncio.gather(team.reviewers(who, 1), service.open_totals(who, filters))
    values = await _review_values(item, principal, resources) if item else _page_values(resources)
    return page(
        "review.html", request, principal,
        totals=totals, own=next((each for each in today if each.name == who.name), None),
        lock_seconds=resources.settings.review.lock_seconds,
        **await filter_values(team, who, filters), **values,
    )  # fmt: skip


def _page_values(resources: ConsoleResources) -> dict[str, Any]:
    """Return the values of the page that are those of every request, and no request."""
    return {
        "item": None,
        "undo_seconds": resources.settings.review.undo_seconds,
        "can_compare": resources.check is not None,
    }


async def _turns(item: ReviewItem, principal: Principal, resources: ConsoleResources) -> list[Row]:
    """Return the turns before a request; reviewers without read rights see no answers besides those of the queue."""
    if Scope.READ not in principal.scopes:
        return []
    return await resources.answers.earlier(
        item.tenant, item.session_id, item.answer_id, item.completed_at, blind_of(principal, resources)
    )


async def _review_values(
    item: ReviewItem, principal: Principal, resources: ConsoleResources, *, ahead: bool = False
) -> dict[str, Any]:
    """Return the values that the template of a request needs, and record the access."""
    claims = [_review_claim(claim.model_dump()) for claim in item.claims]
    contexts = [
        (
            context,
            passage_runs(context.content, passages([claim for claim in claims if claim.chunk_id == context.chunk_id])),
        )
        for context in item.contexts
    ]
    turns = await _turns(item, principal, resources)
    _note(resources, principal, item, turns, ahead=ahead)
    folder = resources.settings.review.guidelines
    askable: list[str] = []
    if resources.review is not None and item.action not in (None, "", WITHDRAW) and item.decided_by != POLICY:
        askable = await resources.review.able_people(item.tenant, item.review_id, reviewer_of(principal))
    # Others follow the link to the page of the answer.
    is_shown = item.action not in (None, "", WITHDRAW) and Scope.READ not in principal.scopes
    return {
        "askable": askable,
        "got": await resources.review.readers_got(item.review_id, reviewer_of(principal))
        if resources.review is not None and is_shown
        else None,
        **_page_values(resources),
        "item": item,
        "now": resources.now(),
        "at_deadline": deadline_words(item, resources.settings.review, resources.now()),
        "on_escalation": escalation_words(item, resources.settings.review),
        "minima": minima_of(resources.settings, item.tenant, item.query_type),
        "claims": claims,
        "runs": answer_runs(item.answer, claims, []),
        "rendered": marked_markdown(item.answer, claims, VERDICTS),
        "claim_words": claim_words(item.answer, claims),
        "contexts": contexts,
        "turns": turns,
        "guidelines": await asyncio.to_thread(guidelines_of, folder, item.tenant),
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
