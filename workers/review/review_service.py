"""Serve the review queue: lock, decide, undo.

Every write is an event on a topic. Redis keeps locks and recent decisions, and may lose them.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from schemas.headers import event_headers
from schemas.identifiers import person_digest, record_key
from schemas.reports import Span
from schemas.review import POLICY, ClaimVerdict, ReviewDecision, ReviewEvent, ReviewEventKind, ReviewRequest
from schemas.topics import REVIEW_DECISIONS, REVIEW_EVENTS, Topic
from workers.delivery.producer import ConfirmedProducer
from workers.delivery.records import Output
from workers.errors import UnavailableError, describe
from workers.observability.logs import get_logger
from workers.privacy.record_masking import Privacy
from workers.process.background import start_background, stop_background
from workers.review.decision_events import decided, review_event
from workers.review.locks import Claim, ReviewLocks
from workers.review.pending import PendingDecisions
from workers.review.review_errors import (
    AlreadyDecided,
    InvalidDecision,
    LockedByAnother,
    RequestChanged,
    TooLate,
)
from workers.review.review_models import (
    DecisionBody,
    DecisionReceipt,
    Filters,
    Lock,
    Reviewer,
    ReviewItem,
)
from workers.review.review_queue import ReviewQueue, wanted_filters
from workers.review.second_share import is_turn
from workers.review.shared_state import SharedState
from workers.settings import Settings
from workers.stores.queries.review_queries import ReviewStore
from workers.stores.tables.review_tables import QueueRow

NAME = "review"
CANDIDATES = 50
"""Most requests that are tried for a reviewer at once; other reviewers may hold some of them."""
SKIPPED = timedelta(hours=1)
"""Time for which a reviewer who skips a request does not get it again."""
DECIDING = frozenset({"approve", "reject", "correct"})

log = get_logger(__name__)


class ReviewService(ReviewQueue):
    """The review queue of one console, with locks and decisions.

    Args:
        store: rows of the queue.
        shared: Redis, for locks and for decisions in their undo window.
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
        super().__init__(store, ReviewLocks(shared, settings.review.lock_seconds), settings.review, now)
        self._pending = PendingDecisions(shared, self._publish, now)
        self._producer = producer
        self._privacy = Privacy(settings.privacy, settings.kafka.max_input_bytes)
        self._version = pipeline_version
        self._task: asyncio.Task[None] | None = None
        self._taken: Counter[str] = Counter()
        self.failure: asyncio.Future[Exception] = asyncio.get_running_loop().create_future()

    def start(self) -> None:
        """Start the background task that publishes due decisions; ``failure`` reports its error."""
        self._task = start_background(self._pending.run(), "review-decisions", self.failure)

    async def stop(self) -> None:
        """Publish all pending decisions; call this before the producer stops."""
        if self._task is not None:
            await stop_background(self._task)
        try:
            await self._pending.flush()
        except UnavailableError as error:
            log.warning("decisions_delayed", error=describe(error), waiting=self._pending.waiting)

    # ---------------------------------------------------------------- queue

    async def next(self, filters: Filters, who: Reviewer, without: Collection[str] = ()) -> ReviewItem | None:
        """Lock and return the next request that no other reviewer holds; return ``None`` without one.

        Second reviews are returned if the filters ask for them, in their share of the requests, or if no other
        request is open.

        Args:
            filters: part of the queue to search.
            who: the reviewer.
            without: requests to leave out, so that a page can load the next request ahead.
        """
        wanted = wanted_filters(filters, who)
        if wanted is None or filters.state == "decided":
            return None
        skipped_since = self._now() - SKIPPED

        async def second_review() -> ReviewItem | None:
            seconds = await self._seconds(wanted, who, CANDIDATES, skipped_since=skipped_since)
            places = [place for place in seconds if place.review_id not in without]
            return await self._take_first(places, who, second=True)

        if filters.state == "open":
            if self._is_turn_of_second_review(who) and (second := await second_review()) is not None:
                return second
            # What is assigned to the reviewer comes first, what is assigned to others not at all.
            parts = [replace(wanted, assignee=who.name), replace(wanted, for_person=who.name)]
            for part in [wanted] if wanted.assignee else parts:
                places = await self._store.page(
                    part,
                    limit=CANDIDATES,
                    without=[*await self._locks.claimed_here(), *without],
                    skipped_by=who.name,
                    skipped_since=skipped_since,
                )
                found = await self._take_first(places, who, second=False)
                if found is not None:
                    return found
        return await second_review()

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
        await self._refuse_claimed(await self._claim_name(place))
        lock = await self._locks.acquire(review_id, who.name, self._now())
        if lock is not None and lock.holder != who.name:
            raise _locked(lock)
        if lock is not None and lock.since == lock.expires_at - timedelta(seconds=self._settings.lock_seconds):
            await self._tell("assigned", place, who)
        return lock

    async def unlock(self, review_id: str, who: Reviewer) -> None:
        """Release the reviewer's lock of a request."""
        place = await self._place(review_id, who)
        lock = (await self._locks.known([review_id])).get(review_id)
        if lock is not None and lock.holder == who.name:
            await self._locks.release(review_id, who.name)
            await self._tell("unassigned", place, who)

    async def skip(self, review_id: str, who: Reviewer) -> None:
        """Leave a request, or its second review, to other reviewers for a while."""
        place = await self._place(review_id, who)
        if not await self._is_for_second_review(place, who):
            await self._refuse_unless_open(place, who)
        await self._tell("skipped", place, who)
        await self._locks.release(review_id, who.name)

    async def escalate(self, review_id: str, who: Reviewer, queue: str | None = None) -> ReviewEvent:
        """Move a request to another queue with a new deadline.

        Args:
            review_id: the request.
            who: the reviewer.
            queue: target queue; the queue of the settings by default.

        Raises:
            InvalidDecision: the request is due for a second review, which cannot be escalated.
        """
        place = await self._place(review_id, who)
        if await self._is_for_second_review(place, who):
            raise InvalidDecision("queue", "a second review cannot be escalated; decide or skip it")
        await self._refuse_unless_open(place, who)
        deadline = self._now() + timedelta(hours=self._settings.escalation_hours)
        event = await self._tell("escalated", place, who, queue or self._settings.escalation_queue, deadline)
        await self._locks.release(review_id, who.name)
        return event

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

    async def assign(self, place: QueueRow, who: Reviewer, assignee: str) -> None:
        """Assign a request to a person; empty takes it back."""
        event = review_event(
            "given", place.review_id, place.answer_id, place.tenant, by=who.name, at=self._now(), assignee=assignee
        )
        await self._send(REVIEW_EVENTS, event, event.event_id, event.occurred_at)

    # ---------------------------------------------------------------- decisions

    async def decide(self, review_id: str, body: DecisionBody, who: Reviewer) -> DecisionReceipt:
        """Record a decision, a vote or a second review; a decision sent twice counts once.

        Raises:
            AlreadyDecided: the request is already decided.
            LockedByAnother: another reviewer holds the lock.
            RequestChanged: a more complete result has replaced the request that the reviewer saw.
            InvalidDecision: a verdict names a claim that the answer does not make, or a correction changes nothing.
            UnknownReview: the request does not exist, or the reviewer may not see it.
        """
        if who.name == POLICY:
            raise InvalidDecision("decided_by", "this name is reserved for deadlines; rename the access token")
        place = await self._place(review_id, who)
        request = await self._request(place)
        if body.user_action == "correct" and (body.corrected_answer or "").strip() == request.answer.strip():
            raise InvalidDecision("corrected_answer", "the text equals the answer; edit it, or approve the answer")
        body = body.model_copy(update={"claim_verdicts": await self._placed(place, request, body.claim_verdicts)})
        now = self._now()
        lock = (await self._locks.known([review_id])).get(review_id)
        second = await self._is_for_second_review(place, who)
        decision = self._decision(request, body, who, now, lock, second=second)
        if body.user_action not in DECIDING:
            await self._publish(decision)
            return DecisionReceipt(decision_id=decision.feedback_id, undo_until=None)
        name = await self._claim_name(place)
        claim = (await self._locks.claims([name])).get(name)
        if claim is not None and claim.decision_id == decision.feedback_id:
            return self._receipt(decision.feedback_id, claim.at)
        if not place.is_open and not second:
            raise await self._closed(place, who)
        if claim is not None:
            raise _decided(claim.by, claim.at)
        if lock is not None and lock.holder != who.name:
            raise _locked(lock)
        if body.version is not None and body.version != place.rank:
            raise RequestChanged("the request has changed since you opened it; load it again", place.model_id, None)
        standing = await self._locks.claim(name, Claim(decision.feedback_id, who.name, now))
        if standing.decision_id != decision.feedback_id:
            raise _decided(standing.by, standing.at)
        await self._keep_or_publish(decision, now, name)
        await self._locks.release(review_id, who.name)
        return self._receipt(decision.feedback_id, now)

    async def undo(self, review_id: str, who: Reviewer) -> None:
        """Undo the reviewer's own decision before it is published.

        Raises:
            TooLate: the decision is published, or the reviewer made none.
            UnknownReview: the request does not exist, or the reviewer may not see it.
        """
        place = await self._place(review_id, who)
        names = {review_id, await self._claim_name(place)}
        for name, claim in (await self._locks.claims(sorted(names))).items():
            if claim.by == who.name and await self._pending.take_back(claim.decision_id):
                await self._locks.withdraw(name)
                await self._tell("undone", place, who)
                return
        by, at = await self._known_decision(place, who)
        raise TooLate("nothing can be undone: your decision has been published, or you made none", by, at)

    def _decision(
        self,
        request: ReviewRequest,
        body: DecisionBody,
        who: Reviewer,
        now: datetime,
        lock: Lock | None,
        *,
        second: bool,
    ) -> ReviewDecision:
        duration = body.review_duration
        if lock is not None and lock.holder == who.name:
            # The review cannot have taken longer than the reviewer held the lock.
            duration = min(duration, max(0.0, (now - lock.since).total_seconds()))
        return decided(
            request,
            by=who.name,
            profile={"reviewer": person_digest("reviewer", who.name)[:16], "role": "reviewer"},
            at=now,
            action=body.user_action,
            duration=duration,
            comment=body.user_comment,
            reason=body.reason,
            corrected_answer=body.corrected_answer,
            with_warning=body.with_warning,
            second_review=second,
            claim_verdicts=body.claim_verdicts,
        )

    async def _claim_name(self, place: QueueRow) -> str:
        """Return the name in the claim of the next decision on a request."""
        return place.review_id if place.is_open else (await self._second_names([place]))[place.key]

    async def _keep_or_publish(self, decision: ReviewDecision, now: datetime, name: str) -> None:
        # Mask before the copy goes to Redis: a correction may hold personal data.
        decision = self._privacy.event(decision)
        if self._settings.undo_seconds:
            await self._pending.add(decision, now + timedelta(seconds=self._settings.undo_seconds))
            return
        try:
            await self._publish(decision)
        except UnavailableError:
            await self._locks.withdraw(name)
            raise

    def _receipt(self, decision_id: str, at: datetime) -> DecisionReceipt:
        seconds = self._settings.undo_seconds
        return DecisionReceipt(decision_id=decision_id, undo_until=at + timedelta(seconds=seconds) if seconds else None)

    async def _placed(
        self, place: QueueRow, request: ReviewRequest, verdicts: Sequence[ClaimVerdict]
    ) -> list[ClaimVerdict]:
        """Add the positions of their claims to verdicts."""
        if not verdicts:
            return []
        known = {claim.claim_id: claim for claim in await self._claims(place, request)}
        for number, verdict in enumerate(verdicts):
            if verdict.claim_id not in known:
                raise InvalidDecision(f"claim_verdicts.{number}.claim_id", "the answer contains no such claim")
        places = {name: Span(start=claim.start, end=claim.end) for name, claim in known.items()}
        return [verdict.model_copy(update={"span": places[verdict.claim_id]}) for verdict in verdicts]

    async def _closed(self, place: QueueRow, who: Reviewer) -> AlreadyDecided:
        """Return the refusal of a decided request; without a name for those who may still review it."""
        return _decided(*await self._known_decision(place, who))

    async def _known_decision(self, place: QueueRow, who: Reviewer) -> tuple[str, datetime | None]:
        """Return person and time of a decision, as far as the reviewer may know them."""
        return ("", None) if await self._is_hidden(place, who) else (place.decided_by, place.decided_at)

    async def _refuse_claimed(self, name: str) -> None:
        claim = (await self._locks.claims([name])).get(name)
        if claim is not None:
            raise _decided(claim.by, claim.at)

    async def _refuse_unless_open(self, place: QueueRow, who: Reviewer) -> None:
        if not place.is_open:
            raise await self._closed(place, who)
        await self._refuse_claimed(place.review_id)
        lock = (await self._locks.known([place.review_id])).get(place.review_id)
        if lock is not None and lock.holder != who.name:
            raise _locked(lock)

    async def _take_first(self, places: Sequence[QueueRow], who: Reviewer, *, second: bool) -> ReviewItem | None:
        claims = {} if second else await self._locks.claims([place.review_id for place in places])
        now = self._now()
        for place in places:
            if place.review_id in claims:
                continue
            lock = await self._locks.acquire(place.review_id, who.name, now)
            if lock is None or lock.holder == who.name:
                await self._tell("assigned", place, who)
                return await self._item(place, lock, second=second)
        return None

    # ---------------------------------------------------------------- writes

    async def _tell(
        self,
        kind: ReviewEventKind,
        place: QueueRow,
        who: Reviewer,
        queue: str | None = None,
        deadline: datetime | None = None,
    ) -> ReviewEvent:
        event = review_event(
            kind, place.review_id, place.answer_id, place.tenant,
            by=who.name, at=self._now(), queue=queue, deadline=deadline,
        )  # fmt: skip
        await self._send(REVIEW_EVENTS, event, event.event_id, event.occurred_at)
        return event

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


def _locked(lock: Lock) -> LockedByAnother:
    return LockedByAnother(
        f"{lock.holder} holds the lock of this request; take the next one", lock.holder, lock.expires_at
    )


def _decided(by: str, at: datetime | None) -> AlreadyDecided:
    return AlreadyDecided(f"{by or 'another reviewer'} has decided this request; take the next one", by, at)
