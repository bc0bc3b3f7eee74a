"""Accept feedback: votes of readers, and behaviour that user interfaces observe."""

import asyncio
from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from schemas.base import Identifier, LongText
from schemas.feedback import ExplicitSignals, FeedbackEvent
from schemas.identifiers import feedback_id
from schemas.topics import FEEDBACK_EVENTS
from workers.console.http.problems import FieldProblem, Problem, documented
from workers.console.http.requests import StrictRoute
from workers.console.identity.principal import Principal
from workers.console.identity.security import FeedbackSender
from workers.console.resources import Shared
from workers.console.routes.answers import Accepted, AnswerId, Tenant
from workers.console.sending import AGENT, event_outputs
from workers.settings.sections.scopes import Scope

router = APIRouter(prefix="/api", tags=["feedback"], route_class=StrictRoute)


class FeedbackBatch(BaseModel):
    """Feedback events of kind explicit or behaviour."""

    events: Annotated[list[FeedbackEvent], Field(min_length=1, max_length=500)]


class Vote(BaseModel):
    """A reader's vote on the helpfulness of an answer."""

    vote: Literal["up", "down"]
    comment: LongText | None = None
    user_id: Identifier | None = Field(
        default=None, description="Pseudonym of the voter, sent by a user interface; by default the logged-in person."
    )


@router.post("/feedback", status_code=202, responses=documented(401, 403, 413, 422, 429, 503))
async def send_feedback(batch: FeedbackBatch, principal: FeedbackSender, resources: Shared) -> Accepted:
    """Send feedback on answers; the broker has acknowledged all events when this returns.

    Repeating the request is safe: events with the same ``feedback_id`` are one event. An event
    without ``feedback_id`` is identified by its content.
    """
    for number, event in enumerate(batch.events):
        _refuse_foreign(number, event, principal)
    return await _send(resources, batch.events)


@router.post(
    "/answers/{answer_id:path}/vote",
    status_code=202,
    responses=documented(401, 403, 404, 409, 413, 422, 429, 503),
)
async def vote(
    answer_id: AnswerId, body: Vote, principal: FeedbackSender, resources: Shared, tenant: Tenant = None
) -> Accepted:
    """Vote on the helpfulness of an answer; a later vote of the same person replaces the earlier one."""
    known = await resources.answers.exists(principal.chosen_tenants(tenant), answer_id)
    if known is None:
        raise Problem(404, "unknown answer; a new answer may not be evaluated yet")
    voter = body.user_id or f"console:{principal.name}"
    event = FeedbackEvent(
        feedback_id=feedback_id(known["tenant"], answer_id, "vote", voter),
        answer_id=answer_id,
        tenant=known["tenant"],
        user_id=voter,
        kind="explicit",
        explicit=ExplicitSignals(vote=body.vote, comment=body.comment),
        model_id=known["model_id"],
        query_type=known["query_type"] or None,
        occurred_at=resources.now(),
    )
    return await _send(resources, [event])


def _refuse_foreign(number: int, event: FeedbackEvent, principal: Principal) -> None:
    """Refuse events that the sender may not send.

    Raises:
        Problem: 403, the token does not include the tenant; 422, a kind that only the worker
            produces, or a review decision without the review scope.
    """
    principal.require_tenant(event.tenant)
    where = f"body.events.{number}"
    if event.kind not in ("explicit", "behaviour"):
        raise _refused(f"{where}.kind", "send kind explicit or behaviour; the worker produces the other kinds")
    decides = event.explicit is not None and event.explicit.review_action is not None
    if decides and Scope.REVIEW not in principal.scopes:
        raise _refused(f"{where}.explicit.review_action", "only a reviewer can send a decision; leave it out")


def _refused(field: str, message: str) -> Problem:
    return Problem(422, "the feedback is invalid; see fields", fields=[FieldProblem(field=field, message=message)])


async def _send(resources: Shared, events: list[FeedbackEvent]) -> Accepted:
    read = await asyncio.to_thread(_read_again, events)
    outputs = event_outputs(resources, FEEDBACK_EVENTS, [(event.feedback_id, event, value) for event, value in read])
    await resources.producer.send(outputs, agent=AGENT)
    return Accepted(accepted=[event.feedback_id for event, _ in read])


def _read_again(events: list[FeedbackEvent]) -> list[tuple[FeedbackEvent, bytes]]:
    """Serialize events, and parse them again as the worker will.

    Raises:
        UnreadableEvent: an event has an unsupported schema version.
    """
    values = [event.to_bytes() for event in events]
    return [(FeedbackEvent.from_bytes(value), value) for value in values]
