"""Run one child process that serves a loopback port: start, readiness, log, stop."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import re
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import structlog

from workers.local.errors import LocalServiceError
from workers.local.ports import LOOPBACK
from workers.local.processes import ProcessIdentity, identity_of

log = structlog.get_logger(__name__)

LOG_LIMIT_BYTES = 8 * 1024 * 1024
"""Size above which a log is renamed to `<name>.1` before the next start."""
_TAIL_LINES = 15
_TAIL_BYTES = 16 * 1024
_POLL_S = 0.02
_PROBE_TIMEOUT_S = 2.0
_KILL_WAIT_S = 5.0
_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_PR_SET_PDEATHSIG = 1
# Loaded before any fork, because imports and large allocations are unsafe between fork and exec.
_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


@dataclass(frozen=True, slots=True)
class ServiceSpec:
    """The start command of one service and its readiness check.

    Attributes:
        name: "kafka", "redis" or "clickhouse".
        command: the command line for a given port.
        ready: checks that the process with this id answers on the port; False or an
            OSError means "not yet".
        directory: working directory of the process; created if missing. None: the caller's.
        socket: Unix socket that it serves instead of a port, which is then 0; None: a port.
        environment: variables set on top of the caller's.
        start_timeout_s: longest time until the service is ready, seconds.
        stop_grace_s: seconds between SIGTERM and SIGKILL.
    """

    name: str
    command: Callable[[int], Sequence[str]]
    ready: Callable[[int, int], Awaitable[bool]]
    directory: Path | None = None
    socket: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    start_timeout_s: float = 15.0
    stop_grace_s: float = 10.0


class ChildProcess:
    """A running service, created by `spawn` and ended by `stop`."""

    def __init__(
        self,
        spec: ServiceSpec,
        process: asyncio.subprocess.Process,
        port: int,
        log_path: Path,
        log_offset: int,
    ) -> None:
        self.name = spec.name
        self.port = port
        self.socket = spec.socket
        self.log_path = log_path
        self._spec = spec
        self._process = process
        self._log_offset = log_offset
        # None if the process has already ended; then there is nothing left to identify.
        self.identity: ProcessIdentity | None = identity_of(process.pid)

    @classmethod
    async def spawn(cls, spec: ServiceSpec, port: int, log_path: Path) -> ChildProcess:
        """Start the process without waiting until it is ready.

        On Linux the child gets SIGTERM when the thread that started it ends, even by
        SIGKILL of the whole process. Call this method from a thread that lives as long as the
        service, usually the main thread. The child has its own session, so that Ctrl-C in a
        terminal reaches only the caller, which can stop the users of the service first.

        Raises:
            LocalServiceError: the program or its directory is missing or not usable.
        """
        try:
            if spec.directory is not None:
                spec.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            with _open_log(log_path) as log_file:
                offset = log_file.tell()
                process = await asyncio.create_subprocess_exec(
                    *spec.command(port),
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=log_file,
                    stderr=asyncio.subprocess.STDOUT,
                    cwd=spec.directory,
                    env={**os.environ, **spec.environment},
                    start_new_session=True,
                    preexec_fn=die_with(os.getpid()),
                )
        except OSError as error:
            raise LocalServiceError(
                spec.name,
                f"it could not be started ({error}).",
                "Check that its package is complete and that the state directory is writable.",
            ) from error
        log.info("local_service_spawned", service=spec.name, pid=process.pid, address=str(spec.socket or port))
        return cls(spec, process, port, log_path, offset)

    @property
    def pid(self) -> int:
        """Return the process id."""
        return self._process.pid

    def has_ended(self) -> bool:
        """Return true if the process has ended."""
        return self._process.returncode is not None

    async def wait_ready(self) -> None:
        """Wait until this process answers on its port.

        Raises:
            LocalServiceError: the process ended first, or was not ready in time.
        """
        try:
            async with asyncio.timeout(self._spec.start_timeout_s):
                while not self.has_ended():
                    with contextlib.suppress(OSError, TimeoutError):
                        if await self._spec.ready(self.port, self.pid):
                            log.info("local_service_started", service=self.name, address=str(self.socket or self.port))
                            return
                    await asyncio.sleep(_POLL_S)
        except TimeoutError:
            raise self.failure(
                f"it did not respond on {self.socket or f'port {self.port}'} within {self._spec.start_timeout_s:g} s."
            ) from None
        raise self.failure(f"it ended while starting (exit status {self._process.returncode}).")

    async def wait(self) -> int:
        """Wait for the end of the process and return the exit status; negative for a signal."""
        return await self._process.wait()

    async def stop(self) -> None:
        """End the process with SIGTERM, and with SIGKILL after the grace period. Safe to repeat."""
        for signal_number, patience_s in (
            (signal.SIGTERM, self._spec.stop_grace_s),
            (signal.SIGKILL, _KILL_WAIT_S),
        ):
            if self.has_ended():
                return
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(signal_number)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(patience_s):
                    await self._process.wait()
            if self.has_ended():
                log.info("local_service_stopped", service=self.name, by=signal_number.name)

    def failure(self, problem: str) -> LocalServiceError:
        """Return an error about this service that contains the end of its log."""
        return LocalServiceError(self.name, problem, f"Complete log: {self.log_path}.", self.log_tail())

    def log_tail(self) -> str:
        """Return the last lines that the process has written since its start."""
        with contextlib.suppress(OSError), self.log_path.open("rb") as log_file:
            size = log_file.seek(0, os.SEEK_END)
            log_file.seek(max(self._log_offset, size - _TAIL_BYTES))
            text = log_file.read().decode("utf-8", "replace")
            return "\n".join(_ANSI.sub("", text).splitlines()[-_TAIL_LINES:])
        return ""


async def exchange(address: int | Path, request: bytes, complete: Callable[[bytes], bool]) -> bytes:
    """Send bytes to a loopback port or Unix socket and return the answer once it is complete or ended.

    Raises:
        OSError: nothing listens there, or the connection broke.
        TimeoutError: no complete answer within two seconds.
    """
    async with asyncio.timeout(_PROBE_TIMEOUT_S):
        if isinstance(address, Path):
            reader, writer = await asyncio.open_unix_connection(address)
        else:
            reader, writer = await asyncio.open_connection(LOOPBACK, address)
        try:
            writer.write(request)
            await writer.drain()
            answer = b""
            while not complete(answer):
                chunk = await reader.read(64 * 1024)
                if not chunk:
                    break
                answer += chunk
            return answer
        finally:
            writer.close()


def _open_log(path: Path) -> BinaryIO:
    """Open a log for appending, after renaming a log that is too long."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if path.exists() and path.stat().st_size > LOG_LIMIT_BYTES:
        path.replace(path.with_name(f"{path.name}.1"))
    log_file = path.open("ab")
    log_file.seek(0, os.SEEK_END)
    return log_file


def die_with(parent: int) -> Callable[[], None] | None:
    """Return the function that a child runs between fork and exec, so that it does not outlive its parent."""
    if _LIBC is None:
        return None
    libc = _LIBC

    def arrange() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != parent:  # the parent ended before the line above
            os._exit(1)

    return arrange
