"""Tasks that run as long as the worker does; their end is its end."""

import asyncio
from collections.abc import Coroutine

from workers.delivery.errors import BrokenPromise


def start_background(
    coroutine: Coroutine[None, None, None], name: str, failure: asyncio.Future[Exception]
) -> asyncio.Task[None]:
    """Start a task whose failure somebody hears of.

    asyncio keeps the exception of a task that nobody awaits to itself: a worker whose deadlines
    are no longer looked at, say, would go on, ready and silent, and hold answers for ever.

    Args:
        coroutine: what to run; it ends by cancellation or by failing.
        name: of the task.
        failure: gets the exception; whoever runs the worker waits for it.
    """
    task = asyncio.create_task(coroutine, name=name)

    def ended(task: asyncio.Task[None]) -> None:
        if task.cancelled() or (error := task.exception()) is None or failure.done():
            return
        failure.set_result(error if isinstance(error, Exception) else BrokenPromise(repr(error)))

    task.add_done_callback(ended)
    return task
