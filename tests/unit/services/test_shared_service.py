"""A shared service: opened for its first user, closed after its last, and never held by a failed opening."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from workers.services.shared_service import SharedService


class Pool:
    """Counts how often it is opened and closed."""

    def __init__(self) -> None:
        self.opened = self.closed = 0
        self.fails = False

    @asynccontextmanager
    async def open(self) -> AsyncIterator[int]:
        await asyncio.sleep(0)
        if self.fails:
            raise ConnectionError("away")
        self.opened += 1
        try:
            yield self.opened
        finally:
            self.closed += 1


async def test_two_users_share_one_service_until_the_last_leaves() -> None:
    pool = Pool()
    service = SharedService(pool.open)
    async with AsyncExitStack() as first, AsyncExitStack() as second:
        assert await first.enter_async_context(service()) == await second.enter_async_context(service()) == 1
        await first.aclose()
        assert (pool.opened, pool.closed) == (1, 0)
    assert (pool.opened, pool.closed) == (1, 1)


async def test_users_that_come_at_once_wait_for_one_opening() -> None:
    pool = Pool()
    service = SharedService(pool.open)
    stacks = [AsyncExitStack() for _ in range(3)]
    assert await asyncio.gather(*(stack.enter_async_context(service()) for stack in stacks)) == [1, 1, 1]
    await asyncio.gather(*(stack.aclose() for stack in stacks))
    assert (pool.opened, pool.closed) == (1, 1)


async def test_a_closed_service_is_opened_anew() -> None:
    pool = Pool()
    service = SharedService(pool.open)
    for number in (1, 2):
        async with service() as value:
            assert value == number
    assert (pool.opened, pool.closed) == (2, 2)


async def test_a_failed_opening_reaches_its_user_and_leaves_nothing_behind() -> None:
    pool = Pool()
    pool.fails = True
    service = SharedService(pool.open)
    with pytest.raises(ConnectionError):
        async with service():
            raise AssertionError
    pool.fails = False
    async with service():
        assert pool.opened == 1
    assert pool.closed == 1
