"""Read the memory limit of the container that this process runs in."""

from collections.abc import Sequence
from pathlib import Path

FILES = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
"""Limit of the control group, of version 2 and of version 1."""
NO_LIMIT = 2**60
"""Version 1 writes a number above this, in bytes, where there is no limit; version 2 writes the word max."""


def memory_limit(files: Sequence[Path] = FILES) -> int | None:
    """Return the limit in bytes; ``None`` without one, and where no control group can be read."""
    for file in files:
        try:
            limit = int(file.read_bytes())
        except (OSError, ValueError):
            continue
        return limit if limit < NO_LIMIT else None
    return None
