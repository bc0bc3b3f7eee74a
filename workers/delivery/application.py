"""Run one agent as one Faust app with its own consumer group, lag and commits."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, cast

import faust
from faust.exceptions import ConsumerNotStarted
from faust.tables.manager import TableManager
from faust.types import TP

from schemas.topics import Topic
from workers.delivery.access_tokens import access_tokens
from workers.delivery.connections import METADATA_SECONDS, ssl_context
from workers.delivery.consumption.consumer import LedgerConsumer, LedgerTransport
from workers.delivery.consumption.fetching import readable_name, refusal_of
from workers.delivery.consumption.ledger import Partition
from workers.delivery.consumption.log_growth import LogGrowth
from workers.delivery.records import Record
from workers.delivery.topics.missing_rights import refused_reading
from workers.errors import FatalDeliveryError
from workers.observability import metrics
from workers.observability.logs import get_logger
from workers.process.background import start_background
from workers.settings import KafkaSettings, Settings

STREAM_TIMEOUT_SECONDS = 86_400.0
"""Timeout of Faust's stall warnings, in seconds. They track Faust's own acknowledgements, which are unused here."""

POLL_INTERVAL_SECONDS = 10 * 365 * 86_400.0
"""Maximum time between two polls, in seconds: ten years, so that it never expires.

An agent that waits for a store fetches no records. After this time the client would leave the group, and it
rejoins only when records are fetched, which cannot happen without a group."""

WATCH_SECONDS = 0.5
"""Time between two checks that every task of the consumer still runs, in seconds."""

HEARTBEAT_SECONDS = 3.0
"""Maximum time between two heartbeats of a group's member, in seconds: Kafka's own default.

A member learns of a rebalance by its heartbeat, and until the last one has learnt of it the whole group waits."""

COMMIT_STALL_SECONDS = 300.0
"""Maximum commit stall while the broker is healthy and no rebalance runs, in seconds."""

FETCH_BYTES = 2 * 1024 * 1024
"""Bytes per partition and fetch: above the largest record, small enough to bound memory."""

log = get_logger(__name__)

Receiver = Callable[[Record], Awaitable[None]]


class PromptTableManager(TableManager):
    """Start without the second in which Faust waits for tables to be defined: agents have none."""

    async def on_start(self) -> None:
        """Start the parts that assign partitions."""
        if not self.should_stop:
            await self._update_channels()
            await self.recovery.start()


class AgentApplication:
    """Hand raw records to a receiver. The Faust app acknowledges nothing by itself.

    Args:
        name: the agent's name. Prefix and name form the name of the consumer group.
        topics: the topics that the agent reads.
        settings: all settings.
        bootstrap_servers: host:port, comma separated.
        growth: growth of the light broker's log; ``None`` with Apache Kafka.
    """

    def __init__(
        self,
        name: str,
        topics: Sequence[Topic],
        settings: Settings,
        bootstrap_servers: str,
        growth: LogGrowth | None = None,
    ) -> None:
        self.name = name
        self.topics = tuple(topics)
        self._settings = settings
        self._names = {settings.broker_name(topic): topic.name for topic in topics}
        self._full_names = {short: full for full, short in self._names.items()}
        self._receiver: Receiver | None = None
        self._accepting = True
        self._observed: set[Partition] = set()
        self._watcher: asyncio.Task[None] | None = None
        self.failure: asyncio.Future[Exception] = asyncio.get_running_loop().create_future()
        self.app = _faust_app(settings.group_name(name), settings, bootstrap_servers)
        self.app.transport.on_lost = self._count_lost
        self.app.transport.log_growth = growth
        self.app.agent(
            self.app.topic(
                *self._names,
                key_type=bytes,
                value_type=bytes,
                key_serializer="raw",
                value_serializer="raw",
                allow_empty=True,
            ),
            name=name,
        )(self._receive)

    @property
    def consumer(self) -> LedgerConsumer:
        """Return the consumer that holds the offset ledger."""
        return cast(LedgerConsumer, self.app.consumer)

    def is_current(self, epoch: int) -> bool:
        """Return True if records delivered in ``epoch`` may still be acknowledged."""
        return self.consumer.ledger.is_current(epoch)

    def acknowledge(self, topic: str, partition: int, offset: int, epoch: int) -> bool:
        """Mark a record as done. ``topic`` is the name without prefix."""
        return self.consumer.acknowledge(self._full_names[topic], partition, offset, epoch)

    def partition(self, topic: Topic, number: int) -> Partition:
        """Return the partition with the broker's name of the topic."""
        return Partition(self._full_names[topic.name], number)

    def short_name(self, topic: str) -> str:
        """Return the registry's name for a topic name of the broker."""
        return self._names[topic]

    @property
    def is_assigned(self) -> bool:
        """Return True once the group has assigned partitions to this worker. The assignment may be empty."""
        return self.app.rebalancing_count > 0 and not self.app.rebalancing

    @property
    def is_connected(self) -> bool:
        """Return True if the broker responds; this also works for an idle agent."""
        return self.consumer.is_connected

    def assigned(self) -> set[Partition]:
        """Return the partitions that this worker owns now. The set is empty before it has joined the group."""
        try:
            return {Partition(*tp) for tp in self.consumer.assignment()}
        except ConsumerNotStarted:
            return set()

    def pause(self, partitions: Iterable[Partition]) -> None:
        """Stop fetching from partitions."""
        self.consumer.pause_partitions({TP(*partition) for partition in partitions})

    def resume(self, partitions: Iterable[Partition]) -> None:
        """Fetch from partitions again if this worker still owns them."""
        ours = self.assigned()
        self.consumer.resume_partitions({TP(*partition) for partition in partitions if partition in ours})

    async def start(self, receiver: Receiver) -> None:
        """Join the group and start to receive.

        Args:
            receiver: called with one record at a time. The app waits until it returns.
        """
        self._receiver = receiver
        self.app.finalize()
        self._watcher = start_background(self._watch(self.consumer), f"{self.name}-watch", self.failure)
        await self.app.start()

    def stop_accepting(self) -> None:
        """Stop receiving. Records that are delivered from now on are delivered again later."""
        self._accepting = False

    async def stop(self) -> None:
        """Commit acknowledged offsets and leave the group."""
        if self._watcher is not None:
            self._watcher.cancel()  # from here on tasks end on purpose
        await self.app.stop()

    async def wait_crashed(self) -> Exception:
        """Wait until Faust, its client or the receiver fails.

        Returns:
            The exception that ended the app.
        """
        return await asyncio.shield(self.failure)

    async def _watch(self, consumer: LedgerConsumer) -> None:
        """Check that every task still runs. Several tasks end silently, or report only to their own thread."""
        loop = asyncio.get_running_loop()
        commits, since = consumer.commits, loop.time()
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            if (defect := consumer.defect()) is not None:
                if (refused := refused_reading(defect)) is not None:
                    raise FatalDeliveryError(refused) from defect
                # A cancellation is also an error here, because the application did not request it.
                raise defect if isinstance(defect, Exception) else FatalDeliveryError(f"{self.name} ended: {defect!r}")
            if commits != consumer.commits or not consumer.may_commit():
                commits, since = consumer.commits, loop.time()
            elif loop.time() - since > COMMIT_STALL_SECONDS:
                raise FatalDeliveryError(
                    f"{self.name} committed nothing for {COMMIT_STALL_SECONDS:g} s, although acknowledged offsets "
                    "were waiting; restart the worker"
                )

    def lag(self) -> int:
        """Return the number of records at the broker that are not committed, by the ends that are known."""
        return sum(self._lag(partition) for partition in self.assigned())

    def _count_lost(self, topic: str, records: int) -> None:
        metrics.RECORDS_LOST.labels(self.name, self.short_name(topic)).inc(records)

    async def observe_lag(self, older_seconds: float = 0.0) -> None:
        """Set the lag gauges. Remove gauges of partitions that moved, because nothing would update them again.

        Args:
            older_seconds: ask the broker for the ends of partitions that nothing was fetched from for this time.
        """
        await self.consumer.refresh_ends(older_seconds)
        assigned = self.assigned()
        for partition in self._observed - assigned:
            metrics.CONSUMER_LAG.remove(self.name, self.short_name(partition.topic), str(partition.partition))
        for partition in assigned:
            topic = self.short_name(partition.topic)
            metrics.CONSUMER_LAG.labels(self.name, topic, partition.partition).set(self._lag(partition))
        self._observed = assigned

    def _lag(self, partition: Partition) -> int:
        end = self.consumer.highwater(TP(*partition))
        return max(0, (end or 0) - (self.consumer.ledger.committed(partition) or 0))

    async def _receive(self, stream: Any) -> None:
        async for event in stream.noack().events():
            self.consumer.received(event.message)
            if not self._accepting or self._receiver is None:
                continue
            try:
                record = self._record(event.message)
                metrics.RECORDS_CONSUMED.labels(self.name, record.topic).inc()
                await self._receiver(record)
            except Exception as error:
                # An exception that left this loop would make Faust acknowledge the message.
                log.error("receiver_failed", agent=self.name, exc_info=error)
                if not self.failure.done():
                    self.failure.set_result(error)
                self._accepting = False

    def _record(self, message: Any) -> Record:
        headers = message.headers
        pairs = list(headers.items()) if isinstance(headers, dict) else list(headers or [])
        if (refusal := refusal_of(pairs)) is not None:
            pairs = []
        readable = [(readable_name(name), content) for name, content in pairs]
        return Record(
            topic=self._names[message.topic],
            partition=message.partition,
            offset=message.offset,
            key=message.key,
            value=message.value,
            headers=readable,
            timestamp=message.timestamp or 0.0,
            epoch=message.touchstone_epoch,
            foreign_names=readable != pairs,
            refusal=refusal,
        )


def _faust_app(group: str, settings: Settings, bootstrap_servers: str) -> faust.App:
    kafka, delivery = settings.kafka, settings.delivery
    state = Path(settings.state_dir) / "faust"
    state.mkdir(parents=True, exist_ok=True)
    app = faust.App(
        group,
        broker=[f"kafka://{server.strip()}" for server in bootstrap_servers.split(",")],
        broker_credentials=_credentials(kafka),
        broker_client_id=group,
        broker_commit_interval=delivery.commit_interval_seconds,
        broker_session_timeout=kafka.session_timeout_seconds,
        broker_heartbeat_interval=min(HEARTBEAT_SECONDS, kafka.session_timeout_seconds / 4),
        broker_request_timeout=max(kafka.request_timeout_seconds, kafka.session_timeout_seconds),
        broker_commit_livelock_soft_timeout=STREAM_TIMEOUT_SECONDS,
        broker_max_poll_interval=POLL_INTERVAL_SECONDS,
        broker_max_poll_records=delivery.stream_buffer,
        stream_processing_timeout=STREAM_TIMEOUT_SECONDS,
        stream_buffer_maxsize=delivery.stream_buffer,
        stream_wait_empty=False,
        consumer_auto_offset_reset="earliest",
        consumer_metadata_max_age_ms=int(METADATA_SECONDS * 1000),
        consumer_max_fetch_size=FETCH_BYTES,
        topic_allow_declare=False,
        topic_disable_leader=True,
        web_enabled=False,
        datadir=str(state),
        store="memory://",
        TableManager=PromptTableManager,
    )
    app.transport = LedgerTransport(app.conf.broker_consumer, app)
    app.transport.fetch_wait_seconds = kafka.fetch_wait_seconds
    app.transport.client_rack = kafka.client_rack
    app.transport.max_batch_bytes = kafka.max_batch_bytes
    app.transport.buffer_bytes = delivery.in_flight_bytes
    return app


def _credentials(kafka: KafkaSettings) -> Any:
    if kafka.security_protocol == "PLAINTEXT":
        return None
    context = ssl_context(kafka) if kafka.security_protocol in ("SSL", "SASL_SSL") else None
    if kafka.security_protocol == "SSL":
        return faust.SSLCredentials(context)
    if kafka.sasl_mechanism == "OAUTHBEARER":
        return faust.auth.OAuthCredentials(oauth_cb=access_tokens(kafka), ssl_context=context)
    password = kafka.sasl_password.get_secret_value() if kafka.sasl_password else None
    return faust.SASLCredentials(
        username=kafka.sasl_username, password=password, ssl_context=context, mechanism=kafka.sasl_mechanism
    )
