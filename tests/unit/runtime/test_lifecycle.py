"""A worker opens what its chosen agents open, and closes all of it, whatever fails."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from schemas.topics import ANSWERS_ENRICHED
from workers.agents.base import AgentContext, AgentDefinition, Handler
from workers.delivery.followers.erasure_follower import ErasureFollower
from workers.delivery.producer import ConfirmedProducer
from workers.delivery.records import Result, WorkItem
from workers.runtime import agent_choice
from workers.runtime.running_agent import RunningAgent
from workers.runtime.worker import STARTING_GRACE_SECONDS, Worker
from workers.services.shared_service import SharedService
from workers.settings import Settings
from workers.settings.addresses import Addresses

EMPTY = Addresses("", "", "", local=True)


class Log:
    """Notes what is opened and closed, in order; closing what ``failing`` names fails."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.failing: set[str] = set()

    @asynccontextmanager
    async def open(self, name: str) -> AsyncIterator[str]:
        self.events.append(f"open {name}")
        try:
            yield name
        finally:
            self.events.append(f"close {name}")
            if name in self.failing:
                raise OSError(f"{name} does not close")

    @property
    def closed(self) -> list[str]:
        return [event.removeprefix("close ") for event in self.events if event.startswith("close ")]


async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
    return [[] for _ in works]


Make = Callable[..., Worker]


@pytest.fixture
def log() -> Log:
    return Log()


@pytest.fixture
def make(log: Log, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Makes a worker with agents that open these resources; ``pool`` is shared, and ``away`` cannot be opened."""

    def definition(name: str, resources: Sequence[str]) -> AgentDefinition:
        async def open_agent(context: AgentContext, stack: AsyncExitStack) -> Handler:
            for resource in resources:
                if resource == "away":
                    raise ConnectionError("away")
                shared: Any = context.services.clickhouse()
                await stack.enter_async_context(shared if resource == "pool" else log.open(resource))
            return handle

        return AgentDefinition(name, (ANSWERS_ENRICHED,), open_agent)

    async def connect(_: ConfirmedProducer) -> None:
        log.events.append("open producer")

    async def disconnect(_: ConfirmedProducer) -> None:
        log.events.append("close producer")

    def worker(names: Sequence[str] | None = None, **agents: Sequence[str]) -> Worker:
        definitions = {name: definition(name, resources) for name, resources in agents.items()}
        monkeypatch.setattr(agent_choice, "AGENTS", definitions)
        monkeypatch.setattr(ConfirmedProducer, "start", connect)
        monkeypatch.setattr(ConfirmedProducer, "stop", disconnect)
        made = Worker(Settings(_env_file=None, state_dir=tmp_path), EMPTY, names)
        shared: Any = SharedService(lambda: log.open("pool"))
        made.services.clickhouse = shared
        return made

    return worker


async def test_what_fails_to_open_closes_what_was_opened_before_it_in_reverse_order(make: Make, log: Log) -> None:
    worker = make(first=["a", "b"], second=["c", "away"], third=["d"])
    with pytest.raises(ConnectionError):
        await worker._open()
    await worker.stop()
    assert log.events == ["open a", "open b", "open c", "close c", "close b", "close a"]


async def test_an_agent_that_is_not_chosen_opens_nothing(make: Make, log: Log) -> None:
    worker = make(["second"], first=["a", "pool"], second=["b"])
    await worker._open()
    await worker.stop()
    assert log.events == ["open b", "open producer", "close producer", "close b"]


async def test_two_agents_share_one_pool_and_the_producer_closes_first(make: Make, log: Log) -> None:
    worker = make(first=["pool", "a"], second=["pool", "b"])
    await worker._open()
    await worker.stop()
    assert log.events == [
        "open pool", "open a", "open b", "open producer", "close producer", "close b", "close a", "close pool",
    ]  # fmt: skip


async def test_a_failing_close_does_not_hide_the_others(make: Make, log: Log) -> None:
    worker = make(first=["a", "b"], second=["c"])
    log.failing = {"b", "c"}
    await worker._open()
    with pytest.raises(OSError, match="b does not close") as raised:
        await worker.stop()
    assert log.closed == ["producer", "c", "b", "a"]
    assert str(raised.value.__context__) == "c does not close"


class Joining:
    """An agent whose client waits for its group; it notes the grace period of its stop."""

    def __init__(self, in_flight: int) -> None:
        self.processor = SimpleNamespace(in_flight=in_flight)
        self.grace: float | None = None

    async def stop(self, grace_seconds: float) -> None:
        self.grace = grace_seconds
        if not self.processor.in_flight:
            await asyncio.Event().wait()


@pytest.mark.parametrize("failing", [False, True], ids=["drained", "a drain that fails"])
async def test_erasures_are_followed_until_the_records_in_work_are_done(
    make: Make, monkeypatch: pytest.MonkeyPatch, failing: bool
) -> None:
    events: list[str] = []

    async def follow(_: ErasureFollower) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            events.append("no longer followed")

    async def connect(_: ErasureFollower) -> None:
        events.append("followed")

    async def disconnect(_: ErasureFollower) -> None:
        events.append("disconnected")

    async def stop(grace_seconds: float) -> None:
        for _ in range(10):
            await asyncio.sleep(0)  # the turns of the loop in which a cancelled task would end
        events.append("drained")
        if failing:
            raise OSError("the drain fails")

    monkeypatch.setattr(ErasureFollower, "start", connect)
    monkeypatch.setattr(ErasureFollower, "run", follow)
    monkeypatch.setattr(ErasureFollower, "stop", disconnect)
    worker, agent = make(first=["a"]), SimpleNamespace(processor=SimpleNamespace(in_flight=1), stop=stop)
    await worker._follow_erasures()
    await asyncio.sleep(0)
    await worker._open()
    worker._running = [cast(RunningAgent, agent)]
    await worker.stop()
    assert events == ["followed", "drained", "no longer followed", "disconnected"]


async def test_an_interrupted_start_does_not_wait_for_a_group_that_forms(make: Make) -> None:
    worker, agent = make(first=["a"]), Joining(in_flight=0)
    await worker._open()
    worker._running = [cast(RunningAgent, agent)]
    await asyncio.wait_for(worker.stop(), 10)
    assert agent.grace == STARTING_GRACE_SECONDS


async def test_an_interrupted_start_finishes_accepted_records(make: Make) -> None:
    worker, agent = make(first=["a"]), Joining(in_flight=1)
    await worker._open()
    worker._running = [cast(RunningAgent, agent)]
    await worker.stop()
    assert agent.grace == Settings(_env_file=None).delivery.shutdown_grace_seconds > STARTING_GRACE_SECONDS
