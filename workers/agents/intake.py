"""Run the agent intake: convert records of gateways' topics, by format → answers.generated, feedback.events.

The settings name the topics; without topics this agent does not exist. Identifiers of answers come from the record, so
that a record that is delivered twice gives one answer.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from schemas.base import UnreadableEvent
from schemas.topics import ANSWERS_GENERATED, foreign_topic
from workers.agents.base import AgentContext, AgentDefinition, Handler, Receiver, each_record
from workers.delivery.application import AgentApplication
from workers.delivery.followers.erasure_follower import erasure_output
from workers.delivery.processing import BatchProcessor
from workers.delivery.records import CountedOutputs, Output, Record, Result, WorkItem
from workers.errors import PoisonError
from workers.gateways.adapted import Adapted, Received
from workers.gateways.errors import NothingToJudge
from workers.gateways.reading.envelopes import from_kafka
from workers.gateways.reading.lenient_reading import time
from workers.intake.intake_outputs import count_unread, outputs_of, taken_of
from workers.intake.trace_receiver import TraceReceiver, caller_of, export_of, open_sources
from workers.intake.trace_sources import TraceSources
from workers.observability import metrics
from workers.privacy.record_masking import Privacy
from workers.settings import GatewaySettings, Settings
from workers.stores.redis.client import RedisClient, open_redis

AGENT = "intake"


def intake_agent(gateways: GatewaySettings) -> AgentDefinition | None:
    """Return the agent that reads the topics of the settings; ``None`` without topics."""
    topics = tuple(foreign_topic(name) for name in gateways.topics)
    by_trace = any(gateways.format_named(topic.format).by_trace for topic in gateways.topics.values())
    receiver = _trace_receiver if by_trace and gateways.trace_seconds else each_record
    return AgentDefinition(AGENT, topics, _open, receiver=receiver) if topics else None


def _trace_receiver(context: AgentContext, _: AgentApplication, processor: BatchProcessor) -> Receiver:
    return TraceReceiver(context.settings, _redis(context), processor)


def _redis(context: AgentContext) -> RedisClient:
    return open_redis(context.addresses.redis, context.settings.redis)


async def _open(context: AgentContext, stack: AsyncExitStack) -> Handler:
    privacy = Privacy(context.settings.privacy, context.settings.kafka.max_input_bytes)
    redis = _redis(context)
    stack.push_async_callback(redis.aclose)
    sources = open_sources(context.settings, redis)

    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        loop = asyncio.get_running_loop()
        # Together: one after the other, each would wait for its own reply of Redis.
        exports = await asyncio.gather(*(_joined(work.record, sources, context) for work in works))
        return await loop.run_in_executor(context.steps_pool, _read_all, works, exports, privacy, context)

    return handle


async def _joined(record: Record, sources: TraceSources, context: AgentContext) -> Any:
    """Return the export of a record with the sources of its traces; ``None`` for records of other formats."""
    topic = context.settings.gateways.topics[record.topic]
    how = context.settings.gateways.format_named(topic.format)
    if not how.by_trace:
        return None
    export = await asyncio.get_running_loop().run_in_executor(context.steps_pool, export_of, record, how)
    return await sources.joined(export, caller_of(record.topic), topic.tenant)


def _read_all(
    works: Sequence[WorkItem], exports: Sequence[Any], privacy: Privacy, context: AgentContext
) -> list[Result]:
    return [_result(work.record, export, privacy, context) for work, export in zip(works, exports, strict=True)]


def _result(record: Record, export: Any, privacy: Privacy, context: AgentContext) -> Result:
    try:
        topic = context.settings.gateways.topics[record.topic]
        taken = taken_of(
            adapted_answers(record, context.settings, export),
            lambda each: answer_outputs(each, record, privacy, context),
            in_part=context.settings.gateways.format_named(topic.format).in_part,
        )
        return CountedOutputs(taken.outputs, partial(_count, "refused_call", taken.refused, taken.unread))
    except NothingToJudge as nothing:
        return CountedOutputs([], partial(_count, nothing.reason, 1, nothing.unread))
    except (PoisonError, UnreadableEvent) as error:
        return error


def _count(reason: str, skipped: int, unread: Mapping[str, int]) -> None:
    metrics.RECORDS_SKIPPED.labels(AGENT, reason).inc(skipped)
    count_unread(AGENT, unread)


def answer_outputs(
    adapted: Adapted, record: Record, privacy: Privacy, context: AgentContext, agent: str = AGENT
) -> list[Output]:
    """Return the output records of an answer, or those of its erasure if its person was erased.

    Raises:
        PoisonError: the answer is too large.
        UnreadableEvent: the answer is nested too deeply, or has an unsupported schema version.
    """
    limit, version = context.settings.kafka.max_input_bytes, context.pipeline_version
    outputs = outputs_of(adapted, privacy, limit, agent=agent, pipeline_version=version)
    answer = replace(record, topic=ANSWERS_GENERATED.name, key=outputs[0].key, value=outputs[0].value)
    if not context.erasures.covers(answer):
        return outputs
    # The tenant is inside the foreign record and unknown before the record is parsed.
    metrics.RECORDS_ERASED.labels(agent).inc()
    unknown = context.erasures.unknown_answer(answer)
    return [] if unknown is None else [erasure_output(unknown, agent)]


def adapted_answers(record: Record, settings: Settings, export: Any = None) -> list[Adapted]:
    """Return the answers in a record of a gateway.

    Args:
        record: the record.
        settings: all settings.
        export: content to read in place of that of the record.

    Raises:
        NothingToJudge: the record contains no answer.
        UnadaptableRecord: the record does not have the format of its topic.
    """
    topic = settings.gateways.topics[record.topic]
    # Use the broker's time, so that a repeated record gives the same answer with the same time. Producers set it, and
    # not all of them in milliseconds.
    received = Received(time(record.timestamp) or datetime.now(UTC), topic.tenant)
    opened = from_kafka(record.value, record.headers, received)
    how = settings.gateways.format_named(topic.format)
    return how.adapt(how.decode(opened.value) if export is None else export, opened.received)
