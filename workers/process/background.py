"""Run background tasks for the lifetime of the worker; the worker ends if a task ends."""

import asyncio
from collections.abc import Coroutine

from workers.errors import FatalDeliveryError

CANCEL_AGAIN_SECONDS = 0.5
"""Time after which a task that has not ended is cancelled again."""


def start_background(
    coroutine: Coroutine[None, None, None], name: str, failure: asyncio.Future[Exception]
) -> asyncio.Task[None]:
    """Start a background task and report its failure.

    asyncio drops the exception of a task that is never awaited. A worker whose deadline task has failed would otherwise
    stay ready and hold answers for ever.

    Args:
        coroutine: coroutine to run; it ends by cancellation or by an error.
        name: name of the task.
        failure: receives the exception; the caller of the worker waits for it.
    """
    task = asyncio.create_task(coroutine, name=name)

    def ended(task: asyncio.Task[None]) -> None:
        if task.cancelled() or (error := task.exception()) is None or failure.done():
            return
        failure.set_result(error if isinstance(error, Exception) else FatalDeliveryError(repr(error)))

    task.add_done_callback(ended)
    return task


async def stop_background(task: asyncio.Task[None]) -> None:
    """Cancel a task and wait until it has ended.

    A client library may lose a cancellation that arrives together with its result (redis-py under load), so the task
    is cancelled again until it ends.
    """
    while not task.done():
        task.cancel()
        await asyncio.wait([task], timeout=CANCEL_AGAIN_SECONDS)
