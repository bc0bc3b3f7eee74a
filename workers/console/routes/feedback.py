"""Feedback: votes of readers, and what user interfaces observe."""

import asyncio
from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from schemas.base import Identifier, LongText
from schemas.feedback import ExplicitSignals, FeedbackEvent
from schemas.identifiers import feedback_id
from schemas.topics import FEEDBACK_EVENTS
from workers.console.principal import Principal
from workers.console.problems import FieldProblem, Problem, documented
from workers.console.requests import StrictRoute
from workers.console.resources import Shared
from workers.console.routes.answers import Accepted, AnswerId
from workers.console.scopes import Scope
from workers.console.security import FeedbackSender
from workers.console.sending import AGENT, event_outputs

router = APIRouter(prefix="/api", tags=["feedback"], route_class=StrictRoute)


class FeedbackBatch(BaseModel):
    """Feedback, explicit or behaviour."""

    events: Annotated[list[FeedbackEvent], Field(min_length=1, max_length=500)]


class Vote(BaseModel):
    """An answer to: was this helpful?"""

    vote: Literal["up", "down"]
    comment: LongText | None = None
    user_id: Identifier | None = Field(
        default=None, description="Pseudonym of who votes, from a user interface; whoever is logged in by default."
    )


@router.post("/feedback", status_code=202, responses=documented(401, 403, 413, 422, 429, 503))
async def send_feedback(batch: FeedbackBatch, principal: FeedbackSender, resources: Shared) -> Accepted:
    """Send feedback on answers; all of it is in the broker's log when this returns.

    Safe to repeat: an event that comes again under its ``feedback_id``, or with the same content
    where it has none, is the same event.
    """
    for number, event in enumerate(batch.events):
        _refuse_foreign(number, event, principal)
    return await _send(resources, batch.events)


@router.post("/answers/{answer_id:path}/vote", status_code=202, responses=documented(401, 403, 404, 413, 422, 429, 503))
async def vote(answer_id: AnswerId, body: Vote, principal: FeedbackSender, resources: Shared) -> Accepted:
    """Say whether an answer was helpful; a second vote of the same person replaces the first."""
    known = await resources.answers.exists(principal.chosen_tenants(None), answer_id)
    if known is None:
        raise Problem(404, "there is no such answer; it may be in work still")
    voter = body.user_id or f"console:{principal.name}"
    event = FeedbackEvent(
        feedback_id=feedback_id(answer_id, "vote", voter),
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
    """Refuse what a sender may not say.

    Raises:
        Problem: 403, another tenant's; 422, a kind that the worker observes itself, or a decision.
    """
    principal.require_tenant(event.tenant)
    where = f"body.events.{number}"
    if event.kind not in ("explicit", "behaviour"):
        raise _refused(f"{where}.kind", "send explicit or behaviour; the worker observes the rest itself")
    decides = event.explicit is not None and event.explicit.review_action is not None
    if decides and Scope.REVIEW not in principal.scopes:
        raise _refused(f"{where}.explicit.review_action", "a decision comes from a reviewer; leave it out")


def _refused(field: str, message: str) -> Problem:
    return Problem(
        422, "feedback that cannot be taken; see fields", fields=[FieldProblem(field=field, message=message)]
    )


async def _send(resources: Shared, events: list[FeedbackEvent]) -> Accepted:
    read = await asyncio.to_thread(_read_again, events)
    outputs = event_outputs(
        resources, FEEDBACK_EVENTS, [(event.answer_id, event.feedback_id, event, value) for event, value in read]
    )
    await resources.producer.send(outputs, agent=AGENT)
    return Accepted(accepted=[event.feedback_id for event, _ in read])


def _read_again(events: list[FeedbackEvent]) -> list[tuple[FeedbackEvent, bytes]]:
    """Events with their values, read as the worker will read them.

    Raises:
        UnreadableEvent: one is of a version that is not understood here.
    """
    values = [event.to_bytes() for event in events]
    return [(FeedbackEvent.from_bytes(value), value) for value in values]
