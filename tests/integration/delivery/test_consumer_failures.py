"""Whatever ends within Faust or aiokafka ends the agent: none goes on, ready and silent."""

import asyncio
import gc
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from typing import Any

import pytest
from aiokafka.consumer.group_coordinator import GroupCoordinator
from aiokafka.errors import GroupAuthorizationFailedError, OutOfOrderSequenceNumber

from schemas.topics import ANSWERS_GENERATED
from tests.integration.delivery.test_consumer import Agent, produce, until
from workers.delivery import application as application_module
from workers.delivery.producer import ConfirmedProducer
from workers.delivery.records import Output, Record, Result, WorkItem
from workers.errors import BrokerUnavailable, FatalDeliveryError, StoreUnavailable
from workers.runtime.worker import Worker
from workers.settings import Settings
from workers.settings.addresses import Addresses

SECONDS = 120.0

pytestmark = [
    # What is broken on purpose is told by the thread that it breaks, and not taken apart in order.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


class Gate:
    """A handler whose store is away until it is opened."""

    def __init__(self) -> None:
        self.is_open = True
        self.seen = 0

    async def __call__(self, works: Sequence[WorkItem]) -> Sequence[Result]:
        if not self.is_open:
            raise StoreUnavailable("the store is away")
        self.seen += len(works)
        return [[] for _ in works]


@pytest.fixture
async def gate() -> Gate:
    return Gate()


@pytest.fixture
async def agent(
    settings: Settings, addresses: Addresses, topics: None, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Agent]:
    monkeypatch.setattr(application_module, "WATCH_SECONDS", 0.05)
    agent = await Agent(settings, addresses, gate).start()
    await until(lambda: agent.application.is_assigned and bool(agent.application.assigned()), SECONDS)
    yield agent
    await agent.stop()


@pytest.fixture(autouse=True)
def collected() -> Iterator[None]:
    """What a broken thread leaves behind is finalised here: amid the parsing of a module Python 3.11 stumbles over it."""
    yield
    gc.collect()


def driver(agent: Agent) -> Any:
    """aiokafka's consumer, which lives in a thread of its own."""
    return agent.application.consumer._thread._consumer


async def in_thread(agent: Agent, call: Callable[[], Awaitable[Any]]) -> Any:
    return await agent.application.consumer._thread.call_thread(call)


async def failure(agent: Agent) -> Exception:
    return await asyncio.wait_for(agent.application.wait_crashed(), SECONDS)


async def test_the_end_of_the_clients_fetching_is_heard_of(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    """aiokafka keeps the error to itself where its fetches are asked for as Faust does."""

    def broken(*_: Any) -> Any:
        raise KeyError("a partition that nobody knows")

    monkeypatch.setattr(driver(agent)._fetcher, "_get_actions_per_node", broken)
    error = await failure(agent)
    assert "Unexpected error during data retrieval" in str(error)


async def test_the_end_of_what_learns_the_leaders_is_heard_of(agent: Agent) -> None:
    """Without it a client goes on asking brokers that lead no more."""
    task = driver(agent)._client._sync_task

    async def end() -> None:
        task.cancel()

    await in_thread(agent, end)
    assert "_md_synchronizer has ended" in str(await failure(agent))


async def test_an_error_of_the_group_is_heard_of_while_nobody_fetches(
    agent: Agent, gate: Gate, settings: Settings, addresses: Addresses
) -> None:
    """Once told, aiokafka waits until somebody asks; under backpressure nobody does."""
    gate.is_open = False
    agent.application.pause(agent.application.assigned())
    coordinator = driver(agent)._coordinator
    told: list[Any] = []

    async def refuse() -> None:
        told.append(asyncio.ensure_future(coordinator._push_error_to_user(GroupAuthorizationFailedError("this group"))))

    await in_thread(agent, refuse)
    assert "may not join the group this group" in str(await failure(agent))


async def test_the_end_of_the_consumers_thread_is_heard_of(agent: Agent) -> None:
    loop = agent.application.consumer._thread.thread_loop
    loop.call_soon_threadsafe(loop.stop)
    assert "the consumer's thread has ended" in str(await failure(agent))


async def test_the_end_of_the_loop_that_hands_records_on_is_heard_of(agent: Agent) -> None:
    [task] = [task for task in agent.application.app._fetcher._futures if "_fetcher" in task.get_name()]
    task.cancel()
    assert "the task that delivers records to the agent has ended" in str(await failure(agent))


async def test_a_record_that_cannot_be_taken_over_is_no_end_of_the_loop_but_of_the_agent(
    agent: Agent, settings: Settings, addresses: Addresses, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An exception that leaves the agent's loop would make Faust acknowledge the message and begin anew."""

    def broken(message: Any) -> Record:
        raise KeyError("touchstone_epoch")

    monkeypatch.setattr(agent.application, "_record", broken)
    await produce(settings, addresses, 1)
    assert isinstance(await failure(agent), KeyError)


async def test_a_listener_that_fails_when_partitions_are_revoked_is_heard_of(agent: Agent) -> None:
    """aiokafka logs what a listener raises, and goes on."""

    calls = itertools.count()

    def broken() -> None:
        if next(calls) == 0:
            raise KeyError("a partition")

    agent.application.consumer.listen(on_epoch=broken)
    coordinator = driver(agent)._coordinator

    async def rejoin() -> None:
        coordinator.request_rejoin()

    await in_thread(agent, rejoin)
    assert isinstance(await failure(agent), KeyError)


async def test_commits_that_stand_still_are_heard_of(
    agent: Agent, settings: Settings, addresses: Addresses, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(application_module, "COMMIT_STALL_SECONDS", 0.5)
    consumer = agent.application.consumer
    [task] = [task for task in consumer._futures if "_commit_handler" in task.get_name()]
    task.cancel()
    await produce(settings, addresses, 3)
    assert "committed nothing for" in str(await failure(agent))


async def test_a_store_that_is_away_for_a_day_does_not_cost_the_agent_its_place_in_the_group(
    agent: Agent, gate: Gate, settings: Settings, addresses: Addresses
) -> None:
    """A client that takes no records for long leaves its group, and rejoins only once it takes some: never."""
    gate.is_open = False
    await produce(settings, addresses, 2_000)
    await until(lambda: agent.processor.waiting_for is not None, SECONDS)
    consumer, state = driver(agent), driver(agent)._subscription
    await until(lambda: state._fetch_count == 0, SECONDS)
    member = consumer._coordinator.member_id
    state._last_fetch_ended -= 86_400
    await asyncio.sleep(3 * consumer._coordinator._heartbeat_interval_ms / 1000)
    assert consumer._coordinator.member_id == member
    gate.is_open = True
    await until(lambda: gate.seen >= 2_000, SECONDS)


async def test_a_group_that_refuses_the_worker_ends_its_start(
    settings: Settings, addresses: Addresses, topics: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refused(self: GroupCoordinator) -> None:
        raise GroupAuthorizationFailedError(self.group_id)

    monkeypatch.setattr(GroupCoordinator, "ensure_coordinator_known", refused)
    worker = Worker(settings, addresses, ["release"])
    try:
        with pytest.raises(FatalDeliveryError, match=r"may not join the group .*topics acls"):
            await asyncio.wait_for(worker.start(), SECONDS)
    finally:
        await worker.stop()


async def test_a_client_that_can_send_nothing_more_is_replaced(
    settings: Settings, addresses: Addresses, topics: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the end of its sender the client refuses everything for good, though the broker is there."""
    producer = ConfirmedProducer(settings, addresses.kafka)
    await producer.start()
    output = Output(ANSWERS_GENERATED, b"k", b"v")
    try:
        await producer.send([output], agent="probe")

        def broken(**_: Any) -> Any:
            raise OutOfOrderSequenceNumber("the broker has lost its log")

        assert producer._client is not None
        monkeypatch.setattr(producer._client._producer._message_accumulator, "drain_by_nodes", broken)
        with pytest.raises(BrokerUnavailable):
            await asyncio.wait_for(producer.send([output], agent="probe"), SECONDS)
        await asyncio.wait_for(producer.send([output], agent="probe"), SECONDS)
    finally:
        await producer.stop()
