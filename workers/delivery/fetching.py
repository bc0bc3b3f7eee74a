"""Reading what a broker hands out, also where a producer has put rubbish into it.

aiokafka refuses a whole partition for one header whose name is no UTF-8: it raises at every
fetch, the worker stops and stops again at each restart. Kafka's brokers do not look at the
names, so anybody who may write can do that. Two names in aiokafka's fetcher are therefore
replaced, the only place where its reading is changed:

* ``MemoryRecords`` reads a batch as before; where that fails, the batch is read again with
  header names decoded by ``surrogateescape``, which keeps their bytes. The record becomes a
  dead letter where it is read as an answer, and its neighbours go on.
* ``PartitionRecords`` says where reading failed for good (a checksum that does not fit, a
  structure that is none). Nobody knows what stood there, so the process stops; the message
  names the place and the remedy.
"""

import struct
from collections.abc import Iterator
from typing import Any

from aiokafka.consumer import fetcher
from aiokafka.consumer.fetcher import PartitionRecords
from aiokafka.errors import CorruptRecordException
from aiokafka.record.default_records import _DefaultRecordBatchPy, _DefaultRecordPy
from aiokafka.record.memory_records import MemoryRecords
from aiokafka.record.util import decode_varint

from workers.delivery.errors import BrokenPromise

MAGIC_WITH_HEADERS = 2
"""Version of the batch format that knows headers; older ones have none to stumble over."""

_Frame = struct.Struct(">qi")
"""Base offset and length of what follows: the frame of a batch in all versions."""


class UnreadablePartition(BrokenPromise):
    """A batch at the broker cannot be read; going on would leave out its records unseen."""


def readable_name(name: str) -> str:
    r"""A header's name as it can be kept and sent: bytes that are no UTF-8 become ``\xff``."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def install() -> None:
    """Make every consumer of this process read so; may be called again."""
    fetcher.MemoryRecords = TolerantRecords
    fetcher.PartitionRecords = PlacedRecords


class TolerantRecords:
    """The batches of one fetch from one partition.

    Args:
        content: what the broker has sent; the last batch may be cut off.
    """

    def __init__(self, content: bytes) -> None:
        self._records = MemoryRecords(content)
        self._content = memoryview(content)

    def size_in_bytes(self) -> int:
        """Bytes in all, whether they make a batch or not."""
        return int(self._records.size_in_bytes())

    def has_next(self) -> bool:
        """Whether there is another whole batch."""
        return bool(self._records.has_next())

    def next_batch(self) -> Any:
        """The next batch."""
        batch = self._records.next_batch()
        _, length = _Frame.unpack_from(self._content)
        end = _Frame.size + length
        content, self._content = self._content[:end], self._content[end:]
        return TolerantBatch(batch, content) if _magic(content) >= MAGIC_WITH_HEADERS else batch


class TolerantBatch:
    """A batch that is read by the client, and by :class:`_EscapingBatch` where the client gives up.

    Args:
        batch: the client's.
        content: its bytes.
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
            # From its beginning: the reader leaves out what it has had already.
            yield from _EscapingBatch(self._content)


class _EscapingBatch(_DefaultRecordBatchPy):  # type: ignore[misc]  # final by annotation; nothing else can be reused
    """A batch whose header names may be any bytes."""

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
    """The records of one fetch from one partition, with errors that say where.

    What was read before an error is handed out first: the fetch seems to end there, and the
    next one begins where reading fails.
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
                f"{error}); if a restart does not help, stop the worker and move the groups of all agents that read "
                "the topic past the batch, see docs/operations.md"
            ) from error
        self._handed_out = True
        return record


def _bytes(buffer: bytearray, position: int) -> tuple[bytes | None, int]:
    length, position = decode_varint(buffer, position)
    if length < 0:
        return None, position
    return bytes(buffer[position : position + length]), position + length


def _magic(batch: memoryview) -> int:
    return batch[_Frame.size + 4]  # after the leader's epoch
