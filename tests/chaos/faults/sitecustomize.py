"""Faults inside a worker process, chosen by CHAOS_FAULT; Python imports this file by itself at start.

It stands on the path of chaos workers alone, so that the worker's own code needs no hooks.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

FAULT = os.environ.get("CHAOS_FAULT", "")
MARKER = "POISONED-WELL"
LEAKED_BYTES = 2_600_000_000


def _switched_on() -> bool:
    """A fault may be bound to a file, so that the driver can end it while the process runs."""
    switch = os.environ.get("CHAOS_SWITCH")
    return switch is None or Path(switch).exists()


def _leak() -> None:
    """Hold memory as long as the fault is switched on."""
    while not _switched_on():
        time.sleep(0.05)
    _leaked = b"\x01" * LEAKED_BYTES
    while _switched_on():
        time.sleep(0.05)


def _install() -> None:
    if FAULT == "memory":
        threading.Thread(target=_leak, daemon=True).start()
        return
    from workers.inference.backends import SentenceTransformerBackend
    from workers.inference.int8 import Int8Backend

    # Whichever the worker's settings choose.
    for backend in (SentenceTransformerBackend, Int8Backend):
        backend.encode = _faulty(backend.encode)  # type: ignore[attr-defined]


def _faulty(encode: Callable[[Any, Sequence[str]], Any]) -> Callable[[Any, Sequence[str]], Any]:
    def faulty(self: Any, texts: Sequence[str]) -> Any:
        if not _switched_on():
            return encode(self, texts)
        if FAULT == "model_hang":
            while _switched_on():
                time.sleep(0.05)
        if FAULT == "model_error":
            raise RuntimeError("the model is broken")
        if FAULT == "kill" and any(MARKER in text for text in texts):
            os.kill(os.getpid(), signal.SIGKILL)
        return encode(self, texts)

    return faulty


if FAULT and "workers.cli" in " ".join(sys.orig_argv):
    _install()
