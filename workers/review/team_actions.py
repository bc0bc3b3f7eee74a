"""Assign requests to people, and act on several requests at once.

A preview names the outcome for each request and changes nothing.
"""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Annotated, Literal, Self

from pydantic import BaseModel, Field, model_validator

from schemas.base import Identifier, Label, LongText
from workers.errors import UnavailableError, describe
from workers.review.people import EVERY_TENANT, may_review, reviewing_people, stranger_words
from workers.review.queue.locks import DecisionMark, is_second
from workers.review.review_errors import InvalidDecision, ReviewConflict, UnknownReview
from workers.review.review_models import Acceptance, AcceptancePoint, DecisionBody, Reviewer, ReviewerFigures, Strict
from workers.review.review_service import ReviewService
from workers.settings import AccessToken
from workers.stores.queries.reviews.review_team_queries import NOBODY, AcceptanceBy, Facets, Interval, ReviewTeamQueries

MOST_AT_ONCE = 100

BulkAction = Literal["assign", "approve", "reject", "escalate", "ask_opinion", "end_opinion"]
OPINION_ACTIONS = frozenset({"ask_opinion", "end_opinion"})
"""Actions on decided requests; the others are on open ones."""


class BulkBody(Strict):
    """Describe an action on several requests."""

    action: BulkAction
    review_ids: Annotated[list[Identifier], Field(min_length=1, max_length=MOST_AT_ONCE)]
    assignee: Label | None = Field(
        default=None, min_length=1, description="Person for assign; `nobody` takes the requests back."
    )
    person: Label | None = Field(
        default=None,
        min_length=1,
        description="Person for ask_opinion and end_opinion; by default anyone who has not reviewed the request.",
    )
    reason: Label | None = Field(default=None, description="Reason of approve, reject and escalate.")
    comment: LongText | None = None
    preview: bool = Field(default=True, description="Report the outcome, and change nothing.")

    @model_validator(mode="after")
    def _fits_its_action(self) -> Self:
        if (self.action == "assign") != (self.assignee is not None):
            raise ValueError("assignee is required for assign and valid for nothing else")
        if self.person is not None and self.action not in OPINION_ACTIONS:
            raise ValueError("person is valid for ask_opinion and end_opinion alone")
        return self


class ContradictedClaim(BaseModel):
    """Describe a claim that the evaluation found contradicted."""

    number: int = Field(description="Number of the claim on the page of its request, from 1.")
    text: str


class BulkOutcome(BaseModel):
    """Describe the outcome for one request."""

    review_id: str
    done: bool = Field(description="True if the action was taken, or would be taken after a preview.")
    detail: str = Field(description="Why not; empty if it was done.")
    field: str = Field(default="", description="Field of the decision that ``detail`` is about; empty if none is.")
    undo_until: datetime | None = Field(
        default=None, description="End of the time to undo it; null if it cannot be undone."
    )
    shown: str = Field(
        default="",
        description="Beginning of the text that readers would get, without the syntax of Markdown; empty unless an approval is previewed.",
    )
    contradicted: list[ContradictedClaim] = Field(
        default_factory=list,
        description="Claims that the evaluation found contradicted; empty unless an approval is previewed.",
    )
    place: tuple[str, str] | None = Field(default=None, exclude=True, description="Tenant and answer of ``shown``.")


ACTION_COUNTS = {"approve": "approved", "correct": "corrected", "reject": "rejected"}
"""Fields of a reviewer's figures by action."""


def with_unstored(
    figures: Sequence[ReviewerFigures], unstored: Sequence[tuple[str, DecisionMark]]
) -> list[ReviewerFigures]:
    """Add decisions that rows do not show yet; the busiest reviewer comes first."""
    known = {each.name: each.model_dump() for each in figures}
    empty = dict.fromkeys(("decided", "second", *ACTION_COUNTS.values()), 0)
    for name, mark in unstored:
        counts = known.setdefault(mark.by, {"name": mark.by, "median_active_seconds": None} | empty)
        counts["second" if is_second(name) else "decided"] += 1
        counts[ACTION_COUNTS[mark.action]] += 1
    found = [ReviewerFigures(**counts) for counts in known.values()]
    return sorted(found, key=lambda each: (-each.decided - each.second, each.name))


class TeamActions:
    """Carry out a team's actions on the queue.

    Args:
        service: the review service.
        store: rows of the queue.
        tokens: access tokens, which are the people.
        now: the clock.
    """

    def __init__(
        self,
        service: ReviewService,
        store: ReviewTeamQueries,
        tokens: Sequence[AccessToken],
        now: Callable[[], datetime],
    ) -> None:
        self._service = service
        self._store = store
        self._tokens = tokens
        self._now = now

    def people(self, who: Reviewer) -> list[str]:
        """Return the reviewers who share a tenant with a reviewer."""
        return sorted(
            {name for name, tenant in reviewing_people(self._tokens) if tenant == EVERY_TENANT or who.may_see(tenant)}
        )

    def may_review(self, name: str, tenant: str) -> bool:
        """Return ``True`` if a person may review the requests of a tenant; false once their token is gone."""
        return may_review(self._tokens, name, tenant)

    async def facets(self, who: Reviewer) -> Facets:
        """Return the values that the filters of the queue offer."""
        return await self._store.facets(sorted(who.tenants))

    async def reviewers(self, who: Reviewer, days: int) -> list[ReviewerFigures]:
        """Return what each reviewer has decided: since midnight UTC for 1 day, else in the last days."""
        midnight = self._now().replace(hour=0, minute=0, second=0, microsecond=0)
        since = midnight - timedelta(days=days - 1)
        rows, unstored = await asyncio.gather(
            self._store.reviewers(sorted(who.tenants), since), self._service.unstored(who, since)
        )
        return with_unstored([ReviewerFigures(**row) for row in rows], unstored)

    async def acceptance(
        self, tenants: Sequence[str], by: AcceptanceBy, interval: Interval, days: int, model: str
    ) -> Acceptance:
        """Return approvals, corrections and rejections over time.

        Args:
            tenants: tenants of the decisions; all if empty.
            by: group by reviewer or by model.
            interval: length of an interval; ``week`` starts on Monday, so the first week may begin before ``days``.
            days: days back, today included, UTC.
            model: model that wrote the answers; all if empty.
        """
        midnight = self._now().replace(hour=0, minute=0, second=0, microsecond=0)
        since = midnight - timedelta(days=days - 1)
        if interval == "week":
            since -= timedelta(days=since.weekday())
        rows, models = await asyncio.gather(
            self._store.acceptance(tenants, since, by, interval, model), self._store.decided_models(tenants, since)
        )
        return Acceptance(
            since=since.date(), until=midnight.date(), by=by, interval=interval, model=model, models=models,
            points=[AcceptancePoint(**row) for row in rows],
        )  # fmt: skip

    async def act(self, body: BulkBody, who: Reviewer) -> list[BulkOutcome]:
        """Act on each request, or tell what would happen; a refusal of one does not stop the others.

        If a store or the broker is away after some requests were done, the others are named as not done.

        Raises:
            UnavailableError: a store or the broker is away, and nothing was done.
        """
        outcomes: list[BulkOutcome] = []
        review_ids = list(dict.fromkeys(body.review_ids))
        for review_id in review_ids:
            try:
                outcomes.append(await self._act(review_id, body, who))
            except UnavailableError as error:
                if body.preview or not any(each.done for each in outcomes):
                    raise
                left = review_ids[len(outcomes) :]
                return outcomes + [BulkOutcome(review_id=each, done=False, detail=describe(error)) for each in left]
            except (ReviewConflict, UnknownReview, InvalidDecision) as error:
                field = error.field if isinstance(error, InvalidDecision) else ""
                outcomes.append(BulkOutcome(review_id=review_id, done=False, detail=str(error), field=field))
        return outcomes

    async def _act(self, review_id: str, body: BulkBody, who: Reviewer) -> BulkOutcome:
        """Act on one request."""
        if body.action in OPINION_ACTIONS:
            return BulkOutcome(
                review_id=review_id, done=True, detail="", undo_until=await self._opinion(review_id, body, who)
            )
        place = await self._service.open_place(review_id, who)
        if body.assignee not in (None, NOBODY):
            self._refuse_stranger(str(body.assignee), place.tenant)
        decision = DecisionBody(
            user_action="reject" if body.action == "reject" else "approve",
            reason=body.reason,
            user_comment=body.comment,
            version=place.version,
        )
        if body.preview:
            if body.action in ("approve", "reject"):
                _, outcome = await self._service.outcome(review_id, decision, who)
            if body.action == "approve":
                claims = enumerate(await self._service.claims(place), 1)
                return BulkOutcome(
                    review_id=review_id, done=True, detail="",
                    shown=outcome.content,
                    contradicted=[
                        ContradictedClaim(number=number, text=claim.text)
                        for number, claim in claims
                        if claim.verdict == "contradicted"
                    ],
                    place=(place.tenant, place.answer_id),
                )  # fmt: skip
            return BulkOutcome(review_id=review_id, done=True, detail="")
        until = None
        match body.action:
            case "assign":
                assignee = "" if body.assignee == NOBODY else str(body.assignee)
                event = await self._service.assign(place, who, assignee)
                until = self._service.undo_until(event.occurred_at)
            case "escalate":
                event = await self._service.escalate(review_id, who, reason=body.reason)
                until = self._service.undo_until(event.occurred_at)
            case _:
                until = (await self._service.decide(review_id, decision, who)).undo_until
        return BulkOutcome(review_id=review_id, done=True, detail="", undo_until=until)

    async def _opinion(self, review_id: str, body: BulkBody, who: Reviewer) -> datetime | None:
        """Ask for a second opinion or take it back; return the end of the time to undo it."""
        service, person = self._service, body.person or ""
        if body.preview:
            await (service.askable if body.action == "ask_opinion" else service.endable)(review_id, who, person)
            return None
        if body.action == "end_opinion":
            return await service.end_opinion(review_id, who, person)
        return service.undo_until((await service.ask_opinion(review_id, who, person)).occurred_at)

    def _refuse_stranger(self, assignee: str, tenant: str) -> None:
        if not self.may_review(assignee, tenant):
            raise InvalidDecision("assignee", stranger_words(assignee))
