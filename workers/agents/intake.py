"""intake: topics of gateways, each in its format → answers.generated, feedback.events.

Which topics there are stands in the settings, so that this agent is there only where there are some.
What is sent carries identifiers of the record itself: a record that comes twice is one answer.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from schemas.base import UnreadableEvent
from schemas.topics import ANSWERS_GENERATED, foreign_topic
from workers import metrics
from workers.agents.base import AgentDefinition, Handler, Resources
from workers.delivery.erasures import erasure_output
from workers.delivery.errors import PoisonError
from workers.delivery.records import Output, Record, Result, Work
from workers.gateways.adapted import Adapted, Received
from workers.gateways.envelopes import from_kafka
from workers.gateways.errors import NothingToJudge
from workers.gateways.outputs import outputs_of, taken_of
from workers.gateways.reading import time
from workers.privacy import Privacy
from workers.settings import GatewaySettings, Settings

AGENT = "intake"


def intake_agent(gateways: GatewaySettings) -> AgentDefinition | None:
    """The agent that reads the topics of these settings; ``None`` without any."""
    topics = tuple(foreign_topic(name) for name in gateways.topics)
    return AgentDefinition(AGENT, topics, _handler) if topics else None


def _handler(resources: Resources) -> Handler:
    privacy = Privacy(resources.settings.privacy, resources.settings.kafka.max_input_bytes)

    async def handle(works: Sequence[Work]) -> Sequence[Result]:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(resources.steps_pool, _read_all, works, privacy, resources)

    return handle


def _read_all(works: Sequence[Work], privacy: Privacy, resources: Resources) -> list[Result]:
    return [_result(work.record, privacy, resources) for work in works]


def _result(record: Record, privacy: Privacy, resources: Resources) -> Result:
    try:
        topic = resources.settings.gateways.topics[record.topic]
        taken = taken_of(
            adapted_answers(record, resources.settings),
            lambda each: _outputs(each, record, privacy, resources),
            in_part=resources.settings.gateways.format_named(topic.format).in_part,
        )
        metrics.RECORDS_SKIPPED.labels(AGENT, "refused_call").inc(taken.refused)
        return taken.outputs
    except NothingToJudge as nothing:
        metrics.RECORDS_SKIPPED.labels(AGENT, nothing.reason).inc()
        return []
    except (PoisonError, UnreadableEvent) as error:
        return error


def _outputs(adapted: Adapted, record: Record, privacy: Privacy, resources: Resources) -> list[Output]:
    limit, version = resources.settings.kafka.max_input_bytes, resources.pipeline_version
    outputs = outputs_of(adapted, privacy, limit, agent=AGENT, pipeline_version=version)
    answer = replace(record, topic=ANSWERS_GENERATED.name, key=outputs[0].key, value=outputs[0].value)
    if not resources.erasures.covers(answer):
        return outputs
    # Whose it is stands within the foreign record, where nobody could look before it was read.
    metrics.RECORDS_ERASED.labels(AGENT).inc()
    unknown = resources.erasures.unknown_answer(answer)
    return [] if unknown is None else [erasure_output(unknown, AGENT)]


def adapted_answers(record: Record, settings: Settings) -> list[Adapted]:
    """The answers of a record of a gateway.

    Raises:
        NothingToJudge: it holds none.
        UnadaptableRecord: it is not of its topic's format.
    """
    topic = settings.gateways.topics[record.topic]
    # The broker's time, so that a record that comes again is the same answer of the same time. Producers set it,
    # and not all of them in milliseconds.
    received = Received(time(record.timestamp) or datetime.now(UTC), topic.tenant)
    opened = from_kafka(record.value, record.headers, received)
    return settings.gateways.format_named(topic.format).answers(opened.value, opened.received)
