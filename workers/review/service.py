"""The review queue as reviewers use it: look, take, decide, take back.

Everything that is written is an event on a topic, and everything that is read is made of
topics: rows of ClickHouse, a second behind. Locks, and which requests were decided a moment
ago, are kept in Redis and may be lost.
"""

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from schemas.base import Event
from schemas.headers import event_headers
from schemas.identifiers import person_digest
from schemas.reports import Span
from schemas.review import POLICY, ClaimVerdict, ReviewDecision, ReviewEvent, ReviewEventKind, ReviewRequest
from schemas.topics import REVIEW_DECISIONS, REVIEW_EVENTS, Topic
from workers.background import start_background
from workers.delivery.errors import UnavailableError, describe
from workers.delivery.producer import ConfirmedProducer
from workers.delivery.records import Output
from workers.logs import get_logger
from workers.privacy import Privacy
from workers.review.cursors import decided_cursor, open_cursor, write_cursor
from workers.review.errors import (
    AlreadyDecided,
    InvalidDecision,
    LockedByAnother,
    RequestChanged,
    TooLate,
    UnknownReview,
)
from workers.review.locks import Claim, ReviewLocks
from workers.review.models import (
    ClaimView,
    DecisionBody,
    DecisionReceipt,
    EvidenceView,
    Filters,
    HistoryEntry,
    Lock,
    QueuePage,
    QueueStats,
    Reviewer,
    ReviewItem,
    ReviewSummary,
    claim_view,
)
from workers.review.pending import PendingDecisions
from workers.review.shared import SharedState
from workers.settings import Settings
from workers.steps.agreement import cohens_kappa
from workers.steps.reviewing import decided, review_event
from workers.stores.reviews import QueueFilters, QueuePlace, ReviewStore, Sample

NAME = "review"
CANDIDATES = 50
"""Requests that are tried for a reviewer at once: as many may be in the hands of others."""
SECOND = "second:"
"""Before the name of a request, for the claim on its second review."""
DECIDING = frozenset({"approve", "reject", "correct"})

log = get_logger(__name__)


class ReviewService:
    """What a console does with the queue.

    Args:
        store: the queue's rows.
        shared: Redis, for locks and decisions that can be taken back.
        producer: confirms what is written.
        settings: all settings.
        pipeline_version: of this process, for headers.
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
        self._store = store
        self._locks = ReviewLocks(shared, settings.review.lock_seconds)
        self._pending = PendingDecisions(shared, self._publish, now)
        self._producer = producer
        self._settings = settings.review
        self._privacy = Privacy(settings.privacy, settings.kafka.max_input_bytes)
        self._version = pipeline_version
        self._now = now
        self._task: asyncio.Task[None] | None = None
        self.failure: asyncio.Future[Exception] = asyncio.get_running_loop().create_future()

    def start(self) -> None:
        """Begin to publish decisions whose time is up; what ends that is told by ``failure``."""
        self._task = start_background(self._pending.run(), "review-decisions", self.failure)

    async def stop(self) -> None:
        """Publish every decision that is still pending; call it before the producer stops."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        try:
            await self._pending.flush()
        except UnavailableError as error:
            log.warning("decisions_wait", error=describe(error), waiting=self._pending.waiting)

    # ---------------------------------------------------------------- looking

    async def queue(self, filters: Filters, who: Reviewer, *, cursor: str | None, limit: int) -> QueuePage:
        """A page of the queue.

        Raises:
            InvalidDecision: the cursor is none of ours.
            StoreUnavailable: ClickHouse does not answer.
        """
        wanted = _wanted(filters, who)
        if wanted is None:
            return QueuePage(items=[], next_cursor=None, open_count=0)
        places, number = await self._page(wanted, who, cursor, limit + 1)
        shown, more = places[:limit], len(places) > limit
        following = write_cursor(shown[-1], filters.state) if more else None
        if filters.state == "second":
            shown = await self._unclaimed(shown)
        locks = await self._locks.known([place.review_id for place in shown])
        items = [_summary(place, locks.get(place.review_id), second=filters.state == "second") for place in shown]
        return QueuePage(items=items, next_cursor=following, open_count=number)

    async def _page(
        self, wanted: QueueFilters, who: Reviewer, cursor: str | None, limit: int
    ) -> tuple[list[QueuePlace], int]:
        """Places behind a cursor in the order of their state, and how many fit in all."""
        if wanted.state == "open":
            after = open_cursor(cursor)
            without = await self._locks.claimed_here()
            return await asyncio.gather(
                self._store.page(wanted, limit=limit, after=after, without=without), self._store.count(wanted)
            )
        begin = decided_cursor(cursor, wanted.state)
        if wanted.state == "decided":
            return await asyncio.gather(
                self._store.decided(wanted, limit=limit, after=begin), self._store.count(wanted)
            )
        sample = self._sample(who)
        return await asyncio.gather(
            self._store.for_second_review(wanted, sample, limit=limit, after=begin), self._store.count(wanted, sample)
        )

    async def item(self, review_id: str, who: Reviewer) -> ReviewItem:
        """A request with everything that the reviewer looks at.

        Raises:
            UnknownReview: there is none for this reviewer.
        """
        place = await self._place(review_id, who)
        locks = await self._locks.known([review_id])
        second = await self._is_for_second_review(place, who)
        return await self._item(place, locks.get(review_id), second=second)

    async def next(self, filters: Filters, who: Reviewer, without: Collection[str] = ()) -> ReviewItem | None:
        """Take the next request that nobody else has; ``None`` where there is none.

        Second reviews come where they are asked for, and where nothing else is open.

        Args:
            filters: what part of the queue.
            who: for whom.
            without: requests that they have already, so that the next one can be loaded ahead.
        """
        wanted = _wanted(filters, who)
        if wanted is None or filters.state == "decided":
            return None
        skipped_since = self._now() - timedelta(minutes=self._settings.skip_minutes)
        if filters.state == "open":
            places = await self._store.page(
                wanted,
                limit=CANDIDATES,
                without=[*await self._locks.claimed_here(), *without],
                skipped_by=who.name,
                skipped_since=skipped_since,
            )
            found = await self._take_first(places, who, second=False)
            if found is not None:
                return found
        seconds = await self._seconds(wanted, who, CANDIDATES, skipped_since=skipped_since)
        return await self._take_first([place for place in seconds if place.review_id not in without], who, second=True)

    async def gives_second_opinion(self, review_id: str, who: Reviewer) -> bool:
        """Whether this reviewer has a request for a second opinion, and is not to see the first one yet."""
        lock = (await self._locks.known([review_id])).get(review_id)
        if lock is None or lock.holder != who.name:
            return False
        place = await self._store.place(review_id)
        return place is not None and await self._is_for_second_review(place, who)

    async def stats(self, who: Reviewer) -> QueueStats:
        """How the queue stands and how it is worked."""
        tenants = sorted(who.tenants)
        midnight = self._now().replace(hour=0, minute=0, second=0, microsecond=0)
        figures, pairs = await asyncio.gather(self._store.figures(tenants, midnight), self._store.pairs(tenants))
        return QueueStats(
            backlog=figures.open,
            held=figures.held,
            oldest_at=figures.oldest_at,
            decided_today=figures.decided,
            decided_by_policy_today=figures.by_policy,
            agreement=cohens_kappa(pairs),
            agreement_pairs=len(pairs),
            median_active_seconds=figures.median_seconds,
        )

    # ---------------------------------------------------------------- taking

    async def lock(self, review_id: str, who: Reviewer) -> Lock | None:
        """Take a request, or renew the lock; ``None`` where nobody can lock, since Redis is away.

        Raises:
            LockedByAnother: somebody else has it.
            AlreadyDecided: it has its decision, and no second one is asked for.
            UnknownReview: there is none for this reviewer.
        """
        place = await self._place(review_id, who)
        if not place.is_open and not await self._is_for_second_review(place, who):
            raise _decided(place.decided_by, place.decided_at)
        await self._refuse_claimed(review_id if place.is_open else f"{SECOND}{review_id}")
        lock = await self._locks.acquire(review_id, who.name, self._now())
        if lock is not None and lock.holder != who.name:
            raise _locked(lock)
        if lock is not None and lock.since == lock.expires_at - timedelta(seconds=self._settings.lock_seconds):
            await self._tell("assigned", place, who)
        return lock

    async def unlock(self, review_id: str, who: Reviewer) -> None:
        """Give a request back."""
        place = await self._place(review_id, who)
        lock = (await self._locks.known([review_id])).get(review_id)
        if lock is not None and lock.holder == who.name:
            await self._locks.release(review_id, who.name)
            await self._tell("unassigned", place, who)

    async def skip(self, review_id: str, who: Reviewer) -> None:
        """Leave a request, or a second opinion on it, to others for a while."""
        place = await self._place(review_id, who)
        if not await self._is_for_second_review(place, who):
            await self._refuse_unless_open(place, who)
        await self._tell("skipped", place, who)
        await self._locks.release(review_id, who.name)

    async def escalate(self, review_id: str, who: Reviewer, queue: str | None = None) -> ReviewEvent:
        """Move a request to another queue, with a new deadline.

        Args:
            review_id: which request.
            who: by whom.
            queue: where to; the setting's if absent.

        Raises:
            InvalidDecision: it is there for a second opinion, which moves nothing.
        """
        place = await self._place(review_id, who)
        if await self._is_for_second_review(place, who):
            raise InvalidDecision("queue", "what is there for a second opinion is not escalated; decide or skip it")
        await self._refuse_unless_open(place, who)
        deadline = self._now() + timedelta(hours=self._settings.escalation_hours)
        event = await self._tell("escalated", place, who, queue or self._settings.escalation_queue, deadline)
        await self._locks.release(review_id, who.name)
        return event

    # ---------------------------------------------------------------- deciding

    async def decide(self, review_id: str, body: DecisionBody, who: Reviewer) -> DecisionReceipt:
        """Decide, vote, or give a second opinion; the same one sent twice is one.

        Raises:
            AlreadyDecided: somebody was faster.
            LockedByAnother: somebody else has it.
            RequestChanged: a more complete result has replaced what the reviewer saw.
            InvalidDecision: a verdict is on a claim that the answer does not make.
            UnknownReview: there is none for this reviewer.
        """
        if who.name == POLICY:
            raise InvalidDecision("decided_by", "this name stands for deadlines; give the token another one")
        place = await self._place(review_id, who)
        request = await self._request(review_id)
        body = body.model_copy(update={"claim_verdicts": await self._placed(place, request, body.claim_verdicts)})
        now = self._now()
        lock = (await self._locks.known([review_id])).get(review_id)
        second = await self._is_for_second_review(place, who)
        decision = self._decision(request, body, who, now, lock, second=second)
        if body.user_action not in DECIDING:
            await self._publish(decision)
            return DecisionReceipt(decision_id=decision.feedback_id, undo_until=None)
        name = f"{SECOND}{review_id}" if second else review_id
        claim = (await self._locks.claims([name])).get(name)
        if claim is not None and claim.decision_id == decision.feedback_id:
            return self._receipt(decision.feedback_id, claim.at)
        if not place.is_open and not second:
            raise _decided(place.decided_by, place.decided_at)
        if claim is not None:
            raise _decided(claim.by, claim.at)
        if lock is not None and lock.holder != who.name:
            raise _locked(lock)
        if body.version is not None and body.version != place.rank:
            raise RequestChanged("the request has changed since you saw it; look again", place.model_id, None)
        standing = await self._locks.claim(name, Claim(decision.feedback_id, who.name, now))
        if standing.decision_id != decision.feedback_id:
            raise _decided(standing.by, standing.at)
        await self._keep_or_publish(decision, now)
        await self._locks.release(review_id, who.name)
        return self._receipt(decision.feedback_id, now)

    async def undo(self, review_id: str, who: Reviewer) -> None:
        """Take one's decision back while it is not published.

        Raises:
            TooLate: it is published, or there is none of this reviewer.
            UnknownReview: there is none for this reviewer.
        """
        place = await self._place(review_id, who)
        names = [review_id, f"{SECOND}{review_id}"]
        for name, claim in (await self._locks.claims(names)).items():
            if claim.by == who.name and await self._pending.take_back(claim.decision_id):
                await self._locks.withdraw(name)
                await self._tell("undone", place, who)
                return
        raise TooLate("there is no decision of yours to take back any more", place.decided_by, place.decided_at)

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
            # Nobody can have looked for longer than they had it.
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

    async def _keep_or_publish(self, decision: ReviewDecision, now: datetime) -> None:
        # Before it waits in Redis: a correction may hold what is to be masked.
        decision = self._privacy.event(decision)
        if self._settings.undo_seconds:
            await self._pending.add(decision, now + timedelta(seconds=self._settings.undo_seconds))
            return
        try:
            await self._publish(decision)
        except UnavailableError:
            await self._locks.withdraw(decision.review_id)
            raise

    def _receipt(self, decision_id: str, at: datetime) -> DecisionReceipt:
        seconds = self._settings.undo_seconds
        return DecisionReceipt(decision_id=decision_id, undo_until=at + timedelta(seconds=seconds) if seconds else None)

    async def _placed(
        self, place: QueuePlace, request: ReviewRequest, verdicts: Sequence[ClaimVerdict]
    ) -> list[ClaimVerdict]:
        """Verdicts with the places of their claims, which the decision carries along."""
        if not verdicts:
            return []
        known = {claim.claim_id: claim for claim in await self._claims(place, request)}
        for number, verdict in enumerate(verdicts):
            if verdict.claim_id not in known:
                raise InvalidDecision(f"claim_verdicts.{number}.claim_id", "the answer makes no such claim")
        places = {name: Span(start=claim.start, end=claim.end) for name, claim in known.items()}
        return [verdict.model_copy(update={"span": places[verdict.claim_id]}) for verdict in verdicts]

    async def _refuse_claimed(self, name: str) -> None:
        claim = (await self._locks.claims([name])).get(name)
        if claim is not None:
            raise _decided(claim.by, claim.at)

    # ---------------------------------------------------------------- reading what there is

    async def _place(self, review_id: str, who: Reviewer) -> QueuePlace:
        place = await self._store.place(review_id)
        if place is None or not who.may_see(place.tenant):
            raise UnknownReview("there is no such review; it may not be stored yet, try again in a moment")
        return place

    async def _refuse_unless_open(self, place: QueuePlace, who: Reviewer) -> None:
        if not place.is_open:
            raise _decided(place.decided_by, place.decided_at)
        await self._refuse_claimed(place.review_id)
        lock = (await self._locks.known([place.review_id])).get(place.review_id)
        if lock is not None and lock.holder != who.name:
            raise _locked(lock)

    async def _request(self, review_id: str) -> ReviewRequest:
        request = (await self._store.requests([review_id])).get(review_id)
        if request is None:
            raise UnknownReview("what was to be reviewed is not stored; try again in a moment")
        return request

    async def _seconds(
        self,
        wanted: QueueFilters,
        who: Reviewer,
        limit: int,
        review_id: str | None = None,
        skipped_since: datetime | None = None,
    ) -> list[QueuePlace]:
        places = await self._store.for_second_review(
            replace(wanted, state="second"),
            self._sample(who),
            limit=limit,
            review_id=review_id,
            skipped_since=skipped_since,
        )
        return await self._unclaimed(places)

    def _sample(self, who: Reviewer) -> Sample:
        since = self._now() - timedelta(days=self._settings.second_days)
        return Sample(who.name, self._settings.second_share, since)

    async def _unclaimed(self, places: Sequence[QueuePlace]) -> list[QueuePlace]:
        """Second reviews that nobody has decided a moment ago."""
        claims = await self._locks.claims([f"{SECOND}{place.review_id}" for place in places])
        return [place for place in places if f"{SECOND}{place.review_id}" not in claims]

    async def _is_for_second_review(self, place: QueuePlace, who: Reviewer) -> bool:
        if place.is_open:
            return False
        wanted = QueueFilters(tenants=(place.tenant,), state="second")
        return bool(await self._seconds(wanted, who, 1, place.review_id))

    async def _take_first(self, places: Sequence[QueuePlace], who: Reviewer, *, second: bool) -> ReviewItem | None:
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

    async def _item(self, place: QueuePlace, lock: Lock | None, *, second: bool) -> ReviewItem:
        request = await self._request(place.review_id)
        claims = await self._claims(place, request)
        # A second opinion is blind: it does not see the first.
        history = [] if second else await self._store.history(place.review_id)
        summary = _summary(place, lock, second=second).model_dump()
        if not place.is_open:
            # The row that closed it knows nothing of how it was asked for.
            summary |= request.model_dump(
                include={
                    "held", "risk_mode", "priority", "reasons", "signals", "hallucination_risk", "grounding_score",
                    "gate_score", "requested_at", "deadline_at", "queue",
                }
            )  # fmt: skip
        return ReviewItem(
            **summary | {"query": request.query},
            answer=request.answer,
            answer_metrics=request.answer_metrics,
            claims=claims,
            contexts=request.contexts,
            contexts_total=request.contexts_total,
            evaluator_versions=request.evaluator_versions,
            history=[HistoryEntry(**entry) for entry in history],
        )

    async def _claims(self, place: QueuePlace, request: ReviewRequest) -> list[ClaimView]:
        """All claims as they are stored; the request's worst ones where no row is there yet."""
        completed = request.releasable.completed_at if request.releasable else place.requested_at
        rows = await self._store.claims(place.tenant, place.answer_id, completed)
        if rows:
            return [claim_view(row) for row in rows]
        return [
            ClaimView(
                start=claim.span.start,
                end=claim.span.end,
                evidence=EvidenceView(
                    chunk_id=claim.evidence.chunk_id,
                    start=claim.evidence.span.start,
                    end=claim.evidence.span.end,
                    text=claim.evidence.excerpt,
                )
                if claim.evidence
                else None,
                **claim.model_dump(
                    include={"claim_id", "text", "kind", "hedged", "verdict", "score", "mismatches", "verifier_score"}
                ),
            )
            for claim in sorted(request.claims, key=lambda claim: claim.span.start)
        ]

    # ---------------------------------------------------------------- writing

    async def _tell(
        self,
        kind: ReviewEventKind,
        place: QueuePlace,
        who: Reviewer,
        queue: str | None = None,
        deadline: datetime | None = None,
    ) -> ReviewEvent:
        event = review_event(
            kind, place.review_id, place.answer_id, place.tenant,
            by=who.name, at=self._now(), queue=queue, deadline=deadline,
        )  # fmt: skip
        await self._send(REVIEW_EVENTS, event, event.answer_id, event.event_id, event.occurred_at)
        return event

    async def _publish(self, decision: ReviewDecision) -> None:
        await self._send(REVIEW_DECISIONS, decision, decision.answer_id, decision.feedback_id, decision.timestamp)

    async def _send(self, topic: Topic, event: Event, key: str, event_id: str, time: datetime) -> None:
        headers = event_headers(
            event_id=event_id,
            event_type=type(event).__name__,
            time=time,
            pipeline_version=self._version,
            agent=NAME,
        )
        await self._producer.send([Output(topic, key.encode(), event.to_bytes(), headers)], agent=NAME)


def _wanted(filters: Filters, who: Reviewer) -> QueueFilters | None:
    """What is asked for, within what the reviewer may see; ``None`` for nothing."""
    tenants = tuple(sorted(who.tenants))
    if filters.tenant is not None:
        if not who.may_see(filters.tenant):
            return None
        tenants = (filters.tenant,)
    return QueueFilters(tenants=tenants, **filters.model_dump(exclude={"tenant"}))


def _summary(place: QueuePlace, lock: Lock | None, *, second: bool) -> ReviewSummary:
    columns = {
        name: getattr(place, name)
        for name in (
            "review_id", "answer_id", "tenant", "state", "queue", "held", "risk_mode", "priority", "reasons", "signals",
            "hallucination_risk", "grounding_score", "gate_score", "model_id", "requested_at", "deadline_at",
        )
    }  # fmt: skip
    closed = not place.is_open and not second
    return ReviewSummary(
        **columns | ({"state": "open"} if second else {}),
        query=place.title,
        version=place.rank,
        second_review=second,
        lock=lock,
        decided_by=place.decided_by if closed else None,
        decided_at=place.decided_at if closed else None,
        action=place.action if closed else None,
    )


def _locked(lock: Lock) -> LockedByAnother:
    return LockedByAnother(f"{lock.holder} has this request; take the next one", lock.holder, lock.expires_at)


def _decided(by: str, at: datetime | None) -> AlreadyDecided:
    return AlreadyDecided(f"{by or 'somebody'} has decided this request; take the next one", by, at)
