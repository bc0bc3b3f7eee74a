"""Serve the review queue: list, lock, decide, undo."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from textwrap import shorten
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel, Field

from schemas.base import Identifier, Label, ShortText
from schemas.grounding import Verdict
from schemas.review import ClaimVerdict
from workers.console.http.problems import FieldProblem, Problem, documented
from workers.console.http.requests import StrictRoute
from workers.console.identity.principal import Principal
from workers.console.identity.security import Admin, require
from workers.console.presentation.plain_markdown import plain_text
from workers.console.resources import ConsoleResources, Shared
from workers.console.routes.answers import Tenant, TimeFilter
from workers.review.reader_outcomes import ReaderOutcome
from workers.review.review_errors import InvalidDecision, ReviewConflict, UnknownReview
from workers.review.review_models import (
    Acceptance,
    AskedOpinion,
    DecisionBody,
    DecisionReceipt,
    Disagreement,
    Filters,
    Lock,
    OpinionBody,
    QueuePage,
    QueueStats,
    Reviewer,
    ReviewerFigures,
    ReviewItem,
    Strict,
    WithdrawalBody,
)
from workers.review.review_service import ReviewService
from workers.review.team_actions import BulkBody, BulkOutcome, TeamActions
from workers.settings.sections.scopes import Scope
from workers.stores.queries.answer_queries import Period
from workers.stores.queries.reviews.review_agreement_queries import Decision, DisagreementFilter
from workers.stores.queries.reviews.review_team_queries import AcceptanceBy, Interval

router = APIRouter(prefix="/api/reviews", tags=["review"], route_class=StrictRoute)

Who = Annotated[Principal, Depends(require(Scope.REVIEW))]
ReviewerOrAuditor = Annotated[Principal, Depends(require(Scope.REVIEW, Scope.ADMIN))]
MAX_PAGE = 100
MOST_SHOWN = 300
"""Maximum length of the beginning of a text in a preview, code points."""
ERRORS = (401, 403, 429, 503)


class PageQuery(Filters):
    """Filters and page of the queue."""

    cursor: Annotated[str, Field(max_length=1_000)] | None = Field(
        default=None, description="next_cursor of the previous page."
    )
    limit: int = Field(default=25, ge=1, le=MAX_PAGE)


class DisagreementQuery(Strict):
    """Filters of reviews that differ; without filters every one matches."""

    tenant: Identifier | None = None
    person: str = Field(
        default="",
        max_length=200,
        description="Only what this person decided or reviewed, in any case; `policy` for deadlines.",
    )
    model: str = Field(default="", max_length=200, description="Only reviews of answers of this model.")
    first: Decision | None = Field(default=None, description="The final decision.")
    second: Decision | None = Field(default=None, description="What the other review says.")
    since: TimeFilter | None = Field(
        default=None, description="Only pairs whose later decision is of this time or later."
    )
    until: TimeFilter | None = Field(default=None, description="Only pairs whose later decision came before this time.")

    def chosen(self, principal: Principal) -> DisagreementFilter:
        """Convert the filters to a store query within the tenants of the principal.

        Raises:
            Problem: 403, the token does not include the tenant.
        """
        return DisagreementFilter(
            principal.chosen_tenants(self.tenant), self.person, self.model, self.first or "", self.second or "",
            Period(self.since, self.until),
        )  # fmt: skip


class QueueFacets(BaseModel):
    """Values that open requests have, and the people who may review them."""

    tenants: list[str]
    models: list[str]
    reasons: list[str]
    signals: list[str]
    queues: list[str]
    assignees: list[str] = Field(description="People to whom open requests are assigned, also those who have left.")
    people: list[str]


class FoundVerdict(Strict):
    """The verdict of a reviewer on one claim."""

    claim_id: Identifier
    verdict: Verdict | Literal["cannot_tell"]


class EscalationBody(Strict):
    """The target queue of an escalation, why others should decide, and what the reviewer found so far."""

    queue: Label | None = Field(
        default=None, min_length=1, description="Target queue; by default the queue of the settings."
    )
    reason: ShortText | None = Field(
        default=None, description="Why others should decide; the next reviewer and the history show it."
    )
    claim_verdicts: list[FoundVerdict] = Field(
        default_factory=list, max_length=400, description="Verdicts on claims; the next reviewer sees them."
    )


def service_of(resources: Shared) -> ReviewService:
    """Return the review service.

    Raises:
        Problem: 503, this console serves no reviews.
    """
    if resources.review is None:
        raise Problem(503, "this console serves no reviews")
    return resources.review


Service = Annotated[ReviewService, Depends(service_of)]


def team_of(resources: Shared) -> TeamActions:
    """Return the actions of a team.

    Raises:
        Problem: 503, this console serves no reviews.
    """
    if resources.team is None:
        raise Problem(503, "this console serves no reviews")
    return resources.team


Team = Annotated[TeamActions, Depends(team_of)]


@router.get("", responses=documented(*ERRORS, 422))
async def list_reviews(
    query: Annotated[PageQuery, Query()], service: Service, who: Who, resources: Shared
) -> QueuePage:
    """List a page of the queue, open requests by risk and age, decided ones by time."""
    filters = Filters(**query.model_dump(exclude={"cursor", "limit"}))
    if filters.tenant is not None:
        who.require_tenant(filters.tenant)
    with refusals():
        page = await service.queue(filters, reviewer_of(who), cursor=query.cursor, limit=query.limit)
    resources.accesses.note_page(who, "list_reviews", [(item.tenant, item.answer_id) for item in page.items])
    return page


@router.get("/stats", responses=documented(*ERRORS))
async def review_stats(service: Service, who: Who) -> QueueStats:
    """Return statistics of the queue and of recent decisions."""
    return await service.stats(reviewer_of(who))


@router.get("/disagreements", responses=documented(*ERRORS, 422))
async def list_disagreements(
    query: Annotated[DisagreementQuery, Query()], service: Service, who: ReviewerOrAuditor, resources: Shared
) -> list[Disagreement]:
    """List the reviews whose first and second decision or correction differ, the latest first; also for the scope admin."""
    found = await service.disagreements(reviewer_of(who), query.chosen(who))
    resources.accesses.note_page(who, "disagreements", [(each.tenant, each.answer_id) for each in found])
    return found


@router.get("/filters", responses=documented(*ERRORS))
async def list_filters(team: Team, who: Who) -> QueueFacets:
    """Return the values that the filters offer, and the people to whom requests can be assigned."""
    reviewer = reviewer_of(who)
    return QueueFacets(**asdict(await team.facets(reviewer)), people=team.people(reviewer))


@router.get("/reviewers", responses=documented(*ERRORS, 422))
async def list_reviewers(
    team: Team, who: Who, days: Annotated[int, Query(ge=1, le=365, description="Days, today included.")] = 1
) -> list[ReviewerFigures]:
    """Return what each reviewer has decided, the busiest first."""
    return await team.reviewers(reviewer_of(who), days)


@router.get("/acceptance", responses=documented(*ERRORS, 422))
async def get_acceptance(
    team: Team,
    who: Who,
    by: Annotated[AcceptanceBy, Query(description="Decisions of each reviewer, or on each model.")] = "model",
    interval: Annotated[Interval, Query(description="Length of an interval, UTC.")] = "day",
    days: Annotated[int, Query(ge=1, le=731, description="Days, today included.")] = 30,
    tenant: Tenant = None,
    model: Annotated[Label, Query(description="Only decisions on answers of this model; all if empty.")] = "",
) -> Acceptance:
    """Return approvals, corrections and rejections over time: the final decisions of people."""
    return await team.acceptance(who.chosen_tenants(tenant), by, interval, days, model)


@router.post("/bulk", responses=documented(*ERRORS, 422))
async def act_on_reviews(body: BulkBody, team: Team, who: Who, resources: Shared) -> list[BulkOutcome]:
    """Act on several requests, or preview the outcome; each outcome names its request.

    Second opinions are asked for on decided requests; the other actions are for open ones.
    """
    outcomes = await team.act(body, reviewer_of(who))
    resources.accesses.note_page(who, "preview_bulk", [each.place for each in outcomes if each.place])
    return [_beginning(each) for each in outcomes]


def _beginning(outcome: BulkOutcome) -> BulkOutcome:
    """Return an outcome whose texts are cut, and without the syntax of Markdown: the list shows each on one line."""
    contradicted = [each.model_copy(update={"text": _line(each.text)}) for each in outcome.contradicted]
    return outcome.model_copy(update={"shown": _line(outcome.shown), "contradicted": contradicted})


def _line(text: str) -> str:
    return shorten(plain_text(text), MOST_SHOWN, placeholder="…")


@router.post("/next", responses={**documented(*ERRORS, 422), 204: {"description": "No open request."}})
async def next_review(
    filters: Filters, service: Service, who: Who, resources: Shared, response: Response
) -> ReviewItem | None:
    """Lock and return the next request that no other reviewer holds."""
    if filters.tenant is not None:
        who.require_tenant(filters.tenant)
    with refusals():
        item = await service.next(filters, reviewer_of(who))
    if item is None:
        response.status_code = 204
        return None
    _note(resources, who, "next_review", item)
    return item


@router.get("/{review_id}", responses=documented(*ERRORS, 404, 422))
async def get_review(review_id: Identifier, service: Service, who: Who, resources: Shared) -> ReviewItem:
    """Return a request with answer, claims, evidence and history."""
    with refusals():
        item = await service.item(review_id, reviewer_of(who))
    _note(resources, who, "get_review", item)
    return item


@router.post("/{review_id}/lock", responses=documented(*ERRORS, 404, 409, 422))
async def lock_review(review_id: Identifier, service: Service, who: Who, request: Request) -> Lock | None:
    """Lock a request or renew the lock; null if locks are not available."""
    with refusals():
        lock = await service.lock(review_id, reviewer_of(who))
        await give_back_if_left(request, service, review_id, who)
    return lock


@router.post("/{review_id}/unlock", status_code=204, responses=documented(*ERRORS, 404, 422))
async def unlock_review(review_id: Identifier, service: Service, who: Who) -> None:
    """Release the lock of a request."""
    with refusals():
        await service.unlock(review_id, reviewer_of(who))


@router.post("/{review_id}/skip", status_code=204, responses=documented(*ERRORS, 404, 409, 422))
async def skip_review(review_id: Identifier, service: Service, who: Who) -> None:
    """Leave a request to other reviewers for a while."""
    with refusals():
        await service.skip(review_id, reviewer_of(who))


@router.post("/{review_id}/escalate", status_code=204, responses=documented(*ERRORS, 404, 409, 422))
async def escalate_review(
    review_id: Identifier, service: Service, who: Who, body: EscalationBody | None = None
) -> None:
    """Move a request to another queue with a new deadline."""
    with refusals():
        given = body or EscalationBody()
        verdicts = [ClaimVerdict(claim_id=each.claim_id, verdict=each.verdict) for each in given.claim_verdicts]
        await service.escalate(review_id, reviewer_of(who), given.queue, given.reason, verdicts)


@router.post("/{review_id}/undo", status_code=204, responses=documented(*ERRORS, 404, 409, 422))
async def undo_review(review_id: Identifier, service: Service, who: Who) -> None:
    """Undo your own decision before it is published, or another step of yours for as long."""
    with refusals():
        await service.undo(review_id, reviewer_of(who))


@router.post("/{review_id}/opinion", status_code=202, responses=documented(*ERRORS, 404, 422))
async def ask_opinion(
    review_id: Identifier, service: Service, who: Who, body: OpinionBody | None = None
) -> AskedOpinion:
    """Ask a person, or anyone who has not reviewed it, for a blind second opinion on a decided request."""
    person = (body or OpinionBody()).person
    with refusals():
        event = await service.ask_opinion(review_id, reviewer_of(who), person or "")
    return AskedOpinion(person=person, by=event.reviewer, at=event.occurred_at)


@router.delete("/{review_id}/opinion", status_code=204, responses=documented(*ERRORS, 404, 409, 422))
async def end_opinion(
    review_id: Identifier,
    service: Service,
    who: Who,
    person: Annotated[Label, Query(description="Person who was asked; empty for anyone.")] = "",
) -> None:
    """Take back the request for a second opinion; one that was given stays."""
    with refusals():
        await service.end_opinion(review_id, reviewer_of(who), person)


@router.post("/{review_id}/outcome", responses=documented(*ERRORS, 404, 409, 422))
async def preview_outcome(
    review_id: Identifier, body: DecisionBody, service: Service, who: Who, resources: Shared
) -> ReaderOutcome:
    """Return what readers would get from a decision; decides nothing."""
    with refusals():
        place, found = await service.outcome(review_id, body, reviewer_of(who))
    resources.accesses.note(who, "preview_outcome", place.tenant, [place.answer_id])
    return found


@router.post("/{review_id}/decision", status_code=202, responses=documented(*ERRORS, 404, 409, 422))
async def decide_review(review_id: Identifier, body: DecisionBody, service: Service, who: Who) -> DecisionReceipt:
    """Record a decision, a vote or a second review."""
    with refusals():
        return await service.decide(review_id, body, reviewer_of(who))


@router.post("/{review_id}/withdrawal", status_code=202, responses=documented(*ERRORS, 404, 409, 422))
async def withdraw_decision(
    review_id: Identifier, body: WithdrawalBody, service: Service, who: Admin
) -> DecisionReceipt:
    """Take an approved or corrected answer back from readers and from memory; needs the scope admin."""
    with refusals():
        return await service.withdraw(review_id, body, reviewer_of(who))


def reviewer_of(who: Principal) -> Reviewer:
    """Return the reviewer behind a token."""
    return Reviewer(
        who.name, who.tenants, may_withdraw=Scope.ADMIN in who.scopes, may_review=Scope.REVIEW in who.scopes
    )


async def give_back_if_left(request: Request, service: ReviewService, review_id: str, who: Principal) -> None:
    """Release a lock whose caller left while it was on its way: a page that is gone gives back only what it knew of."""
    if await request.is_disconnected():
        await service.unlock(review_id, reviewer_of(who))


def _note(resources: ConsoleResources, who: Principal, what: str, item: ReviewItem) -> None:
    resources.accesses.note(who, what, item.tenant, [item.answer_id])


@contextmanager
def refusals() -> Iterator[None]:
    """Convert errors of the review service to problems.

    A conflict (409) names its kind, the other party and the time.

    Raises:
        Problem: 404, unknown review; 409, conflict; 422, invalid decision.
    """
    try:
        yield
    except UnknownReview as error:
        raise Problem(404, str(error)) from None
    except ReviewConflict as error:
        raise Problem(409, str(error), conflict=error.kind, who=error.who, when=error.when) from None
    except InvalidDecision as error:
        raise Problem(422, str(error), fields=[FieldProblem(field=error.field, message=str(error))]) from None
