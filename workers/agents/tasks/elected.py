"""Repeat a task on the one worker of a group that is elected for it.

The owner of the first partition of the agent's first topic is elected: the group's coordinator assigns it to one
worker. Two workers may both count as elected for a moment, so a task must be idempotent.
"""

import asyncio
from collections.abc import Awaitable, Callable

from workers.agents.base import OwnedPartitions


async def repeat_while_elected(
    act: Callable[[], Awaitable[None]], forget: Callable[[], None], owned: OwnedPartitions, seconds: float
) -> None:
    """Run a task repeatedly until cancelled, while this worker is elected.

    Args:
        act: one round of the task; its exception ends the repetition.
        forget: called instead of a round while another worker is elected.
        owned: returns the partition numbers of the agent's first topic that this worker owns.
        seconds: time between two rounds.
    """
    while True:
        await asyncio.sleep(seconds)
        if 0 in owned():
            await act()
        else:
            forget()
