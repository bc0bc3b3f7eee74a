"""Tasks whose end is the worker's end."""

import asyncio
from pathlib import Path
from types import SimpleNamespace

import pytest

from schemas.topics import ANSWERS_GENERATED, REPORT_TOPICS
from workers.agents.base import read_answer
from workers.delivery.application import AgentApplication
from workers.delivery.followers.erasure_follower import ErasureRegister
from workers.delivery.join import assembler as assembler_module
from workers.delivery.join.assembler import Assembler
from workers.process import background
from workers.process.background import start_background, stop_background
from workers.runtime.worker import Worker
from workers.settings import Settings
from workers.settings.addresses import Addresses


async def test_a_background_task_that_fails_is_heard_of() -> None:
    failure: asyncio.Future[Exception] = asyncio.get_running_loop().create_future()

    async def fails() -> None:
        raise KeyError("gone")

    start_background(fails(), "fails", failure)
    assert isinstance(await failure, KeyError)


async def test_a_cancelled_background_task_is_no_failure() -> None:
    failure: asyncio.Future[Exception] = asyncio.get_running_loop().create_future()
    task = start_background(asyncio.sleep(3600), "sleeps", failure)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert not failure.done()


async def test_deadlines_are_looked_at_though_the_group_takes_its_time_to_form(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The assembler ticks before its consumer is there; once that ended the ticking, unnoticed."""
    monkeypatch.setattr(assembler_module, "TICK_SECONDS", 0.0)
    settings = Settings(_env_file=None, state_dir=tmp_path)
    application = AgentApplication("assembly", [ANSWERS_GENERATED, *REPORT_TOPICS.values()], settings, "127.0.0.1:1")
    assembler = Assembler(
        application,
        SimpleNamespace(),
        settings.delivery,
        lambda record: read_answer(record, 1_000_000),
        ErasureRegister(),
    )
    looks = 0

    def look(now: float) -> list[object]:
        nonlocal looks
        looks += 1
        return []

    monkeypatch.setattr(assembler._join, "expire", look)
    assembler.start()
    try:
        async with asyncio.timeout(60):
            while looks < 3 and not application.failure.done():
                await asyncio.sleep(0)
        assert not application.failure.done(), application.failure.result()
    finally:
        await assembler.stop()
        application.consumer._thread.thread_loop.close()  # made with the consumer, closed by its end


async def test_a_task_that_loses_its_cancellation_is_cancelled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "CANCEL_AGAIN_SECONDS", 0.01)
    lost = 0

    async def loses_two() -> None:
        nonlocal lost
        while True:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                lost += 1
                if lost > 2:
                    raise

    task = asyncio.create_task(loses_two())
    await asyncio.sleep(0)
    async with asyncio.timeout(30):
        await stop_background(task)
    assert task.cancelled() and lost == 3


async def test_the_worker_ends_when_its_own_observers_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    worker = Worker(Settings(_env_file=None, state_dir=tmp_path), Addresses("", "", "", local=True))

    async def observe() -> None:
        raise RuntimeError("the gauges are broken")

    start_background(observe(), "lag", worker._failure)
    async with asyncio.timeout(60):
        assert str(await worker.wait_failed()) == "the gauges are broken"


@pytest.mark.parametrize("client", [None, SimpleNamespace(_coordinator=None, _fetcher=None)])
async def test_a_client_that_takes_its_time_to_start_is_no_defect(tmp_path: Path, client: SimpleNamespace) -> None:
    settings = Settings(_env_file=None, state_dir=tmp_path)
    application = AgentApplication("release", [ANSWERS_GENERATED], settings, "127.0.0.1:1")
    thread = application.consumer._thread
    thread._thread, thread._consumer = SimpleNamespace(is_alive=lambda: True), client
    try:
        assert application.consumer.defect() is None
        assert not application.is_connected
    finally:
        thread.thread_loop.close()  # made with the consumer, closed by its end
