"""Run the agent decisions: apply reviewers' decisions and record the events of reviews.

review.decisions → answers.released (final), memory.turns, feedback.analytics, feedback.insights;
review.events → feedback.analytics.

The first valid decision of the log is final, until it is withdrawn. Final states are read from answers.released
(``workers.delivery.followers.released_answers``) before every batch.
"""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any

from schemas.identifiers import record_key
from schemas.memory import ConversationTurn
from schemas.review import ReviewDecision, ReviewEvent
from schemas.topics import (
    ANSWERS_RELEASED,
    FEEDBACK_ANALYTICS,
    FEEDBACK_INSIGHTS,
    MEMORY_TURNS,
    REVIEW_DECISIONS,
    REVIEW_EVENTS,
)
from workers.agents.base import AgentContext, AgentDefinition, Handler, event_output
from workers.agents.tasks.deadline_sweeper import DeadlineSweeper
from workers.agents.tasks.final_state_republisher import FinalStateRepublisher
from workers.decision.finality import (
    Ruling,
    Standing,
    decided_turn,
    later_standing,
    released_by,
    rule,
    standing_of,
    withdrawn_turn,
)
from workers.delivery.followers.released_answers import ReleasedAnswers
from workers.delivery.records import CountedOutputs, Output, Record, Result, WorkItem
from workers.feedback.insight_events import human_feedback_message
from workers.observability import metrics
from workers.settings import Settings
from workers.stores.clickhouse.rows.review_rows import closing_row, decision_row, review_event_row, withdrawing_row
from workers.stores.queries.reviews.review_queries import ReviewStore
from workers.stores.tables.table_row import TableRow

AGENT = "decisions"
RELEASING = frozenset({"final", "withdrawal"})
"""Rulings that give an answer a final state."""


async def _open(context: AgentContext, stack: AsyncExitStack) -> Handler:
    released = ReleasedAnswers(context.settings, context.addresses.kafka)
    stack.push_async_callback(released.stop)
    await released.start()
    clickhouse = await stack.enter_async_context(context.services.clickhouse())
    reviews = ReviewStore(clickhouse, context.settings.clickhouse.database)
    context.run_beside("finality", FinalStateRepublisher(context, released).run)
    context.run_beside("deadlines", DeadlineSweeper(context, reviews).run)

    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        decided = [work.record.partition for work in works if work.record.topic == REVIEW_DECISIONS.name]
        await released.refresh(decided, context.now())
        # Formatting runs in a thread, because it would block the loop.
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(context.steps_pool, _handle_all, works, released, context)

    return handle


def _handle_all(works: Sequence[WorkItem], released: ReleasedAnswers, context: AgentContext) -> list[Result]:
    # A final state of this batch applies to the rest of the batch before it is on the topic.
    batch: dict[str, Standing] = {}
    results: list[Result] = []
    for work in works:
        try:
            record = work.record
            results.append(
                _decide(record, batch, released, context)
                if record.topic == REVIEW_DECISIONS.name
                else _event(record, context)
            )
        except Exception as error:
            results.append(error)
    return results


def _decide(
    record: Record, batch: dict[str, Standing], released: ReleasedAnswers, context: AgentContext
) -> list[Output]:
    decision = ReviewDecision.from_bytes(record.value)
    key = record_key(decision.tenant, decision.answer_id)
    partition = released.moved_to(decision.answer_id, record.partition)
    if partition is not None:
        # Another partitioning of its producer, or added partitions: two decisions on one answer must be on one
        # partition. The number is fixed, since a producer that does not know of new partitions would send in circles.
        return [Output(REVIEW_DECISIONS, key.encode(), record.value, record.headers, partition)]
    known = batch.get(key) or released.standing(decision.tenant, decision.answer_id)
    ruling = rule(known, decision)
    rows: list[TableRow] = [decision_row(decision, ruling)]
    if ruling in RELEASING:
        # The withdrawn decision, delivered again, must not take the place of its withdrawal.
        batch[key] = later_standing(known, standing_of(released_by(decision)))
        rows.append(closing_row(decision))
    elif ruling == "late" and known is not None and known.decision_id is None:
        rows.append(withdrawing_row(decision))
    common = _common(decision, context)
    outputs = [
        event_output(FEEDBACK_ANALYTICS, row.record(), event_id=f"{decision.feedback_id}-{row.table}", **common)
        for row in rows
    ]
    said = human_feedback_message(decision)
    if said is not None:
        outputs.append(event_output(FEEDBACK_INSIGHTS, said, event_id=said.message_id, **common))
    counter = metrics.REVIEW_DECISIONS.labels(decision.user_action, ruling)
    return CountedOutputs(_released(decision, ruling, context, common) + outputs, counter.inc)


def _released(decision: ReviewDecision, ruling: Ruling, context: AgentContext, common: dict[str, Any]) -> list[Output]:
    if ruling not in RELEASING:
        return []
    released = released_by(decision)
    outputs = [event_output(ANSWERS_RELEASED, released, event_id=decision.feedback_id, **common)]
    turn = remembered_turn(decision, ruling, context.settings)
    if turn is not None:
        session = record_key(turn.tenant, turn.session_id or turn.answer_id)
        outputs.append(event_output(MEMORY_TURNS, turn, event_id=turn.turn_id, **(common | {"key": session})))
    return outputs


def remembered_turn(decision: ReviewDecision, ruling: Ruling, settings: Settings) -> ConversationTurn | None:
    """Return the turn that a final decision or a withdrawal gives to memory, or ``None``."""
    if ruling == "withdrawal":
        return withdrawn_turn(decision)
    query_type = decision.releasable.query_type if decision.releasable is not None else None
    minimum = settings.decision.resolved(decision.tenant, query_type).least_grounding(settings.grounding)
    return decided_turn(decision, minimum, without_context=settings.memory.remember_without_context)


def _event(record: Record, context: AgentContext) -> list[Output]:
    event = ReviewEvent.from_bytes(record.value)
    row = review_event_row(event).record()
    common = _common(event, context)
    return [event_output(FEEDBACK_ANALYTICS, row, event_id=f"{event.event_id}-row", **common)]


def _common(event: ReviewDecision | ReviewEvent, context: AgentContext) -> dict[str, Any]:
    time = event.timestamp if isinstance(event, ReviewDecision) else event.occurred_at
    key = record_key(event.tenant, event.answer_id)
    return {"key": key, "agent": AGENT, "time": time, "pipeline_version": context.pipeline_version}


DECISIONS = AgentDefinition(
    AGENT, (REVIEW_DECISIONS, REVIEW_EVENTS), _open, ordered=True, stores=frozenset({"clickhouse"})
)
