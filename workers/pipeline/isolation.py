"""Run the code of a plug-in so that its errors and delays do not affect other evaluators."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
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

    The threads are daemons: the process can end while they run.

    Args:
        name: name of the plug-in.
        timeout_seconds: maximum duration of one call.
    """

    def __init__(self, name: str, timeout_seconds: float) -> None:
        self._name, self._timeout = name, timeout_seconds
        self._running = asyncio.Semaphore(MAX_RUNNING)
        self._lock = threading.Lock()
        self._abandoned = 0

    @property
    def abandoned(self) -> int:
        """Return the number of threads whose call has not returned in time and still runs."""
        return self._abandoned

    async def run(self, call: Callable[[], T], until: float | None = None) -> T:
        """Call a function in a thread.

        Args:
            call: function to call.
            until: time of the event loop at which the caller stops waiting, if that is earlier.

        Raises:
            PluginTimeout: the call did not return in time, and its thread is left behind; or the time was over before
                the call began, and no thread was started.
            PluginSuspended: too many threads have been left behind.
            Exception: any exception of the call.
        """
        async with self._running:
            if self.abandoned >= MAX_ABANDONED:
                raise PluginSuspended(
                    f"{self.abandoned} earlier calls of the plug-in {self._name} still hang; restart the process"
                )
            seconds = self._timeout
            if until is not None:
                seconds = min(seconds, until - asyncio.get_running_loop().time())
            if seconds <= 0:
                # A call without a waiting caller would be left behind at once and count as one that hangs.
                raise PluginTimeout(f"the plug-in {self._name} was not called: the time of its caller was over")
            return await self._wait(call, seconds)

    async def _wait(self, call: Callable[[], T], seconds: float) -> T:
        future: Future[T] = Future()
        future.set_running_or_notify_cancel()
        waiting = asyncio.wrap_future(future)
        state = _CallState()
        name = f"plugin-{self._name}"
        threading.Thread(target=self._call, args=(call, future, state), name=name, daemon=True).start()
        try:
            await asyncio.wait([waiting], timeout=seconds)
            if waiting.done():
                return waiting.result()
        finally:
            if not waiting.done():
                self._abandon(state)
                waiting.cancel()
        log.warning("plugin_timed_out", plugin=self._name, seconds=seconds, abandoned=self.abandoned)
        raise PluginTimeout(f"the plug-in {self._name} did not return within {seconds:g} s")

    def _abandon(self, state: "_CallState") -> None:
        with self._lock:
            if not state.ended:
                state.abandoned = True
                self._abandoned += 1

    def _end(self, state: "_CallState") -> None:
        with self._lock:
            state.ended = True
            self._abandoned -= state.abandoned

    def _call(self, call: Callable[[], T], future: Future[T], state: "_CallState") -> None:
        try:
            result = call()
        except Exception as error:
            self._end(state)
            future.set_exception(error)
        except BaseException as error:
            self._end(state)
            # SystemExit of a plug-in must not pass for a wish of the worker.
            future.set_exception(RuntimeError(f"{type(error).__name__} raised by the plug-in {self._name}"))
        else:
            self._end(state)
            future.set_result(result)


@dataclass(slots=True)
class _CallState:
    """State of a call: ended, or abandoned by its caller."""

    ended: bool = False
    abandoned: bool = False
