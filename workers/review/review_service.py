"""Serve the review queue: decide, undo.

Every write is an event on a topic. Redis keeps locks and recent decisions, and may lose them.
"""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from schemas.grounding import Claim
from schemas.identifiers import fact_id, person_digest
from schemas.review import CorrectionComparison, ReviewDecision, ReviewRequest
from workers.decision.reader_text.correction_references import correction_references, dangling_references
from workers.decision.reader_text.shown_text import shows_nothing
from workers.delivery.producer import ConfirmedProducer
from workers.errors import TouchstoneError, UnavailableError, describe
from workers.observability.logs import get_logger
from workers.process.background import start_background, stop_background
from workers.review.correction_comparisons import ComparedText, KeptComparisons, answer_to_compare, comparison_of
from workers.review.decision_events import decided, review_event, withdrawal
from workers.review.queue.left_requests import Left
from workers.review.queue.locks import DecisionMark
from workers.review.queue.pending import PendingDecisions
from workers.review.queue.released_requests import released_request
from workers.review.queue.review_queue import shown_action
from workers.review.queue.shared_state import SharedState
from workers.review.reader_outcomes import ReaderOutcome, reader_outcome, refuse_blank, refuse_dangling
from workers.review.review_errors import (
    AlreadyDecided,
    InvalidDecision,
    RequestChanged,
    TooLate,
    final_advice,
)
from workers.review.review_models import (
    DecisionBody,
    DecisionReceipt,
    Lock,
    Reviewer,
    WithdrawalBody,
)
from workers.review.review_steps import RESUMED, ReviewSteps, decided_by, locked_by
from workers.settings import Settings
from workers.stores.clickhouse.row_reading import Row
from workers.stores.clickhouse.rows.review_rows import decision_row
from workers.stores.queries.answer_queries import cut_at_word
from workers.stores.queries.reviews.review_queries import ReviewStore
from workers.stores.tables.review_tables import QueueRow

QUESTION_LENGTH = 60
"""Length of a question in a message, code points."""
DECIDING = frozenset({"approve", "reject", "correct"})

log = get_logger(__name__)


class ReviewService(ReviewSteps):
    """Serve the review queue of one console, with locks and decisions.

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
        super().__init__(store, shared, producer, settings, pipeline_version, now)
        self._pending = PendingDecisions(shared, self._publish, self._locks.withdraw, now)
        self._compared = KeptComparisons(shared)
        self._release = settings.release
        self._most_bytes = settings.kafka.largest_result_bytes
        self._task: asyncio.Task[None] | None = None
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

    # ---------------------------------------------------------------- decisions

    async def decide(self, review_id: str, body: DecisionBody, who: Reviewer) -> DecisionReceipt:
        """Record a decision, a vote or a second review; a decision sent twice counts once.

        Raises:
            AlreadyDecided: the request is already decided.
            LockedByAnother: another reviewer holds the lock.
            RequestChanged: a more complete result, or one of another text, has replaced the request that the reviewer saw.
            InvalidDecision: a verdict names a claim that the answer does not make, a correction changes nothing
                or has a reference that leads nowhere, or the decision does not fit into a record.
            UnknownReview: the request does not exist, or the reviewer may not see it.
        """
        place = await self._place(review_id, who)
        request = await self._request(place)
        if body.user_action == "correct" and (body.corrected_answer or "").strip() == request.answer.strip():
            raise InvalidDecision("corrected_answer", "the text equals the answer; edit it, or approve the answer")
        if body.user_action == "correct":
            refuse_dangling(request, body.corrected_answer or "")
        body = body.model_copy(update={"claim_verdicts": await self._placed(place, request, body.claim_verdicts)})
        now = self._now()
        lock = (await self._locks.known([review_id])).get(review_id)
        second = await self._is_for_second_review(place, who)
        decision = self._decision(request, body, who, now, lock, second=second)
        refuse_blank(decision)
        self._refuse_oversize(decision)
        decision = await self._with_comparison(place, decision)
        if body.user_action not in DECIDING:
            await self._publish(decision)
            return DecisionReceipt(decision_id=decision.feedback_id, undo_until=None)
        name = await self._mark_name(place)
        mark = (await self._locks.marks([name])).get(name)
        if mark is not None and mark.decision_id == decision.feedback_id:
            return self._receipt(decision.feedback_id, mark.at)
        if not place.is_open and not second:
            raise await self._closed(place, who)
        if mark is not None:
            raise decided_by(mark.by, mark.at)
        if lock is not None and lock.holder != who.name:
            raise locked_by(lock)
        if body.version is not None and body.version != place.version:
            raise RequestChanged("the request has changed since you opened it; load it again", place.model_id, None)
        standing = await self._locks.mark(
            name, DecisionMark(decision.feedback_id, who.name, now, place.tenant, body.user_action, body.with_warning)
        )
        if standing.decision_id != decision.feedback_id:
            raise decided_by(standing.by, standing.at)
        await self._keep_or_publish(decision, now, name)
        await self._locks.release(review_id, who.name)
        return self._receipt(decision.feedback_id, now)

    async def outcome(self, review_id: str, body: DecisionBody, who: Reviewer) -> tuple[QueueRow, ReaderOutcome]:
        """Return a request's place and what readers would get from a decision; nothing is decided.

        Raises:
            AlreadyDecided: the request is already decided.
            InvalidDecision: the action decides nothing, readers would get an empty text, or a reference of a correction
                leads nowhere.
            UnknownReview: the request does not exist, or the reviewer may not see it.
        """
        if body.user_action not in DECIDING:
            raise InvalidDecision("user_action", "a vote changes nothing for readers; send approve, correct or reject")
        place = await self._place(review_id, who)
        if not place.is_open:
            raise await self._closed(place, who)
        request = await self._request(place)
        if body.user_action == "correct":
            refuse_dangling(request, body.corrected_answer or "")
        decision = self._decision(request, body, who, self._now(), None, second=False)
        refuse_blank(decision)
        return place, reader_outcome(decision)

    async def to_compare(self, review_id: str, text: str, who: Reviewer) -> ComparedText:
        """Return a corrected text as an answer that can be evaluated with the sources of its request; decides nothing.

        Raises:
            AlreadyDecided: the request is already decided.
            InvalidDecision: readers would see nothing of the text, or there are no sources to compare it with.
            UnknownReview: the request does not exist, or the reviewer may not see it.
        """
        place = await self._place(review_id, who)
        if not place.is_open and not await self._is_for_second_review(place, who):
            raise await self._closed(place, who)
        if shows_nothing(text):
            raise InvalidDecision("corrected_answer", "the text is empty; write the text that readers get")
        request = await self._request(place)
        body = DecisionBody(user_action="correct", corrected_answer=text)
        # The text as it would be stored, so that places in it are those of the stored text.
        stored = self._decision(request, body, who, self._now(), None, second=False).corrected_answer or ""
        answer = answer_to_compare(request, stored, await self._turns(place, request))
        return ComparedText(place, request, answer, dangling_references(request, text))

    async def keep_comparison(
        self, compared: ComparedText, claims: Sequence[Claim], pipeline_version: str
    ) -> CorrectionComparison:
        """Keep what was found for a corrected text, so that a decision with exactly this text has it.

        Args:
            compared: the text.
            claims: its claims with their verdicts.
            pipeline_version: version that evaluated it.
        """
        found = comparison_of(claims, compared.request, self._now(), pipeline_version)
        await self._compared.keep(compared.place, compared.answer.answer, found)
        return found

    async def withdraw(self, review_id: str, body: WithdrawalBody, who: Reviewer) -> DecisionReceipt:
        """Take a decided answer back from readers and from memory; the decision that it withdraws stays in the record.

        Raises:
            AlreadyDecided: no person's decision is left to withdraw: it was rejected or withdrawn, or there was none.
            InvalidDecision: nothing is decided yet, or the comment does not fit into a record.
            UnknownReview: the request does not exist, or the caller may not see it.
        """
        place = await self._place(review_id, who)
        if place.is_open:
            raise InvalidDecision("review_id", "nothing is decided yet; decide the request instead")
        known = await self._store.final_decision(place.tenant, review_id)
        if place.state == "withdrawn":
            raise AlreadyDecided(
                "there is no decision to withdraw: the pipeline itself made this answer final", "", None
            )
        if known is None or known.user_action == "reject":
            raise AlreadyDecided(
                "there is nothing to withdraw: readers do not get this answer", *await self._known_decision(place, who)
            )
        return await self._take_back(await self._request(place), known.feedback_id, body, who)

    async def withdraw_release(self, answer: Row, body: WithdrawalBody, who: Reviewer) -> DecisionReceipt:
        """Take back from readers and from memory what the pipeline released without a decision.

        Args:
            answer: row of the answer.
            body: the reason.
            who: the author.

        Raises:
            AlreadyDecided: readers do not get the answer.
            InvalidDecision: the comment does not fit into a record.
        """
        if answer["state"] not in ("released", "warned"):
            raise AlreadyDecided("there is nothing to withdraw: readers do not get this answer", "", None)
        release = fact_id(answer["tenant"], answer["answer_id"], "release")
        return await self._take_back(released_request(answer, self._release.texts), release, body, who)

    async def _take_back(
        self, request: ReviewRequest, withdrawn: str, body: WithdrawalBody, who: Reviewer
    ) -> DecisionReceipt:
        decision = self._privacy.event(
            withdrawal(request, withdrawn, by=who.name, at=self._now(), reason=body.reason, comment=body.comment)
        )
        self._refuse_oversize(decision)
        await self._publish(decision)
        return DecisionReceipt(decision_id=decision.feedback_id, undo_until=None)

    async def undo(self, review_id: str, who: Reviewer) -> None:
        """Undo the reviewer's own decision before it is published, or their last other step for as long.

        Other steps are skips, escalations, assignments and second opinions that were asked for or taken back.

        Raises:
            TooLate: the decision is published, another step is too old, or there is nothing to undo.
            UnknownReview: the request does not exist, or the reviewer may not see it.
        """
        place = await self._place(review_id, who)
        names = {review_id, await self._mark_name(place)}
        marks = {name: each for name, each in (await self._locks.marks(sorted(names))).items() if each.by == who.name}
        for name, mark in marks.items():
            undone = await self._pending.take_back(mark.decision_id)
            if undone is not None:
                await self._locks.withdraw(name, mark.decision_id)
                if undone.review_duration:
                    # The reviewer goes on: the time of the review so far counts for the next decision as well.
                    await self._locks.acquire(
                        review_id, who.name, self._now(), opened=False, held_before=undone.review_duration
                    )
                await self._tell_undone(place, who, undone)
                return
        found = await asyncio.gather(
            *(steps.find(review_id, who.name) for steps in (self._left, self._given, self._opinions))
        )
        left, *others = [step if step is not None and not step.undone else None for step in found]
        steps = [step for step in (left, *others) if step is not None]
        last = max(steps, key=lambda step: step.undo_until, default=None)
        if last is not None and last is not left:
            await (self._undo_assignment if last.kind == "given" else self.undo_opinion)(place, who, last)
            return
        # A decided request can be skipped as well, by somebody who may still review it.
        may_come_back = left is not None and (
            place.is_open or (left.kind == "skipped" and await self._is_hidden(place, who))
        )
        if left is not None and may_come_back and self._now() <= left.undo_until:
            now = self._now()
            deadline = left.deadline and max(left.deadline, now + RESUMED)
            queue = left.queue if left.kind == "escalated" else ""
            await self._tell("resumed", place, who, *((queue, deadline) if queue else ()))
            back = Left("resumed", queue, deadline, left.undo_until, at=now, undone=True, taken_back_at=left.at)
            await self._left.note(review_id, who.name, back, now)
            return
        by, at = await self._known_decision(place, who)
        question = _question(place)
        if marks or by == who.name:
            action = shown_action(place) if by else next(mark.action for mark in marks.values())
            raise TooLate(
                f"the decision on {question} is already published, so it was not undone. {final_advice(action, may_withdraw=who.may_withdraw)}",
                by,
                at,
            )
        if left is not None:
            raise TooLate(
                f"{question} was {left.kind} too long ago, so nothing was undone; open it to decide it",
                who.name,
                left.undo_until,
            )
        raise TooLate(f"there is nothing to undo for {question}: you made no decision on it", by, at)

    async def _undo_assignment(self, place: QueueRow, who: Reviewer, given: Left) -> None:
        """Give a request back to the person who had it before, unless somebody else has assigned or decided it."""
        if not place.is_open:
            raise await self._closed(place, who)
        if self._now() > given.undo_until:
            raise TooLate(
                f"{_question(place)} was assigned too long ago, so nothing was undone; assign it in the queue",
                who.name,
                given.undo_until,
            )
        current = await self._assignee(place)
        # Rows are a moment behind: they may not show the assignment yet.
        if current not in (given.assignee, given.given):
            raise TooLate(f"{_question(place)} was assigned to {current} since, so nothing was undone", current, None)
        await self._give(place, who, given.assignee, self._now())
        await self._given.forget(place.review_id, who.name)

    async def _tell_undone(self, place: QueueRow, who: Reviewer, undone: ReviewDecision) -> None:
        event = review_event(
            "undone", place.review_id, place.answer_id, place.tenant, by=who.name, at=self._now(), undone=undone
        )
        try:
            await self._send_event(event)
        except UnavailableError:
            # The undo holds already; its record follows with the due decisions.
            self._pending.send_later(lambda: self._send_event(event))

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
        references = ""
        if body.user_action == "correct":
            references, citations = correction_references(
                request, body.corrected_answer or "", self._release.style, self._release.url_rules
            )
            if request.releasable is not None:
                shown = request.releasable.model_copy(update={"citations": citations})
                request = request.model_copy(update={"releasable": shown})
        decision = decided(
            request,
            by=who.name,
            profile={"reviewer": person_digest("reviewer", who.name)[:16], "role": "reviewer"},
            at=now,
            action=body.user_action,
            duration=duration,
            comment=body.user_comment,
            reason=body.reason,
            corrected_answer=body.corrected_answer,
            corrected_references=references,
            with_warning=body.with_warning,
            second_review=second,
            claim_verdicts=body.claim_verdicts,
        )
        # Mask before a copy goes to Redis or a topic: a comment or a correction may hold personal data.
        return self._privacy.event(decision)

    async def _with_comparison(self, place: QueueRow, decision: ReviewDecision) -> ReviewDecision:
        """Return a correction with what was found for exactly its text; unchanged if it was not compared."""
        if decision.corrected_answer is None:
            return decision
        found = await self._compared.find(place, decision.corrected_answer)
        if found is None:
            return decision
        compared = decision.model_copy(update={"comparison": found})
        # A comparison never keeps a correction from being saved.
        return compared if self._size(compared) <= self._most_bytes else decision

    async def _keep_or_publish(self, decision: ReviewDecision, now: datetime, name: str) -> None:
        if self._settings.undo_seconds:
            await self._pending.add(decision, now + timedelta(seconds=self._settings.undo_seconds), name)
            return
        try:
            await self._publish(decision)
        except TouchstoneError:
            await self._locks.withdraw(name, decision.feedback_id)
            raise

    def _refuse_oversize(self, decision: ReviewDecision) -> None:
        """Refuse a decision that does not fit into a record of its topic, or whose row does not."""
        size = self._size(decision)
        if size > self._most_bytes:
            raise InvalidDecision(
                "user_comment",
                f"the decision has {size} bytes and may have {self._most_bytes}; shorten comment, correction or verdicts",
            )

    def _size(self, decision: ReviewDecision) -> int:
        """Return the size of a decision as a record of its topic or as a row, the larger one, bytes."""
        return max(len(decision.to_bytes()), len(decision_row(decision, "final").record().to_bytes()))

    def _receipt(self, decision_id: str, at: datetime) -> DecisionReceipt:
        return DecisionReceipt(decision_id=decision_id, undo_until=self.undo_until(at))


def _question(place: QueueRow) -> str:
    """Return the beginning of the question of a request for a message, with tenant and time: others may ask the same."""
    question = cut_at_word(" ".join(place.title.split()), QUESTION_LENGTH) or place.answer_id
    return f"“{question}” ({place.tenant}, {place.completed_at:%Y-%m-%d %H:%M:%S} UTC)"
