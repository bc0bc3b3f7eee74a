"""Send records and wait for the broker's acknowledgement: after a send returns, its records are in the log.

An idempotent client numbers the batches of each partition. A batch that fails after it was numbered leaves a gap, and
the broker refuses every later batch of the partition. Such a client is finished. This module replaces it by a new one,
which has a new producer identifier (docs/decisions/0039-idempotent-producer.md).
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import NoReturn

from aiokafka.errors import (
    InvalidProducerEpoch,
    InvalidProducerIdMapping,
    KafkaError,
    KafkaTimeoutError,
    LeaderNotAvailableError,
    MessageSizeTooLargeError,
    NotLeaderForPartitionError,
    OutOfOrderSequenceNumber,
    ProducerFenced,
    RecordTooLargeError,
    TopicAuthorizationFailedError,
    UnknownProducerId,
    UnknownTopicOrPartitionError,
)

from workers.delivery.producer_client import BatchFailed, PartitionMissing, ProducerClient
from workers.delivery.records import Output
from workers.delivery.topics.missing_rights import REMEDY
from workers.errors import BrokerUnavailable, ProducerEnded, ResultTooLarge
from workers.observability import metrics
from workers.observability.logs import get_logger
from workers.settings import Settings

CHECK_SECONDS = 5.0
"""Maximum wait for the broker in a health check."""

ENDS_IN_A_ROW = 5
"""Producers that may be refused one after another, without an acknowledged send, before the process ends."""

REFUSALS = (
    OutOfOrderSequenceNumber,
    InvalidProducerEpoch,
    InvalidProducerIdMapping,
    ProducerFenced,
    UnknownProducerId,
)
"""Errors by which a broker refuses the producer and not the record.

DuplicateSequenceNumber is absent: the broker has the batch already, and the client reports success."""

LEADER_ERRORS = (LeaderNotAvailableError, NotLeaderForPartitionError, UnknownTopicOrPartitionError)
"""Errors of a partition that has no leader yet or any more. A topic is not usable at once after its creation."""

LEADER_ATTEMPTS = 3
LEADER_SECONDS = 0.5

log = get_logger(__name__)


class ConfirmedProducer:
    """Producer of a process; all agents share its connections and batches.

    Args:
        settings: names, limits and credentials.
        bootstrap_servers: host:port, comma separated.
    """

    def __init__(self, settings: Settings, bootstrap_servers: str) -> None:
        self._settings = settings
        self._bootstrap_servers = bootstrap_servers
        self._client: ProducerClient | None = None
        self._opening: asyncio.Task[None] | None = None
        self._refused = 0

    async def start(self) -> None:
        """Connect.

        Raises:
            BrokerUnavailable: no broker responds.
        """
        await self._open(None)

    async def stop(self) -> None:
        """Send buffered records and disconnect."""
        if self._opening is not None:
            self._opening.cancel()
            await asyncio.gather(self._opening, return_exceptions=True)
            self._opening = None
        client, self._client = self._client, None
        if client is not None:
            await client.stop()

    async def problem(self) -> str | None:
        """Return the reason why the broker is not reachable now, or ``None`` if it is."""
        if self._client is None:
            return "the producer is not connected"
        if self._client.is_throttled:
            return None
        try:
            async with asyncio.timeout(CHECK_SECONDS):
                answered = await self._client.connection.force_metadata_update()
        except (KafkaError, OSError, TimeoutError) as error:
            return f"the broker does not respond ({type(error).__name__})"
        return None if answered else "the broker does not respond"

    async def send(self, outputs: Sequence[Output], *, agent: str) -> None:
        """Send records and wait until the broker has acknowledged all of them.

        Args:
            outputs: the records.
            agent: name of the sending agent, for metrics.

        Raises:
            ResultTooLarge: an output exceeds the maximum size of a record.
            BrokerUnavailable: the broker does not acknowledge in time; some records may have been written.
            ProducerEnded: the broker refuses every new producer.
        """
        if not outputs:
            return
        for attempt in range(LEADER_ATTEMPTS):
            client = await self._connected()
            try:
                await client.write(outputs)
                break
            except (BatchFailed, KafkaError) as failure:
                error = failure.__cause__ if isinstance(failure, BatchFailed) else failure
                self._replace_finished(client, error, in_batch=isinstance(failure, BatchFailed))
                if not isinstance(error, LEADER_ERRORS) or attempt == LEADER_ATTEMPTS - 1:
                    self._raise(outputs, error)
                await asyncio.sleep(LEADER_SECONDS)
        self._refused = 0
        for topic, count in Counter(output.topic.name for output in outputs).items():
            metrics.RECORDS_PRODUCED.labels(agent, topic).inc(count)

    def _raise(self, outputs: Sequence[Output], error: BaseException | None) -> NoReturn:
        if isinstance(error, MessageSizeTooLargeError | RecordTooLargeError):
            sizes = max(len(output.value or b"") for output in outputs)
            raise ResultTooLarge(
                f"a result of {sizes} bytes exceeds the broker's limit of "
                f"{self._settings.kafka.max_record_bytes} bytes; raise kafka.max_record_bytes and max.message.bytes of the topic"
            ) from error
        if self._refused >= ENDS_IN_A_ROW:
            raise ProducerEnded(
                f"the broker has refused {self._refused} producers one after another ({type(error).__name__}); "
                "restart the process"
            ) from error
        if isinstance(error, TopicAuthorizationFailedError):
            topics = ", ".join(sorted({self._settings.broker_name(output.topic) for output in outputs}))
            raise BrokerUnavailable(f"this user may not write to one of {topics}; {REMEDY}") from error
        if isinstance(error, PartitionMissing):
            raise BrokerUnavailable(str(error.args[0])) from error
        raise BrokerUnavailable(f"the broker did not acknowledge a send ({type(error).__name__})") from error

    def _replace_finished(self, client: ProducerClient, error: BaseException | None, *, in_batch: bool) -> None:
        """Replace the client if it has ended, or if a failed batch has left a gap in its sequence numbers."""
        gap = in_batch and (self._settings.kafka.idempotent_producer or isinstance(error, KafkaTimeoutError))
        if self._client is not client or not (gap or client.has_ended):
            return
        self._client = None
        if isinstance(error, REFUSALS) or client.has_ended:
            self._refused += 1
        metrics.PRODUCERS_REPLACED.labels(type(error).__name__).inc()
        log.warning("producer_replaced", error_class=type(error).__name__)
        self._opening = self._open_soon(client)

    async def _connected(self) -> ProducerClient:
        """Return the client; wait for a new one where the last one was finished."""
        if self._client is None:
            if self._opening is None:
                raise BrokerUnavailable("the producer is not started")
            if self._opening.done():
                self._opening = self._open_soon(None)
            await asyncio.shield(self._opening)
        if self._client is None:
            raise BrokerUnavailable("the producer is not connected")
        return self._client

    def _open_soon(self, finished: ProducerClient | None) -> asyncio.Task[None]:
        """Open a new client once for all senders that wait."""
        opening = asyncio.create_task(self._open(finished))
        opening.add_done_callback(lambda task: task.cancelled() or task.exception())
        return opening

    async def _open(self, finished: ProducerClient | None) -> None:
        # The old client sends nothing more when the new one begins, so it cannot put an old record behind a new one.
        if finished is not None:
            await finished.abandon()
        client = ProducerClient(self._settings, self._bootstrap_servers)
        await client.start()
        self._client = client
