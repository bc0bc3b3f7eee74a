"""Read the peak memory of a process."""

import re
from pathlib import Path

_PEAK = re.compile(r"^VmHWM:\s+(\d+) kB", re.MULTILINE)


def peak_bytes(pid: int | str = "self") -> int:
    """Return the peak resident memory of a process, bytes; 0 if it has ended, or where /proc does not say it."""
    try:
        found = _PEAK.search(Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace"))
    except OSError:
        return 0
    return int(found[1]) * 1024 if found else 0
