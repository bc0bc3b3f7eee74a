"""Run the agent release: carry out the decision on each answer.

answers.enriched → answers.released, review.requests, alerts.raised, memory.turns, feedback.analytics.
"""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any

from schemas.enriched import EnrichedAnswer
from schemas.identifiers import record_key
from schemas.topics import (
    ALERTS_RAISED,
    ANSWERS_ENRICHED,
    ANSWERS_RELEASED,
    FEEDBACK_ANALYTICS,
    MEMORY_TURNS,
    REVIEW_REQUESTS,
)
from workers.agents.base import AgentContext, AgentDefinition, Handler, event_output, traceparent
from workers.decision.release_events import alerts, conversation_turn, fitted_request, released_answer, review_request
from workers.delivery.records import Output, Result, WorkItem
from workers.stores.clickhouse.rows.clickhouse_rows import alert_row
from workers.stores.clickhouse.rows.review_rows import review_rows
from workers.stores.tables.packed_rows import packed
from workers.stores.tables.table_row import TableRow

AGENT = "release"

REQUEST_SHARE = 0.4
"""Share of a record's bytes for a request: its row contains it as JSON within JSON, which may double the size."""


async def _open(context: AgentContext, _: AsyncExitStack) -> Handler:
    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        # Enriched answers are the largest records: parse them in a thread.
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(context.steps_pool, _release_all, works, context)

    return handle


def _release_all(works: Sequence[WorkItem], context: AgentContext) -> list[Result]:
    results: list[Result] = []
    for work in works:
        try:
            results.append(_release(EnrichedAnswer.from_bytes(work.record.value), context))
        except Exception as error:
            results.append(error)
    return results


def _release(enriched: EnrichedAnswer, context: AgentContext) -> list[Output]:
    now, settings = context.now(), context.settings.release
    common: dict[str, Any] = {
        "key": record_key(enriched.tenant, enriched.answer_id),
        "agent": AGENT,
        "time": now,
        "pipeline_version": context.pipeline_version,
        "traceparent": traceparent(enriched.answer),
    }
    released = released_answer(enriched, now, style=settings.style, reader=settings.policy)
    outputs = [event_output(ANSWERS_RELEASED, released, event_id=released.release_id, **common)]
    rows: list[TableRow] = []
    request = review_request(
        enriched,
        now,
        deadline_hours=settings.review_deadline_hours,
        style=settings.style,
        reader=settings.policy,
    )
    if request is not None:
        request = fitted_request(request, int(context.settings.kafka.max_record_bytes * REQUEST_SHARE))
        all_fields = context.settings.kafka.all_fields
        outputs.append(
            event_output(REVIEW_REQUESTS, request, event_id=request.review_id, all_fields=all_fields, **common)
        )
        rows += review_rows(request)
    for alert in alerts(enriched, now, context.settings.grounding, context.settings.decision):
        outputs.append(event_output(ALERTS_RAISED, alert, event_id=alert.alert_id, **common))
        rows.append(alert_row(alert, enriched))
    outputs += [
        event_output(FEEDBACK_ANALYTICS, row, event_id=f"{released.release_id}-rows-{number}", **common)
        for number, row in enumerate(packed(rows))
    ]
    turn = conversation_turn(enriched)
    if turn is not None:
        session = record_key(turn.tenant, turn.session_id or turn.answer_id)
        outputs.append(event_output(MEMORY_TURNS, turn, event_id=turn.turn_id, **(common | {"key": session})))
    return outputs


RELEASE = AgentDefinition(AGENT, (ANSWERS_ENRICHED,), _open)
