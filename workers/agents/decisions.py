"""decisions: review.decisions → rule → answers.released (final), memory.turns, feedback.analytics,
feedback.insights; review.events → feedback.analytics.

The first valid decision of the log is final; what is final already is read from
answers.released (``workers.delivery.released``) before every batch.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from schemas.review import ReviewDecision, ReviewEvent
from schemas.topics import (
    ANSWERS_RELEASED,
    FEEDBACK_ANALYTICS,
    FEEDBACK_INSIGHTS,
    MEMORY_TURNS,
    REVIEW_DECISIONS,
    REVIEW_EVENTS,
)
from workers import metrics
from workers.agents.base import AgentDefinition, Handler, Resources, event_output
from workers.delivery.errors import UnavailableError
from workers.delivery.records import Output, Record, Result, Work
from workers.logs import get_logger
from workers.steps.finality import Ruling, Standing, decided_turn, released_by, rule, standing_of
from workers.steps.insight_events import human_feedback_message
from workers.steps.rows import closing_row, decision_row, review_event_row, withdrawing_row

AGENT = "decisions"

log = get_logger(__name__)


def _handler(resources: Resources) -> Handler:
    async def handle(works: Sequence[Work]) -> Sequence[Result]:
        released = resources.released
        assert released is not None
        decided = [work.record.partition for work in works if work.record.topic == REVIEW_DECISIONS.name]
        await released.refresh(decided, resources.now())
        # Formatting is not for the loop.
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(resources.steps_pool, _handle_all, works, resources)

    return handle


def _handle_all(works: Sequence[Work], resources: Resources) -> list[Result]:
    # What this batch makes final counts for the rest of it, before it is on the topic.
    batch: dict[str, Standing] = {}
    results: list[Result] = []
    for work in works:
        try:
            record = work.record
            results.append(
                _decide(record, batch, resources)
                if record.topic == REVIEW_DECISIONS.name
                else _event(record, resources)
            )
        except Exception as error:
            results.append(error)
    return results


def _decide(record: Record, batch: dict[str, Standing], resources: Resources) -> list[Output]:
    assert resources.released is not None
    decision = ReviewDecision.from_bytes(record.value)
    if resources.released.partition_of(decision.answer_id) != record.partition:
        # Of a producer that partitions in its own way: two decisions on one answer must be on one log.
        return [Output(REVIEW_DECISIONS, decision.answer_id.encode(), record.value, record.headers)]
    known = batch.get(decision.answer_id) or resources.released.standing(decision.answer_id)
    ruling = rule(known, decision)
    metrics.REVIEW_DECISIONS.labels(decision.user_action, ruling).inc()
    rows = [decision_row(decision, ruling)]
    if ruling == "final":
        batch[decision.answer_id] = standing_of(released_by(decision))
        rows.append(closing_row(decision))
    elif ruling == "late" and known is not None and known.decision_id is None:
        rows.append(withdrawing_row(decision))
    common = _common(decision.answer_id, decision, resources)
    outputs = [
        event_output(FEEDBACK_ANALYTICS, row, event_id=f"{decision.feedback_id}-{row.table}", **common) for row in rows
    ]
    said = human_feedback_message(decision)
    if said is not None:
        outputs.append(event_output(FEEDBACK_INSIGHTS, said, event_id=said.message_id, **common))
    return _released(decision, ruling, resources, common) + outputs


def _released(decision: ReviewDecision, ruling: Ruling, resources: Resources, common: dict[str, Any]) -> list[Output]:
    if ruling != "final":
        return []
    released = released_by(decision)
    outputs = [event_output(ANSWERS_RELEASED, released, event_id=decision.feedback_id, **common)]
    settings = resources.settings
    turn = decided_turn(
        decision, settings.grounding.grounding_minimum, without_context=settings.memory.remember_without_context
    )
    if turn is not None:
        session = turn.session_id or turn.answer_id
        outputs.append(event_output(MEMORY_TURNS, turn, event_id=turn.turn_id, **(common | {"key": session})))
    return outputs


def _event(record: Record, resources: Resources) -> list[Output]:
    event = ReviewEvent.from_bytes(record.value)
    row = review_event_row(event)
    common = _common(event.answer_id, event, resources)
    return [event_output(FEEDBACK_ANALYTICS, row, event_id=f"{event.event_id}-row", **common)]


def _common(answer_id: str, event: ReviewDecision | ReviewEvent, resources: Resources) -> dict[str, Any]:
    time = event.timestamp if isinstance(event, ReviewDecision) else event.occurred_at
    return {"key": answer_id, "agent": AGENT, "time": time, "pipeline_version": resources.pipeline_version}


DECISIONS = AgentDefinition(
    AGENT, (REVIEW_DECISIONS, REVIEW_EVENTS), _handler, needs=("released", "reviews"), ordered=True
)


class FinalityKeeper:
    """Keeps what is known of answers.released fresh, and final words the last ones of their keys.

    Args:
        resources: reader, producer, clock and settings.
        owned: numbers of the partitions of review.decisions that this worker owns.
    """

    def __init__(self, resources: Resources, owned: Callable[[], set[int]]) -> None:
        self._resources = resources
        self._owned = owned

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            try:
                await self.keep()
            except UnavailableError as error:
                log.warning("finality_not_kept", error=str(error))
            await asyncio.sleep(self._resources.settings.review.sweep_seconds)

    async def keep(self) -> int:
        """Read what is new, and repeat final words that an older one has covered.

        Returns:
            How many were repeated.

        Raises:
            UnavailableError: the broker does not answer or confirm.
        """
        released = self._resources.released
        assert released is not None
        owned = self._owned()
        await released.refresh(owned, self._resources.now())
        outputs = await released.covered(owned)
        await self._resources.producer.send(outputs, agent=AGENT)
        return len(outputs)
