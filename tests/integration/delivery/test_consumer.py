"""The consumer with the ledger, on a real broker."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.consumer import fetcher
from aiokafka.consumer.group_coordinator import GroupCoordinator
from faust.types import TP
from structlog.testing import capture_logs

from schemas.topics import ANSWERS_GENERATED
from workers.delivery.application import AgentApplication
from workers.delivery.consumption import consumer
from workers.delivery.consumption.consumer import LedgerConsumer, LedgerConsumerThread
from workers.delivery.failures.attempts import AttemptJournal
from workers.delivery.failures.breaker import DeadLetterBreaker
from workers.delivery.failures.dead_letter_sender import DeadLetterSender
from workers.delivery.failures.handler_calls import Handler
from workers.delivery.followers.erasure_follower import ErasureRegister
from workers.delivery.processing import BatchLimits, BatchProcessor
from workers.delivery.producer import ConfirmedProducer
from workers.delivery.records import Record, Result, WorkItem
from workers.errors import PoisonError, UnavailableError
from workers.observability import metrics
from workers.settings import Settings
from workers.settings.addresses import Addresses


async def until(condition: Callable[[], bool], seconds: float = 120.0) -> None:
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.02)


async def produce(
    settings: Settings, addresses: Addresses, count: int, start: int = 0, *, batch_bytes: int = 16_384
) -> None:
    producer = AIOKafkaProducer(bootstrap_servers=addresses.kafka, max_batch_size=batch_bytes)
    await producer.start()
    try:
        topic = settings.topic_name(ANSWERS_GENERATED.name)
        futures = [
            await producer.send(topic, key=str(n).encode(), value=str(n).encode()) for n in range(start, start + count)
        ]
        await asyncio.gather(*futures)
    finally:
        await producer.stop()


async def committed(settings: Settings, addresses: Addresses, agent: str) -> int:
    """Sum of the committed offsets, which is the number of records done where nothing is missing."""
    consumer = AIOKafkaConsumer(bootstrap_servers=addresses.kafka, group_id=settings.group_name(agent))
    await consumer.start()
    try:
        topic = settings.topic_name(ANSWERS_GENERATED.name)
        offsets = [await consumer.committed(TopicPartition(topic, n)) for n in range(settings.kafka.partitions)]
        return sum(offset or 0 for offset in offsets)
    finally:
        await consumer.stop()


class Agent:
    """One application with one processor."""

    def __init__(self, settings: Settings, addresses: Addresses, handler: Handler, name: str = "probe") -> None:
        self.application = AgentApplication(name, [ANSWERS_GENERATED], settings, addresses.kafka)
        self.producer = ConfirmedProducer(settings, addresses.kafka)
        self.journal = AttemptJournal(settings.state_dir, "test")
        self.processor = BatchProcessor(
            name, handler, self.application, self.producer, DeadLetterSender(self.producer, "test"),
            settings.delivery, BatchLimits(16, 0.01), self.journal, DeadLetterBreaker(name, settings.breaker),
            ErasureRegister(),
        )  # fmt: skip

    async def start(self) -> "Agent":
        async def receive(record: Record) -> None:
            await self.processor.submit(WorkItem(record))

        await self.producer.start()
        self.processor.start()
        await self.application.start(receive)
        return self

    async def stop(self) -> None:
        self.application.stop_accepting()
        await self.processor.drain(5)
        await self.processor.stop()
        await self.application.stop()
        await self.producer.stop()


@pytest.fixture
async def agents() -> AsyncIterator[list[Agent]]:
    running: list[Agent] = []
    yield running
    for agent in running:
        await agent.stop()


@pytest.mark.both_brokers
async def test_every_record_is_handled_once_and_committed(
    settings: Settings, addresses: Addresses, topics: None, agents: list[Agent]
) -> None:
    seen: list[bytes | None] = []

    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        seen.extend(work.record.value for work in works)
        return [[] for _ in works]

    await produce(settings, addresses, 500)
    agents.append(await Agent(settings, addresses, handle).start())
    await until(lambda: len(seen) >= 500)
    await until(lambda: agents[0].application.consumer.ledger.outstanding() == 0)
    await agents.pop().stop()
    assert sorted(int(value or b"") for value in seen) == list(range(500))
    assert await committed(settings, addresses, "probe") == 500


async def test_a_read_waits_at_the_broker_as_long_as_the_settings_say(
    settings: Settings, addresses: Addresses, topics: None, agents: list[Agent], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Faust's own 1.5 s made a hop over the embedded broker take 0.4 s."""
    waits: set[int] = set()
    request = fetcher.FetchRequest

    def noted(wait: int, *arguments: Any, **others: Any) -> Any:
        # Other tests' consumers may still run in this process.
        if settings.kafka.topic_prefix in str(arguments):
            waits.add(wait)
        return request(wait, *arguments, **others)

    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        return [[] for _ in works]

    monkeypatch.setattr(fetcher, "FetchRequest", noted)
    kafka = settings.kafka.model_copy(update={"fetch_wait_seconds": 0.123})
    settings = settings.model_copy(update={"kafka": kafka})
    await produce(settings, addresses, 5)
    agents.append(await Agent(settings, addresses, handle).start())
    await until(lambda: 123 in waits)
    assert waits == {123}


@pytest.mark.both_brokers
async def test_a_record_in_work_holds_back_the_commit_while_later_ones_finish(
    settings: Settings, addresses: Addresses, topics: None, agents: list[Agent]
) -> None:
    release = asyncio.Event()
    done: list[int] = []

    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        if any(work.record.value == b"0" for work in works):
            await release.wait()
        done.extend(int(work.record.value or b"") for work in works)
        return [[] for _ in works]

    await produce(settings, addresses, 1)
    agents.append(await Agent(settings, addresses, handle).start())
    await until(lambda: agents[0].processor.in_flight == 1)
    await produce(settings, addresses, 200, start=1)
    await until(lambda: len(done) == 200)
    ledger = agents[0].application.consumer.ledger
    blocked = [p for p in ledger.partitions() if ledger.outstanding(p)]
    assert len(blocked) == 1
    assert (ledger.committable(blocked[0]) or ledger.committed(blocked[0]) or 0) == 0
    release.set()
    await until(lambda: ledger.outstanding() == 0)
    await agents.pop().stop()
    assert await committed(settings, addresses, "probe") == 201


@pytest.mark.both_brokers
async def test_a_stop_during_a_commit_commits_what_was_acknowledged_meanwhile(
    settings: Settings, addresses: Addresses, topics: None, agents: list[Agent], monkeypatch: pytest.MonkeyPatch
) -> None:
    commit, begun, go_on = LedgerConsumer._commit, asyncio.Event(), asyncio.Event()
    done: list[int] = []

    async def slowly(reading: LedgerConsumer, offsets: Any) -> bool:
        begun.set()
        await go_on.wait()
        return await commit(reading, offsets)

    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        done.extend(int(work.record.value or b"") for work in works)
        return [[] for _ in works]

    monkeypatch.setattr(LedgerConsumer, "_commit", slowly)
    await produce(settings, addresses, 10)
    agents.append(await Agent(settings, addresses, handle).start())
    await begun.wait()
    await produce(settings, addresses, 10, start=10)
    reading = agents[0].application.consumer
    await until(lambda: len(done) == 20 and reading.ledger.outstanding() == 0)
    stopping = asyncio.create_task(agents.pop().stop())
    await until(lambda: reading.should_stop)
    go_on.set()
    await stopping
    assert await committed(settings, addresses, "probe") == 20


@pytest.mark.timeout(60)
async def test_a_revocation_that_gives_up_on_a_slow_commit_leaves_the_worker_running(
    settings: Settings, addresses: Addresses, topics: None, agents: list[Agent], monkeypatch: pytest.MonkeyPatch
) -> None:
    commit, begun, go_on = LedgerConsumer._commit, asyncio.Event(), asyncio.Event()

    async def slowly(reading: LedgerConsumer, offsets: Any) -> bool:
        begun.set()
        await go_on.wait()
        return await commit(reading, offsets)

    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        return [[] for _ in works]

    monkeypatch.setattr(LedgerConsumer, "_commit", slowly)
    await produce(settings, addresses, 10)
    agents.append(await Agent(settings, addresses, handle).start())
    await begun.wait()
    reading = agents[0].application.consumer
    try:
        with capture_logs() as logs:
            await reading.on_partitions_revoked(set())
    finally:
        go_on.set()
    assert "commit_on_revoke_timed_out" in {entry["event"] for entry in logs}
    await until(lambda: reading._commit_fut is None)
    assert reading.defect() is None


@pytest.mark.both_brokers
async def test_what_was_not_acknowledged_comes_again_after_a_stop(
    settings: Settings, addresses: Addresses, topics: None, agents: list[Agent]
) -> None:
    async def hang(works: Sequence[WorkItem]) -> Sequence[Result]:
        await asyncio.Event().wait()
        return []

    seen: set[int] = set()

    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        seen.update(int(work.record.value or b"") for work in works)
        return [[] for _ in works]

    await produce(settings, addresses, 50)
    agents.append(await Agent(settings, addresses, hang).start())
    await until(lambda: agents[0].processor.in_flight == 50)
    stopped = agents.pop()
    await stopped.processor.stop()
    await stopped.application.stop()
    await stopped.producer.stop()
    assert await committed(settings, addresses, "probe") == 0
    agents.append(await Agent(settings, addresses, handle).start())
    await until(lambda: len(seen) == 50)


@pytest.mark.parametrize("known", [0, 40], ids=["a group that has committed nothing", "a group that has committed"])
async def test_a_fetch_that_spans_a_new_assignment_comes_again(
    settings: Settings, addresses: Addresses, topics: None, agents: list[Agent], monkeypatch: pytest.MonkeyPatch,
    known: int,
) -> None:  # fmt: skip
    """Its records are thrown away; a client that only seeks to what was committed goes on behind them."""
    seen: list[int] = []

    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        seen.extend(int(work.record.value or b"") for work in works)
        return [[] for _ in works]

    if known:
        await produce(settings, addresses, known)
        agents.append(await Agent(settings, addresses, handle).start())
        await until(lambda: len(seen) == known)
        await agents.pop().stop()
    fetch, spanned = LedgerConsumer._getmany, set[TP]()

    async def spanning(reading: LedgerConsumer, **how: Any) -> Any:
        records = await fetch(reading, **how)
        if records and not spanned:
            spanned.update(records)
            await reading.perform_seek()  # as after an assignment
        return records

    monkeypatch.setattr(LedgerConsumer, "_getmany", spanning)
    await produce(settings, addresses, 100, start=known)
    agents.append(await Agent(settings, addresses, handle).start())
    await produce(settings, addresses, 1, start=known + 100)  # what comes later is read in any case
    await until(lambda: known + 100 in seen)
    await until(lambda: agents[0].application.consumer.ledger.unfinished() is False)
    assert spanned
    assert sorted(seen) == list(range(known + 101))


async def test_a_seek_that_the_broker_leaves_unanswered_is_made_up_for(
    settings: Settings, addresses: Addresses, topics: None, agents: list[Agent], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Faust would take it for the end of the app, and its agent would wait for its partitions without a word."""
    seek, asked, seen = LedgerConsumerThread.seek_all, [], set[int]()

    async def seek_all(thread: LedgerConsumerThread, limit: float) -> Any:
        asked.append(limit)
        if len(asked) == 1:
            await asyncio.Event().wait()
        return await seek(thread, limit)

    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        seen.update(int(work.record.value or b"") for work in works)
        return [[] for _ in works]

    monkeypatch.setattr(LedgerConsumerThread, "seek_all", seek_all)
    monkeypatch.setattr(consumer, "SEEK_SECONDS", 0.3)
    await produce(settings, addresses, 50)
    agents.append(await Agent(settings, addresses, handle).start())
    await until(lambda: len(seen) == 50)
    assert len(asked) > 1
    assert set(asked) == {0.3}


async def test_a_seek_waits_half_as_long_as_a_request_may(
    settings: Settings, addresses: Addresses, topics: None, agents: list[Agent], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Faust gives up after that time, and its agent would wait for its partitions without a word."""
    asked: list[float] = []

    async def seek_all(thread: LedgerConsumerThread, limit: float) -> Any:
        asked.append(limit)
        return {}

    kafka = settings.kafka.model_copy(update={"request_timeout_seconds": 8.0, "session_timeout_seconds": 6.0})
    monkeypatch.setattr(LedgerConsumerThread, "seek_all", seek_all)
    hurried = settings.model_copy(update={"kafka": kafka})
    agents.append(await Agent(hurried, addresses, _nothing).start())
    await until(lambda: bool(asked))
    assert set(asked) == {4.0}


async def _nothing(works: Sequence[WorkItem]) -> Sequence[Result]:
    return [[] for _ in works]


async def test_a_seek_that_another_has_overtaken_moves_nothing(
    settings: Settings, addresses: Addresses, topics: None, agents: list[Agent], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its partitions may be handed on from already, and would be again."""
    agents.append(await Agent(settings, addresses, _nothing).start())
    await until(lambda: bool(agents[0].application.assigned()))
    thread = agents[0].application.consumer._thread
    asking, answer = asyncio.Event(), asyncio.Event()
    ask, moved = GroupCoordinator.fetch_committed_offsets, []
    ours = asyncio.get_running_loop()

    async def slowly(coordinator: GroupCoordinator, partitions: Any) -> Any:
        if not asking.is_set():
            ours.call_soon_threadsafe(asking.set)
            await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(answer.wait(), ours))
        return await ask(coordinator, partitions)

    def counted(fetch: fetcher.Fetcher, partitions: Any, strategy: Any) -> Any:
        moved.append(set(partitions))
        return reset(fetch, partitions, strategy)

    reset = fetcher.Fetcher.request_offset_reset
    monkeypatch.setattr(GroupCoordinator, "fetch_committed_offsets", slowly)
    monkeypatch.setattr(fetcher.Fetcher, "request_offset_reset", counted)
    first = asyncio.create_task(thread.seek_all(30.0))
    await asking.wait()
    second = await thread.seek_all(30.0)
    assert set(second) == agents[0].application.assigned()
    assert len(moved) == 1
    answer.set()
    assert await first is None
    assert len(moved) == 1


async def test_a_position_that_a_seek_leaves_open_is_no_error(
    settings: Settings, addresses: Addresses, topics: None, agents: list[Agent]
) -> None:
    """Faust looks at positions by a timer, and would end the agent."""
    seen: set[int] = set()

    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        seen.update(int(work.record.value or b"") for work in works)
        raise UnavailableError("so that nothing is committed")

    agents.append(await Agent(settings, addresses, handle).start())
    await produce(settings, addresses, 20)
    await until(lambda: bool(seen))  # what was read once has the time of it, which is looked at too
    reading = agents[0].application.consumer
    for _ in range(20):
        await reading.perform_seek()
        await reading.verify_all_partitions_active()
    assert reading.defect() is None


async def test_a_log_that_ends_before_what_was_committed_is_read_and_committed_again(
    settings: Settings, addresses: Addresses, topics: None, agents: list[Agent], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is committed lies beyond the log of a broker that has lost its end; new records are not to wait for it.

    The embedded broker does not say that an offset is beyond its log: the client's answer to that, which is to
    begin with the oldest record, is what it does here too, and the offsets are made up.
    """
    seek, seen = LedgerConsumerThread.seek_all, set[int]()

    async def seek_all(thread: LedgerConsumerThread, limit: float) -> Any:
        return dict.fromkeys(await seek(thread, limit) or (), 1_000)

    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        seen.update(int(work.record.value or b"") for work in works)
        return [[] for _ in works]

    monkeypatch.setattr(LedgerConsumerThread, "seek_all", seek_all)
    await produce(settings, addresses, 40)
    with capture_logs() as logs:
        agents.append(await Agent(settings, addresses, handle).start())
        await until(lambda: len(seen) == 40)
    assert {entry["committed"] for entry in logs if entry["event"] == "log_truncated"} == {1_000}
    await until(lambda: agents[0].application.consumer.ledger.unfinished() is False)
    await agents.pop().stop()
    assert await committed(settings, addresses, "probe") == 40


async def test_nothing_is_handed_on_while_a_seek_is_under_way(
    settings: Settings, addresses: Addresses, topics: None, agents: list[Agent], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would come again within one epoch, which is the end of the agent."""
    seek, seen, done = LedgerConsumerThread.seek_all, set[int](), asyncio.Event()

    async def seek_all(thread: LedgerConsumerThread, limit: float) -> Any:
        await asyncio.sleep(0.3)  # the broker takes its time
        return await seek(thread, limit)

    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        await done.wait()
        seen.update(int(work.record.value or b"") for work in works)
        return [[] for _ in works]

    done.set()
    await produce(settings, addresses, 20)
    agents.append(await Agent(settings, addresses, handle).start())
    await until(lambda: len(seen) == 20)
    monkeypatch.setattr(LedgerConsumerThread, "seek_all", seek_all)
    reading = agents[0].application.consumer
    for start in range(20, 420, 100):
        done.clear()
        seeking = asyncio.create_task(reading.perform_seek())
        await produce(settings, addresses, 100, start=start)
        await seeking
        done.set()
    await until(lambda: len(seen) == 420)
    assert reading.defect() is None


@pytest.mark.both_brokers
async def test_a_new_group_whose_members_join_one_after_another_passes_nothing(
    settings: Settings, addresses: Addresses, topics: None, agents: list[Agent]
) -> None:
    seen: set[int] = set()

    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        seen.update(int(work.record.value or b"") for work in works)
        return [[] for _ in works]

    for _ in range(4):
        agents.append(await Agent(settings, addresses, handle).start())
    await produce(settings, addresses, 40)
    await until(lambda: all(len(agent.application.assigned()) == 1 for agent in agents))
    await produce(settings, addresses, 40, start=40)  # one partition's later records come after its earlier ones
    await until(lambda: seen >= set(range(40, 80)))
    assert seen >= set(range(40))


async def test_pausing_a_partition_loses_nothing_that_is_already_fetched(
    settings: Settings, addresses: Addresses, topics: None, agents: list[Agent]
) -> None:
    seen: set[int] = set()

    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        seen.update(int(work.record.value or b"") for work in works)
        partitions = agent.application.assigned()
        agent.application.pause(partitions)
        await asyncio.sleep(0)
        agent.application.resume(partitions)
        return [[] for _ in works]

    agent = Agent(settings, addresses, handle)
    agents.append(agent)
    await produce(settings, addresses, 3000)
    await agent.start()
    await until(lambda: len(seen) == 3000)


async def test_poison_is_dead_lettered_and_its_neighbours_go_on(
    settings: Settings, addresses: Addresses, topics: None, agents: list[Agent]
) -> None:
    seen: list[int] = []

    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        results: list[Result] = []
        for work in works:
            number = int(work.record.value or b"")
            if number == 7:
                results.append(PoisonError("seven is poison"))
            else:
                seen.append(number)
                results.append([])
        return results

    await produce(settings, addresses, 20)
    agents.append(await Agent(settings, addresses, handle).start())
    await until(lambda: len(seen) == 19)
    await until(lambda: agents[0].application.consumer.ledger.outstanding() == 0)
    await agents.pop().stop()
    consumer = AIOKafkaConsumer(
        settings.topic_name("dead-letters"), bootstrap_servers=addresses.kafka, auto_offset_reset="earliest"
    )
    await consumer.start()
    try:
        letter = await asyncio.wait_for(consumer.getone(), 120)
    finally:
        await consumer.stop()
    assert letter.value == b"7"
    headers = dict(letter.headers)
    assert headers["dlq_error"] == b"seven is poison"
    assert headers["dlq_agent"] == b"probe"


async def test_the_lag_of_a_partition_that_moved_away_is_told_no_more(
    settings: Settings, addresses: Addresses, topics: None, agents: list[Agent]
) -> None:
    def told() -> int:
        samples = [sample for family in metrics.CONSUMER_LAG.collect() for sample in family.samples]
        return sum(sample.labels["agent"] == "lagging" for sample in samples)

    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        return [[] for _ in works]

    first = await Agent(settings, addresses, handle, "lagging").start()
    agents.append(first)
    await until(lambda: len(first.application.assigned()) == settings.kafka.partitions)
    await first.application.observe_lag()
    assert told() == settings.kafka.partitions
    agents.append(await Agent(settings, addresses, handle, "lagging").start())
    await until(lambda: 0 < len(first.application.assigned()) < settings.kafka.partitions)
    await first.application.observe_lag()
    assert told() == len(first.application.assigned())


@pytest.mark.both_brokers
async def test_the_lag_of_an_agent_that_waits_grows_with_the_topic(
    settings: Settings, addresses: Addresses, topics: None, agents: list[Agent]
) -> None:
    """An agent that waits for a store fetches no more, so that its last fetches know nothing of later records."""
    waits, go_on = asyncio.Event(), asyncio.Event()

    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        waits.set()
        await go_on.wait()
        return [[] for _ in works]

    settings.delivery = settings.delivery.model_copy(update={"stream_buffer": 1, "in_flight": 1})
    agent = await Agent(settings, addresses, handle, "waiting").start()
    agents.append(agent)

    async def lag_is(records: int) -> None:
        async with asyncio.timeout(60):
            while agent.application.lag() != records:
                await agent.application.observe_lag()
                await asyncio.sleep(0.02)

    # The light broker tells the first offset of the last batch as the end: here every batch has one record.
    await produce(settings, addresses, 40, batch_bytes=1)
    await asyncio.wait_for(waits.wait(), 60)
    for sent in (40, 80, 120):
        await lag_is(sent)
        await produce(settings, addresses, 40, start=sent, batch_bytes=1)
    await lag_is(160)
    go_on.set()
    await lag_is(0)
