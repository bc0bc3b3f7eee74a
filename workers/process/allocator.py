"""Configure the C library's allocator to return freed memory, because a worker runs for weeks."""

import ctypes
import os
from collections.abc import Mapping

M_MMAP_THRESHOLD = -3
"""A parameter of mallopt(3)."""

MMAP_THRESHOLD_BYTES = 128 * 1024
"""Minimum size of blocks that are mapped separately and returned when they are freed. It is glibc's own initial value.
glibc raises it up to 32 MB after blocks are freed; the short-lived buffers of LanceDB then leave holes in the arena
of every thread. Source: measured, docs/decisions/0028-memory.md.
"""


ARROW_POOL = "ARROW_DEFAULT_MEMORY_POOL"
"""Environment variable that names the allocator of Arrow. By default it has one of its own, mimalloc, which keeps what other
threads free: 67 MB an hour at four answers a second. Source: measured, docs/decisions/0118-addresses-rules-and-memory-of-arrow.md.
"""


def bound_allocator(environment: Mapping[str, str] = os.environ) -> bool:
    """Keep freed memory from piling up in arenas; to be called before Arrow is loaded.

    Args:
        environment: environment variables; if glibc's own variable is set, nothing is changed.

    Returns:
        True if the threshold is set; only glibc has it.
    """
    os.environ.setdefault(ARROW_POOL, "system")
    chosen = "MALLOC_MMAP_THRESHOLD_" in environment or "mmap_threshold" in environment.get("GLIBC_TUNABLES", "")
    mallopt = None if chosen else getattr(ctypes.CDLL(None), "mallopt", None)
    return mallopt is not None and bool(mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD_BYTES))
