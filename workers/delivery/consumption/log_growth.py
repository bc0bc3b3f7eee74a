"""Repeat reads at the light broker only when its log has grown.

Apache Kafka answers a waiting read as soon as there is a record. The light broker only looks again after half of the
wait, so that a short wait costs CPU on both sides in every idle consumer, and a long one delays records. Here one
request asks for the ends of the logs for all consumers of a process, and a read that found nothing is repeated when a
partition of its consumer has grown.
"""

import asyncio
import threading
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from io import BytesIO

from aiokafka.protocol.offset import OffsetRequest_v1, OffsetResponse_v1
from aiokafka.structs import TopicPartition

from workers.observability.logs import get_logger

LOOK_SECONDS = 0.1
"""Interval between two looks while the log does not grow."""

BUSY_LOOK_SECONDS = 0.03
"""Interval between two looks while the log grows: an answer passes several topics."""

BUSY_SECONDS = 1.0
"""Time after a growth during which looks are frequent."""

RETRY_SECONDS = 1.0
"""Time before the next connection after the broker did not answer."""

ANSWER_SECONDS = 10.0
"""Maximum wait for the broker's answer to a look."""

READ_AGAIN_SECONDS = 5.0
"""Time after which a read that found nothing is repeated in any case."""

BUFFERED_SECONDS = 0.1
"""The same while the consumer has unread records: their partitions are fetched again only after this fetch."""

SEEK_LOOK_SECONDS = 1.0
"""Interval at which a consumer that waits for growth looks whether it was moved to other offsets."""

LATEST = -1
"""The timestamp that asks for the end of a log."""

log = get_logger(__name__)


class LogGrowth:
    """Follow the ends of the logs of one light broker. Consumers of any thread and event loop may wait.

    Args:
        address: host:port of the broker.
    """

    def __init__(self, address: str) -> None:
        self._address = address
        self._lock = threading.Lock()
        self._growths: dict[TopicPartition, int] = {}
        self._states: dict[TopicPartition, tuple[int, int]] = {}
        self._asked, self._content = 0, b""
        self._waiting: dict[asyncio.Future[None], frozenset[TopicPartition]] = {}

    def growths(self, partitions: Iterable[TopicPartition]) -> int:
        """Return how often these partitions were seen to grow; from now on they are looked at."""
        with self._lock:
            return sum(self._growths.setdefault(partition, 0) for partition in partitions)

    async def wait(self, partitions: Iterable[TopicPartition], seen: int, limit: float) -> bool:
        """Wait until one of the partitions has grown.

        Args:
            partitions: the partitions.
            seen: result of :meth:`growths` before the read that found nothing.
            limit: maximum wait in seconds.

        Returns:
            False if none has grown.
        """
        grown: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        partitions = frozenset(partitions)
        with self._lock:
            self._waiting[grown] = partitions
        try:
            if self.growths(partitions) == seen:
                await asyncio.wait([grown], timeout=limit)
            return self.growths(partitions) != seen
        finally:
            with self._lock:
                del self._waiting[grown]

    async def run(self) -> None:
        """Look until cancelled. While the broker does not answer, every read finds out by itself."""
        while True:
            try:
                await self._look_on()
            except (OSError, EOFError, TimeoutError) as error:
                log.warning("log_look_failed", error_class=type(error).__name__)
            self._note({})
            await asyncio.sleep(RETRY_SECONDS)

    async def _look_on(self) -> None:
        host, _, port = self._address.rpartition(":")
        async with asyncio.timeout(ANSWER_SECONDS):
            reader, writer = await asyncio.open_connection(host, int(port))
        try:
            answer, busy_until = b"", 0.0
            loop = asyncio.get_running_loop()
            while True:
                await asyncio.sleep(BUSY_LOOK_SECONDS if loop.time() < busy_until else LOOK_SECONDS)
                if not self._growths:
                    continue
                async with asyncio.timeout(ANSWER_SECONDS):
                    writer.write(self._request())
                    size = int.from_bytes(await reader.readexactly(4))
                    found = (await reader.readexactly(size))[4:]  # without the number of the request
                if found != answer:
                    answer, busy_until = found, loop.time() + BUSY_SECONDS
                    self._note(_states(found))
        finally:
            writer.close()

    def _request(self) -> bytes:
        """Return the request for all ends. It stays the same until a consumer gets further partitions."""
        with self._lock:
            partitions = list(self._growths)
        if len(partitions) != self._asked:
            by_topic: dict[str, list[tuple[int, int]]] = defaultdict(list)
            for topic, number in partitions:
                by_topic[topic].append((number, LATEST))
            request = OffsetRequest_v1(-1, list(by_topic.items()))
            content = bytes(request.build_request_header(0, "touchstone-log-growth").encode() + request.encode())
            self._asked, self._content = len(partitions), len(content).to_bytes(4) + content
        return self._content

    def _note(self, states: dict[TopicPartition, tuple[int, int]]) -> None:
        """Count growth and wake who waits for it. A partition of unknown state counts as grown."""
        with self._lock:
            grown = {each for each in self._growths if each not in states or states[each] != self._states.get(each)}
            for partition in grown:
                self._growths[partition] += 1
            self._states = states
            woken = [future for future, partitions in self._waiting.items() if partitions & grown]
        for future in woken:
            with suppress(RuntimeError):  # its loop is closed
                future.get_loop().call_soon_threadsafe(_finish, future)


def _finish(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def _states(answer: bytes) -> dict[TopicPartition, tuple[int, int]]:
    """Return time and offset of each partition. The light broker gives those of its last batch, not the end."""
    return {
        TopicPartition(topic, partition): (timestamp, offset)
        for topic, partitions in OffsetResponse_v1.decode(BytesIO(answer)).topics
        for partition, _, timestamp, offset in partitions
    }
