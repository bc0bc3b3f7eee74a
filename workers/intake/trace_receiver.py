"""Hold exports of spans from topics back until the sources of their traces have arrived, for a bounded time.

A record that waits is not accepted yet: nothing of it is acknowledged, and after a crash it is delivered again. The
wait counts from the record's time at the broker, so that an agent with a backlog does not wait.
"""

import asyncio
import time
from datetime import UTC, datetime
from typing import Any

from workers.delivery.processing import BatchProcessor
from workers.delivery.records import Record, WorkItem
from workers.gateways.adapted import Received
from workers.gateways.formats import Format
from workers.gateways.reading.envelopes import from_kafka
from workers.gateways.reading.lenient_reading import time as read_time
from workers.intake.trace_sources import TraceSources
from workers.observability.logs import get_logger
from workers.settings import Settings
from workers.stores.redis.client import RedisClient

MAX_WAITING = 1_000
"""Maximum number of records that wait; further ones are accepted at once."""

log = get_logger(__name__)


def caller_of(topic: str) -> str:
    """Return the name under which the sources of a topic are kept; no access token can have it."""
    return f"topic:{topic}"


def open_sources(settings: Settings, redis: RedisClient) -> TraceSources:
    """Open the Redis store of trace sources."""
    return TraceSources(redis, settings.redis.key_prefix, settings.gateways.trace_seconds)


class TraceReceiver:
    """Submit records, those of incomplete traces after a wait.

    Args:
        settings: topics and durations.
        redis: the store of the sources; closed at the end.
        processor: handles the records.
    """

    def __init__(self, settings: Settings, redis: RedisClient, processor: BatchProcessor) -> None:
        self._gateways = settings.gateways
        self._redis = redis
        self._sources = open_sources(settings, redis)
        self._processor = processor
        self._bytes = 0
        self._max_bytes = settings.delivery.in_flight_bytes
        self._waiting: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Do nothing."""

    async def stop(self) -> None:
        """Stop; waiting records are not acknowledged, so Kafka delivers them again."""
        for task in self._waiting:
            task.cancel()
        await asyncio.gather(*self._waiting, return_exceptions=True)
        await self._redis.aclose()

    async def receive(self, record: Record) -> None:
        """Submit a record, now or after the wait for its sources."""
        topic = self._gateways.topics[record.topic]
        how = self._gateways.format_named(topic.format)
        if how.by_trace and record.refusal is None:
            export = await asyncio.to_thread(export_of, record, how)
            await self._sources.keep(export, caller_of(record.topic), topic.tenant)
            seconds = self._seconds(record)
            if seconds > 0 and self._has_room(record):
                self._bytes += len(record.value or b"")
                task = asyncio.create_task(self._submit_later(record, export, topic.tenant, seconds))
                self._waiting.add(task)
                task.add_done_callback(self._waiting.discard)
                return
        await self._processor.submit(WorkItem(record))

    def _seconds(self, record: Record) -> float:
        """Return the rest of the wait; producers may set times in the future."""
        longest = self._gateways.trace_wait_seconds
        sent = read_time(record.timestamp)
        return min(longest, sent.timestamp() + longest - time.time()) if sent else longest

    def _has_room(self, record: Record) -> bool:
        size = self._bytes + len(record.value or b"")
        return len(self._waiting) < MAX_WAITING and size <= self._max_bytes

    async def _submit_later(self, record: Record, export: Any, tenant: str | None, seconds: float) -> None:
        try:
            await self._sources.wait(export, caller_of(record.topic), tenant, seconds)
        except Exception:
            log.warning("trace_wait_failed", exc_info=True)
        finally:
            self._bytes -= len(record.value or b"")
        # Bounded by the number of waiting records.
        self._processor.submit_now(WorkItem(record))


def export_of(record: Record, how: Format) -> Any:
    """Return the export of a record; ``None`` if it cannot be read."""
    try:
        return how.decode(from_kafka(record.value, record.headers, Received(datetime.now(UTC))).value)
    except Exception:
        return None  # the handler reads it again and reports the error
