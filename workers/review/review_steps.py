"""Serve the steps of a review before its decision: take, lock, skip, escalate and assign a request.

Every step is an event on a topic. Redis keeps locks, and may lose them.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from schemas.headers import event_headers
from schemas.identifiers import record_key
from schemas.reports import Span
from schemas.review import POLICY, ClaimVerdict, ReviewDecision, ReviewEvent, ReviewEventKind, ReviewRequest
from schemas.topics import REVIEW_DECISIONS, REVIEW_EVENTS, Topic
from workers.delivery.producer import ConfirmedProducer
from workers.delivery.records import Output
from workers.privacy.record_masking import Privacy
from workers.review.decision_events import review_event
from workers.review.people import EVERY_TENANT, may_review, reviewing_people, stranger_words
from workers.review.queue.left_requests import Left, LeftRequests, standing_escalations
from workers.review.queue.locks import ReviewLocks
from workers.review.queue.remaining import Remaining, remaining
from workers.review.queue.review_queue import ReviewQueue, shown_action, wanted_filters
from workers.review.queue.second_share import is_turn
from workers.review.queue.shared_state import SharedState
from workers.review.review_errors import (
    WITHDRAW,
    AlreadyDecided,
    InvalidDecision,
    LockedByAnother,
    TooLate,
    final_advice,
)
from workers.review.review_models import Filters, Lock, Reviewer, ReviewItem
from workers.settings import Settings
from workers.stores.queries.reviews.review_queries import ReviewStore
from workers.stores.queries.reviews.review_queue_rows import QueueFilters
from workers.stores.tables.review_tables import QueueRow

NAME = "review"
CANDIDATES = 50
"""Most requests that are tried for a reviewer at once; other reviewers may hold some of them."""
RESUMED = timedelta(seconds=1)
"""Time to a deadline that passed before its request came back: the policy acts as of it, after the event."""
BEGINNING = 500
"""Maximum number of code points of the beginning of an answer, with its Markdown."""
SKIPPED = timedelta(hours=1)
"""Time for which a reviewer who skips a request does not get it again."""


class ReviewSteps(ReviewQueue):
    """Carry out the steps before a decision in the review queue of one console.

    Args:
        store: rows of the queue.
        shared: Redis, for locks and for steps that can be undone.
        producer: sends events and waits for the acknowledgement.
        settings: all settings.
        pipeline_version: version of this process, for headers.
        now: the clock.
    """

    def __init__(
        self,
        store: ReviewStore,
        shared: SharedState,
        producer: ConfirmedProducer,
        settings: Settings,
        pipeline_version: str,
        now: Callable[[], datetime],
    ) -> None:
        locks = ReviewLocks(shared, settings.review.lock_seconds)
        privacy = Privacy(settings.privacy, settings.kafka.max_input_bytes)
        super().__init__(store, locks, settings.review, privacy, now, LeftRequests(shared))
        self._given = LeftRequests(shared, "given")
        self._opinions = LeftRequests(shared, "opinion")
        self._tokens = settings.console.tokens
        self._producer = producer
        self._version = pipeline_version
        self._taken: Counter[str] = Counter()

    # ---------------------------------------------------------------- queue

    async def next(
        self, filters: Filters, who: Reviewer, without: Collection[str] = (), *, opened: bool = True
    ) -> ReviewItem | None:
        """Lock and return the next request that no other reviewer holds; return ``None`` without one.

        Second reviews are returned if the filters or a colleague ask for them, in their share of the requests, or if no
        other request is open.

        Args:
            filters: part of the queue to search.
            who: the reviewer.
            without: requests to leave out, so that a page can load the next request ahead.
            opened: the reviewer is shown the request now; false if ``opened`` reports that later.
        """
        wanted = wanted_filters(filters, who)
        if wanted is None or filters.state == "decided":
            return None
        skipped_since = self._now() - SKIPPED

        async def second_review(*, asked: bool = False) -> ReviewItem | None:
            seconds = await self._seconds(wanted, who, CANDIDATES, skipped_since=skipped_since, asked=asked)
            places = [place for place in seconds if place.review_id not in without]
            return await self._take_first(places, who, second=True, opened=opened)

        if filters.state == "open":
            if self._is_turn_of_second_review(who) and (second := await second_review()) is not None:
                return second
            # What is assigned to the reviewer comes first, what is assigned to others not at all: unless they have left.
            others = tuple(person for person in reviewing_people(self._tokens) if person[0] != who.name)
            parts = [replace(wanted, assignee=who.name), replace(wanted, not_of=others)]
            for part in [wanted] if wanted.assignee else parts:
                # What a colleague asks the reviewer for comes before what is free for all.
                if part is parts[-1] and (asked := await second_review(asked=True)) is not None:
                    return asked
                places = await self._store.page(
                    part,
                    limit=CANDIDATES,
                    without=[*await self._locks.recent(), *without],
                    skipped_by=who.name,
                    skipped_since=skipped_since,
                    # What a reviewer escalated is for others, until they choose its queue or somebody assigns it.
                    escalated_by=who.name if part.queue is None and part.assignee is None else None,
                )
                found = await self._take_first(places, who, second=False, opened=opened)
                if found is not None:
                    return found
        return await second_review()

    async def remaining(self, filters: Filters, who: Reviewer) -> Remaining:
        """Return the open requests that ``next`` does not offer a reviewer, by the reason for it.

        Args:
            filters: part of the queue; without second reviews.
            who: the reviewer.
        """
        recent = list(await self._locks.recent())
        everything = QueueFilters(tenants=tuple(sorted(who.tenants)))
        wanted = wanted_filters(filters.of_open, who) or everything
        places, offered, total, all_open = await asyncio.gather(
            self._store.page(wanted, limit=CANDIDATES, without=recent),
            self._store.page(
                wanted, limit=CANDIDATES, without=recent, skipped_by=who.name, skipped_since=self._now() - SKIPPED
            ),
            self._store.count(wanted, without=recent),
            self._store.count(everything, without=recent),
        )
        names = [place.key for place in places]
        escalations, assignees, locks = await asyncio.gather(
            self._store.escalations(names),
            self._store.assignees(names),
            self._locks.known([place.review_id for place in places]),
        )
        # What was left a moment ago has no row yet.
        left = await asyncio.gather(*(self._left.find(place.review_id, who.name) for place in places))
        kinds = {name: each.kind for name, each in zip(names, left, strict=True) if each is not None}
        standing = standing_escalations(escalations)
        return remaining(
            places,
            who.name,
            skipped=set(names) - {place.key for place in offered}
            | {n for n, kind in kinds.items() if kind == "skipped"},
            escalated={name for name, each in standing.items() if each.by == who.name}
            | {name for name, kind in kinds.items() if kind == "escalated"},
            assignees={key: name for key, name in assignees.items() if may_review(self._tokens, name, key[0])},
            holders={name: lock.holder for name, lock in locks.items()},
            others=max(0, total - len(places)),
            outside=max(0, all_open - total),
        )

    async def beginnings(self, names: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
        """Return the beginnings of the answers of some requests, by tenant and review identifier."""
        return await self._store.beginnings(names, BEGINNING)

    def _is_turn_of_second_review(self, who: Reviewer) -> bool:
        """Return ``True`` in the share of a reviewer's requests that keeps up with the targets."""
        visible = [
            self._settings,
            *(self._settings.tenants[name] for name in self._settings.tenants if who.may_see(name)),
        ]
        further = max(target.second_share * (target.reviews - 1) for target in visible)
        self._taken[who.name] += 1
        return is_turn(self._taken[who.name], further / (1 + further))

    # ---------------------------------------------------------------- locks

    async def lock(self, review_id: str, who: Reviewer) -> Lock | None:
        """Lock a request or renew the lock; return ``None`` if Redis is not available.

        Raises:
            LockedByAnother: another reviewer holds the lock.
            AlreadyDecided: the request is decided and is not due for a second review.
            UnknownReview: the request does not exist, or the reviewer may not see it.
        """
        place = await self._place(review_id, who)
        if not place.is_open and not await self._is_for_second_review(place, who):
            raise await self._closed(place, who)
        await self._refuse_marked(await self._mark_name(place))
        lock = await self._locks.acquire(review_id, who.name, self._now())
        if lock is not None and lock.holder != who.name:
            raise locked_by(lock)
        if lock is not None and self._is_opened_now(lock):
            await self._tell("assigned", place, who)
        return lock

    async def opened(self, review_id: str, who: Reviewer) -> None:
        """Lock a request that was loaded ahead and record that the reviewer is shown it now.

        Raises: see ``lock``.
        """
        if await self.lock(review_id, who) is None:
            await self._tell("assigned", await self._place(review_id, who), who)

    def _is_opened_now(self, lock: Lock) -> bool:
        """Return ``True`` if a lock that was just taken or renewed is of a request that was not shown before."""
        return lock.opened_at == lock.expires_at - timedelta(seconds=self._settings.lock_seconds)

    async def unlock(self, review_id: str, who: Reviewer) -> None:
        """Release the reviewer's lock of a request."""
        place = await self._place(review_id, who)
        lock = (await self._locks.known([review_id])).get(review_id)
        if lock is not None and lock.holder == who.name:
            await self._locks.release(review_id, who.name, self._now())
            if lock.opened_at is not None:
                await self._tell("unassigned", place, who)

    async def skip(self, review_id: str, who: Reviewer) -> None:
        """Leave a request, or its second review, to other reviewers for a while."""
        place = await self._place(review_id, who)
        if not await self._is_for_second_review(place, who):
            await self._refuse_unless_open(place, who)
        event = review_event("skipped", review_id, place.answer_id, place.tenant, by=who.name, at=self._now())
        await self._leave(event, place, who)

    async def escalate(
        self,
        review_id: str,
        who: Reviewer,
        queue: str | None = None,
        reason: str | None = None,
        verdicts: Sequence[ClaimVerdict] = (),
    ) -> ReviewEvent:
        """Move a request to another queue with a new deadline.

        Args:
            review_id: the request.
            who: the reviewer.
            queue: target queue; the queue of the settings by default.
            reason: why others should decide, for the next reviewer.
            verdicts: what the reviewer found about claims, for the next reviewer.

        Raises:
            InvalidDecision: the request is due for a second review, which cannot be escalated, or a verdict names a
                claim that the answer does not make.
        """
        place = await self._place(review_id, who)
        if await self._is_for_second_review(place, who):
            raise InvalidDecision("queue", "a second review cannot be escalated; decide or skip it")
        await self._refuse_unless_open(place, who)
        if verdicts:
            await self._placed(place, await self._request(place), verdicts)
        now = self._now()
        event = review_event(
            "escalated", place.review_id, place.answer_id, place.tenant, by=who.name, at=now,
            queue=queue or self._settings.escalation_queue, reason=reason, claim_verdicts=verdicts,
            deadline=now + timedelta(hours=self._settings.escalation_hours),
        )  # fmt: skip
        # A reason is free text and may hold personal data.
        event = self._privacy.event(event)
        await self._leave(event, place, who)
        return event

    async def _leave(self, event: ReviewEvent, place: QueueRow, who: Reviewer) -> None:
        """Leave a request to others; the step can be undone as long as a decision."""
        await self._send_event(event)
        until = self.undo_until(event.occurred_at)
        left = Left(event.kind, place.queue, place.deadline_at, until or event.occurred_at, at=event.occurred_at)
        await self._left.note(place.review_id, who.name, left, event.occurred_at)
        await self._locks.release(place.review_id, who.name, event.occurred_at)

    def undo_until(self, at: datetime) -> datetime | None:
        """Return the end of the undo window of a step or decision; ``None`` if nothing can be undone."""
        seconds = self._settings.undo_seconds
        return at + timedelta(seconds=seconds) if seconds else None

    async def open_place(self, review_id: str, who: Reviewer) -> QueueRow:
        """Return the place of a request that the reviewer can decide now.

        Raises:
            AlreadyDecided: the request is decided.
            LockedByAnother: another reviewer holds the lock.
            UnknownReview: the request does not exist, or the reviewer may not see it.
        """
        place = await self._place(review_id, who)
        await self._refuse_unless_open(place, who)
        return place

    async def assign(self, place: QueueRow, who: Reviewer, assignee: str) -> ReviewEvent:
        """Assign a request to a person, empty for none; the step can be undone as long as a decision."""
        now = self._now()
        before = await self._given.find(place.review_id, who.name)
        # An assignment of a moment ago has no row yet.
        known = before.given if before and now <= before.undo_until else await self._assignee(place)
        event = await self._give(place, who, assignee, now)
        left = Left("given", "", None, self.undo_until(now) or now, known, assignee)
        await self._given.note(place.review_id, who.name, left, now)
        return event

    async def _give(self, place: QueueRow, who: Reviewer, assignee: str, now: datetime) -> ReviewEvent:
        event = review_event(
            "given", place.review_id, place.answer_id, place.tenant, by=who.name, at=now, assignee=assignee
        )
        await self._send_event(event)
        return event

    async def ask_opinion(self, review_id: str, who: Reviewer, person: str) -> ReviewEvent:
        """Ask for a second opinion on a decided request; the step can be undone as long as a decision.

        Args:
            review_id: the request.
            who: the person who asks.
            person: the person who is asked; empty for anyone who has not reviewed the request.

        Raises: see ``askable``.
        """
        place = await self.askable(review_id, who, person)
        return await self._tell_opinion("opinion_asked", place, who, person)

    async def askable(self, review_id: str, who: Reviewer, person: str) -> QueueRow:
        """Return the place of a request on which a second opinion can be asked for.

        Raises:
            InvalidDecision: no decision of a person stands on the request, or the person cannot give an opinion on it, or is
                asked already.
            UnknownReview: the request does not exist, or the reviewer may not see it.
        """
        place = await self._place(review_id, who)
        await self._refuse_without_decision(place, who)
        able = await self.able_people(place.tenant, review_id, who)
        if person and not may_review(self._tokens, person, place.tenant):
            raise InvalidDecision("person", stranger_words(person))
        if person == who.name:
            raise InvalidDecision("person", "you have seen the decision; ask another person")
        if person and person not in able:
            raise InvalidDecision("person", f"{person} has already reviewed this request; ask another person")
        if not able:
            raise InvalidDecision("person", "everybody else who may review this request has already reviewed it")
        if await self._is_asked(place, who, person, second=False):
            raise InvalidDecision(
                "person", f"{person or 'anyone'} is already asked for a second opinion on this request"
            )
        return place

    async def end_opinion(self, review_id: str, who: Reviewer, person: str) -> datetime | None:
        """Take back the request for a second opinion of a person, or of anyone if empty.

        Returns:
            The end of the time to undo it. Who is asked for the opinion cannot undo it: they would be the one who asks.

        Raises: see ``endable``.
        """
        place = await self.endable(review_id, who, person)
        can_be_undone = not await self._is_hidden(place, who)
        event = await self._tell_opinion("opinion_ended", place, who, person, note=can_be_undone)
        return self.undo_until(event.occurred_at) if can_be_undone else None

    async def endable(self, review_id: str, who: Reviewer, person: str) -> QueueRow:
        """Return the place of a request on which a second opinion is asked for.

        Raises:
            TooLate: no such opinion is asked for, or it was given meanwhile.
            UnknownReview: the request does not exist, or the reviewer may not see it.
        """
        place = await self._place(review_id, who)
        if not await self._is_asked(place, who, person, second=await self._is_hidden(place, who)):
            raise TooLate("this second opinion is not asked for, or it was given meanwhile", "", None)
        return place

    async def _is_asked(self, place: QueueRow, who: Reviewer, person: str, *, second: bool) -> bool:
        """Return ``True`` if a second opinion is asked for; rows may not show the reviewer's last step yet."""
        found = (await self._asked([place.key], who, second=second)).get(place.key, [])
        row = next((each for each in found if (each.person or "") == person), None)
        last = await self._opinions.find(place.review_id, who.name)
        if last is None or last.given != person or last.at is None or (row is not None and row.at > last.at):
            return row is not None
        return last.kind == "opinion_asked" and (row is not None or self._now() <= last.undo_until)

    async def able_people(self, tenant: str, review_id: str, who: Reviewer) -> list[str]:
        """Return the people who can be asked for a second opinion: all others who may review and have not."""
        known = await self._store.reviewing(tenant, review_id)
        names = {name for name, of in reviewing_people(self._tokens) if of in (EVERY_TENANT, tenant)}
        return sorted(names - known - {who.name})

    async def _refuse_without_decision(self, place: QueueRow, who: Reviewer) -> None:
        if place.is_open:
            raise InvalidDecision(
                "review_id", "nothing is decided yet, or the decision can still be undone; ask once it is published"
            )
        if await self._is_hidden(place, who):
            raise InvalidDecision("review_id", "you may still review this request yourself; decide or skip it")
        if place.decided_by in ("", POLICY) or shown_action(place) == WITHDRAW:
            raise InvalidDecision(
                "review_id", "no decision of a person stands on this request, so there is nothing to compare with"
            )

    async def undo_opinion(self, place: QueueRow, who: Reviewer, step: Left) -> None:
        """Take a second opinion back that the reviewer has just asked for, or ask once more for one just taken back.

        Raises:
            TooLate: the step is too old, or the opinion was given meanwhile.
        """
        if self._now() > step.undo_until:
            raise TooLate(
                "the second opinion was asked for or taken back too long ago, so nothing was undone; choose the request in"
                " the list of decided ones",
                who.name,
                step.undo_until,
            )
        for ruling, given in await self._store.given_decisions(place.tenant, place.review_id):
            is_later = step.at is not None and given.timestamp > step.at
            if ruling == "second" and is_later and step.given in ("", given.decided_by):
                raise TooLate(
                    "the second opinion was given meanwhile, so nothing was undone", given.decided_by, given.timestamp
                )
        kind: ReviewEventKind = "opinion_ended" if step.kind == "opinion_asked" else "opinion_asked"
        await self._tell_opinion(kind, place, who, step.given, undone=True)

    async def _tell_opinion(
        self,
        kind: ReviewEventKind,
        place: QueueRow,
        who: Reviewer,
        person: str,
        *,
        note: bool = True,
        undone: bool = False,
    ) -> ReviewEvent:
        now = self._now()
        event = review_event(kind, place.review_id, place.answer_id, place.tenant, by=who.name, at=now, assignee=person)
        await self._send_event(event)
        if note:
            left = Left(kind, "", None, self.undo_until(now) or now, given=person, at=now, undone=undone)
            await self._opinions.note(place.review_id, who.name, left, now)
        return event

    async def _assignee(self, place: QueueRow) -> str:
        """Return the person to whom a request is assigned; empty without one."""
        return (await self._store.assignees([place.key])).get(place.key, "")

    # ---------------------------------------------------------------- refusals

    async def _mark_name(self, place: QueueRow) -> str:
        """Return the name in the mark of the next decision on a request."""
        return place.review_id if place.is_open else (await self._second_names([place]))[place.key]

    async def _closed(self, place: QueueRow, who: Reviewer) -> AlreadyDecided:
        """Return the refusal of a decided request; without a name for those who may still review it."""
        by, at = await self._known_decision(place, who)
        advice = final_advice(shown_action(place), may_withdraw=who.may_withdraw)
        if place.state == "withdrawn":
            return AlreadyDecided(f"the evaluation has made this answer final; take the next one. {advice}", "", None)
        return decided_by(by, at, advice if by else "")

    async def _known_decision(self, place: QueueRow, who: Reviewer) -> tuple[str, datetime | None]:
        """Return person and time of a decision, as far as the reviewer may know them."""
        return ("", None) if await self._is_hidden(place, who) else (place.decided_by, place.decided_at)

    async def _refuse_marked(self, name: str) -> None:
        mark = (await self._locks.marks([name])).get(name)
        if mark is not None:
            raise decided_by(mark.by, mark.at)

    async def _refuse_unless_open(self, place: QueueRow, who: Reviewer) -> None:
        if not place.is_open:
            raise await self._closed(place, who)
        await self._refuse_marked(place.review_id)
        lock = (await self._locks.known([place.review_id])).get(place.review_id)
        if lock is not None and lock.holder != who.name:
            raise locked_by(lock)

    async def _take_first(
        self, places: Sequence[QueueRow], who: Reviewer, *, second: bool, opened: bool
    ) -> ReviewItem | None:
        marks = {} if second else await self._locks.marks([place.review_id for place in places])
        now = self._now()
        for place in places:
            if place.review_id in marks:
                continue
            lock = await self._locks.acquire(place.review_id, who.name, now, opened=opened)
            if lock is None or lock.holder == who.name:
                if opened:
                    await self._tell("assigned", place, who)
                return await self._item(place, who, lock, second=second)
        return None

    async def _placed(
        self, place: QueueRow, request: ReviewRequest, verdicts: Sequence[ClaimVerdict]
    ) -> list[ClaimVerdict]:
        """Add the positions of their claims to verdicts.

        Raises:
            InvalidDecision: a verdict names a claim that the answer does not make.
        """
        if not verdicts:
            return []
        known = {claim.claim_id: claim for claim in await self._claims(place, request)}
        for number, verdict in enumerate(verdicts):
            if verdict.claim_id not in known:
                raise InvalidDecision(f"claim_verdicts.{number}.claim_id", "the answer contains no such claim")
        places = {name: Span(start=claim.start, end=claim.end) for name, claim in known.items()}
        return [verdict.model_copy(update={"span": places[verdict.claim_id]}) for verdict in verdicts]

    # ---------------------------------------------------------------- writes

    async def _tell(
        self,
        kind: ReviewEventKind,
        place: QueueRow,
        who: Reviewer,
        queue: str | None = None,
        deadline: datetime | None = None,
    ) -> None:
        event = review_event(
            kind, place.review_id, place.answer_id, place.tenant,
            by=who.name, at=self._now(), queue=queue, deadline=deadline,
        )  # fmt: skip
        await self._send_event(event)

    async def _send_event(self, event: ReviewEvent) -> None:
        await self._send(REVIEW_EVENTS, event, event.event_id, event.occurred_at)

    async def _publish(self, decision: ReviewDecision) -> None:
        await self._send(REVIEW_DECISIONS, decision, decision.feedback_id, decision.timestamp)

    async def _send(self, topic: Topic, event: ReviewDecision | ReviewEvent, event_id: str, time: datetime) -> None:
        headers = event_headers(
            event_id=event_id,
            event_type=type(event).__name__,
            time=time,
            pipeline_version=self._version,
            agent=NAME,
        )
        await self._producer.send(
            [Output(topic, record_key(event.tenant, event.answer_id).encode(), event.to_bytes(), headers)], agent=NAME
        )


def locked_by(lock: Lock) -> LockedByAnother:
    """Return the refusal of a request that another reviewer holds."""
    return LockedByAnother(
        f"{lock.holder} holds the lock of this request until {lock.expires_at:%Y-%m-%d %H:%M:%S} UTC, or longer while it"
        " is open there; wait until then, or take the next one",
        lock.holder,
        lock.expires_at,
    )


def decided_by(by: str, at: datetime | None, advice: str = "") -> AlreadyDecided:
    """Return the refusal of a decided request, with the advice on one that is published."""
    name = "the policy" if by == POLICY else by or "another reviewer"
    return AlreadyDecided(f"{name} has decided this request; take the next one{advice and f'. {advice}'}", by, at)
