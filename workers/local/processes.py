"""Which process a recorded process id stands for, and how to end one that is ours.

A process id alone proves nothing: after a crash the system may have given it to someone
else. An identity therefore carries the time at which the process started as well.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

_POLL_S = 0.02


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """One process, told apart from any other that has or will have the same id.

    Attributes:
        pid: the process id.
        started: when it started, as the system words it; equal means the same process.
    """

    pid: int
    started: str


def identity_of(pid: int) -> ProcessIdentity | None:
    """The identity of a running process, None if there is none or it has ended."""
    proc = Path("/proc")
    started = _started_by_proc(proc, pid) if (proc / "self/stat").exists() else _started_by_ps(pid)
    return None if started is None else ProcessIdentity(pid, started)


def is_alive(identity: ProcessIdentity) -> bool:
    """Whether this very process still runs."""
    return identity_of(identity.pid) == identity


def end_process(identity: ProcessIdentity, grace_s: float) -> None:
    """End a process that need not be a child: SIGTERM, and SIGKILL after `grace_s` seconds.

    A process that has ended meanwhile, or whose id belongs to another one now, is left alone.
    """
    for signal_number, patience_s in ((signal.SIGTERM, grace_s), (signal.SIGKILL, grace_s)):
        if not is_alive(identity):
            return
        try:
            os.kill(identity.pid, signal_number)
        except ProcessLookupError:
            return
        deadline = time.monotonic() + patience_s
        while is_alive(identity) and time.monotonic() < deadline:
            time.sleep(_POLL_S)


def _started_by_proc(proc: Path, pid: int) -> str | None:
    """Boot and clock ticks at the start, from Linux's /proc."""
    try:
        stat = (proc / str(pid) / "stat").read_text(encoding="ascii", errors="replace")
        boot = (proc / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return None
    # The name in parentheses may hold anything; the fields after it are fixed.
    fields = stat.rpartition(")")[2].split()
    state, ticks = fields[0], fields[19]
    return None if state in {"Z", "X"} else f"{boot}:{ticks}"


def _started_by_ps(pid: int) -> str | None:
    """The start's date and time to the second, where there is no /proc (macOS)."""
    answer = subprocess.run(["ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    state, _, started = answer.stdout.strip().partition(" ")
    return None if not started or state.startswith("Z") else started.strip()
