"""Read batches that contain invalid header names, or that are too large after decompression.

aiokafka rejects a whole partition for one header name that is not UTF-8. It raises at every fetch, so the worker
stops and stops again at each restart. It also decompresses a batch as a whole, whatever its size is then. Kafka brokers
check neither, so any producer can cause both. This module therefore replaces names in aiokafka's fetcher, and
``workers.delivery.consumption.decompression`` those of its decoders. Its reading is changed nowhere else:

* ``MemoryRecords`` reads a batch as before. If that fails, it reads the batch again and decodes header names with
  ``surrogateescape``, which keeps their bytes. The record becomes a dead letter where it is parsed as an answer,
  and the other records continue.
* A batch beyond the bound is replaced by one record without content, at its last offset. It says which offsets are
  refused, becomes a dead letter, and the batches after it continue.
* ``FetchResult`` returns at most a bounded number of bytes at once, and the rest at the next call.
* ``Fetcher`` can be closed while a failed fetch waits for its retry. aiokafka's ``stop`` then raises
  ``CancelledError`` and leaves the connections open, and its caller cannot tell this from being cancelled itself.
  With the light broker it repeats a fetch without records only when the log has grown
  (``workers.delivery.consumption.log_growth``).
* ``PartitionRecords`` reports where reading failed permanently (an invalid checksum, an invalid structure). The
  content of the batch is unknown, so the process stops. The message names the offset and the remedy.
"""

import asyncio
import struct
from collections.abc import Iterable, Iterator
from time import monotonic
from typing import Any

from aiokafka import AIOKafkaConsumer
from aiokafka.consumer import fetcher
from aiokafka.consumer.fetcher import Fetcher, FetchResult, PartitionRecords
from aiokafka.errors import CorruptRecordException
from aiokafka.record.default_records import _DefaultRecordBatchPy, _DefaultRecordPy
from aiokafka.record.memory_records import MemoryRecords
from aiokafka.record.util import decode_varint

from workers.delivery.consumption import decompression
from workers.delivery.consumption.decompression import BatchTooLarge
from workers.delivery.consumption.log_growth import (
    BUFFERED_SECONDS,
    READ_AGAIN_SECONDS,
    SEEK_LOOK_SECONDS,
    LogGrowth,
)
from workers.errors import FatalDeliveryError

MAGIC_WITH_HEADERS = 2
"""First version of the batch format with headers. Older batches have no header names to decode."""

RECORD_OVERHEAD_BYTES = 500
"""Memory of a record besides its value, roughly."""

_Frame = struct.Struct(">qi")
"""Base offset and length of the rest: the frame of a batch in all versions."""


class UnreadablePartition(FatalDeliveryError):
    """Report that a batch at the broker cannot be read. Continuing would skip its records unnoticed."""


def readable_name(name: str) -> str:
    r"""Return a header name that can be stored and sent: bytes that are not UTF-8 become ``\xff``."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


class _Refusal(str):
    """A header name that only this module makes; what comes from the broker is a plain string."""


def refusal_of(headers: Iterable[tuple[str, Any]]) -> str | None:
    """Return the reason if the record stands for a batch that was not decompressed, else ``None``."""
    return next((str(name) for name, _ in headers if isinstance(name, _Refusal)), None)


def install(max_batch_bytes: int) -> None:
    """Install the tolerant readers for every consumer of this process. Repeated calls are safe.

    Args:
        max_batch_bytes: maximum size of a batch after decompression; the bound of the last call applies.
    """
    decompression.install(max_batch_bytes)
    BoundedResult.max_bytes = max_batch_bytes
    fetcher.MemoryRecords = TolerantRecords
    fetcher.PartitionRecords = PlacedRecords
    fetcher.FetchResult = BoundedResult
    Fetcher._proc_fetch_request = _fetch_until_cancelled


_fetch = Fetcher._proc_fetch_request


async def _fetch_until_cancelled(self: Fetcher, assignment: Any, *request: Any) -> Any:
    growth: LogGrowth | None = getattr(self._client, "log_growth", None)
    try:
        if growth is None:
            return await _fetch(self, assignment, *request)
        seen, before = growth.growths(assignment.tps), _positions(assignment)
        found = await _fetch(self, assignment, *request)
        if not found and not _is_cancelled():
            # The next fetch is of all partitions, and begins when this one ends.
            end = monotonic() + (BUFFERED_SECONDS if self._records else READ_AGAIN_SECONDS)
            while assignment.active and (left := end - monotonic()) > 0 and _positions(assignment) == before:
                if await growth.wait(assignment.tps, seen, min(left, SEEK_LOOK_SECONDS)):
                    break
        return found
    except asyncio.CancelledError:
        return False  # what aiokafka itself returns for a fetch that is cancelled while it is under way


def _is_cancelled() -> bool:
    """Return true if this task was cancelled; aiokafka's fetch then ends as if it had found nothing."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _positions(assignment: Any) -> list[int | None]:
    """Return where each partition is read next; a seek changes it."""
    return [assignment.state_value(partition)._position for partition in assignment.tps]


def repeat_when_grown(consumer: AIOKafkaConsumer, growth: LogGrowth | None) -> None:
    """Make a consumer of the light broker repeat fetches without records when its log has grown.

    Args:
        consumer: a consumer that is not started yet.
        growth: the growth of the log; ``None`` with brokers that answer a waiting fetch themselves.
    """
    consumer._client.log_growth = growth


class TolerantRecords:
    """Read the batches of one fetch from one partition.

    Args:
        content: bytes that the broker has sent. The last batch may be incomplete.
    """

    def __init__(self, content: bytes) -> None:
        self._records = MemoryRecords(content)
        self._content = memoryview(content)

    def size_in_bytes(self) -> int:
        """Return the size of the content in bytes, including an incomplete batch."""
        return int(self._records.size_in_bytes())

    def has_next(self) -> bool:
        """Return True if another complete batch follows."""
        return bool(self._records.has_next())

    def next_batch(self) -> Any:
        """Return the next batch."""
        batch = self._records.next_batch()
        _, length = _Frame.unpack_from(self._content)
        end = _Frame.size + length
        content, self._content = self._content[:end], self._content[end:]
        return TolerantBatch(batch, content)


class TolerantBatch:
    """Read a batch with aiokafka, and with :class:`_EscapingBatch` if aiokafka fails.

    Args:
        batch: aiokafka's batch.
        content: the bytes of the batch.
    """

    def __init__(self, batch: Any, content: memoryview) -> None:
        self._batch = batch
        self._content = content

    def __getattr__(self, name: str) -> Any:
        return getattr(self._batch, name)

    def __next__(self) -> Any:
        return next(self._batch)

    def __iter__(self) -> Iterator[Any]:
        try:
            yield from self._batch
        except UnicodeDecodeError:
            if _magic(self._content) < MAGIC_WITH_HEADERS:
                raise
            # Start at the beginning: the caller skips records that it already has.
            yield from _EscapingBatch(self._content)
        except BatchTooLarge:
            yield self._refused()

    def _refused(self) -> _DefaultRecordPy:
        """Return a record for the whole batch, at its last offset: the first ones may be passed already."""
        last = self._batch.next_offset - 1
        first = getattr(self._batch, "base_offset", last)  # batches of earlier formats know only the last one
        text = (
            f"the batch of offsets {first} to {last} has {len(self._content)} bytes and more than "
            f"{BoundedResult.max_bytes} after decompression; let its producer send smaller batches, or raise "
            "TOUCHSTONE_KAFKA__MAX_BATCH_BYTES and send its records again"
        )
        timestamp = getattr(self._batch, "max_timestamp", 0)
        return _DefaultRecordPy(last, timestamp, 0, None, None, [(_Refusal(text), None)])


class _EscapingBatch(_DefaultRecordBatchPy):  # type: ignore[misc]  # final by annotation; nothing else can be reused
    """Read a batch whose header names may be any bytes."""

    _pos: int

    def _read_msg(self, decode_varint: Any = decode_varint) -> _DefaultRecordPy:
        buffer = self._buffer
        length, start = decode_varint(buffer, self._pos)
        _, position = decode_varint(buffer, start)  # attributes: none are defined
        elapsed, position = decode_varint(buffer, position)
        ahead, position = decode_varint(buffer, position)
        key, position = _bytes(buffer, position)
        value, position = _bytes(buffer, position)
        count, position = decode_varint(buffer, position)
        headers = []
        for _ in range(count):
            name, position = _bytes(buffer, position)
            content, position = _bytes(buffer, position)
            headers.append(((name or b"").decode("utf-8", "surrogateescape"), content))
        if position - start != length:
            raise CorruptRecordException(f"a record of {length} bytes ends after {position - start}")
        self._pos = position
        appended = self.timestamp_type == self.LOG_APPEND_TIME
        timestamp = self.max_timestamp if appended else self.first_timestamp + elapsed
        return _DefaultRecordPy(self.base_offset + ahead, timestamp, self.timestamp_type, key, value, headers)


class PlacedRecords(PartitionRecords):  # type: ignore[misc]  # untyped
    """Read the records of one fetch from one partition and report where an error occurred.

    Records before an error are delivered first: the fetch appears to end there, and the next fetch starts at
    the invalid record.
    """

    _handed_out = False

    def __next__(self) -> Any:
        try:
            record = super().__next__()
        except StopIteration:
            raise
        except Exception as error:
            if self._handed_out:
                raise StopIteration from error
            topic, partition = self._tp
            raise UnreadablePartition(
                f"{topic}[{partition}] cannot be read at offset {self.next_fetch_offset} ({type(error).__name__}: "
                f"{error}); if a restart does not help, stop the worker and move the consumer groups of all "
                "agents that read the topic past the batch, see docs/operations/dead-letters.md"
            ) from error
        self._handed_out = True
        return record


class BoundedResult(FetchResult):  # type: ignore[misc]  # untyped
    """Return the records of one fetch from one partition in parts of bounded size.

    A fetch of 2 MB can contain hundreds of compressed batches, each within the bound of a batch.
    """

    max_bytes = decompression.DEFAULT_MAX_BYTES
    _partition_records: Any

    def getall(self, max_records: int | None = None) -> list[Any]:
        """Return the next records, at least one."""
        if not self.check_assignment(self._topic_partition) or not self.has_more():
            return []
        found: list[Any] = []
        size = 0
        for record in self._partition_records:
            found.append(record)
            size += RECORD_OVERHEAD_BYTES + len(record.value or b"")
            if size >= self.max_bytes or (max_records is not None and len(found) >= max_records):
                self._update_position()
                return found
        self._update_position()
        self._partition_records = None
        return found


def _bytes(buffer: bytearray, position: int) -> tuple[bytes | None, int]:
    length, position = decode_varint(buffer, position)
    if length < 0:
        return None, position
    return bytes(buffer[position : position + length]), position + length


def _magic(batch: memoryview) -> int:
    return batch[_Frame.size + 4]  # after the leader's epoch
