"""Identify processes by their recorded process id, and end processes that belong to this program.

A process id alone is not sufficient: after a crash the system may reuse it for another
process. An identity therefore also contains the start time of the process.
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
    """The identity of one process, different from every other process with the same id.

    Attributes:
        pid: the process id.
        started: start time in the system's format; equal values mean the same process.
    """

    pid: int
    started: str


def identity_of(pid: int) -> ProcessIdentity | None:
    """Return the identity of a running process; None if the process does not exist or has ended."""
    proc = Path("/proc")
    started = _started_by_proc(proc, pid) if (proc / "self/stat").exists() else _started_by_ps(pid)
    return None if started is None else ProcessIdentity(pid, started)


def is_alive(identity: ProcessIdentity) -> bool:
    """Return true if the identified process still runs."""
    return identity_of(identity.pid) == identity


def end_process(identity: ProcessIdentity, grace_s: float) -> None:
    """End a process that need not be a child: SIGTERM, and SIGKILL after `grace_s` seconds.

    A process that has already ended, or whose id now belongs to another process, is not touched.
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
    """Return the boot id and the clock ticks at the start, from Linux's /proc."""
    try:
        stat = (proc / str(pid) / "stat").read_text(encoding="ascii", errors="replace")
        boot = (proc / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return None
    # The name in parentheses may contain any character; the fields after it are fixed.
    fields = stat.rpartition(")")[2].split()
    state, ticks = fields[0], fields[19]
    return None if state in {"Z", "X"} else f"{boot}:{ticks}"


def _started_by_ps(pid: int) -> str | None:
    """Return the start's date and time to the second, on systems without /proc (macOS)."""
    answer = subprocess.run(["ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    state, _, started = answer.stdout.strip().partition(" ")
    return None if not started or state.startswith("Z") else started.strip()
