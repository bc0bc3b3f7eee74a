"""Sending with confirmation: a send that returns is in the broker's log."""

import asyncio
from collections import Counter
from collections.abc import Sequence

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError, MessageSizeTooLargeError, RecordTooLargeError

from workers import metrics
from workers.delivery.errors import BrokerUnavailable, ProducerEnded, ResultTooLarge
from workers.delivery.records import Output
from workers.kafka import connection_arguments
from workers.settings import Settings

CHECK_SECONDS = 5.0
"""Longest wait for an answer when only asked whether it is there."""


class ConfirmedProducer:
    """One producer for a process; many agents share its connections and batches.

    Args:
        settings: names, limits and credentials.
        bootstrap_servers: host:port, comma separated.
    """

    def __init__(self, settings: Settings, bootstrap_servers: str) -> None:
        self._settings = settings
        self._bootstrap_servers = bootstrap_servers
        self._producer: AIOKafkaProducer | None = None

    async def start(self) -> None:
        """Connect.

        Raises:
            BrokerUnavailable: if no broker answers.
        """
        kafka = self._settings.kafka
        producer = AIOKafkaProducer(
            **connection_arguments(kafka, self._bootstrap_servers),
            acks="all",
            enable_idempotence=kafka.idempotent_producer,
            compression_type=None if kafka.compression == "none" else kafka.compression,
            max_request_size=kafka.max_record_bytes,
            linger_ms=5,
            request_timeout_ms=int(kafka.request_timeout_seconds * 1000),
        )
        try:
            await producer.start()
        except KafkaError as error:
            await producer.stop()
            raise BrokerUnavailable(
                f"no Kafka broker answers at {self._bootstrap_servers} ({type(error).__name__}); "
                "start one or set KAFKA_BOOTSTRAP_SERVERS"
            ) from error
        self._producer = producer

    async def stop(self) -> None:
        """Send what is buffered and disconnect."""
        if self._producer is not None:
            await self._producer.stop()
            self._producer = None

    async def problem(self) -> str | None:
        """Why the broker cannot be asked now, or ``None`` if it can."""
        if self._producer is None:
            return "the producer is not started"
        try:
            async with asyncio.timeout(CHECK_SECONDS):
                answered = await self._producer.client.force_metadata_update()
        except (KafkaError, OSError, TimeoutError) as error:
            return f"the broker does not answer ({type(error).__name__})"
        return None if answered else "the broker does not answer"

    async def send(self, outputs: Sequence[Output], *, agent: str) -> None:
        """Send records and wait until the broker has confirmed every one.

        Args:
            outputs: what to send.
            agent: who sends, for metrics.

        Raises:
            ResultTooLarge: one of them does not fit into a record.
            BrokerUnavailable: the broker does not confirm in time; some may have been written.
            ProducerEnded: the client itself is at its end, so that waiting for the broker would never end.
        """
        if not outputs:
            return
        if self._producer is None:
            raise BrokerUnavailable("the producer is not started")
        try:
            futures = [await self._enqueue(self._producer, output) for output in outputs]
            await asyncio.gather(*futures)
        except (MessageSizeTooLargeError, RecordTooLargeError) as error:
            sizes = max(len(output.value or b"") for output in outputs)
            raise ResultTooLarge(
                f"a result of {sizes} bytes exceeds the broker's limit of "
                f"{self._settings.kafka.max_record_bytes} bytes; raise kafka.max_record_bytes and the broker's limit"
            ) from error
        except KafkaError as error:
            # Its sender, and what learns the partitions' leaders: neither comes back.
            if self._producer._sender.sender_task.done() or self._producer.client._sync_task.done():
                raise ProducerEnded(
                    f"the Kafka client sends nothing more ({type(error.__cause__ or error).__name__}); a restart mends it"
                ) from error
            raise BrokerUnavailable(f"the broker did not confirm a send ({type(error).__name__})") from error
        for topic, count in Counter(output.topic.name for output in outputs).items():
            metrics.RECORDS_PRODUCED.labels(agent, topic).inc(count)

    async def _enqueue(self, producer: AIOKafkaProducer, output: Output) -> asyncio.Future[object]:
        future: asyncio.Future[object] = await producer.send(
            self._settings.broker_name(output.topic),
            value=output.value,
            key=output.key,
            headers=output.headers,
            partition=output.partition,
            timestamp_ms=output.timestamp_ms,
        )
        return future
