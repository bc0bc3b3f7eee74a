"""A stop ends an agent at whatever step of its loop it comes."""

import asyncio
from collections.abc import Sequence

import pytest

from tests.unit.delivery.test_processing import Start
from tests.unit.delivery.test_processing import start as start
from workers.delivery.limits import BatchLimits
from workers.delivery.records import Record, Result, WorkItem
from workers.delivery.work_queue import WorkQueue


def work(offset: int) -> WorkItem:
    return WorkItem(Record("answers.generated", 0, offset, b"k", b"{}"))


@pytest.mark.parametrize("steps", range(6))
async def test_a_batch_in_collection_is_cancelled_at_every_step_after_an_item_came(steps: int) -> None:
    queue = WorkQueue("citations", BatchLimits(8, 3600.0, 256, 1))
    queue.add(work(0))
    collecting = asyncio.create_task(queue.next_batch())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    queue.add(work(1))
    for _ in range(steps):
        await asyncio.sleep(0)
    collecting.cancel()
    await asyncio.wait([collecting], timeout=60)
    assert collecting.cancelled()


@pytest.mark.parametrize("steps", range(12))
async def test_an_agent_stops_at_every_step_after_its_handler_has_ended(start: Start, steps: int) -> None:
    go_on = asyncio.Event()
    begun = asyncio.Event()

    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        begun.set()
        await go_on.wait()
        return [[] for _ in works]

    processor, _, _ = start(handle, BatchLimits(1, 0.0, 256, 1))
    for offset in range(3):
        await processor.submit(work(offset))
    await begun.wait()
    go_on.set()
    for _ in range(steps):
        await asyncio.sleep(0)
    async with asyncio.timeout(60):
        await processor.stop()
