"""Decide open reviews past their deadline: one elected worker writes review.decisions or review.events.

If two workers both count as elected for a moment, they write the same event with the same identifier.
"""

from datetime import datetime, timedelta

from schemas.headers import Headers, event_headers
from schemas.identifiers import record_key
from schemas.review import POLICY, ReviewRequest
from schemas.topics import REVIEW_DECISIONS, REVIEW_EVENTS
from workers.agents.base import AgentContext, OwnedPartitions
from workers.agents.tasks.elected import repeat_while_elected
from workers.delivery.records import Output
from workers.errors import UnavailableError
from workers.observability import metrics
from workers.observability.logs import get_logger
from workers.review.decision_events import DeadlineAction, decided_by_deadline, escalated
from workers.review.queue.deadlines import deadline_action
from workers.stores.queries.reviews.review_queries import ReviewStore
from workers.stores.tables.review_tables import QueueRow

NAME = "deadlines"
AGENT = "decisions"
"""Agent that this task runs beside."""
BATCH = 100
"""Maximum number of reviews per check; each contains its subject."""
PATIENCE_SECONDS = 60.0
"""Time for the row of a decision to arrive, before the same decision is written again."""
GRACE_SECONDS = 10.0
"""Time after the undo window for the publication of a decision, also by another console if its own one has died."""

_GAUGES = (metrics.REVIEWS_OPEN, metrics.REVIEW_OLDEST_SECONDS, metrics.REVIEW_OVERDUE_SECONDS)
_Deadline = tuple[str, str, datetime]

log = get_logger(__name__)


class DeadlineSweeper:
    """Find passed deadlines periodically.

    Args:
        context: producer, clock and settings.
        store: the review queue.
    """

    def __init__(self, context: AgentContext, store: ReviewStore) -> None:
        self._context = context
        self._store = store
        self._sent: dict[_Deadline, datetime] = {}

    async def run(self, owned: OwnedPartitions) -> None:
        """Repeat until cancelled, while this worker is elected."""
        seconds = self._context.settings.review.sweep_seconds
        try:
            await repeat_while_elected(self._look, self._restart, owned, seconds)
        finally:
            self._restart()

    async def _look(self) -> None:
        try:
            await self.sweep()
            await self._observe()
        except UnavailableError as error:
            log.warning("deadline_check_failed", error=str(error))

    def _restart(self) -> None:
        self._sent.clear()
        for gauge in _GAUGES:  # the elected worker's alone: an old figure would hide or outlast an alert
            gauge.clear()

    async def sweep(self) -> int:
        """Decide or escalate reviews past their deadline.

        A decision that a person made in time is published only after its undo window, so the policy waits for that.

        Returns:
            Number of written events.

        Raises:
            UnavailableError: ClickHouse does not respond, or the broker does not acknowledge.
        """
        now = self._context.now()
        self._forget(now)
        wait = timedelta(seconds=self._context.settings.review.undo_seconds + GRACE_SECONDS)
        overdue = await self._store.overdue(now - wait, BATCH + len(self._sent))
        overdue = [place for place in overdue if _deadline(place) not in self._sent][:BATCH]
        requests = await self._store.requests([place.key for place in overdue]) if overdue else {}
        outputs: list[Output] = []
        actions: list[str] = []
        for place in overdue:
            request = requests.get(place.key)
            if request is None:
                log.warning("review_request_awaited", review_id=place.review_id, answer_id=place.answer_id)
                continue  # the other row follows
            action = deadline_action(self._context.settings.review, place.queue, held=place.held, answer=request.answer)
            outputs.append(
                self._escalation(place, now) if action == "escalate" else self._decision(place, request, action, now)
            )
            actions.append(action)
        await self._context.producer.send(outputs, agent=NAME)
        for passed in actions:
            metrics.DEADLINES_PASSED.labels(passed).inc()
        # Also those without a request: they would fill every batch, and no deadline would pass any more.
        self._sent |= {_deadline(place): now for place in overdue}
        return len(outputs)

    def _decision(self, place: QueueRow, request: ReviewRequest, action: DeadlineAction, now: datetime) -> Output:
        decision = decided_by_deadline(request, action, _deadline(place)[2])
        # Readers have its result from now on: the policy waits for the undo windows of people, and may have been away.
        decision = decision.model_copy(update={"published_at": now})
        headers = self._headers(decision.feedback_id, "ReviewDecision", decision.timestamp)
        return Output(
            REVIEW_DECISIONS, record_key(decision.tenant, decision.answer_id).encode(), decision.to_bytes(), headers
        )

    def _escalation(self, place: QueueRow, now: datetime) -> Output:
        settings = self._context.settings.review
        event = escalated(
            place.review_id, place.answer_id, place.tenant,
            by=POLICY, queue=settings.escalation_queue, at=_deadline(place)[2],
            deadline=now + timedelta(hours=settings.escalation_hours),
        )  # fmt: skip
        headers = self._headers(event.event_id, "ReviewEvent", event.occurred_at)
        return Output(REVIEW_EVENTS, record_key(event.tenant, event.answer_id).encode(), event.to_bytes(), headers)

    def _headers(self, event_id: str, event_type: str, time: datetime) -> Headers:
        return event_headers(
            event_id=event_id,
            event_type=event_type,
            time=time,
            pipeline_version=self._context.pipeline_version,
            agent=NAME,
        )

    def _forget(self, now: datetime) -> None:
        since = now - timedelta(seconds=PATIENCE_SECONDS)
        self._sent = {key: at for key, at in self._sent.items() if at > since}

    async def _observe(self) -> None:
        now = self._context.now()
        figures = await self._store.figures((), now)
        metrics.REVIEWS_OPEN.labels("yes").set(figures.held)
        metrics.REVIEWS_OPEN.labels("no").set(figures.open - figures.held)
        metrics.REVIEW_OLDEST_SECONDS.labels(AGENT).set(_seconds_since(figures.oldest_at, now))
        overdue = await self._store.overdue(now, 1)
        metrics.REVIEW_OVERDUE_SECONDS.labels(AGENT).set(
            _seconds_since(overdue[0].deadline_at if overdue else None, now)
        )


def _seconds_since(past: datetime | None, now: datetime) -> float:
    return max(0.0, (now - past).total_seconds()) if past else 0.0


def _deadline(place: QueueRow) -> _Deadline:
    assert place.deadline_at is not None
    return *place.key, place.deadline_at
