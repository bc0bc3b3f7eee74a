"""A callback for LiteLLM that sends what it logs to Kafka, without making any call wait.

It lives in the gateway's process, so it needs nothing of Touchstone but this file, and of other
packages ``litellm`` and ``aiokafka`` alone: install them beside the gateway, or copy this file there.

* A call puts a reference into a bounded queue and goes on. Serialising and sending happen in a
  thread with an event loop of its own.
* Nothing is raised into the gateway: what goes wrong is counted (``stats``) and logged, once a minute
  at most.
* While the broker is away the queue fills; what does not fit is dropped and counted.

In the proxy's configuration::

    litellm_settings:
      callbacks: ["workers.gateways.callback.touchstone"]

with ``LITELLM_TOUCHSTONE_KAFKA=broker:9092`` and, if it is another one, ``LITELLM_TOUCHSTONE_TOPIC``.
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
QUEUE_RECORDS = 10_000
"""Payloads that wait at most."""
QUEUE_BYTES = 128_000_000
"""About what they may hold together, bytes: the gateway's memory is not ours."""
PAYLOAD_BYTES, TOKEN_BYTES = 4_000, 6
"""What a payload holds, about, besides what was asked: its fields, and its texts by their tokens."""
MESSAGE_DEPTH = 6
"""How deep texts and images lie within messages: list, message, parts, part, image, its text."""
MAX_BYTES = 1_000_000
"""Largest record, as brokers have it by default."""
BATCH = 200
"""Payloads that are serialised before their confirmation is waited for."""
LOOK_SECONDS = 0.02
"""Time between two looks at an empty queue."""
RETRY_SECONDS = 1.0
MAX_RETRY_SECONDS = 30.0
WARN_SECONDS = 60.0
"""Time between two warnings in the gateway's log."""
CLOSE_SECONDS = 5.0
"""Longest wait at the gateway's end for what is in the queue."""

log = logging.getLogger("touchstone.callback")


@dataclass(slots=True)
class Stats:
    """What became of the payloads of one process.

    Attributes:
        offered: calls that were logged.
        sent: confirmed by the broker.
        dropped: did not fit into the queue, or were left in it at the end.
        too_large: larger than a record may be, here or at the broker.
        refused: refused by the broker for good, for another reason.
        failed: could not be serialised.
    """

    offered: int = 0
    sent: int = 0
    dropped: int = 0
    too_large: int = 0
    refused: int = 0
    failed: int = 0


class _Waiting:
    """Payloads that wait for the sender, bounded in number and size.

    Args:
        records: most payloads.
        size: most bytes, about; one payload always fits.
    """

    def __init__(self, records: int, size: int) -> None:
        self.records = records
        self.size = size
        self._held = 0
        self._payloads: deque[tuple[Any, int]] = deque()
        self._lock = threading.Lock()

    def offer(self, payload: Any) -> bool:
        """Take a payload, if there is room."""
        # Failed calls have no tokens, and images are none: what was asked is measured.
        asked = _length(payload.get("messages"), MESSAGE_DEPTH)
        size = PAYLOAD_BYTES + TOKEN_BYTES * int(payload.get("total_tokens") or 0) + asked
        with self._lock:
            if len(self._payloads) >= self.records or (self._held and self._held + size > self.size):
                return False
            self._payloads.append((payload, size))
            self._held += size
        return True

    def take(self) -> Any:
        """The one that waits longest, or ``None``."""
        with self._lock:
            if not self._payloads:
                return None
            payload, size = self._payloads.popleft()
            self._held -= size
        return payload

    def __len__(self) -> int:
        return len(self._payloads)


class TouchstoneCallback(CustomLogger):
    """Sends the ``standard_logging_object`` of every call to a topic.

    Args:
        bootstrap_servers: host:port, comma separated; by default ``LITELLM_TOUCHSTONE_KAFKA``.
        topic: where to; by default ``LITELLM_TOUCHSTONE_TOPIC``, else ``litellm.logs``.
        queue_records: payloads that may wait.
        queue_bytes: about what they may hold together.
        producer: further arguments for ``AIOKafkaProducer``, such as ``security_protocol`` and
            ``sasl_plain_password``.
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
        """A call without asyncio has ended well."""
        self._offer(kwargs)

    def log_failure_event(self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any) -> None:
        """A call without asyncio has failed."""
        self._offer(kwargs)

    async def async_log_success_event(self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any) -> None:
        """A call has ended well."""
        self._offer(kwargs)

    async def async_log_failure_event(self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any) -> None:
        """A call has failed."""
        self._offer(kwargs)

    def close(self, seconds: float = CLOSE_SECONDS) -> None:
        """Send what waits, for so long at most, and end the thread; what is left is dropped and counted."""
        self._closing.set()
        thread, self._thread = self._thread, None
        if thread is not None and self._process == os.getpid():
            thread.join(seconds)
        while self._waiting.take() is not None:
            self.stats.dropped += 1

    def _offer(self, kwargs: Any) -> None:
        try:
            payload = kwargs.get("standard_logging_object")
            if payload is None:
                return
            self.stats.offered += 1
            if self._process != os.getpid():
                # The first call of this process: threads do not follow a fork, and none is begun at import.
                self._begin()
            if not self._waiting.offer(payload):
                self.stats.dropped += 1
                self._warn(
                    "the queue is full; is the broker at %s there? %d dropped", self._servers, self.stats.dropped
                )
        except Exception:
            self.stats.failed += 1
            self._warn("a call could not be logged; %d so far", self.stats.failed)

    def _begin(self) -> None:
        with self._lock:
            if self._process == os.getpid():
                return
            if self._process:
                # What the parent had waiting is the parent's to send.
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
            self._warn("the sender has ended; calls are no longer logged")
            log.debug("why the sender has ended", exc_info=True)

    async def _send_all(self) -> None:
        # No executor: its threads would be waited for at the gateway's end, before anybody could tell this one.
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
                # Whatever it is, what waits is kept until the queue is full: the broker may come back.
                self._warn("nothing can be sent to %s (%s)", self._servers, type(error).__name__)
                await _stopped(producer)
                producer = None
                if await self._closed_within(pause):
                    break
                pause = min(2 * pause, MAX_RETRY_SECONDS)
        self.stats.dropped += len(batch)
        await _stopped(producer)

    def _is_left(self, outcome: BaseException | None) -> bool:
        """Count what became of a record; whether it is to be sent again."""
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
            self._warn("a call is refused by %s (%s) and left out", self._servers, type(outcome).__name__)
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
        """What waits, serialised; at most a batch."""
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
            self._warn("a call could not be serialised; %d so far", self.stats.failed)
            return None
        if len(value) > MAX_BYTES - 1_000:
            self.stats.too_large += 1
            self._warn("a call has %d bytes, more than a record may have; %d so far", len(value), self.stats.too_large)
            return None
        return key, value

    def _warn(self, message: str, *arguments: object) -> None:
        now = time.monotonic()
        if now - self._warned > WARN_SECONDS or not self._warned:
            self._warned = now
            log.warning(message, *arguments)


def _length(value: Any, depth: int) -> int:
    """Length of all texts of a value, so many levels deep."""
    if isinstance(value, str):
        return len(value)
    if depth == 0 or not isinstance(value, dict | list):
        return 0
    return sum(_length(each, depth - 1) for each in (value.values() if isinstance(value, dict) else value))


async def _outcomes(producer: Any, topic: str, batch: list[tuple[bytes | None, bytes]]) -> list[BaseException | None]:
    """For each record ``None`` where it is confirmed, else what went wrong with it alone."""

    async def confirmed(key: bytes | None, value: bytes) -> None:
        await (await producer.send(topic, value=value, key=key))

    return await asyncio.gather(*[confirmed(*record) for record in batch], return_exceptions=True)


def _is_refusal(error: BaseException) -> bool:
    """Whether the broker would refuse the same record again; a right that is missing may come."""
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
"""The callback as the proxy's configuration names it; it begins with the first call."""
