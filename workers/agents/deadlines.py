"""The elected worker's task: open reviews past their deadline → what the policy decides → review.decisions
or review.events.

Elected is whoever owns the first partition of review.decisions in the group of the agent
``decisions``. Two that think so for a moment write the same event under the same identifier.
"""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Literal

from schemas.headers import Headers, event_headers
from schemas.review import POLICY, ReviewRequest
from schemas.topics import REVIEW_DECISIONS, REVIEW_EVENTS
from workers import metrics
from workers.agents.base import Resources
from workers.delivery.errors import UnavailableError
from workers.delivery.records import Output
from workers.logs import get_logger
from workers.settings import ReviewSettings
from workers.steps.reviewing import DeadlineAction, decided_by_deadline, escalated
from workers.stores.reviews import QueuePlace

NAME = "deadlines"
BATCH = 100
"""Reviews that one look takes on; each carries what it decides on."""
PATIENCE_SECONDS = 60.0
"""So long a row is given to say what was decided, before the same is decided once more."""

log = get_logger(__name__)


class DeadlineSweeper:
    """Finds deadlines that have passed, again and again.

    Args:
        resources: store, producer, clock and settings.
        is_elected: whether this worker is the one, now.
    """

    def __init__(self, resources: Resources, is_elected: Callable[[], bool]) -> None:
        self._resources = resources
        self._is_elected = is_elected
        self._sent: dict[tuple[str, datetime], datetime] = {}

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            await asyncio.sleep(self._resources.settings.review.sweep_seconds)
            if not self._is_elected():
                self._sent.clear()
                continue
            try:
                await self.sweep()
                await self._observe()
            except UnavailableError as error:
                log.warning("deadlines_not_looked_at", error=str(error))

    async def sweep(self) -> int:
        """Decide or escalate what is past its deadline.

        Returns:
            How many events were written.

        Raises:
            UnavailableError: ClickHouse does not answer, or the broker does not confirm.
        """
        store = self._resources.reviews
        assert store is not None
        now = self._resources.now()
        self._forget(now)
        overdue = await store.overdue(now, BATCH + len(self._sent))
        overdue = [place for place in overdue if _deadline(place) not in self._sent][:BATCH]
        requests = await store.requests([place.review_id for place in overdue]) if overdue else {}
        outputs: list[Output] = []
        for place in overdue:
            request = requests.get(place.review_id)
            if request is None:
                continue  # its other row comes
            action = deadline_action(place, self._resources.settings.review)
            outputs.append(
                self._escalation(place, now) if action == "escalate" else self._decision(place, request, action)
            )
            metrics.DEADLINES_PASSED.labels(action).inc()
        await self._resources.producer.send(outputs, agent=NAME)
        self._sent |= {_deadline(place): now for place in overdue if place.review_id in requests}
        return len(outputs)

    def _decision(self, place: QueuePlace, request: ReviewRequest, action: DeadlineAction) -> Output:
        decision = decided_by_deadline(request, action, _deadline(place)[1])
        headers = self._headers(decision.feedback_id, "ReviewDecision", decision.timestamp)
        return Output(REVIEW_DECISIONS, decision.answer_id.encode(), decision.to_bytes(), headers)

    def _escalation(self, place: QueuePlace, now: datetime) -> Output:
        settings = self._resources.settings.review
        event = escalated(
            place.review_id, place.answer_id, place.tenant,
            by=POLICY, queue=settings.escalation_queue, at=_deadline(place)[1],
            deadline=now + timedelta(hours=settings.escalation_hours),
        )  # fmt: skip
        headers = self._headers(event.event_id, "ReviewEvent", event.occurred_at)
        return Output(REVIEW_EVENTS, event.answer_id.encode(), event.to_bytes(), headers)

    def _headers(self, event_id: str, event_type: str, time: datetime) -> Headers:
        return event_headers(
            event_id=event_id,
            event_type=event_type,
            time=time,
            pipeline_version=self._resources.pipeline_version,
            agent=NAME,
        )

    def _forget(self, now: datetime) -> None:
        since = now - timedelta(seconds=PATIENCE_SECONDS)
        self._sent = {key: at for key, at in self._sent.items() if at > since}

    async def _observe(self) -> None:
        assert self._resources.reviews is not None
        now = self._resources.now()
        figures = await self._resources.reviews.figures((), now)
        metrics.REVIEWS_OPEN.labels("yes").set(figures.held)
        metrics.REVIEWS_OPEN.labels("no").set(figures.open - figures.held)
        age = (now - figures.oldest_at).total_seconds() if figures.oldest_at else 0.0
        metrics.REVIEW_OLDEST_SECONDS.set(age)


def deadline_action(place: QueuePlace, settings: ReviewSettings) -> DeadlineAction | Literal["escalate"]:
    """What the policy does about a passed deadline: reject, warn, keep or escalate."""
    if not place.held:
        return "keep" if place.queue == settings.escalation_queue else settings.deadline_shown
    return settings.deadline_last if place.queue == settings.escalation_queue else settings.deadline_held


def _deadline(place: QueuePlace) -> tuple[str, datetime]:
    assert place.deadline_at is not None
    return place.review_id, place.deadline_at
