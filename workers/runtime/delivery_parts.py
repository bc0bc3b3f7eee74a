"""Open the parts of delivery that the agents of a process share: dead letters, journal and tracing."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass

from workers.delivery.consumption.log_growth import LogGrowth
from workers.delivery.failures.attempts import AttemptJournal
from workers.delivery.failures.dead_letter_sender import DeadLetterSender
from workers.delivery.producer import ConfirmedProducer
from workers.delivery.tracing import Tracing
from workers.settings import Settings


@dataclass(frozen=True, slots=True)
class DeliveryParts:
    """Dead letters, journal and tracing of a process.

    Attributes:
        dead_letters: sends failed records.
        journal: lists the records in progress.
        tracing: makes spans; ``None`` makes none.
        growth: growth of the light broker's log; ``None`` with Apache Kafka.
    """

    dead_letters: DeadLetterSender
    journal: AttemptJournal
    tracing: Tracing | None
    growth: LogGrowth | None


def open_delivery_parts(
    settings: Settings,
    producer: ConfirmedProducer,
    pipeline_version: str,
    growth: LogGrowth | None,
    stack: AsyncExitStack,
    process: str = "",
) -> DeliveryParts:
    """Open the parts; the stack closes them.

    Args:
        settings: all settings.
        producer: sends dead letters.
        pipeline_version: version of the pipeline, for headers.
        growth: growth of the light broker's log, if one is asked.
        stack: closes the parts.
        process: name of an evaluation process, which after a restart finds its own journal again.

    Raises:
        TracingNotInstalled: tracing is on, and a library is missing.
    """
    name = ".".join(filter(None, (settings.kafka.group_prefix, process)))
    journal = AttemptJournal(settings.state_dir / "attempts", name)
    stack.callback(journal.close)
    tracing = None
    if settings.tracing.endpoint is not None:
        tracing = Tracing(settings.tracing, pipeline_version)
        stack.push_async_callback(asyncio.to_thread, tracing.close)
    return DeliveryParts(DeadLetterSender(producer, pipeline_version), journal, tracing, growth)
