"""The batch processor under faults that a real broker cannot be made to produce on demand."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from schemas.identifiers import answer_digest, person_digest
from schemas.privacy import Erasure
from schemas.topics import ANSWERS_ENRICHED, DEAD_LETTERS
from workers.delivery.failures import isolation
from workers.delivery.failures.attempts import MAX_COUNTED_DEATHS, SUSPECTS_TOGETHER, AttemptJournal
from workers.delivery.failures.breaker import DeadLetterBreaker
from workers.delivery.failures.dead_letter_sender import DeadLetterSender
from workers.delivery.failures.handler_calls import Handler
from workers.delivery.followers.erasure_follower import ErasureRegister
from workers.delivery.processing import BatchLimits, BatchProcessor
from workers.delivery.records import CountedOutputs, Output, Record, Result, WorkItem
from workers.delivery.tracing import Tracing
from workers.errors import BrokerUnavailable, DeadLetterFailed, PoisonError, ResultTooLarge, StoreUnavailable
from workers.observability import metrics
from workers.settings import BreakerSettings, DeliverySettings, TracingSettings


class Producer:
    """A producer whose confirmations can be withheld."""

    def __init__(self) -> None:
        self.sent: list[Output] = []
        self.failures: list[Exception] = []
        self.refuse_topics: set[str] = set()

    async def send(self, outputs: Sequence[Output], *, agent: str) -> None:
        await asyncio.sleep(0)
        if outputs and self.failures:
            raise self.failures.pop(0)
        if any(output.topic.name in self.refuse_topics for output in outputs):
            raise BrokerUnavailable("refused")
        self.sent.extend(outputs)


class Acknowledgements:
    """Where records are acknowledged, with an epoch that tests can end."""

    def __init__(self) -> None:
        self.epoch = 0
        self.offsets: list[int] = []

    def is_current(self, epoch: int) -> bool:
        return epoch == self.epoch

    def acknowledge(self, topic: str, partition: int, offset: int, epoch: int) -> bool:
        assert epoch == self.epoch, "acknowledged after a revocation"
        self.offsets.append(offset)
        return True


def work(offset: int, epoch: int = 0, topic: str = "answers.generated") -> WorkItem:
    return WorkItem(Record(topic, 0, offset, None, str(offset).encode(), epoch=epoch))


def result(item: WorkItem) -> list[Output]:
    return [Output(ANSWERS_ENRICHED, None, item.record.value)]


LIMITS = BatchLimits(8, 0.001)
LIMITS_TOGETHER = BatchLimits(2, 60.0)
BREAKER = BreakerSettings()

Start = Callable[..., tuple[BatchProcessor, Producer, Acknowledgements]]


@pytest.fixture
async def start(tmp_path: Path) -> AsyncIterator[Start]:
    running: list[BatchProcessor] = []

    def make(
        handler: Handler,
        limits: BatchLimits = LIMITS,
        breaker: BreakerSettings = BREAKER,
        erasures: ErasureRegister | None = None,
        **overrides: Any,
    ) -> tuple[BatchProcessor, Producer, Acknowledgements]:
        producer, acknowledgements = Producer(), Acknowledgements()
        options: dict[str, Any] = {"retry_initial_seconds": 0.001, "retry_max_seconds": 0.01, "max_attempts": 3}
        delivery = DeliverySettings(**(options | overrides))
        processor = BatchProcessor(
            "probe", handler, acknowledgements, producer, DeadLetterSender(producer, "test"),  # type: ignore[arg-type]
            delivery, limits, AttemptJournal(tmp_path, "test"), DeadLetterBreaker("probe", breaker),
            erasures or ErasureRegister(),
        )  # fmt: skip
        processor.start()
        running.append(processor)
        return processor, producer, acknowledgements

    yield make
    for processor in running:
        await processor.stop()


async def test_outputs_are_confirmed_before_the_input_is_acknowledged(start: Start) -> None:
    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        return [result(item) for item in works]

    processor, producer, acknowledgements = start(handle)
    producer.failures = [BrokerUnavailable("once"), BrokerUnavailable("twice")]
    for offset in range(5):
        await processor.submit(work(offset))
    assert await processor.drain(60)
    assert sorted(acknowledgements.offsets) == list(range(5))
    assert sorted(output.value or b"" for output in producer.sent) == [str(n).encode() for n in range(5)]


@pytest.mark.parametrize("traced", [False, True])
async def test_an_answer_counts_once_however_often_its_outputs_are_sent(start: Start, traced: bool) -> None:
    attempts: list[int] = []
    counted: list[int] = []

    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        attempts.extend(item.record.offset for item in works)
        return [
            PoisonError("never")
            if item.record.offset == 2
            else CountedOutputs(result(item), partial(counted.append, item.record.offset))
            for item in works
        ]

    processor, producer, acknowledgements = start(handle)
    tracing = (
        Tracing(TracingSettings(endpoint="http://127.0.0.1:1/v1/traces"), "v1", InMemorySpanExporter())
        if traced
        else None
    )
    processor._tracing = tracing
    producer.failures = [BrokerUnavailable("away")] * 5
    for offset in range(4):
        await processor.submit(work(offset))
    assert await processor.drain(60)
    if tracing is not None:
        tracing.close()
    assert len(attempts) > 4
    assert sorted(counted) == [0, 1, 3]
    assert sorted(acknowledgements.offsets) == [0, 1, 2, 3]


async def test_what_goes_to_another_worker_before_it_is_acknowledged_does_not_count(start: Start) -> None:
    counted: list[int] = []

    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        acknowledgements.epoch = 1
        return [CountedOutputs(result(item), partial(counted.append, item.record.offset)) for item in works]

    processor, producer, acknowledgements = start(handle)
    await processor.submit(work(0))
    assert await processor.drain(60)
    assert (counted, producer.sent, acknowledgements.offsets) == ([], [], [])


async def test_a_store_that_is_away_is_waited_for_without_end_and_nothing_is_dead_lettered(start: Start) -> None:
    attempts = 0

    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        nonlocal attempts
        attempts += 1
        if attempts <= 20:
            raise StoreUnavailable("away")
        return [[] for _ in works]

    processor, producer, acknowledgements = start(handle)
    await processor.submit(work(1))
    assert await processor.drain(60)
    assert acknowledgements.offsets == [1]
    assert producer.sent == []


async def test_an_unavailable_store_among_the_results_is_waited_for_as_one_that_is_raised(start: Start) -> None:
    attempts = 0

    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        nonlocal attempts
        attempts += 1
        away = attempts <= 20
        return [StoreUnavailable("away") if away and item.record.offset == 1 else result(item) for item in works]

    processor, producer, acknowledgements = start(handle, LIMITS_TOGETHER)
    await processor.submit(work(1))
    await processor.submit(work(2))
    assert await processor.drain(60)
    assert sorted(acknowledgements.offsets) == [1, 2]
    assert sorted(output.value or b"" for output in producer.sent) == [b"1", b"2"]
    assert {output.topic.name for output in producer.sent} == {ANSWERS_ENRICHED.name}, "nothing is dead-lettered"


@pytest.mark.parametrize("later", ["the partition moves away", "another error", "the record is erased"])
async def test_an_agent_is_ready_again_however_its_wait_for_a_store_ends(start: Start, later: str) -> None:
    register, of = ErasureRegister(), erased_register()[1]
    away = True

    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        if away:
            raise StoreUnavailable("away")
        raise PoisonError("unreadable")

    processor, _, acknowledgements = start(handle, erasures=register)
    await processor.submit(of(2))
    async with asyncio.timeout(60):
        while processor.waiting_for is None:
            await asyncio.sleep(0)
    away = False
    if later == "the partition moves away":
        acknowledgements.epoch += 1
    elif later == "the record is erased":
        register.note(Erasure(digest=person_digest("default", "gone"), requested_at=datetime(2026, 11, 2, tzinfo=UTC)))
    assert await processor.drain(60)
    assert processor.waiting_for is None
    assert metrics.AGENT_WAITING.labels("probe", "agent")._value.get() == 0, "the alert ends too"


async def test_an_exception_for_a_whole_batch_is_pinned_to_the_record_that_causes_it(start: Start) -> None:
    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        if any(item.record.offset == 3 for item in works):
            raise KeyError("somewhere")
        return [result(item) for item in works]

    processor, producer, acknowledgements = start(handle)
    for offset in range(6):
        await processor.submit(work(offset))
    assert await processor.drain(60)
    assert sorted(acknowledgements.offsets) == list(range(6))
    letters = [output for output in producer.sent if output.topic is DEAD_LETTERS]
    assert [letter.value for letter in letters] == [b"3"]
    assert dict(letters[0].headers)["dlq_attempts"] == b"3"
    assert b"somewhere" not in dict(letters[0].headers)["dlq_error"]


async def test_a_poison_record_is_given_up_at_the_first_attempt(start: Start) -> None:
    calls = 0

    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        nonlocal calls
        calls += 1
        return [PoisonError("never") for _ in works]

    processor, producer, acknowledgements = start(handle)
    await processor.submit(work(1))
    assert await processor.drain(60)
    assert calls == 1
    assert acknowledgements.offsets == [1]
    assert dict(producer.sent[0].headers)["dlq_error_class"] == b"PoisonError"


async def test_when_not_even_the_dead_letter_can_be_written_the_record_stays_unacknowledged(start: Start) -> None:
    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        return [PoisonError("never") for _ in works]

    processor, producer, acknowledgements = start(handle)
    producer.refuse_topics = {DEAD_LETTERS.name}
    await processor.submit(work(1))
    failure = await asyncio.wait_for(processor.failure, 60)
    assert isinstance(failure, DeadLetterFailed)
    assert acknowledgements.offsets == []


async def test_a_record_of_the_brokers_full_size_gets_a_letter_without_its_value(start: Start) -> None:
    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        return [PoisonError("never") for _ in works]

    processor, producer, acknowledgements = start(handle)
    producer.failures = [ResultTooLarge("no room for the reason")]
    await processor.submit(work(1))
    assert await processor.drain(60)
    headers = dict(producer.sent[0].headers)
    assert producer.sent[0].value is None
    assert headers["dlq_value_omitted"] == b"1"
    assert headers["dlq_offset"] == b"1"
    assert acknowledgements.offsets == [1]


async def test_a_dead_letter_that_cannot_be_stored_makes_no_letter_about_itself(start: Start) -> None:
    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        return [PoisonError("never") for _ in works]

    processor, producer, acknowledgements = start(handle)
    await processor.submit(work(1, topic=DEAD_LETTERS.name))
    assert await processor.drain(60)
    assert producer.sent == []
    assert acknowledgements.offsets == [1]


async def test_a_revocation_in_mid_batch_sends_nothing_and_acknowledges_nothing(start: Start) -> None:
    entered, go_on = asyncio.Event(), asyncio.Event()

    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        entered.set()
        await go_on.wait()
        return [result(item) for item in works]

    processor, producer, acknowledgements = start(handle)
    await processor.submit(work(1))
    await entered.wait()
    acknowledgements.epoch += 1
    go_on.set()
    assert await processor.drain(60)
    assert producer.sent == []
    assert acknowledgements.offsets == []


async def test_a_revocation_during_the_pause_of_a_retry_drops_the_record(start: Start) -> None:
    calls = 0

    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        nonlocal calls
        calls += 1
        acknowledgements.epoch += 1
        raise KeyError("x")

    processor, producer, acknowledgements = start(handle)
    await processor.submit(work(1))
    assert await processor.drain(60)
    assert calls == 1
    assert producer.sent == []
    assert acknowledgements.offsets == []


async def test_a_hanging_handler_is_cut_off_and_its_record_dead_lettered(start: Start) -> None:
    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        await asyncio.Event().wait()
        return []

    processor, producer, acknowledgements = start(handle, BatchLimits(8, 0.001, timeout_seconds=0.01))
    await processor.submit(work(1))
    assert await processor.drain(60)
    assert dict(producer.sent[0].headers)["dlq_error_class"] == b"HandlerTimeout"
    assert acknowledgements.offsets == [1]


async def test_a_full_processor_makes_the_consumer_wait_and_lets_it_go_on_when_there_is_room(start: Start) -> None:
    go_on = asyncio.Event()

    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        await go_on.wait()
        return [[] for _ in works]

    processor, _, acknowledgements = start(handle, BatchLimits(8, 0.001, in_flight=4))
    for offset in range(4):
        await processor.submit(work(offset))
    blocked = asyncio.create_task(processor.submit(work(4)))
    await asyncio.sleep(0)
    assert not blocked.done()
    assert processor.in_flight == 4
    go_on.set()
    await asyncio.wait_for(blocked, 60)
    assert await processor.drain(60)
    assert sorted(acknowledgements.offsets) == [0, 1, 2, 3, 4]


async def test_a_poison_record_does_not_delay_its_neighbours(start: Start) -> None:
    healthy_done = asyncio.Event()
    poison_attempts = 0

    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        nonlocal poison_attempts
        results: list[Result] = []
        for item in works:
            if item.record.offset == 0:
                poison_attempts += 1
                # It fails again and again until all the others are done: only without
                # head-of-line blocking can that ever be.
                results.append(KeyError("x") if not healthy_done.is_set() else [])
            else:
                results.append([])
        return results

    processor, _, acknowledgements = start(handle, max_attempts=10_000)
    for offset in range(100):
        await processor.submit(work(offset))
        if len(set(acknowledgements.offsets) - {0}) == 99:
            healthy_done.set()
    async with asyncio.timeout(60):
        while len(set(acknowledgements.offsets) - {0}) < 99:
            await asyncio.sleep(0)
    healthy_done.set()
    assert await processor.drain(60)
    assert poison_attempts > 1
    assert sorted(acknowledgements.offsets) == list(range(100))


async def test_a_flood_of_dead_letters_opens_the_breaker_and_the_rest_stays_on_its_topic(start: Start) -> None:
    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        return [PoisonError("never") for _ in works]

    breaker = BreakerSettings(least=10)
    processor, producer, acknowledgements = start(handle, BatchLimits(1, 0.001, concurrent=1), breaker)
    for offset in range(100):
        await processor.submit(work(offset))
    async with asyncio.timeout(60):
        while not processor.breaker.is_open:
            await asyncio.sleep(0)
    assert processor.breaker.reason is not None
    assert "probe dead-lettered 10 of" in processor.breaker.reason
    assert not await processor.drain(0.2)
    assert 10 <= len(acknowledgements.offsets) < 20
    assert len(producer.sent) == len(acknowledgements.offsets)


async def test_a_share_of_dead_letters_that_is_no_flood_leaves_the_breaker_closed(start: Start) -> None:
    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        return [PoisonError("never") if item.record.offset % 4 == 0 else [] for item in works]

    processor, _, acknowledgements = start(handle, breaker=BreakerSettings(least=10))
    for offset in range(400):
        await processor.submit(work(offset))
    assert await processor.drain(60)
    assert not processor.breaker.is_open
    assert len(acknowledgements.offsets) == 400


async def test_a_record_that_was_in_work_at_four_deaths_is_dead_lettered_unseen(start: Start, tmp_path: Path) -> None:
    """The journal of a dead process is what the test writes; the process that finds it is real."""
    seen: list[int] = []

    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        seen.extend(item.record.offset for item in works)
        return [[] for _ in works]

    for counts in (False, True, True, True):
        journal = AttemptJournal(tmp_path, "test")
        journal.begin("probe", [work(5).record], counts=counts)
        journal.close()
    processor, producer, acknowledgements = start(handle)
    for offset in range(10):
        await processor.submit(work(offset))
    assert await processor.drain(60)
    assert sorted(seen) == [0, 1, 2, 3, 4, 6, 7, 8, 9]
    assert dict(producer.sent[0].headers)["dlq_error_class"] == b"ProcessKilled"
    assert sorted(acknowledgements.offsets) == list(range(10))


async def test_a_record_given_up_before_its_commit_is_given_up_again_without_another_death(
    start: Start, tmp_path: Path
) -> None:
    """Another agent's death between the dead letter and the commit brings the record again."""
    seen: list[int] = []

    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        seen.extend(item.record.offset for item in works)
        return [[] for _ in works]

    for counts in (False, True, True, True):
        journal = AttemptJournal(tmp_path, "test")
        journal.begin("probe", [work(5).record], counts=counts)
        journal.close()
    for _ in range(2):
        processor, producer, acknowledgements = start(handle)
        await processor.submit(work(5))
        assert await processor.drain(60)
        assert dict(producer.sent[0].headers)["dlq_error_class"] == b"ProcessKilled"
        assert acknowledgements.offsets == [5]
        processor._journal.close()
    assert seen == []


async def test_records_that_were_in_company_at_many_deaths_are_never_given_up(start: Start, tmp_path: Path) -> None:
    seen: list[int] = []

    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        seen.extend(item.record.offset for item in works)
        return [[] for _ in works]

    for _ in range(10):
        journal = AttemptJournal(tmp_path, "test")
        journal.begin("probe", [work(offset).record for offset in range(10)], counts=False)
        journal.close()
    processor, producer, _ = start(handle)
    for offset in range(10):
        await processor.submit(work(offset))
    assert await processor.drain(60)
    assert sorted(seen) == list(range(10))
    assert producer.sent == []


class Neighbours:
    """Two agents of one process, which share a journal; handlers that wait until they are let go."""

    def __init__(self, journal: AttemptJournal) -> None:
        self.journal = journal
        self.acknowledgements = Acknowledgements()
        self.in_work: list[tuple[str, int]] = []
        self.most: list[list[tuple[str, int]]] = []
        self.let_go = {"first": asyncio.Event(), "second": asyncio.Event()}
        self.away: set[str] = set()
        self.agents = {name: self._agent(name) for name in self.let_go}

    def _agent(self, name: str) -> BatchProcessor:
        async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
            if name in self.away:
                raise StoreUnavailable("away")
            mine = [(name, item.record.offset) for item in works]
            self.in_work += mine
            self.most.append(list(self.in_work))
            await self.let_go[name].wait()
            self.in_work = [entry for entry in self.in_work if entry not in mine]
            return [[] for _ in works]

        delivery = DeliverySettings(retry_initial_seconds=0.001, retry_max_seconds=0.01, max_attempts=3)
        producer = Producer()
        processor = BatchProcessor(
            name, handle, self.acknowledgements, producer, DeadLetterSender(producer, "test"),  # type: ignore[arg-type]
            delivery, LIMITS, self.journal, DeadLetterBreaker(name, BREAKER), ErasureRegister(),
        )  # fmt: skip
        processor.start()
        return processor

    async def until_in_work(self, *wanted: tuple[str, int]) -> None:
        async with asyncio.timeout(60):
            while set(self.in_work) != set(wanted):
                await asyncio.sleep(0.001)

    async def stop(self) -> None:
        for processor in self.agents.values():
            await processor.stop()


def die_with(directory: Path, *records: tuple[str, int], counts: bool) -> None:
    """A process that ends with these in work."""
    journal = AttemptJournal(directory, "test")
    for agent, offset in records:
        journal.begin(agent, [work(offset).record], counts=counts)
    journal.close()


@pytest.fixture
async def neighbours(tmp_path: Path) -> AsyncIterator[Callable[[], Neighbours]]:
    made: list[Neighbours] = []

    def make() -> Neighbours:
        made.append(Neighbours(AttemptJournal(tmp_path, "test")))
        return made[-1]

    yield make
    for pair in made:
        await pair.stop()


async def test_a_record_against_which_two_deaths_count_is_handled_with_nothing_else_in_work(
    neighbours: Callable[[], Neighbours], tmp_path: Path
) -> None:
    for _ in range(MAX_COUNTED_DEATHS - 1):
        die_with(tmp_path, ("first", 1), counts=True)
    pair = neighbours()
    first, second = pair.agents["first"], pair.agents["second"]
    await second.submit(work(50))
    await pair.until_in_work(("second", 50))
    await first.submit(work(1))
    await second.submit(work(51))
    for _ in range(50):
        await asyncio.sleep(0.001)
    assert pair.in_work == [("second", 50)], "who is accused waits for others, and they do not begin anew"
    pair.let_go["second"].set()
    await pair.until_in_work(("first", 1))
    pair.let_go["first"].set()
    assert await first.drain(60) and await second.drain(60)
    assert [("first", 1)] in pair.most
    assert sorted(pair.acknowledgements.offsets) == [1, 50, 51]


async def test_suspects_are_handled_one_group_at_a_time_beside_batches(
    neighbours: Callable[[], Neighbours], tmp_path: Path
) -> None:
    die_with(tmp_path, ("first", 1), ("first", 2), ("second", 3), counts=False)
    pair = neighbours()
    for name, offset in (("first", 1), ("first", 2), ("second", 3), ("second", 9)):
        await pair.agents[name].submit(work(offset))
    pair.let_go["first"].set()
    pair.let_go["second"].set()
    assert all([await processor.drain(60) for processor in pair.agents.values()])
    assert all({offset for _, offset in together} & {1, 2, 3} in ({1, 2}, {3}, set()) for together in pair.most)
    assert any({("first", 1), ("first", 2)} <= set(together) for together in pair.most)


async def test_records_against_which_a_death_counts_are_handled_one_at_a_time_beside_batches(
    neighbours: Callable[[], Neighbours], tmp_path: Path
) -> None:
    die_with(tmp_path, ("first", 1), ("first", 2), counts=True)
    pair = neighbours()
    await pair.agents["second"].submit(work(9))
    await pair.until_in_work(("second", 9))
    for offset in (1, 2):
        await pair.agents["first"].submit(work(offset))
    await pair.until_in_work(("second", 9), ("first", 1))
    pair.let_go["first"].set()
    pair.let_go["second"].set()
    assert all([await processor.drain(60) for processor in pair.agents.values()])
    assert all(len(set(together) & {("first", 1), ("first", 2)}) <= 1 for together in pair.most)


async def test_a_thousand_suspects_are_handled_in_some_thirty_calls_and_a_killer_among_them_is_found(
    start: Start, tmp_path: Path
) -> None:
    """The processor is stopped where a record would end the process; its journal is that of a dead one."""
    killer, count = 777, 1_000
    calls: list[list[int]] = []

    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        calls.append([item.record.offset for item in works])
        if killer in calls[-1]:
            await asyncio.Event().wait()
        return [[] for _ in works]

    in_groups = []
    for death in range(1, 5):
        processor, producer, acknowledgements = start(handle, BatchLimits(count, 60.0, in_flight=count, concurrent=1))
        for offset in range(count):
            await processor.submit(work(offset))
        async with asyncio.timeout(60):
            while not calls or killer not in calls[-1]:
                await asyncio.sleep(0.001)
        in_groups.append(list(calls))
        calls.clear()
        processor._journal.close()  # first, so that nothing is removed from it: the file of a dead process
        await processor.stop()
        assert producer.sent == [], death
    assert [len(group[-1]) for group in in_groups] == [count, SUSPECTS_TOGETHER, 1, 1]
    assert len(in_groups[1]) <= 1 + count / SUSPECTS_TOGETHER
    processor, producer, acknowledgements = start(handle, BatchLimits(count, 60.0, in_flight=count, concurrent=1))
    for offset in range(count):
        await processor.submit(work(offset))
    assert await processor.drain(60)
    assert [dict(output.headers)["dlq_error_class"] for output in producer.sent] == [b"ProcessKilled"]
    assert sorted(acknowledgements.offsets) == list(range(count))


async def test_a_suspect_that_waits_for_its_store_holds_up_no_suspect_of_another_agent(
    neighbours: Callable[[], Neighbours], tmp_path: Path
) -> None:
    die_with(tmp_path, ("first", 1), ("second", 2), counts=False)
    pair = neighbours()
    pair.away.add("first")
    await pair.agents["first"].submit(work(1))
    async with asyncio.timeout(60):
        while pair.agents["first"].waiting_for is None:
            await asyncio.sleep(0.001)
    pair.let_go["second"].set()
    await pair.agents["second"].submit(work(2))
    assert await pair.agents["second"].drain(60)
    assert pair.acknowledgements.offsets == [2]


async def test_a_batch_that_hangs_keeps_the_accused_from_being_counted_and_not_from_being_handled(
    neighbours: Callable[[], Neighbours], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(isolation, "PATIENCE_SECONDS", 0.01)
    for _ in range(MAX_COUNTED_DEATHS - 1):
        die_with(tmp_path, ("first", 1), counts=True)
    pair = neighbours()
    await pair.agents["second"].submit(work(50))
    await pair.until_in_work(("second", 50))
    await pair.agents["first"].submit(work(1))
    await pair.until_in_work(("second", 50), ("first", 1))
    assert (tmp_path / "test.0.journal").read_bytes().count(b'["+",true') == 0


def erased_register() -> tuple[ErasureRegister, Callable[[int], WorkItem]]:
    """A register with one person, and works that are theirs at even offsets."""
    register = ErasureRegister()
    register.note(Erasure(digest=person_digest("default", "gone"), requested_at=datetime(2026, 11, 2, tzinfo=UTC)))

    def of(offset: int) -> WorkItem:
        content = {"user_id": "stays" if offset % 2 else "gone", "completed_at": "2026-11-01T00:00:00Z"}
        value = json.dumps(content | {"answer_id": f"a-{offset}"}).encode()
        return WorkItem(Record("answers.generated", 0, offset, None, value))

    return register, of


async def test_records_of_an_erased_person_are_acknowledged_unhandled_and_their_answers_made_known(
    start: Start,
) -> None:
    handled: list[int] = []

    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        handled.extend(item.record.offset for item in works)
        return [[] for _ in works]

    register, of = erased_register()
    register.note(
        Erasure(
            digest="0" * 64, requested_at=datetime(2026, 11, 2, tzinfo=UTC), answers=[answer_digest("default", "a-4")]
        )
    )
    processor, producer, acknowledgements = start(handle, erasures=register)
    producer.failures = [BrokerUnavailable("once")]
    for offset in range(6):
        await processor.submit(of(offset))
    assert await processor.drain(60)
    assert sorted(handled) == [1, 3, 5]
    assert sorted(acknowledgements.offsets) == list(range(6))
    told = [Erasure.from_bytes(output.value) for output in producer.sent]
    assert {output.topic.name for output in producer.sent} == {"privacy.erasures"}
    assert [each.answers for each in told] == [[answer_digest("default", "a-0")], [answer_digest("default", "a-2")]], (
        "a-4 is known"
    )
    assert {each.digest for each in told} == {person_digest("default", "gone")}
    assert len({output.key for output in producer.sent}) == 2, "compaction would keep one of them alone"


async def test_an_erasure_that_comes_while_a_store_is_away_counts(start: Start) -> None:
    register, of = ErasureRegister(), erased_register()[1]
    attempts: list[list[int]] = []

    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        attempts.append([item.record.offset for item in works])
        if len(attempts) == 1:
            register.note(
                Erasure(digest=person_digest("default", "gone"), requested_at=datetime(2026, 11, 2, tzinfo=UTC))
            )
            raise StoreUnavailable("away")
        return [[] for _ in works]

    processor, _, acknowledgements = start(handle, LIMITS_TOGETHER, erasures=register)
    await processor.submit(of(1))
    await processor.submit(of(2))
    assert await processor.drain(60)
    assert attempts == [[1, 2], [1]]
    assert sorted(acknowledgements.offsets) == [1, 2]


async def test_an_erased_record_that_killed_the_process_is_no_dead_letter(start: Start, tmp_path: Path) -> None:
    register, of = erased_register()
    erased = of(2)
    for _ in range(MAX_COUNTED_DEATHS):
        journal = AttemptJournal(tmp_path, "test")
        journal.begin("probe", [erased.record], counts=True)
        journal.close()

    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        raise AssertionError("handled")

    processor, producer, acknowledgements = start(handle, erasures=register)
    await processor.submit(erased)
    assert await processor.drain(60)
    assert acknowledgements.offsets == [2]
    assert {output.topic.name for output in producer.sent} == {"privacy.erasures"}


async def test_where_the_order_counts_what_stands_behind_a_suspect_waits_for_it(start: Start, tmp_path: Path) -> None:
    """Of two decisions on one answer the first is final, also when the process died over it."""
    seen: list[int] = []

    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        seen.extend(item.record.offset for item in works)
        return [[] for _ in works]

    die_with(tmp_path, ("probe", 1), counts=False)
    processor, _, acknowledgements = start(handle, BatchLimits(8, 0.2, concurrent=1, ordered=True))
    for offset in range(4):
        await processor.submit(work(offset))
    assert await processor.drain(60)
    assert (seen, acknowledgements.offsets) == ([0, 1, 2, 3], [0, 1, 2, 3])
