"""The memory is kept by one running worker: it removes old turns, and another one takes over when it stops."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import nullcontext, suppress
from datetime import UTC, datetime, timedelta
from itertools import chain

import pytest

from schemas.export import example
from schemas.memory import ConversationTurn
from schemas.topics import MEMORY_TURNS
from tests.harness.deployment import until
from workers.agents.base import OwnedPartitions
from workers.agents.tasks import memory_keeper
from workers.agents.tasks.memory_keeper import MemoryKeeper
from workers.delivery.producer import ConfirmedProducer
from workers.delivery.records import Output
from workers.runtime.worker import Worker
from workers.settings import Settings
from workers.settings.addresses import Addresses
from workers.stores.lancedb.memory_store import MemoryStore

SECONDS = 120.0


@pytest.fixture
async def workers(settings: Settings, addresses: Addresses, topics: None) -> AsyncIterator[list[Worker]]:
    settings.memory = settings.memory.model_copy(update={"retention_days": 30})
    settings.delivery = settings.delivery.model_copy(update={"shutdown_grace_seconds": 3.0})
    made = [Worker(settings, addresses, ["memory"]) for _ in range(2)]
    yield made
    for worker in made:
        await worker.stop()


def turn(name: str, age: timedelta) -> Output:
    turn = ConversationTurn.model_validate(example(ConversationTurn)).model_copy(
        update={"turn_id": f"turn_{name}", "answer_id": name, "timestamp": datetime.now(UTC) - age}
    )
    return Output(MEMORY_TURNS, name.encode(), turn.to_bytes())


async def send(settings: Settings, addresses: Addresses, *turns: Output) -> None:
    producer = ConfirmedProducer(settings, addresses.kafka)
    await producer.start()
    await producer.send(turns, agent="probe")
    await producer.stop()


async def test_one_worker_keeps_the_memory_and_another_one_takes_over(
    workers: list[Worker], settings: Settings, addresses: Addresses, monkeypatch: pytest.MonkeyPatch
) -> None:
    rounds: dict[MemoryStore, list[str]] = {}
    owned_by: dict[MemoryStore, OwnedPartitions] = {}
    keep_up, run = MemoryStore.keep_up, MemoryKeeper.run

    async def noted_run(keeper: MemoryKeeper, owned: OwnedPartitions) -> None:
        owned_by[keeper._memory] = owned
        await run(keeper, owned)

    async def noted(store: MemoryStore, now: datetime, retention_days: int) -> list[str]:
        # The first partition may go from one worker to the other; at each round it belongs to one.
        owners = [each for each, owned in owned_by.items() if 0 in owned()]
        begun = rounds.setdefault(store, [])
        if owners != [store]:
            begun.append("not the owner of the first partition alone")
        done = await keep_up(store, now, retention_days)
        begun += done or ["nothing"]
        return done

    monkeypatch.setattr(memory_keeper, "ROUND_SECONDS", 0.05)
    monkeypatch.setattr(memory_keeper, "REST", 0)
    monkeypatch.setattr(MemoryStore, "keep_up", noted)
    monkeypatch.setattr(MemoryKeeper, "run", noted_run)

    def shared_out() -> list[set[int]]:
        return [running.owned_partitions() for worker in workers for running in worker._running]

    async def both_own_partitions() -> bool:
        owned = shared_out()
        return len(owned) == 2 and all(owned) and not owned[0] & owned[1]

    async def kept_by_one(worker: Worker, *names: str) -> bool:
        found = sorted(str(each["answer_id"]) for each in await worker.remembered())
        return found == sorted(names) and any("retention" in done for done in rounds.values())

    for worker in workers:
        await worker.start()
    await until(both_own_partitions, "partitions of both workers", SECONDS)
    rounds.clear()
    await send(settings, addresses, turn("old", timedelta(days=60)), turn("new", timedelta(0)))
    await until(lambda: kept_by_one(workers[1], "new"), "the old turn is removed", SECONDS)
    assert "not the owner of the first partition alone" not in chain(*rounds.values())

    keeper = next(worker for worker, owned in zip(workers, shared_out(), strict=True) if 0 in owned)
    await keeper.stop()
    other = next(worker for worker in workers if worker is not keeper)
    rounds.clear()
    await send(settings, addresses, turn("older", timedelta(days=90)), turn("newer", timedelta(0)))
    await until(lambda: kept_by_one(other, "new", "newer"), "the other worker removes old turns", SECONDS)
    assert len(rounds) == 1


async def test_a_round_that_loses_its_cancellation_ends_with_its_worker(
    workers: list[Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks: list[asyncio.Task[None] | None] = []

    async def loses_the_first(store: MemoryStore) -> bool:
        tasks.append(asyncio.current_task())
        with suppress(asyncio.CancelledError) if len(tasks) == 1 else nullcontext():
            await asyncio.Event().wait()
        return False

    async def round_has_begun() -> bool:
        return bool(tasks)

    monkeypatch.setattr(memory_keeper, "ROUND_SECONDS", 0.05)
    monkeypatch.setattr(memory_keeper, "REST", 0)
    monkeypatch.setattr(MemoryStore, "compact", loses_the_first)
    await workers[0].start()
    await until(round_has_begun, "a round begins", SECONDS)
    await workers[0].stop()
    assert all(task is not None and task.done() for task in tasks)
