"""The C library's allocator, told to give back what is freed: a worker runs for weeks."""

import ctypes
import os
from collections.abc import Mapping

M_MMAP_THRESHOLD = -3
"""A parameter of mallopt(3)."""

MMAP_THRESHOLD_BYTES = 128 * 1024
"""Blocks from this size on are mapped by themselves and given back when they are freed. It is glibc's own first
value; but glibc raises it, up to 32 MB, by what is freed, and then the buffers of LanceDB, which live for a moment
in any of its threads, leave holes in every thread's arena. Source: measured, docs/decisions/0028-memory.md."""


def bound_allocator(environment: Mapping[str, str] = os.environ) -> bool:
    """Keep freed memory from piling up in arenas.

    Args:
        environment: who sets glibc's own variable for it has chosen, and nothing is changed.

    Returns:
        Whether the threshold is set; no other library than glibc has it.
    """
    chosen = "MALLOC_MMAP_THRESHOLD_" in environment or "mmap_threshold" in environment.get("GLIBC_TUNABLES", "")
    mallopt = None if chosen else getattr(ctypes.CDLL(None), "mallopt", None)
    return mallopt is not None and bool(mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD_BYTES))
