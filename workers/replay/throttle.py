"""Limit the rate of a replay, and pause it while live traffic has lag."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError

from schemas.topics import Topic
from workers.delivery.connections import connection_arguments
from workers.errors import BrokerUnavailable
from workers.settings import Settings

LOOK_SECONDS = 2.0
"""Interval between two checks of the lag of live traffic."""

FETCH_MILLISECONDS = 200


class Clock:
    """Clock and timer."""

    def time(self) -> float:
        """Return the seconds since a fixed moment."""
        return asyncio.get_running_loop().time()

    async def pause(self, seconds: float, stop: asyncio.Event) -> None:
        """Wait for a time, or until the replay must stop."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await stop.wait()


class Pace:
    """Keep a rate; time lost by other waits is not made up.

    Args:
        rate: answers per second, or ``None`` without a limit.
    """

    def __init__(self, rate: float | None) -> None:
        self._rate = rate
        self._next = 0.0

    def delay(self, answers: int, now: float) -> float:
        """Return the seconds to wait before this number of answers is started."""
        if self._rate is None:
            return 0.0
        begin = max(now, self._next)
        self._next = begin + answers / self._rate
        return begin - now


class GroupLag:
    """Lag of consumer groups in a topic.

    Args:
        settings: names and credentials.
        bootstrap_servers: host:port, comma separated.
        topic: topic of the groups.
        groups: names of the groups.
        new_ones_count: True if a group without commits has a lag of the whole topic; otherwise its lag is 0,
            because its agent may not be deployed.
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
        # One consumer for each group, which reads its commits without joining it. It fetches as little as possible; a
        # fetch is needed because only its high-water mark is correct with any broker.
        self._readers = [
            AIOKafkaConsumer(
                **connection, group_id=group, enable_auto_commit=False,
                max_partition_fetch_bytes=1, fetch_max_wait_ms=FETCH_MILLISECONDS,
            )
            for group in groups
        ]  # fmt: skip

    async def start(self) -> None:
        """Connect.

        Raises:
            BrokerUnavailable: the broker does not respond.
        """
        try:
            async with asyncio.timeout(self._patience):
                await asyncio.gather(*(reader.start() for reader in self._readers))
                known = await self._readers[0]._client.fetch_all_metadata()
        except (KafkaError, OSError, TimeoutError) as error:
            await self.stop()
            raise BrokerUnavailable(
                f"the broker does not respond ({type(error).__name__}); check that it is available"
            ) from error
        partitions = [TopicPartition(self._topic, number) for number in known.partitions_for_topic(self._topic) or ()]
        for reader in self._readers:
            reader.assign(partitions)

    async def stop(self) -> None:
        """Disconnect."""
        await asyncio.gather(*(reader.stop() for reader in self._readers), return_exceptions=True)

    async def records(self) -> int:
        """Return the largest lag of the groups in records.

        Raises:
            BrokerUnavailable: the broker does not respond.
        """
        try:
            async with asyncio.timeout(self._patience):
                return max(await asyncio.gather(*(self._behind(reader) for reader in self._readers)))
        except (KafkaError, OSError, TimeoutError) as error:
            raise BrokerUnavailable(
                f"the lag of live traffic is unknown: the broker does not respond ({type(error).__name__})"
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
    """Wait before further answers are started, for the rate and for live traffic.

    Args:
        pace: the rate.
        lag: returns the lag of live traffic.
        most: maximum lag in records.
        on_wait: receives the lag at the start of a wait, and ``None`` at its end.
        clock: clock of the event loop.
    """

    def __init__(
        self,
        pace: Pace,
        lag: Callable[[], Awaitable[int]],
        most: int,
        on_wait: Callable[[int | None], None],
        clock: Clock | None = None,
    ) -> None:
        self._pace, self._lag, self._most, self._on_wait = pace, lag, most, on_wait
        self._clock = clock or Clock()
        self._looked_at = float("-inf")

    async def wait(self, answers: int, stop: asyncio.Event, idle: Callable[[], Awaitable[None]]) -> None:
        """Wait until further answers may be started, or until the replay must stop.

        Args:
            answers: number of answers to start.
            stop: ends the wait.
            idle: called before each longer wait.

        Raises:
            BrokerUnavailable: the lag is unknown.
        """
        await self._pause(self._pace.delay(answers, self._clock.time()), stop, idle)
        if self._clock.time() < self._looked_at + LOOK_SECONDS:
            return
        waited = False
        while not stop.is_set() and (behind := await self._lag()) > self._most:
            self._on_wait(behind)
            await self._pause(LOOK_SECONDS, stop, idle)
            waited = True
        if waited:
            self._on_wait(None)
        self._looked_at = self._clock.time()

    async def _pause(self, seconds: float, stop: asyncio.Event, idle: Callable[[], Awaitable[None]]) -> None:
        until = self._clock.time() + seconds
        if seconds >= LOOK_SECONDS:
            await idle()
        await self._clock.pause(max(0.0, until - self._clock.time()), stop)
