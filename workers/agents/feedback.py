"""Run the agent feedback: combine feedback.events and review.decisions → feedback.rewards, feedback.analytics.

Events are stored in ClickHouse first, and the reward of an answer is computed from all stored events. There are no
incremental counters: a repeat, a late rating or a revision gives the same reward with the same identifier, and its
revision only grows.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

from schemas.feedback import FeedbackEvent
from schemas.identifiers import fact_id, record_key
from schemas.topics import FEEDBACK_ANALYTICS, FEEDBACK_EVENTS, FEEDBACK_REWARDS, REVIEW_DECISIONS
from workers.agents.base import AgentContext, AgentDefinition, Handler, event_output
from workers.agents.tasks.posterior_publisher import PosteriorPublisher
from workers.delivery.records import CountedOutputs, Output, Result, WorkItem
from workers.feedback.rewards import combine, reward_of
from workers.observability import metrics
from workers.stores.clickhouse.rows.feedback_rows import implicit_feedback_row, reward_row
from workers.stores.clickhouse.rows.recorded_rows import feedback_of
from workers.stores.queries.feedback_store import ANSWERS_AT_ONCE, FeedbackStore, KnownFeedback
from workers.stores.tables.packed_rows import packed
from workers.stores.tables.table_row import TableRow

AGENT = "feedback"

_Answer = tuple[str, str]
"""Tenant and identifier of an answer."""


async def _open(context: AgentContext, stack: AsyncExitStack) -> Handler:
    clickhouse = await stack.enter_async_context(context.services.clickhouse())
    context.require("store-check", clickhouse.problem)
    store = FeedbackStore(clickhouse, context.settings.clickhouse.database)
    context.run_beside("posteriors", PosteriorPublisher(context, store).run)

    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        results: list[Result] = [[] for _ in works]
        events: dict[_Answer, list[FeedbackEvent]] = defaultdict(list)
        last: dict[_Answer, int] = {}
        for number, work in enumerate(works):
            try:
                event = feedback_of(work.record)
            except ValueError as error:
                results[number] = error
                continue
            if event is not None:
                events[event.tenant, event.answer_id].append(event)
                last[event.tenant, event.answer_id] = number
        noted = [event for of_answer in events.values() for event in of_answer]
        with metrics.SINK_FLUSH_SECONDS.labels("feedback").time():
            await store.note(noted)
        metrics.SINK_ROWS.labels("feedback", "feedback").inc(len(noted))
        for answers in _chunks(list(events)):
            known = await store.known(answers)
            loop = asyncio.get_running_loop()
            told = await loop.run_in_executor(context.steps_pool, _judge_all, answers, events, known, context)
            for answer, outputs in zip(answers, told, strict=True):
                results[last[answer]] = outputs
        return results

    return handle


def _chunks(answers: Sequence[_Answer]) -> Iterator[Sequence[_Answer]]:
    for start in range(0, len(answers), ANSWERS_AT_ONCE):
        yield answers[start : start + ANSWERS_AT_ONCE]


def _judge_all(
    answers: Sequence[_Answer],
    events: Mapping[_Answer, Sequence[FeedbackEvent]],
    known: Mapping[_Answer, KnownFeedback],
    context: AgentContext,
) -> list[list[Output]]:
    return [_outputs(events[answer], known.get(answer), context) for answer in answers]


def _outputs(events: Sequence[FeedbackEvent], known: KnownFeedback | None, context: AgentContext) -> list[Output]:
    now = context.now()
    rules = context.settings.feedback
    # Add the new events, in case a replica of ClickHouse does not have them yet.
    feedback = combine(events) if known is None else combine([*known.events, *events], known.noted)
    common: Mapping[str, Any] = {
        "key": record_key(feedback.tenant, feedback.answer_id), "agent": AGENT, "time": now,
        "pipeline_version": context.pipeline_version,
    }  # fmt: skip
    outputs, rows = list[Output](), list[TableRow]()
    reward = reward_of(feedback, rules, now)
    if reward is not None:
        outputs.append(event_output(FEEDBACK_REWARDS, reward, event_id=reward.reward_id, **common))
        rows.append(reward_row(reward, feedback.elsewhere))
    implicit = implicit_feedback_row(feedback, rules)
    if implicit is not None:
        rows.append(implicit)
    event_id = fact_id(feedback.tenant, feedback.answer_id, "feedback-rows")
    outputs += [
        event_output(FEEDBACK_ANALYTICS, row, event_id=f"{event_id}-{number}", **common)
        for number, row in enumerate(packed(rows))
    ]
    return outputs if reward is None else CountedOutputs(outputs, partial(metrics.REWARDS.observe, reward.reward))


FEEDBACK = AgentDefinition(
    AGENT, (FEEDBACK_EVENTS, REVIEW_DECISIONS), _open, sink=True, stores=frozenset({"clickhouse"})
)
