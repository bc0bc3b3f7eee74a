"""signals: answers.generated → error, latency, retry → feedback.events.

What belongs to a replay is left alone: it is no new answer, and nobody has asked again.
A record that cannot be read is left to assembly, which dead-letters it once.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from schemas.answers import GeneratedAnswer
from schemas.base import UnreadableEvent
from schemas.feedback import ExecutionSignals, FeedbackEvent
from schemas.headers import header
from schemas.topics import ANSWERS_GENERATED, FEEDBACK_EVENTS
from workers import metrics
from workers.agents.base import AgentDefinition, Handler, Resources, event_output, read_answer, traceparent
from workers.delivery.errors import JudgementError, OversizeRecord, UnreadableRecord
from workers.delivery.records import Output, Record, Result, Work
from workers.inference.embedding import Vector
from workers.steps.contextual import query_features
from workers.steps.implicit import execution_signals
from workers.steps.observations import asked_at, execution_event, person_of, retry_events
from workers.steps.quality import MAX_TEXT
from workers.steps.retries import AskedQuery, find_retries
from workers.steps.wording import plain_text
from workers.stores.history import PersonQuery

AGENT = "signals"


@dataclass(slots=True)
class _Case:
    """One answer on its way; ``text`` is its query as it is embedded, as quality embeds it."""

    answer: GeneratedAnswer
    execution: ExecutionSignals
    person: str | None
    text: str


def _handler(resources: Resources) -> Handler:
    async def handle(works: Sequence[Work]) -> Sequence[Result]:
        loop = asyncio.get_running_loop()
        cases = await loop.run_in_executor(resources.steps_pool, _read_all, works, resources)
        present = [case for case in cases if case is not None]
        vectors = await _vectors([case.text for case in present if case.text], resources)
        others = await _others(present, vectors, resources)
        return [[] if case is None else _outputs(case, vectors, others, resources) for case in cases]

    return handle


def _read_all(works: Sequence[Work], resources: Resources) -> list[_Case | None]:
    return [_read(work.record, resources) for work in works]


def _read(record: Record, resources: Resources) -> _Case | None:
    if header(record.headers, "replay_id") is not None:
        metrics.RECORDS_SKIPPED.labels(AGENT, "replay").inc()
        return None
    settings = resources.settings
    try:
        answer = read_answer(record, settings.kafka.max_input_bytes)
    except UnreadableEvent as error:
        metrics.RECORDS_SKIPPED.labels(AGENT, error.code).inc()
        return None
    except OversizeRecord:
        metrics.RECORDS_SKIPPED.labels(AGENT, "oversize").inc()
        return None
    except UnreadableRecord:
        metrics.RECORDS_SKIPPED.labels(AGENT, "header").inc()
        return None
    execution = execution_signals(answer, settings.feedback, settings.quality)
    return _Case(answer, execution, person_of(answer), plain_text(answer.query)[:MAX_TEXT])


async def _others(
    cases: Sequence[_Case], vectors: Mapping[str, Vector], resources: Resources
) -> Mapping[str, tuple[AskedQuery, list[AskedQuery]]]:
    """By answer: its query and what the person had asked besides; without those that cannot be told."""
    assert resources.history is not None
    traceable = [case for case in cases if case.person is not None and case.text]
    metrics.RETRY_CHECKS.labels("nobody").inc(len(cases) - len(traceable))
    asked = [
        PersonQuery(case.person or "", _query(case.answer, vectors[case.text]))
        for case in traceable
        if case.text in vectors
    ]
    histories = await resources.history.exchange(asked)
    if histories is None or len(asked) < len(traceable):
        metrics.RETRY_CHECKS.labels("unavailable").inc(len(traceable) - len(histories or []))
    return {known.query.answer_id: (known.query, others) for known, others in zip(asked, histories or [], strict=False)}


async def _vectors(texts: Sequence[str], resources: Resources) -> Mapping[str, Vector]:
    assert resources.embedding is not None
    try:
        return await resources.embedding.embed(texts)
    except JudgementError:
        # Errors and latency are told all the same.
        return {}


def _query(answer: GeneratedAnswer, vector: Vector) -> AskedQuery:
    # Rounded as it is stored, so that a pair has one similarity from whichever side it is seen.
    return AskedQuery(answer.answer_id, asked_at(answer), vector.astype(np.float16))


def _outputs(
    case: _Case,
    vectors: Mapping[str, Vector],
    others: Mapping[str, tuple[AskedQuery, list[AskedQuery]]],
    resources: Resources,
) -> list[Output]:
    answer, vector = case.answer, vectors.get(case.text)
    features = None if vector is None else query_features(vector)
    events = [execution_event(answer, case.execution.model_copy(update={"query_features": features}))]
    if answer.answer_id in others:
        query, history = others[answer.answer_id]
        pairs = find_retries(query, history, resources.settings.feedback)
        metrics.RETRY_CHECKS.labels("retry" if pairs else "new").inc()
        events += [event for pair in pairs for event in retry_events(answer, pair)]
    return [_output(event, answer, resources) for event in events]


def _output(event: FeedbackEvent, answer: GeneratedAnswer, resources: Resources) -> Output:
    common: dict[str, Any] = {"agent": AGENT, "pipeline_version": resources.pipeline_version}
    return event_output(
        FEEDBACK_EVENTS,
        event,
        key=event.answer_id,
        event_id=event.feedback_id,
        time=event.occurred_at,
        traceparent=traceparent(answer) if event.answer_id == answer.answer_id else None,
        **common,
    )


SIGNALS = AgentDefinition(AGENT, (ANSWERS_GENERATED,), _handler, needs=("embedding", "history"))
