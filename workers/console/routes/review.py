"""The review queue: look, take, decide, take back."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response
from pydantic import Field

from schemas.base import Identifier, Label
from workers.console.principal import Principal
from workers.console.problems import FieldProblem, Problem, documented
from workers.console.requests import StrictRoute
from workers.console.resources import ConsoleResources, Shared
from workers.console.scopes import Scope
from workers.console.security import require
from workers.review.errors import InvalidDecision, ReviewConflict, UnknownReview
from workers.review.models import (
    DecisionBody,
    DecisionReceipt,
    Filters,
    Lock,
    QueuePage,
    QueueStats,
    Reviewer,
    ReviewItem,
    Strict,
)
from workers.review.service import ReviewService

router = APIRouter(prefix="/api/reviews", tags=["review"], route_class=StrictRoute)

Who = Annotated[Principal, Depends(require(Scope.REVIEW))]
MAX_PAGE = 100
ERRORS = (401, 403, 429, 503)


class PageQuery(Filters):
    """The filters of the queue, and which page of it."""

    cursor: Annotated[str, Field(max_length=1_000)] | None = Field(
        default=None, description="next_cursor of the page before."
    )
    limit: int = Field(default=25, ge=1, le=MAX_PAGE)


class EscalationBody(Strict):
    """Where a request is moved to."""

    queue: Label | None = Field(default=None, min_length=1, description="The setting's queue if absent.")


def service_of(resources: Shared) -> ReviewService:
    """The review service."""
    if resources.review is None:
        raise Problem(503, "this console serves no reviews")
    return resources.review


Service = Annotated[ReviewService, Depends(service_of)]


@router.get("", responses=documented(*ERRORS, 422))
async def list_reviews(
    query: Annotated[PageQuery, Query()], service: Service, who: Who, resources: Shared
) -> QueuePage:
    """A page of the queue, by risk and age; decided ones by time."""
    filters = Filters(**query.model_dump(exclude={"cursor", "limit"}))
    if filters.tenant is not None:
        who.require_tenant(filters.tenant)
    with refusals():
        page = await service.queue(filters, _reviewer(who), cursor=query.cursor, limit=query.limit)
    resources.accesses.note_page(who, "list_reviews", [(item.tenant, item.answer_id) for item in page.items])
    return page


@router.get("/stats", responses=documented(*ERRORS))
async def review_stats(service: Service, who: Who) -> QueueStats:
    """How the queue stands and how it is worked."""
    return await service.stats(_reviewer(who))


@router.post("/next", responses={**documented(*ERRORS, 422), 204: {"description": "Nothing is open."}})
async def next_review(
    filters: Filters, service: Service, who: Who, resources: Shared, response: Response
) -> ReviewItem | None:
    """Take the next request that nobody else has."""
    if filters.tenant is not None:
        who.require_tenant(filters.tenant)
    with refusals():
        item = await service.next(filters, _reviewer(who))
    if item is None:
        response.status_code = 204
        return None
    _note(resources, who, "next_review", item)
    return item


@router.get("/{review_id}", responses=documented(*ERRORS, 404, 422))
async def get_review(review_id: Identifier, service: Service, who: Who, resources: Shared) -> ReviewItem:
    """A request with everything that the reviewer looks at."""
    with refusals():
        item = await service.item(review_id, _reviewer(who))
    _note(resources, who, "get_review", item)
    return item


@router.post("/{review_id}/lock", responses=documented(*ERRORS, 404, 409, 422))
async def lock_review(review_id: Identifier, service: Service, who: Who) -> Lock | None:
    """Take a request, or renew the lock; null where locks cannot be kept."""
    with refusals():
        return await service.lock(review_id, _reviewer(who))


@router.post("/{review_id}/unlock", status_code=204, responses=documented(*ERRORS, 404, 422))
async def unlock_review(review_id: Identifier, service: Service, who: Who) -> None:
    """Give a request back."""
    with refusals():
        await service.unlock(review_id, _reviewer(who))


@router.post("/{review_id}/skip", status_code=204, responses=documented(*ERRORS, 404, 409, 422))
async def skip_review(review_id: Identifier, service: Service, who: Who) -> None:
    """Leave a request to others."""
    with refusals():
        await service.skip(review_id, _reviewer(who))


@router.post("/{review_id}/escalate", status_code=204, responses=documented(*ERRORS, 404, 409, 422))
async def escalate_review(
    review_id: Identifier, service: Service, who: Who, body: EscalationBody | None = None
) -> None:
    """Move a request to another queue, with a new deadline."""
    with refusals():
        await service.escalate(review_id, _reviewer(who), body.queue if body else None)


@router.post("/{review_id}/undo", status_code=204, responses=documented(*ERRORS, 404, 409, 422))
async def undo_review(review_id: Identifier, service: Service, who: Who) -> None:
    """Take one's decision back while it is not published."""
    with refusals():
        await service.undo(review_id, _reviewer(who))


@router.post("/{review_id}/decision", status_code=202, responses=documented(*ERRORS, 404, 409, 422))
async def decide_review(review_id: Identifier, body: DecisionBody, service: Service, who: Who) -> DecisionReceipt:
    """Decide, vote, or give a second opinion."""
    with refusals():
        return await service.decide(review_id, body, _reviewer(who))


def _reviewer(who: Principal) -> Reviewer:
    return Reviewer(who.name, who.tenants)


def _note(resources: ConsoleResources, who: Principal, what: str, item: ReviewItem) -> None:
    resources.accesses.note(who, what, item.tenant, [item.answer_id])


@contextmanager
def refusals() -> Iterator[None]:
    """Refusals of the service as problem documents; a conflict says of what kind it is, who was faster, and when."""
    try:
        yield
    except UnknownReview as error:
        raise Problem(404, str(error)) from None
    except ReviewConflict as error:
        raise Problem(409, str(error), conflict=error.kind, who=error.who, when=error.when) from None
    except InvalidDecision as error:
        raise Problem(422, str(error), fields=[FieldProblem(field=error.field, message=str(error))]) from None
