"""Read the review queue: its pages, its requests, and second reviews.

Every read uses rows of ClickHouse, which follow the topics with a delay of about a second.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from schemas.review import ReviewRequest
from workers.decision.finality import WITHDRAWAL_REVISION
from workers.privacy.record_masking import Privacy
from workers.review.agreement import cohens_kappa, kappa_interval, review_pairs
from workers.review.queue.cursors import EARLIEST, decided_cursor, open_cursor, write_cursor
from workers.review.queue.deadlines import deadline_action, last_action
from workers.review.queue.left_requests import LeftRequests, standing_escalations
from workers.review.queue.locks import SECOND, DecisionMark, ReviewLocks, is_second
from workers.review.queue.newest_decisions import merged_decisions, newest_decisions
from workers.review.queue.second_share import SECOND_OFFERED, is_sampled, sample_of
from workers.review.reader_outcomes import ReaderOutcome, reader_outcome, reader_outcomes
from workers.review.review_errors import WITHDRAW, UnknownReview
from workers.review.review_models import (
    AskedOpinion,
    ClaimView,
    Disagreement,
    Escalation,
    EvidenceView,
    Filters,
    GivenDecision,
    HistoryEntry,
    Lock,
    QueuePage,
    QueueStats,
    Reviewer,
    ReviewItem,
    ReviewSummary,
    claim_view,
)
from workers.settings import ReviewSettings
from workers.stores.clickhouse.row_reading import Row
from workers.stores.queries.reviews.blind_reviews import Sample
from workers.stores.queries.reviews.review_agreement_queries import DisagreementFilter
from workers.stores.queries.reviews.review_queries import ReviewStore
from workers.stores.queries.reviews.review_queue_rows import QueueFilters, QueueTotals
from workers.stores.queries.totals import agreeing_total
from workers.stores.tables.review_tables import QueueRow


class ReviewQueue:
    """Read the review queue for one reviewer at a time.

    Args:
        store: rows of the queue.
        locks: locks of reviewers and marks of recent decisions.
        settings: settings of reviews.
        privacy: masks decisions before they are kept or sent.
        now: the clock.
        left: skips and escalations of a moment ago, and those that were undone.
    """

    def __init__(
        self,
        store: ReviewStore,
        locks: ReviewLocks,
        settings: ReviewSettings,
        privacy: Privacy,
        now: Callable[[], datetime],
        left: LeftRequests,
    ) -> None:
        self._store = store
        self._locks = locks
        self._settings = settings
        self._privacy = privacy
        self._now = now
        self._left = left

    async def queue(self, filters: Filters, who: Reviewer, *, cursor: str | None, limit: int) -> QueuePage:
        """Return a page of the queue.

        Raises:
            InvalidDecision: the cursor is malformed or was written for another state.
            StoreUnavailable: ClickHouse does not respond.
        """
        wanted = wanted_filters(filters, who)
        if wanted is None:
            return QueuePage(items=[], next_cursor=None, open_count=0)
        places, totals = await self._page(wanted, who, cursor, limit + 1)
        shown, more = places[:limit], len(places) > limit
        following = write_cursor(shown[-1], filters.state) if more else None
        if filters.state == "second":
            shown = await self._unmarked(shown)
        names = [place.key for place in shown]
        locks, people, seconds, escalations, asked = await asyncio.gather(
            self._locks.known([place.review_id for place in shown]),
            self._store.assignees(names),
            self._store.second_reviews([] if filters.state == "open" else names),
            self._store.escalations([] if filters.state == "second" else names),
            self._asked([] if filters.state == "open" else names, who, second=filters.state == "second"),
        )
        standing = standing_escalations(escalations)
        items = [
            self._summary(
                place,
                locks.get(place.review_id),
                people.get(place.key),
                seconds.get(place.key, 0),
                standing.get(place.key),
                asked.get(place.key, []),
                second=filters.state == "second",
            )
            for place in shown
        ]
        total = agreeing_total(totals.number, len(items), first=cursor is None, more=more)
        return QueuePage(
            items=items, next_cursor=following, open_count=total,
            held_count=totals.held, oldest_at=totals.oldest_at,
        )  # fmt: skip

    async def _page(
        self, wanted: QueueFilters, who: Reviewer, cursor: str | None, limit: int
    ) -> tuple[list[QueueRow], QueueTotals]:
        """Return the places after a cursor, in the order of their state, and the totals of all matches."""
        if wanted.state == "open":
            after = open_cursor(cursor)
            without = list(await self._locks.recent())
            return await asyncio.gather(
                self._store.page(wanted, limit=limit, after=after, without=without),
                self._store.open_totals(wanted, without),
            )
        begin, sample = decided_cursor(cursor, wanted.state), self._sample(who)
        if wanted.state == "decided":
            undoable = await self.unstored(who, EARLIEST)
            newest = await newest_decisions(self._store, undoable, wanted, who, self._settings)
            places, number = await asyncio.gather(
                self._store.decided(wanted, sample, limit=limit, after=begin), self._store.count(wanted, sample)
            )
            return merged_decisions(places, newest, begin, limit), QueueTotals(number + len(newest))
        places, number = await asyncio.gather(
            self._store.for_second_review(wanted, sample, limit=limit, after=begin), self._store.count(wanted, sample)
        )
        return places, QueueTotals(number)

    async def item(self, review_id: str, who: Reviewer) -> ReviewItem:
        """Return a request with answer, claims, evidence and history.

        Raises:
            UnknownReview: the request does not exist, or the reviewer may not see it.
        """
        place = await self._place(review_id, who)
        locks = await self._locks.known([review_id])
        return await self._item(place, who, locks.get(review_id), second=await self._is_hidden(place, who))

    async def claims(self, place: QueueRow) -> list[ClaimView]:
        """Return the claims of a request in the order of its page.

        Raises:
            UnknownReview: the request is not stored.
        """
        return await self._claims(place, await self._request(place))

    async def stats(self, who: Reviewer) -> QueueStats:
        """Return statistics of the queue and of recent decisions.

        A request counts as decided from the decision on, also while it can be undone.
        """
        tenants = sorted(who.tenants)
        midnight = self._now().replace(hour=0, minute=0, second=0, microsecond=0)
        recent = await self._locks.recent()
        figures, reviews, unstored = await asyncio.gather(
            self._store.figures(tenants, midnight, without=list(recent)),
            self._store.independent_reviews(tenants),
            self.unstored(who, midnight),
        )
        pairs = review_pairs(reviews)
        return QueueStats(
            backlog=figures.open,
            held=figures.held,
            oldest_at=figures.oldest_at,
            decided_today=figures.decided + sum(not is_second(name) for name, _ in unstored),
            decided_by_policy_today=figures.by_policy,
            agreement=await asyncio.to_thread(cohens_kappa, pairs),
            agreement_interval=None
            if (ends := await asyncio.to_thread(kappa_interval, reviews)) is None
            else list(ends),
            agreement_pairs=len(pairs),
            median_active_seconds=figures.median_seconds,
        )

    async def open_totals(self, who: Reviewer, filters: Filters) -> QueueTotals:
        """Return the totals of the open requests that filters choose; what can still be undone counts as decided."""
        wanted = wanted_filters(filters.of_open, who)
        if wanted is None:
            return QueueTotals(0)
        return await self._store.open_totals(wanted, list(await self._locks.recent()))

    async def readers_got(self, review_id: str, who: Reviewer) -> ReaderOutcome | None:
        """Return what readers got from the final decision on a request; ``None`` without one, or if it was withdrawn.

        Raises:
            UnknownReview: the request does not exist, or the reviewer may not see it.
        """
        place = await self._place(review_id, who)
        decision = await self._store.final_decision(place.tenant, review_id)
        if decision is None:
            return None
        request = await self._request(place)
        # The row of a decision lacks what stands in its request.
        of_request = {"query": request.query, "original_answer": request.answer, "releasable": request.releasable}
        return reader_outcome(decision.model_copy(update=of_request))

    async def unstored(self, who: Reviewer, since: datetime) -> list[tuple[str, DecisionMark]]:
        """Return decisions that rows do not show yet, each with the name of its mark; those that can be undone too."""
        recent = [
            (name, mark)
            for name, mark in (await self._locks.recent()).items()
            if mark.at >= since and mark.action and who.may_see(mark.tenant)
        ]
        stored = await self._store.stored_decisions([mark.decision_id for _, mark in recent])
        return [(name, mark) for name, mark in recent if mark.decision_id not in stored]

    async def disagreements(self, who: Reviewer, chosen: DisagreementFilter | None = None) -> list[Disagreement]:
        """Return the reviews that differ from the final decision, the latest first.

        What the reviewer is still to review is left out: a second review is blind.

        Args:
            who: the reviewer.
            chosen: filter within the tenants of the reviewer; all of these by default.
        """
        chosen = chosen or DisagreementFilter(sorted(who.tenants))
        found = [Disagreement(**row) for row in await self._store.disagreements(chosen)]
        if not found:
            return []
        hidden = await self._hidden(who, found) if who.may_review else set()
        shown = [each for each in found if (each.tenant, each.review_id) not in hidden]
        questions = await self._store.questions([(each.tenant, each.review_id) for each in shown])
        return [each.model_copy(update={"query": questions.get((each.tenant, each.review_id), "")}) for each in shown]

    async def _hidden(self, who: Reviewer, found: Sequence[Disagreement]) -> set[tuple[str, str]]:
        """Return the requests that the reviewer may still review."""
        due = await self._store.for_second_review(
            QueueFilters(tenants=tuple(sorted(who.tenants)), state="second"),
            self._sample(who),
            limit=len(found),
            review_ids=sorted({each.review_id for each in found}),
        )
        return {place.key for place in due}

    async def _place(self, review_id: str, who: Reviewer) -> QueueRow:
        place = await self._store.place(review_id, sorted(who.tenants))
        if place is None:
            raise UnknownReview("unknown review; a new request may not be stored yet, try again in a few seconds")
        return place

    async def _request(self, place: QueueRow) -> ReviewRequest:
        """Return a request; of a decided one the text that was decided on, without claims if another text came since."""
        request = (await self._store.requests([place.key])).get(place.key)
        if request is None:
            raise UnknownReview("what was to be reviewed is not stored; try again in a moment")
        given = [] if place.is_open else await self._store.given_decisions(place.tenant, place.review_id)
        decided_on = next((each for _, each in given if each.original_answer), None)
        if decided_on is None or decided_on.original_answer == request.answer:
            return request
        # The request of another text has replaced the one that was decided.
        return request.model_copy(
            update={"answer": decided_on.original_answer, "releasable": decided_on.releasable, "claims": []}
        )

    async def _seconds(
        self,
        wanted: QueueFilters,
        who: Reviewer,
        limit: int,
        skipped_since: datetime | None = None,
        *,
        asked: bool = False,
    ) -> list[QueueRow]:
        places = await self._store.for_second_review(
            replace(wanted, state="second"), self._sample(who), limit=limit, skipped_since=skipped_since, asked=asked
        )
        return await self._unmarked(places)

    async def _asked(
        self, names: Sequence[tuple[str, str]], who: Reviewer, *, second: bool
    ) -> dict[tuple[str, str], list[AskedOpinion]]:
        """Return the second opinions that are asked for, by request; those of others are hidden while blind."""
        found: dict[tuple[str, str], list[AskedOpinion]] = {}
        for row in await self._store.asked_opinions(names, self._now() - SECOND_OFFERED):
            if not second or row["person"] in ("", who.name):
                opinion = AskedOpinion(person=row["person"] or None, by=row["by"], at=row["at"])
                found.setdefault((row["tenant"], row["review_id"]), []).append(opinion)
        return found

    def _sample(self, who: Reviewer) -> Sample:
        return sample_of(self._settings, who.name, self._now())

    async def _unmarked(self, places: Sequence[QueueRow]) -> list[QueueRow]:
        """Remove requests whose second review was decided a moment ago."""
        names = await self._second_names(places)
        marks = await self._locks.marks(list(names.values()))
        return [place for place in places if names[place.key] not in marks]

    async def _second_names(self, places: Sequence[QueueRow]) -> dict[tuple[str, str], str]:
        """Return the name in the mark of each request's next second review, by tenant and review identifier.

        The name counts the stored reviews, so that the next one can be marked once the rows show the one before.
        """
        stored = await self._store.second_reviews([place.key for place in places])
        return {place.key: f"{SECOND}{stored.get(place.key, 0)}:{place.review_id}" for place in places}

    async def _is_for_second_review(self, place: QueueRow, who: Reviewer) -> bool:
        return await self._is_hidden(place, who) and bool(await self._unmarked([place]))

    async def _is_hidden(self, place: QueueRow, who: Reviewer) -> bool:
        """Return ``True`` if the reviewer may still review a decided request: its decision is hidden until then.

        A second review that somebody else has just made counts once it is stored; it can be undone before.
        """
        if place.is_open:
            return False
        wanted = QueueFilters(tenants=(place.tenant,), state="second")
        found = self._store.for_second_review(wanted, self._sample(who), limit=1, review_ids=[place.review_id])
        return bool(await found)

    async def _item(self, place: QueueRow, who: Reviewer, lock: Lock | None, *, second: bool) -> ReviewItem:
        request = await self._request(place)
        claims = await self._claims(place, request)
        # A second review is blind: the reviewer must not see the first decision.
        place, history, moves = (place, [], []) if second else await self._moved(place, who)
        person = (await self._store.assignees([place.key])).get(place.key)
        escalations = standing_escalations(moves)
        number = 0 if place.is_open else (await self._store.second_reviews([place.key])).get(place.key, 0)
        asked = {} if place.is_open else await self._asked([place.key], who, second=second)
        summary = self._summary(
            place, lock, person, number, escalations.get(place.key), asked.get(place.key, []), second=second
        ).model_dump()
        if not place.is_open:
            # The row of the decision lacks these columns of the request.
            summary |= request.model_dump(
                include={
                    "held", "risk_mode", "priority", "reasons", "signals", "hallucination_risk", "grounding_score",
                    "gate_score", "requested_at", "deadline_at", "queue",
                }
            )  # fmt: skip
        replaced = await self._store.later_text(place, request) if place.is_open else None
        action = last = None
        if place.is_open and place.deadline_at is not None:
            action = deadline_action(self._settings, place.queue, held=place.held, answer=request.answer)
            last = (
                last_action(self._settings, held=place.held, answer=request.answer) if action == "escalate" else action
            )
        return ReviewItem(
            **summary | {"query": request.query},
            answer=request.answer,
            session_id=request.session_id or "",
            completed_at=_completed(place, request),
            answer_metrics=request.answer_metrics,
            conversation=await self._turns(place, request),
            claims=claims,
            contexts=request.contexts,
            contexts_total=request.contexts_total,
            cut_off=request.cut_off,
            steps=request.steps,
            evaluator_versions=request.evaluator_versions,
            query_type=request.releasable.query_type if request.releasable else None,
            shown_state=request.releasable.state if place.is_open and request.releasable else None,
            outcomes=reader_outcomes(request, self._privacy, last) if place.is_open else {},
            at_deadline=action,
            replaced=replaced,
            decisions=await self._given_decisions(place) if not place.is_open and not second else [],
            history=history,
        )

    async def _turns(self, place: QueueRow, request: ReviewRequest) -> str:
        """Return the turns that the answer of a request was sent with, as JSON; empty without any."""
        return await self._store.turns(place.tenant, place.answer_id, _completed(place, request))

    async def _moved(self, place: QueueRow, who: Reviewer) -> tuple[QueueRow, list[HistoryEntry], list[Row]]:
        """Return place, history and escalations of a request, after the reviewer's undo of a moment ago without a row."""
        history = [HistoryEntry(**entry) for entry in await self._store.history(place)]
        moves = await self._store.escalations([place.key])
        undo = await self._left.find(place.review_id, who.name)
        if undo is None or undo.at is None or undo.taken_back_at is None:
            return place, history, moves
        since = _in_rows(undo.taken_back_at)
        if any(each.kind == undo.kind and each.by == who.name and each.at >= since for each in history):
            return place, history, moves
        if undo.queue:
            place = replace(place, queue=undo.queue, deadline_at=undo.deadline)
        moves = [row for row in moves if row["by"] != who.name or row["at"] < since]
        return (
            place,
            [*history, HistoryEntry(kind=undo.kind, by=who.name, at=_in_rows(undo.at), detail=undo.queue)],
            moves,
        )

    async def _given_decisions(self, place: QueueRow) -> list[GivenDecision]:
        return [
            GivenDecision(
                ruling=ruling, by=each.decided_by, at=each.timestamp, action=each.user_action,
                with_warning=each.with_warning, reason=each.reason or "", comment=each.user_comment or "",
                corrected_answer=each.corrected_answer, comparison=each.comparison,
                verdicts={verdict.claim_id: verdict.verdict for verdict in each.claim_verdicts},
            )
            for ruling, each in await self._store.given_decisions(place.tenant, place.review_id)
        ]  # fmt: skip

    async def _claims(self, place: QueueRow, request: ReviewRequest) -> list[ClaimView]:
        """Return all stored claims; return the worst claims of the request until rows are stored, and for an earlier text."""
        rows = await self._store.claims(place.tenant, place.answer_id, _completed(place, request), request.answer)
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

    def _summary(
        self,
        place: QueueRow,
        lock: Lock | None,
        assignee: str | None,
        second_reviews: int,
        escalation: Escalation | None,
        asked: Sequence[AskedOpinion],
        *,
        second: bool,
    ) -> ReviewSummary:
        """Build the summary of a request.

        Args:
            place: place of the request.
            lock: lock of the request.
            assignee: person to whom the request is assigned.
            second_reviews: number of people who reviewed the request after its decision.
            escalation: the last escalation of the request.
            asked: second opinions that are asked for.
            second: the request is shown for a blind second review.
        """
        columns = {
            name: getattr(place, name)
            for name in (
                "review_id", "answer_id", "tenant", "state", "queue", "held", "risk_mode", "priority", "reasons", "signals",
                "hallucination_risk", "grounding_score", "gate_score", "model_id", "requested_at", "deadline_at",
            )
        }  # fmt: skip
        closed = not place.is_open and not second
        state = "open" if second else "withdrawn" if shown_action(place) == WITHDRAW else place.state
        target = self._settings.target_of(place.tenant)
        done = 0 if place.is_open else 1 + second_reviews
        sampled = target.reviews if is_sampled(place.review_id, target.second_share) else 1
        return ReviewSummary(
            **columns | {"state": state},
            query=place.title,
            version=place.version,
            second_review=second,
            reviews_done=done,
            reviews_wanted=max(sampled, done + len(asked)) if asked else sampled,
            asked=list(asked),
            lock=lock,
            escalation=escalation,
            # A second review is blind: most requests are decided by the person whom they were assigned to.
            assignee=None if second else assignee,
            decided_by=place.decided_by if closed else None,
            decided_at=place.decided_at if closed else None,
            action=shown_action(place) if closed else None,
        )


def _in_rows(at: datetime) -> datetime:
    """Return a time as rows have it, which hold milliseconds."""
    return at.replace(microsecond=at.microsecond // 1_000 * 1_000)


def _completed(place: QueueRow, request: ReviewRequest) -> datetime:
    """Return the completion time of the answer, UTC."""
    return request.releasable.completed_at if request.releasable else place.requested_at


def shown_action(place: QueueRow) -> str:
    """Return what was decided on a request; that of an answer that was taken back is ``withdraw``."""
    return WITHDRAW if place.rank == WITHDRAWAL_REVISION else place.action


def wanted_filters(filters: Filters, who: Reviewer) -> QueueFilters | None:
    """Restrict filters to the tenants that the reviewer may see; return ``None`` if no tenant is left."""
    tenants = tuple(sorted(who.tenants))
    if filters.tenant is not None:
        if not who.may_see(filters.tenant):
            return None
        tenants = (filters.tenant,)
    return QueueFilters(tenants=tenants, **filters.model_dump(exclude={"tenant"}))
