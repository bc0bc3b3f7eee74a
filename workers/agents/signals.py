"""Run the agent signals: find errors, latency and retries in answers.generated → feedback.events.

Records of a replay are skipped, because they are not new answers or repeated queries. Unreadable records are left to
assembly, which dead-letters them once.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np

from schemas.answers import GeneratedAnswer
from schemas.feedback import ExecutionSignals, FeedbackEvent
from schemas.headers import header
from schemas.identifiers import record_key
from schemas.topics import ANSWERS_GENERATED, FEEDBACK_EVENTS
from workers.agents.base import (
    CHECK_SECONDS,
    AgentContext,
    AgentDefinition,
    Handler,
    OwnedPartitions,
    event_output,
    read_or_skip,
    skipped,
    traceparent,
)
from workers.delivery.records import CountedOutputs, Output, Record, Result, WorkItem
from workers.errors import JudgementError
from workers.evaluation.quality.quality_evaluator import MAX_TEXT
from workers.evaluation.text.wording import plain_text
from workers.feedback.contextual_reward import query_features
from workers.feedback.implicit_signals import execution_signals
from workers.feedback.observed_events import asked_at, execution_event, person_of, retry_events
from workers.feedback.query_fingerprint import fingerprint
from workers.feedback.retry_detection import AskedQuery, find_retries
from workers.inference.embedding import EmbeddingService, Vector
from workers.observability import metrics
from workers.stores.redis.query_history import PersonQuery, QueryHistory

AGENT = "signals"

_Asked = tuple[str, str]
"""Person, a digest that names the tenant, and answer."""


@dataclass(slots=True)
class _Case:
    """Hold one answer during processing; ``text`` is its query in the form that quality embeds."""

    answer: GeneratedAnswer
    execution: ExecutionSignals
    person: str | None
    text: str


async def _open(context: AgentContext, stack: AsyncExitStack) -> Handler:
    embedder = await stack.enter_async_context(context.services.embedder())
    settings = context.settings
    # Not required at the start: without Redis the agent only lacks retry detection.
    history = QueryHistory(context.addresses.redis, settings.redis, settings.feedback.retry_window_seconds)
    stack.push_async_callback(history.close)

    async def check(_: OwnedPartitions) -> None:
        while True:
            await history.check()
            await asyncio.sleep(CHECK_SECONDS)

    context.run_beside("history-check", check)

    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        loop = asyncio.get_running_loop()
        cases = await loop.run_in_executor(context.steps_pool, _read_all, works, context)
        present = [case for case in cases if isinstance(case, _Case)]
        vectors = await _vectors([case.text for case in present if case.text], embedder)
        others = await _others(present, vectors, history)
        return [_outputs(case, vectors, others, context) if isinstance(case, _Case) else case for case in cases]

    return handle


def _read_all(works: Sequence[WorkItem], context: AgentContext) -> list[_Case | CountedOutputs]:
    return [_read(work.record, context) for work in works]


def _read(record: Record, context: AgentContext) -> _Case | CountedOutputs:
    if header(record.headers, "replay_id") is not None:
        return skipped(AGENT, "replay")
    settings = context.settings
    answer = read_or_skip(record, AGENT, settings.kafka.max_input_bytes)
    if isinstance(answer, CountedOutputs):
        return answer
    execution = execution_signals(answer, settings.feedback, settings.quality)
    return _Case(answer, execution, person_of(answer), plain_text(answer.query)[:MAX_TEXT])


async def _others(
    cases: Sequence[_Case], vectors: Mapping[str, Vector], history: QueryHistory
) -> Mapping[_Asked, tuple[AskedQuery, list[AskedQuery]]]:
    """Return for each person and answer the query and the person's other queries; omit answers for which they are unknown."""
    asked = [
        PersonQuery(case.person, _query(case, case.person, vectors[case.text]))
        for case in cases
        if case.person is not None and case.text in vectors
    ]
    histories = await history.exchange(asked)
    return {
        (known.person, known.query.answer_id): (known.query, others)
        for known, others in zip(asked, histories or [], strict=False)
    }


async def _vectors(texts: Sequence[str], embedder: EmbeddingService) -> Mapping[str, Vector]:
    try:
        return await embedder.embed(texts)
    except JudgementError:
        # Errors and latency are reported in any case.
        return {}


def _query(case: _Case, person: str, vector: Vector) -> AskedQuery:
    # Rounded like the stored value, so that both answers of a pair have the same similarity.
    rounded = vector.astype(np.float16)
    return AskedQuery(case.answer.answer_id, asked_at(case.answer), rounded, fingerprint(case.text, person))


def _outputs(
    case: _Case,
    vectors: Mapping[str, Vector],
    others: Mapping[_Asked, tuple[AskedQuery, list[AskedQuery]]],
    context: AgentContext,
) -> CountedOutputs:
    answer, vector = case.answer, vectors.get(case.text)
    features = None if vector is None else query_features(vector)
    events = [execution_event(answer, case.execution.model_copy(update={"query_features": features}))]
    known = others.get((case.person or "", answer.answer_id))
    result = "nobody" if case.person is None or not case.text else "unavailable"
    if known is not None:
        query, history = known
        pairs = find_retries(query, history, context.settings.feedback)
        result = "retry" if pairs else "new"
        events += [event for pair in pairs for event in retry_events(answer, pair)]
    outputs = [_output(event, answer, context) for event in events]
    return CountedOutputs(outputs, metrics.RETRY_CHECKS.labels(result).inc)


def _output(event: FeedbackEvent, answer: GeneratedAnswer, context: AgentContext) -> Output:
    common: dict[str, Any] = {"agent": AGENT, "pipeline_version": context.pipeline_version}
    return event_output(
        FEEDBACK_EVENTS,
        event,
        key=record_key(event.tenant, event.answer_id),
        event_id=event.feedback_id,
        time=event.occurred_at,
        traceparent=traceparent(answer) if event.answer_id == answer.answer_id else None,
        all_fields=False,
        **common,
    )


SIGNALS = AgentDefinition(AGENT, (ANSWERS_GENERATED,), _open, embeds=True)
