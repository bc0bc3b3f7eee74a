"""Run one agent: its consumer group, its batches and its end."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from schemas.topics import ANSWERS_GENERATED
from workers.agents.base import AgentContext, AgentDefinition, Handler, Receiver
from workers.delivery.application import AgentApplication
from workers.delivery.failures.breaker import DeadLetterBreaker
from workers.delivery.processing import BatchProcessor
from workers.delivery.records import Record, Result, WorkItem
from workers.errors import OversizeBatch
from workers.observability.logs import get_logger
from workers.privacy.record_masking import Privacy
from workers.runtime.delivery_parts import DeliveryParts

STOP_SHARE = 0.6
"""Share of the grace period for accepted records; the rest is for commits and for leaving the group."""

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class OpenedAgent:
    """Hold an agent whose services are open, before it joins its group."""

    definition: AgentDefinition
    context: AgentContext
    handler: Handler


class RunningAgent:
    """Run an agent with its consumer group.

    Args:
        opened: the agent and its handler.
        parts: delivery parts that the agents of a process share.
    """

    def __init__(self, opened: OpenedAgent, parts: DeliveryParts) -> None:
        context, settings = opened.context, opened.context.settings
        self.definition = opened.definition
        self.context = context
        self.application = AgentApplication(
            self.definition.name, self.definition.reads, settings, context.addresses.kafka, parts.growth
        )
        self.processor = BatchProcessor(
            self.definition.name,
            without_refused(opened.handler),
            self.application,
            context.producer,
            parts.dead_letters,
            settings.delivery,
            self.definition.limits(settings),
            parts.journal,
            DeadLetterBreaker(self.definition.name, settings.breaker),
            context.erasures,
            parts.tracing,
            self.definition.kind,
        )
        self._privacy = Privacy(settings.privacy, settings.kafka.max_input_bytes)
        self._receiver: Receiver = self.definition.receiver(context, self.application, self.processor)

    async def start(self) -> None:
        """Join the group and start to process."""
        self.processor.start()
        self._receiver.start()
        await self.application.start(self._receive)

    async def stop(self, grace_seconds: float) -> None:
        """Finish and commit the accepted records, and leave the group; other records are delivered again."""
        self.application.stop_accepting()
        await self._receiver.stop()
        if not await self.processor.drain(grace_seconds * STOP_SHARE):
            log.warning("drain_timed_out", agent=self.definition.name, in_flight=self.processor.in_flight)
        await self.processor.stop()
        await self.application.stop()

    def owned_partitions(self) -> set[int]:
        """Return the partition numbers of the agent's first topic that this worker owns."""
        name = self.application.partition(self.definition.reads[0], 0).topic
        return {partition.partition for partition in self.application.assigned() if partition.topic == name}

    def hindrance(self) -> str | None:
        """Return the reason why no records are processed, or ``None`` if they are."""
        if self.processor.breaker.reason is not None:
            return self.processor.breaker.reason
        if not self.application.is_connected:
            return "the broker does not respond"
        if not self.application.is_assigned:
            return "waits for its partitions"
        problems = (service.problem for service in self.context.required)
        return self.processor.waiting_for or next((problem for problem in problems if problem is not None), None)

    async def _receive(self, record: Record) -> None:
        if self._privacy.concerns(record):
            # In a thread: parsing the longest record would block the loop for too long.
            record = await asyncio.to_thread(self._privacy.record, record, self.definition.name)
        await self._receiver.receive(record)


def without_refused(handler: Handler) -> Handler:
    """Return a handler that fails the records of batches that were not decompressed, and handles all others.

    Records of ``answers.generated`` are left to ``read_answer``, so that only one agent dead-letters them.
    """

    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        refused: dict[int, Result] = {
            place: OversizeBatch(work.record.refusal)
            for place, work in enumerate(works)
            if work.record.refusal is not None and work.record.topic != ANSWERS_GENERATED.name
        }
        if not refused:
            return await handler(works)
        handled = [work for place, work in enumerate(works) if place not in refused]
        results = iter(await handler(handled) if handled else ())
        return [refused[place] if place in refused else next(results) for place in range(len(works))]

    return handle


async def drain(agents: list[RunningAgent], grace_seconds: float) -> None:
    """Stop all agents concurrently, within the grace period; log failing stops."""
    try:
        async with asyncio.timeout(grace_seconds):
            stops = await asyncio.gather(*(agent.stop(grace_seconds) for agent in agents), return_exceptions=True)
    except TimeoutError:
        log.warning("stop_grace_exceeded", grace_seconds=grace_seconds)
        return
    for result in stops:
        if isinstance(result, BaseException):
            log.warning("stop_failed", exc_info=result)
