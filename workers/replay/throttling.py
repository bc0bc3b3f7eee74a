"""Not faster than asked, and not while live traffic is behind."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError

from schemas.topics import Topic
from workers.delivery.errors import BrokerUnavailable
from workers.kafka import connection_arguments
from workers.settings import Settings

LOOK_SECONDS = 2.0
"""Time between two looks at the lag of live traffic."""

FETCH_MILLISECONDS = 200


class Clock:
    """Time, and waiting for it."""

    def time(self) -> float:
        """Seconds since some moment."""
        return asyncio.get_running_loop().time()

    async def pause(self, seconds: float, stop: asyncio.Event) -> None:
        """Wait so long, or until it is to stop."""
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), seconds)


class Pace:
    """Keeps a rate; what was missed while waiting for something else is not made up for.

    Args:
        rate: answers a second, or ``None`` for as many as there can be.
    """

    def __init__(self, rate: float | None) -> None:
        self._rate = rate
        self._next = 0.0

    def delay(self, answers: int, now: float) -> float:
        """Seconds to wait before so many are begun."""
        if self._rate is None:
            return 0.0
        begin = max(now, self._next)
        self._next = begin + answers / self._rate
        return begin - now


class GroupLag:
    """How far consumer groups are behind in a topic.

    Args:
        settings: names and credentials.
        bootstrap_servers: host:port, comma separated.
        topic: what they read.
        groups: their names.
        new_ones_count: whether a group that has committed nothing yet has everything before it; else
            nothing, since it may be that nobody runs such agents here.
    """

    def __init__(
        self,
        settings: Settings,
        bootstrap_servers: str,
        topic: Topic,
        groups: Sequence[str],
        *,
        new_ones_count: bool = False,
    ) -> None:
        self._new_ones_count = new_ones_count
        connection = connection_arguments(settings.kafka, bootstrap_servers)
        self._topic = settings.topic_name(topic.name)
        self._patience = settings.kafka.request_timeout_seconds
        # A reader of its own for each group: it asks for what is committed, and is no member. As little
        # as possible is fetched, since only the mark of a fetch is right with any broker.
        self._readers = [
            AIOKafkaConsumer(**connection, group_id=group, enable_auto_commit=False, max_partition_fetch_bytes=1)
            for group in groups
        ]

    async def start(self) -> None:
        """Connect.

        Raises:
            BrokerUnavailable: nobody answers.
        """
        try:
            await asyncio.wait_for(asyncio.gather(*(reader.start() for reader in self._readers)), self._patience)
            known = await asyncio.wait_for(self._readers[0]._client.fetch_all_metadata(), self._patience)
        except (KafkaError, OSError, TimeoutError) as error:
            await self.stop()
            raise BrokerUnavailable(f"the broker does not answer ({type(error).__name__}); is it there?") from error
        partitions = [TopicPartition(self._topic, number) for number in known.partitions_for_topic(self._topic) or ()]
        for reader in self._readers:
            reader.assign(partitions)

    async def stop(self) -> None:
        """Disconnect."""
        await asyncio.gather(*(reader.stop() for reader in self._readers), return_exceptions=True)

    async def records(self) -> int:
        """Records that the group furthest behind has before it.

        Raises:
            BrokerUnavailable: the broker does not answer.
        """
        try:
            looks = asyncio.gather(*(self._behind(reader) for reader in self._readers))
            return max(await asyncio.wait_for(looks, self._patience))
        except (KafkaError, OSError, TimeoutError) as error:
            raise BrokerUnavailable(
                f"nobody knows how far live traffic is behind: the broker does not answer ({type(error).__name__})"
            ) from error

    async def _behind(self, reader: AIOKafkaConsumer) -> int:
        committed = {partition: await reader.committed(partition) for partition in reader.assignment()}
        if not self._new_ones_count and all(offset is None for offset in committed.values()):
            return 0
        beginnings = await reader.beginning_offsets(list(committed))
        places = {each: beginnings[each] if offset is None else offset for each, offset in committed.items()}
        for partition, offset in places.items():
            reader.seek(partition, offset)
        await reader.getmany(*places, timeout_ms=FETCH_MILLISECONDS)
        while unknown := [partition for partition in places if reader.highwater(partition) is None]:
            await reader.getmany(*unknown, timeout_ms=FETCH_MILLISECONDS)
        ends = await reader.end_offsets(list(places))
        return sum(
            max(0, max(ends[partition], reader.highwater(partition) or 0) - offset)
            for partition, offset in places.items()
        )


class Throttle:
    """Waits before answers are begun, for the pace and for live traffic.

    Args:
        pace: the rate.
        lag: asks how far live traffic is behind.
        most: records that it may be behind.
        told: told when waiting for it begins (with its lag) and when it ends (with ``None``).
        clock: the loop's.
    """

    def __init__(
        self,
        pace: Pace,
        lag: Callable[[], Awaitable[int]],
        most: int,
        told: Callable[[int | None], None],
        clock: Clock | None = None,
    ) -> None:
        self._pace, self._lag, self._most, self._told = pace, lag, most, told
        self._clock = clock or Clock()
        self._looked_at = float("-inf")

    async def wait(self, answers: int, stop: asyncio.Event, idle: Callable[[], Awaitable[None]]) -> None:
        """Wait until so many may be begun, or until it is to stop.

        Args:
            answers: how many.
            stop: ends the wait.
            idle: called before each wait that is long enough for something else.

        Raises:
            BrokerUnavailable: nobody knows the lag.
        """
        await self._pause(self._pace.delay(answers, self._clock.time()), stop, idle)
        if self._clock.time() < self._looked_at + LOOK_SECONDS:
            return
        waited = False
        while not stop.is_set() and (behind := await self._lag()) > self._most:
            self._told(behind)
            await self._pause(LOOK_SECONDS, stop, idle)
            waited = True
        if waited:
            self._told(None)
        self._looked_at = self._clock.time()

    async def _pause(self, seconds: float, stop: asyncio.Event, idle: Callable[[], Awaitable[None]]) -> None:
        until = self._clock.time() + seconds
        if seconds >= LOOK_SECONDS:
            await idle()
        await self._clock.pause(max(0.0, until - self._clock.time()), stop)
