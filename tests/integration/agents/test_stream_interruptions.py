"""Streams whose chunks wait on their topic while Redis is away or the process stands still: none of them is cut."""

import time
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit
from uuid import uuid4

import pytest

from schemas.answers import GeneratedAnswer
from schemas.streams import AnswerChunk
from schemas.topics import ANSWERS_CHUNKS, ANSWERS_GENERATED
from tests.chaos.proxy import Mode, TcpProxy
from tests.harness.deployment import Deployment, until
from workers.agents.base import AgentContext
from workers.agents.streams import Streams
from workers.delivery.followers.erasure_follower import ErasureRegister
from workers.delivery.records import Output, Record, Result, WorkItem
from workers.errors import StoreUnavailable
from workers.local.ports import LOOPBACK
from workers.runtime.worker import Worker
from workers.settings import Settings, StreamSettings
from workers.settings.addresses import Addresses
from workers.stores.redis.chunk_store import ChunkStore
from workers.stores.redis.client import open_redis

PARTITION = 0


class Outage(ChunkStore):
    """A store that can be away at one moment and back at the next, which a stopped server cannot be told to be."""

    away = False

    async def load(self, *arguments: Any) -> Any:
        self._refuse()
        return await super().load(*arguments)

    async def save(self, *arguments: Any) -> Any:
        self._refuse()
        return await super().save(*arguments)

    async def due(self, *arguments: Any) -> Any:
        self._refuse()
        return await super().due(*arguments)

    def _refuse(self) -> None:
        if self.away:
            raise StoreUnavailable("Redis does not respond")


class Run:
    """The agent with a clock that is set, and what it has sent."""

    def __init__(self, settings: Settings, addresses: Addresses, store: Outage) -> None:
        self.settings, self.store = settings, store
        self.now = datetime(2026, 11, 2, 8, 0, tzinfo=UTC)
        self.sent: list[Output] = []
        context = AgentContext(
            settings, addresses, "v", None, self, ErasureRegister(), ThreadPoolExecutor(1), lambda: self.now,  # type: ignore[arg-type]
        )  # fmt: skip
        self.agent = Streams(context, store)
        self.offset = 0

    async def send(self, outputs: Sequence[Output], *, agent: str) -> None:
        assert agent == "streams"
        self.sent += outputs

    def chunk(self, answer_id: str, index: int, *, last: bool = False) -> WorkItem:
        value = AnswerChunk(answer_id=answer_id, index=index, text=f"Part {index}. ", last=last).to_bytes()
        self.offset += 1
        return WorkItem(
            Record(
                ANSWERS_CHUNKS.name, PARTITION, self.offset, answer_id.encode(), value, timestamp=self.now.timestamp(), epoch=1
            )
        )  # fmt: skip

    async def handle(self, work: WorkItem) -> None:
        results: Sequence[Result] = await self.agent.handle([work])
        for result in results:
            assert not isinstance(result, Exception)
            self.sent += result

    async def seconds(self, count: float) -> None:
        """Let time pass; the agent looks once a second and survives an outage, as its background task does."""
        for _ in range(round(count)):
            self.now += timedelta(seconds=1)
            try:
                await self.agent.sweep_steady({PARTITION})
            except StoreUnavailable:
                self.agent._interrupt()

    @property
    def answers(self) -> dict[str, tuple[str, str | None]]:
        read = [GeneratedAnswer.from_bytes(each.value or b"") for each in self.sent if each.topic is ANSWERS_GENERATED]
        return {answer.answer_id: (answer.answer, answer.finish_reason) for answer in read}


@pytest.fixture
async def run(addresses: Addresses) -> AsyncIterator[Run]:
    settings = Settings(_env_file=None, streams=StreamSettings(enabled=True))
    redis = open_redis(addresses.redis, settings.redis)
    yield Run(settings, addresses, Outage(redis, f"test-{uuid4().hex[:8]}:", 600))
    await redis.aclose()


@pytest.mark.parametrize("outage", [1, 29, 31, 90, 700])
async def test_an_outage_of_redis_cuts_no_stream_whose_last_chunk_is_tried_again(run: Run, outage: int) -> None:
    """When Redis is back, the chunk still waits for its next try, and the agent looks before that."""
    await run.seconds(1)
    await run.handle(run.chunk("a", 0))
    last = run.chunk("a", 1, last=True)
    run.store.away = True
    with pytest.raises(StoreUnavailable):
        await run.handle(last)
    await run.seconds(outage)
    with pytest.raises(StoreUnavailable):
        await run.handle(last)
    run.store.away = False
    await run.seconds(run.settings.delivery.retry_max_seconds)
    await run.handle(last)
    assert run.answers == {"a": ("Part 0. Part 1. ", None)}


async def test_a_process_that_stood_still_cuts_no_stream(run: Run) -> None:
    await run.seconds(1)
    await run.handle(run.chunk("a", 0))
    last = run.chunk("a", 1, last=True)
    run.now += timedelta(seconds=700)
    await run.seconds(2)
    await run.handle(last)
    assert run.answers == {"a": ("Part 0. Part 1. ", None)}


async def test_a_partition_that_comes_from_another_worker_gets_the_idle_time(run: Run) -> None:
    await run.handle(run.chunk("a", 0))
    run.now += timedelta(seconds=60)
    await run.seconds(run.settings.streams.idle_seconds - 1)
    await run.handle(run.chunk("a", 1, last=True))
    assert run.answers == {"a": ("Part 0. Part 1. ", None)}


async def test_a_stream_that_stops_is_cut_all_the_same_also_after_an_outage(run: Run) -> None:
    await run.seconds(1)
    await run.handle(run.chunk("a", 0))
    run.store.away = True
    await run.seconds(40)
    run.store.away = False
    await run.seconds(run.settings.delivery.retry_max_seconds + run.settings.streams.idle_seconds + 2)
    assert run.answers == {"a": ("Part 0. ", "length")}


async def test_a_stream_that_never_stops_ends_at_its_longest_time(run: Run) -> None:
    await run.seconds(1)
    step = run.settings.streams.idle_seconds - 1
    index = 0
    while not run.answers:
        await run.handle(run.chunk("a", index))
        index += 1
        assert index * step <= run.settings.streams.max_seconds + 2 * step
        await run.seconds(step)
    assert index * step > run.settings.streams.max_seconds


async def test_a_worker_cuts_no_stream_while_its_valkey_is_away(addresses: Addresses, tmp_path: Path) -> None:
    parts = urlsplit(addresses.redis)
    proxy = TcpProxy(parts.port or Path(unquote(parts.path)))
    await proxy.start()
    deployment = Deployment(replace(addresses, redis=f"redis://:{parts.password}@{LOOPBACK}:{proxy.port}"), tmp_path)
    await deployment.prepare()
    settings = deployment.settings
    settings.streams = StreamSettings(enabled=True, idle_seconds=2)
    # The last chunk waits for its next try when Valkey has long been back.
    settings.delivery.retry_initial_seconds = settings.delivery.retry_max_seconds = 8.0
    worker = Worker(settings, deployment.addresses, ["streams"])
    await worker.start()
    (agent,) = worker._running
    ledger = agent.application.consumer.ledger

    async def kept() -> bool:
        return sum(ledger.committed(partition) or 0 for partition in ledger.partitions()) == 1

    async def waits() -> bool:
        return agent.hindrance() is not None

    async def answered() -> bool:
        return bool(await deployment.read(ANSWERS_GENERATED))

    try:
        texts = [AnswerChunk(answer_id="a", index=index, text=f"Part {index}. ", last=index == 1) for index in (0, 1)]
        await deployment.send([(b"a", texts[0].to_bytes())], ANSWERS_CHUNKS)
        await until(kept, "the first chunk is kept", 60)
        proxy.cut()
        await deployment.send([(b"a", texts[1].to_bytes())], ANSWERS_CHUNKS)
        await until(waits, "the agent waits for Valkey", 60)
        stopped = time.monotonic()
        await until(lambda: after(stopped + 2.5), "longer than the idle time", 60)
        proxy.mode = Mode.FORWARD
        await until(answered, "the answer", 60)
        (record,) = await deployment.read(ANSWERS_GENERATED)
    finally:
        await worker.stop()
        await deployment.close()
        await proxy.stop()
    answer = GeneratedAnswer.from_bytes(record.value)
    assert (answer.answer, answer.finish_reason) == ("Part 0. Part 1. ", None)


async def after(moment: float) -> bool:
    return time.monotonic() >= moment
