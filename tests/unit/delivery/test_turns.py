"""Tenants take turns among the records that an agent has read ahead."""

import asyncio
import json
from collections.abc import Sequence

import pytest

from schemas.identifiers import DEFAULT_TENANT
from tests.unit.delivery.test_processing import Start
from tests.unit.delivery.test_processing import start as start
from workers.agents.citations import CITATIONS
from workers.agents.release import RELEASE
from workers.agents.signals import SIGNALS
from workers.delivery.followers.record_subjects import MAX_PARSED_BYTES, tenant_of
from workers.delivery.limits import BatchLimits
from workers.delivery.records import Record, Result, WorkItem
from workers.delivery.turns import Turns
from workers.settings import Settings


def work(offset: int, tenant: str) -> WorkItem:
    return WorkItem(Record("answers.generated", 0, offset, b"k", json.dumps({"tenant": tenant}).encode()))


async def test_tenants_take_turns_and_each_keeps_its_order() -> None:
    turns: Turns[str] = Turns()
    for tenant, count in (("a", 5), ("b", 2), ("c", 1)):
        for number in range(count):
            turns.put(tenant, f"{tenant}{number}")
    assert [await turns.get() for _ in range(len(turns))] == ["a0", "b0", "c0", "a1", "b1", "a2", "a3", "a4"]


async def test_a_tenant_that_comes_late_waits_for_one_turn() -> None:
    turns: Turns[int] = Turns()
    for number in range(1_000):
        turns.put("flood", number)
    assert [turns.take() for _ in range(3)] == [0, 1, 2]
    turns.put("late", -1)
    assert [turns.take() for _ in range(2)] == [3, -1]


async def test_a_waiting_reader_gets_the_first_item() -> None:
    turns: Turns[int] = Turns()
    reader = asyncio.create_task(turns.get())
    await asyncio.sleep(0)
    turns.put("a", 1)
    assert await reader == 1
    assert len(turns) == 0


async def test_what_is_left_is_behind_what_is_next() -> None:
    turns: Turns[str] = Turns()
    for tenant, count in (("a", 3), ("b", 3)):
        for number in range(count):
            turns.put(tenant, f"{tenant}{number}")
    assert sorted(turns.take_beyond(4)) == ["a2", "b2"]
    assert [turns.take() for _ in range(len(turns))] == ["a0", "b0", "a1", "b1"]


async def test_a_flood_of_one_tenant_delays_another_by_one_batch_at_most(start: Start) -> None:
    """Records behind a flood are evaluated as soon as they are read, and acknowledged out of their order."""
    handled: list[list[int]] = []
    go_on = asyncio.Event()

    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        await go_on.wait()
        handled.append([item.record.offset for item in works])
        return [[] for _ in works]

    processor, _, acknowledgements = start(handle, BatchLimits(8, 0.001, 256, 1, by_tenant=True))
    for offset in range(200):
        await processor.submit(work(offset, "flood"))
    for offset in range(200, 204):
        await processor.submit(work(offset, "small"))
    go_on.set()
    while len(acknowledgements.offsets) < 204:
        await asyncio.sleep(0)
    place = [offset for batch in handled for offset in batch].index
    # One batch is in progress and one is collected when the small tenant comes; then it has every second place.
    assert [place(offset) <= 16 + 2 * (number + 1) for number, offset in enumerate(range(200, 204))] == [True] * 4
    assert sorted(acknowledgements.offsets) == list(range(204))
    flood = [offset for offset in acknowledgements.offsets if offset < 200]
    assert flood == sorted(flood)


async def test_a_stop_does_not_wait_for_what_was_only_read_ahead(start: Start) -> None:
    go_on = asyncio.Event()

    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        await go_on.wait()
        return [[] for _ in works]

    processor, _, acknowledgements = start(handle, BatchLimits(8, 0.001, 256, 1, by_tenant=True))
    for offset in range(200):
        await processor.submit(work(offset, "a"))
    while processor.in_flight == 0:
        await asyncio.sleep(0)
    stop = asyncio.create_task(processor.drain(60))
    await asyncio.sleep(0)
    go_on.set()
    assert await stop
    # The batch in progress, one that is collected, and one that waits.
    assert acknowledgements.offsets == list(range(len(acknowledgements.offsets)))
    assert len(acknowledgements.offsets) <= 24


@pytest.mark.parametrize(
    ("key", "value", "tenant"),
    [
        (b'["acme","a1"]', b"{}", "acme"),
        (b"a1", b'{"tenant": "acme"}', "acme"),
        (b"a1", b'{"metadata": {"tenant": "acme"}}', DEFAULT_TENANT),
        (None, b"no JSON", DEFAULT_TENANT),
        (None, None, DEFAULT_TENANT),
        (b"a1", json.dumps({"answer": "x" * MAX_PARSED_BYTES, "tenant": "acme"}).encode(), DEFAULT_TENANT),
        (b'["acme","a1"]', json.dumps({"answer": "x" * MAX_PARSED_BYTES}).encode(), "acme"),
    ],
)
def test_the_tenant_of_a_record(key: bytes | None, value: bytes | None, tenant: str) -> None:
    assert tenant_of(Record("answers.generated", 0, 0, key, value)) == tenant


def test_agents_that_evaluate_answers_read_ahead_and_others_keep_the_order() -> None:
    settings = Settings(_env_file=None)
    assert [agent.limits(settings).by_tenant for agent in (CITATIONS, SIGNALS, RELEASE)] == [True, True, False]
    assert CITATIONS.limits(settings).in_flight == settings.delivery.fair_records
