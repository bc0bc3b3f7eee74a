"""Send LiteLLM's logged calls to Kafka without blocking the gateway.

The callback runs in the gateway's process. It needs only this file of Touchstone and the packages ``litellm`` and
``aiokafka``: install Touchstone with the gateway, or copy this file there.

* A call puts a reference to its payload into a bounded queue. Serialisation and sending happen in a thread with its
  own event loop.
* No exception reaches the gateway. Errors are counted (``stats``) and logged at most once a minute.
* While the broker is unavailable the queue fills. Payloads that do not fit are dropped and counted.

In the proxy's configuration::

    litellm_settings:
      callbacks: ["workers.gateways.callback.touchstone"]

with ``LITELLM_TOUCHSTONE_KAFKA=broker:9092`` and optionally ``LITELLM_TOUCHSTONE_TOPIC`` for another topic.
"""

import asyncio
import atexit
import json
import logging
import os
import threading
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from litellm.integrations.custom_logger import CustomLogger

TOPIC = "litellm.logs"
CALLER_FIELDS = ("contexts", "sources", "documents", "tenant", "session_id", "user_id", "query_type", "risk_mode", "prompt_version",
                 "reference_answer", "traceparent")  # fmt: skip
"""Fields of an answer that a call's ``metadata`` may hold."""
QUEUE_RECORDS = 10_000
"""Maximum number of queued payloads."""
QUEUE_BYTES = 128_000_000
"""Approximate maximum size of the queued payloads, bytes; limits the memory use in the gateway's process."""
PAYLOAD_BYTES, TOKEN_BYTES = 4_000, 6
"""Approximate size of a payload without its messages, bytes: its fields, and its text for each token."""
MESSAGE_DEPTH = 6
"""Nesting depth at which texts and images occur: list of messages, message, parts, part, image, text."""
MAX_BYTES = 1_000_000
"""Maximum size of a record, bytes; the default of brokers."""
BATCH = 200
"""Number of payloads to serialise before waiting for their acknowledgement."""
LOOK_SECONDS = 0.02
"""Interval between two polls of an empty queue, seconds."""
RETRY_SECONDS = 1.0
MAX_RETRY_SECONDS = 30.0
WARN_SECONDS = 60.0
"""Minimum interval between two warnings in the gateway's log, seconds."""
CLOSE_SECONDS = 5.0
"""Maximum time to send the queue when the gateway stops, seconds."""

log = logging.getLogger("touchstone.callback")


@dataclass(slots=True)
class Stats:
    """Counters of the payloads of one process.

    Attributes:
        offered: calls that were logged.
        sent: payloads acknowledged by the broker.
        dropped: payloads that did not fit into the queue, or were left in it at the end.
        too_large: payloads larger than a record may be, here or at the broker.
        refused: payloads that the broker refused permanently for another reason.
        failed: payloads that could not be serialised.
    """

    offered: int = 0
    sent: int = 0
    dropped: int = 0
    too_large: int = 0
    refused: int = 0
    failed: int = 0


class _Waiting:
    """Thread-safe queue of payloads for the sender, bounded in number and size.

    Args:
        records: maximum number of payloads.
        size: approximate maximum size, bytes; one payload always fits.
    """

    def __init__(self, records: int, size: int) -> None:
        self.records = records
        self.size = size
        self._held = 0
        self._payloads: deque[tuple[Any, int]] = deque()
        self._lock = threading.Lock()

    def offer(self, payload: Any) -> bool:
        """Add a payload and return true, or return false if the queue is full."""
        # Failed calls have no token counts and images are not in them, so the messages are measured.
        asked = _length(payload.get("messages"), MESSAGE_DEPTH)
        size = PAYLOAD_BYTES + TOKEN_BYTES * int(payload.get("total_tokens") or 0) + asked
        with self._lock:
            if len(self._payloads) >= self.records or (self._held and self._held + size > self.size):
                return False
            self._payloads.append((payload, size))
            self._held += size
        return True

    def take(self) -> Any:
        """Remove and return the oldest payload; ``None`` if the queue is empty."""
        with self._lock:
            if not self._payloads:
                return None
            payload, size = self._payloads.popleft()
            self._held -= size
        return payload

    def __len__(self) -> int:
        return len(self._payloads)


class TouchstoneCallback(CustomLogger):
    """Send the ``standard_logging_object`` of every call to a topic.

    Args:
        bootstrap_servers: host:port, comma separated; by default ``LITELLM_TOUCHSTONE_KAFKA``.
        topic: name of the topic; by default ``LITELLM_TOUCHSTONE_TOPIC``, else ``litellm.logs``.
        queue_records: maximum number of queued payloads.
        queue_bytes: approximate maximum size of the queued payloads, bytes.
        producer: further arguments for ``AIOKafkaProducer``, such as ``security_protocol`` and ``sasl_plain_password``.
    """

    def __init__(
        self,
        bootstrap_servers: str | None = None,
        topic: str | None = None,
        queue_records: int = QUEUE_RECORDS,
        queue_bytes: int = QUEUE_BYTES,
        producer: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__()
        self.stats = Stats()
        self._servers = bootstrap_servers or os.environ.get("LITELLM_TOUCHSTONE_KAFKA", "localhost:9092")
        self._topic = topic or os.environ.get("LITELLM_TOUCHSTONE_TOPIC", TOPIC)
        self._arguments = dict(producer or {})
        self._waiting = _Waiting(queue_records, queue_bytes)
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._process = 0
        self._closing = threading.Event()
        self._warned = 0.0

    def log_success_event(self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any) -> None:
        """Queue the payload of a synchronous call that succeeded."""
        self._offer(kwargs)

    def log_failure_event(self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any) -> None:
        """Queue the payload of a synchronous call that failed."""
        self._offer(kwargs)

    async def async_log_success_event(self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any) -> None:
        """Queue the payload of an asynchronous call that succeeded."""
        self._offer(kwargs)

    async def async_log_failure_event(self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any) -> None:
        """Queue the payload of an asynchronous call that failed."""
        self._offer(kwargs)

    def close(self, seconds: float = CLOSE_SECONDS) -> None:
        """Send the queue and end the thread; drop and count payloads that are not sent in time.

        Args:
            seconds: maximum time for sending, seconds.
        """
        self._closing.set()
        thread, self._thread = self._thread, None
        if thread is not None and self._process == os.getpid():
            thread.join(seconds)
        while self._waiting.take() is not None:
            self.stats.dropped += 1

    def _offer(self, kwargs: Any) -> None:
        try:
            payload = _with_caller_fields(kwargs.get("standard_logging_object"), kwargs)
            if payload is None:
                return
            self.stats.offered += 1
            if self._process != os.getpid():
                # Start the thread with the first call of a process: threads do not survive a fork, and the import
                # starts none.
                self._begin()
            if not self._waiting.offer(payload):
                self.stats.dropped += 1
                self._warn(
                    "the queue is full; check whether the broker at %s is available; %d payloads dropped",
                    self._servers,
                    self.stats.dropped,
                )
        except Exception:
            self.stats.failed += 1
            self._warn("a call could not be queued; %d so far", self.stats.failed)

    def _begin(self) -> None:
        with self._lock:
            if self._process == os.getpid():
                return
            if self._process:
                # After a fork the parent process sends the payloads that were queued before.
                self._waiting = _Waiting(self._waiting.records, self._waiting.size)
            self._closing = threading.Event()
            self._thread = threading.Thread(target=self._run, name="touchstone-callback", daemon=True)
            self._process = os.getpid()
            self._thread.start()
            atexit.register(self.close)

    def _run(self) -> None:
        try:
            asyncio.run(self._send_all())
        except Exception:
            self._warn("the sender thread ended; calls are no longer sent")
            log.debug("error of the sender thread", exc_info=True)

    async def _send_all(self) -> None:
        # Do not use an executor: at exit Python waits for executor threads before ``close`` can stop this thread.
        producer: Any = None
        pause = RETRY_SECONDS
        batch: list[tuple[bytes | None, bytes]] = []
        while batch or len(self._waiting) or not self._closing.is_set():
            batch = batch or self._next_batch()
            if not batch:
                await asyncio.sleep(LOOK_SECONDS)
                continue
            try:
                producer = producer or await self._connected()
                outcomes = await _outcomes(producer, self._topic, batch)
                batch = [record for record, outcome in zip(batch, outcomes, strict=True) if self._is_left(outcome)]
                if batch:
                    raise next(outcome for outcome in outcomes if outcome is not None and not _is_refusal(outcome))
                pause = RETRY_SECONDS
            except Exception as error:
                # Keep the batch after any error, because the broker may return; the queue bounds the memory.
                self._warn(
                    "payloads cannot be sent to %s (%s); the next attempt follows", self._servers, type(error).__name__
                )
                await _stopped(producer)
                producer = None
                if await self._closed_within(pause):
                    break
                pause = min(2 * pause, MAX_RETRY_SECONDS)
        self.stats.dropped += len(batch)
        await _stopped(producer)

    def _is_left(self, outcome: BaseException | None) -> bool:
        """Count the result of a record; return whether the record must be sent again."""
        from aiokafka.errors import MessageSizeTooLargeError

        if outcome is None:
            self.stats.sent += 1
        elif isinstance(outcome, MessageSizeTooLargeError):
            self.stats.too_large += 1
        elif _is_refusal(outcome):
            self.stats.refused += 1
        else:
            return True
        if outcome is not None:
            self._warn("a payload was refused by %s (%s) and dropped", self._servers, type(outcome).__name__)
        return False

    async def _closed_within(self, seconds: float) -> bool:
        until = time.monotonic() + seconds
        while not self._closing.is_set() and time.monotonic() < until:  # noqa: ASYNC110 -- an event of threads
            await asyncio.sleep(LOOK_SECONDS)
        return self._closing.is_set()

    async def _connected(self) -> Any:
        from aiokafka import AIOKafkaProducer

        producer = AIOKafkaProducer(
            bootstrap_servers=self._servers,
            client_id="touchstone-callback",
            acks="all",
            max_request_size=MAX_BYTES,
            **self._arguments,
        )
        try:
            await producer.start()
        except BaseException:
            await _stopped(producer)
            raise
        return producer

    def _next_batch(self) -> list[tuple[bytes | None, bytes]]:
        """Return the next serialised payloads, at most one batch."""
        records: list[tuple[bytes | None, bytes]] = []
        while len(records) < BATCH and (payload := self._waiting.take()) is not None:
            record = self._record(payload)
            if record is not None:
                records.append(record)
        return records

    def _record(self, payload: Any) -> tuple[bytes | None, bytes] | None:
        try:
            value = json.dumps(payload, default=str, ensure_ascii=False).encode("utf-8", "replace")
            key = str(payload["id"]).encode("utf-8", "replace") if payload.get("id") else None
        except Exception:
            self.stats.failed += 1
            self._warn("a payload could not be serialised; %d so far", self.stats.failed)
            return None
        if len(value) > MAX_BYTES - 1_000:
            self.stats.too_large += 1
            self._warn(
                "a payload has %d bytes, more than a record may have; %d so far", len(value), self.stats.too_large
            )
            return None
        return key, value

    def _warn(self, message: str, *arguments: object) -> None:
        now = time.monotonic()
        if now - self._warned > WARN_SECONDS or not self._warned:
            self._warned = now
            log.warning(message, *arguments)


def _with_caller_fields(payload: Any, kwargs: Any) -> Any:
    """Return a payload with the fields of an answer that the call's own ``metadata`` holds.

    LiteLLM keeps only known names of ``metadata``; without the proxy the caller's are lost.
    """
    given = (kwargs.get("litellm_params") or {}).get("metadata") or {}
    own = {name: given[name] for name in CALLER_FIELDS if given.get(name) is not None}
    if payload is None or not own:
        return payload
    metadata = payload.get("metadata") or {}
    requester = {**own, **(metadata.get("requester_metadata") or {})}
    return {**payload, "metadata": {**metadata, "requester_metadata": requester}}


def _length(value: Any, depth: int) -> int:
    """Return the total length of all texts in a value, to this nesting depth."""
    if isinstance(value, str):
        return len(value)
    if depth == 0 or not isinstance(value, dict | list):
        return 0
    return sum(_length(each, depth - 1) for each in (value.values() if isinstance(value, dict) else value))


async def _outcomes(producer: Any, topic: str, batch: list[tuple[bytes | None, bytes]]) -> list[BaseException | None]:
    """Send the records; return for each ``None`` if it is acknowledged, else its exception."""

    async def confirmed(key: bytes | None, value: bytes) -> None:
        await (await producer.send(topic, value=value, key=key))

    return await asyncio.gather(*[confirmed(*record) for record in batch], return_exceptions=True)


def _is_refusal(error: BaseException) -> bool:
    """Return whether the broker refuses a record permanently; a missing permission can still be granted."""
    from aiokafka.errors import BrokerResponseError, ClusterAuthorizationFailedError, TopicAuthorizationFailedError

    missing_right = isinstance(error, TopicAuthorizationFailedError | ClusterAuthorizationFailedError)
    return isinstance(error, BrokerResponseError) and not error.retriable and not missing_right


async def _stopped(producer: Any) -> None:
    if producer is not None:
        try:
            await producer.stop()
        except Exception:
            log.debug("the client could not be stopped", exc_info=True)


touchstone = TouchstoneCallback()
"""Callback for the proxy's configuration; its thread starts with the first call."""
