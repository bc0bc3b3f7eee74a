"""Send through one client of aiokafka, and end it without waiting for batches that are never acknowledged."""

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaConnectionError, KafkaError, KafkaTimeoutError, UnknownTopicOrPartitionError
from aiokafka.partitioner import DefaultPartitioner

from schemas.identifiers import named_by_key
from workers.delivery.connections import connection_arguments
from workers.delivery.consumption.throttling import throttled_until
from workers.delivery.records import Output
from workers.errors import BrokerUnavailable
from workers.settings import Settings

STOP_SECONDS = 5.0
"""Maximum wait for buffered records when the process ends, seconds. Their senders have ended already."""


_by_key = DefaultPartitioner()


def partition_by_name(key: bytes | None, all_partitions: list[int], available: list[int]) -> int:
    """Return the partition of a record by the name in its key.

    The tenant has no effect. Records of an answer therefore stay on the partition that their producers chose by the
    answer's identifier, also gateways and earlier versions.
    """
    name = None if key is None else named_by_key(key.decode("utf-8", "surrogateescape"))[1]
    bare = None if name is None else name.encode("utf-8", "surrogateescape")
    return int(_by_key(bare, all_partitions, available))


class PartitionMissing(UnknownTopicOrPartitionError):  # type: ignore[misc]  # untyped
    """Report that the topic has no such partition; the message names the remedy."""


class BatchFailed(Exception):
    """Report that a batch failed after it had its sequence numbers. The cause is the client's error."""


class ProducerClient:
    """One client. With idempotence it is one producer identifier with its sequence numbers.

    Args:
        settings: names, limits and credentials.
        bootstrap_servers: host:port, comma separated.
    """

    def __init__(self, settings: Settings, bootstrap_servers: str) -> None:
        kafka = settings.kafka
        self._settings = settings
        self._bootstrap_servers = bootstrap_servers
        self._timeout = kafka.request_timeout_seconds
        self._ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._producer = AIOKafkaProducer(
            **connection_arguments(kafka, bootstrap_servers),
            acks="all",
            enable_idempotence=kafka.idempotent_producer,
            compression_type=None if kafka.compression == "none" else kafka.compression,
            max_request_size=kafka.max_record_bytes,
            partitioner=partition_by_name,
            linger_ms=5,
            request_timeout_ms=int(self._timeout * 1000),
        )

    @property
    def connection(self) -> Any:
        """Return aiokafka's client."""
        return self._producer.client

    @property
    def has_ended(self) -> bool:
        """Return True if a task of the client has ended. The client never starts it again."""
        return bool(self._producer._sender.sender_task.done() or self.connection._sync_task.done())

    @property
    def is_throttled(self) -> bool:
        """Return True if a quota of the broker holds back requests now. The broker has responded, then."""
        return self._throttled_until > time.monotonic()

    @property
    def _throttled_until(self) -> float:
        return throttled_until(self.connection._conns.values())

    async def start(self) -> None:
        """Connect.

        Raises:
            BrokerUnavailable: no broker responds.
        """
        try:
            async with asyncio.timeout(self._timeout):
                await self._producer.start()
        except (KafkaError, OSError, TimeoutError) as error:
            await self._producer.stop()
            raise BrokerUnavailable(
                f"no Kafka broker responds at {self._bootstrap_servers} ({type(error).__name__}); start one or "
                "set KAFKA_BOOTSTRAP_SERVERS"
            ) from error
        except asyncio.CancelledError:
            await self._producer.stop()
            raise

    async def write(self, outputs: Sequence[Output]) -> None:
        """Send records and wait until the broker has acknowledged all of them.

        Raises:
            BatchFailed: a batch failed, or was not acknowledged in time; some records may have been written.
            KafkaError: a record was refused before it was in a batch.
        """
        written: asyncio.Future[Any] = asyncio.gather(*[await self._enqueue(output) for output in outputs])
        try:
            await self._until_written(written)
            if written.done():
                await written
                return
        except KafkaError as error:
            raise BatchFailed from error
        finally:
            written.cancel()
        raise BatchFailed from KafkaConnectionError() if self._ended.done() else KafkaTimeoutError()

    async def _until_written(self, written: asyncio.Future[Any]) -> None:
        """Wait for records that are buffered. Batches of an idempotent client never expire, so the wait has a limit.

        The limit begins again with each wait that a quota demands: many small requests may be before this one.
        """
        begun = time.monotonic()
        while (left := max(begun, self._throttled_until) + 2 * self._timeout - time.monotonic()) > 0:
            await asyncio.wait([written, self._ended], timeout=left, return_when=asyncio.FIRST_COMPLETED)
            if written.done() or self._ended.done():
                return

    async def stop(self) -> None:
        """Send buffered records and disconnect."""
        with suppress(TimeoutError):
            async with asyncio.timeout(STOP_SECONDS):
                await self._producer.flush()
        await self.abandon(STOP_SECONDS)

    async def abandon(self, limit: float | None = None) -> None:
        """Disconnect after the requests in flight have ended. Sends that still wait fail.

        Args:
            limit: maximum wait for these requests, seconds; by default the timeout of a request.
        """
        self._producer._closed = True
        try:
            with suppress(TimeoutError, KafkaError):
                async with asyncio.timeout(limit or self._timeout):
                    # In a task: a sender that is stopped before its first step ends with a cancellation of its own.
                    results = await asyncio.gather(self._producer._sender.close(), return_exceptions=True)
                    if isinstance(results[0], Exception):
                        raise results[0]
        finally:
            if not self._ended.done():
                self._ended.set_result(None)
            await self.connection.close()

    async def _enqueue(self, output: Output) -> asyncio.Future[Any]:
        name = self._settings.broker_name(output.topic)
        if output.partition is not None:
            await self._know_partition(name, output.partition)
        begun = time.monotonic()
        while True:
            try:
                future: asyncio.Future[Any] = await self._producer.send(
                    name,
                    value=output.value,
                    key=output.key,
                    headers=output.headers,
                    partition=output.partition,
                    timestamp_ms=output.timestamp_ms,
                )
                return future
            except KafkaTimeoutError:
                # No room in the buffer, which a quota may empty slowly.
                if time.monotonic() >= max(begun, self._throttled_until) + self._timeout:
                    raise

    async def _know_partition(self, topic: str, partition: int) -> None:
        """Learn of a partition that was added after the last look. aiokafka would fail with an assertion.

        Raises:
            PartitionMissing: the topic has no such partition.
        """
        known = self.connection.cluster.partitions_for_topic(topic)
        if known is None or partition in known:
            return  # aiokafka looks up topics that it does not know
        await self.connection.force_metadata_update()
        if partition not in (self.connection.cluster.partitions_for_topic(topic) or ()):
            raise PartitionMissing(
                f"{topic} has no partition {partition}, because topics that are joined have unequal numbers of "
                f"partitions; add partitions to {topic} (`kafka-topics --alter --partitions`), and agents go on"
            )
