"""Run the code of a plug-in so that its errors and delays do not affect other evaluators."""

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field
from typing import TypeVar

from workers.errors import JudgementError
from workers.observability.logs import get_logger

MAX_RUNNING = 2
"""Maximum number of concurrent calls of one plug-in."""

MAX_ABANDONED = 4
"""Maximum number of threads of one plug-in that may hang. Python cannot end a thread, so no more are started."""

T = TypeVar("T")
log = get_logger(__name__)


class PluginTimeout(JudgementError):
    """A plug-in did not return in time."""


class PluginSuspended(JudgementError):
    """A plug-in is not called while too many of its earlier calls hang."""


class IsolatedThreads:
    """Run the calls of one plug-in in separate threads.

    The threads are daemons: the process can end while they run. At most ``MAX_RUNNING`` calls run at once, besides those
    that hang.

    Args:
        name: name of the plug-in.
        timeout_seconds: maximum duration of one call.
    """

    def __init__(self, name: str, timeout_seconds: float) -> None:
        self._name, self._timeout = name, timeout_seconds
        self._turn = asyncio.Lock()
        self._lock = threading.Lock()
        self._calls: set[_RunningCall] = set()

    @property
    def abandoned(self) -> int:
        """Return the number of threads whose call has not returned within the plug-in's time and still runs."""
        return len(self._running(late=True))

    async def run(self, call: Callable[[], T], until: float | None = None) -> T:
        """Call a function in a thread.

        A call whose caller stops waiting earlier keeps its place until it ends or the time of the plug-in is over, and
        counts as one that hangs only then.

        Args:
            call: function to call.
            until: time of the event loop at which the caller stops waiting, if that is earlier.

        Raises:
            PluginTimeout: the call did not return in time, and its thread is left behind; or the time was over before
                the call began, and no thread was started.
            PluginSuspended: too many threads have been left behind.
            Exception: any exception of the call.
        """
        try:
            async with asyncio.timeout_at(until), self._turn:
                await self._wait_for_place()
                seconds = self._timeout
                if until is not None:
                    seconds = min(seconds, until - asyncio.get_running_loop().time())
                if seconds <= 0:
                    raise TimeoutError
                waiting = self._start(call)
        except TimeoutError:
            raise PluginTimeout(
                f"the plug-in {self._name} was not called: the time of its caller was over before one of at most "
                f"{MAX_RUNNING} concurrent calls ended"
            ) from None
        try:
            await asyncio.wait([waiting], timeout=seconds)
            if waiting.done():
                return waiting.result()
        finally:
            if not waiting.done():
                waiting.cancel()
        log.warning("plugin_timed_out", plugin=self._name, seconds=seconds, abandoned=self.abandoned)
        raise PluginTimeout(f"the plug-in {self._name} did not return within {seconds:g} s")

    async def _wait_for_place(self) -> None:
        """Wait until one of the concurrent calls has ended or is late.

        Raises:
            PluginSuspended: too many calls hang.
        """
        while True:
            if (hanging := self.abandoned) >= MAX_ABANDONED:
                raise PluginSuspended(
                    f"{hanging} earlier calls of the plug-in {self._name} still hang; restart the process"
                )
            running = self._running(late=False)
            if len(running) < MAX_RUNNING:
                return
            await asyncio.wait(
                [asyncio.wrap_future(each.ended) for each in running],
                timeout=max(0.0, min(each.late_at for each in running) - time.monotonic()),
                return_when=asyncio.FIRST_COMPLETED,
            )

    def _running(self, *, late: bool) -> list["_RunningCall"]:
        now = time.monotonic()
        with self._lock:
            return [each for each in self._calls if (each.late_at <= now) == late]

    def _start(self, call: Callable[[], T]) -> asyncio.Future[T]:
        future: Future[T] = Future()
        future.set_running_or_notify_cancel()
        state = _RunningCall(time.monotonic() + self._timeout)
        with self._lock:
            self._calls.add(state)
        name = f"plugin-{self._name}"
        threading.Thread(target=self._call, args=(call, future, state), name=name, daemon=True).start()
        return asyncio.wrap_future(future)

    def _end(self, state: "_RunningCall") -> None:
        with self._lock:
            self._calls.discard(state)
        state.ended.set_result(None)

    def _call(self, call: Callable[[], T], future: Future[T], state: "_RunningCall") -> None:
        try:
            result = call()
        except BaseException as error:
            self._end(state)
            # A future cannot hold StopIteration, and CancelledError would cancel the caller. SystemExit of a plug-in
            # must not pass for a wish of the worker.
            if isinstance(error, Exception) and not isinstance(error, StopIteration | CancelledError):
                future.set_exception(error)
            else:
                future.set_exception(RuntimeError(f"{type(error).__name__} raised by the plug-in {self._name}"))
        else:
            self._end(state)
            future.set_result(result)


@dataclass(eq=False, slots=True)
class _RunningCall:
    """Hold the time from which a call counts as one that hangs, by the monotonic clock, and its end."""

    late_at: float
    ended: Future[None] = field(default_factory=Future)
