"""Measure the memory that writes to conversational memory leave in the process, by the C library's count.

    python -m benchmarks.memory_growth
    python -m benchmarks.memory_growth --cache-mib 1024 --grown-threshold
    python -m benchmarks.memory_growth --writes 4000 --upkeep --reopen-every 1000000

*In use* is what was allocated and not freed; *free* lies in arenas and was not given back. Linux with glibc alone.
"""

import argparse
import asyncio
import ctypes
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from schemas.export import example
from schemas.memory import ConversationTurn
from workers.process.allocator import bound_allocator
from workers.stores.lancedb import memory_store as memory

DIMENSIONS = 384
MIB = 2**20


class Statistics(ctypes.Structure):
    """Map the C structure of mallinfo2(3)."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in (
            "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost",
        )
    )  # fmt: skip


def main() -> None:
    """Write turns one by one and print the heap now and then."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--writes", type=int, default=1_000, help="turns, each a write (default 1,000)")
    parser.add_argument("--cache-mib", type=int, help="limit of LanceDB's caches in place of the worker's")
    parser.add_argument("--grown-threshold", action="store_true", help="leave the allocator as the C library has it")
    parser.add_argument("--upkeep", action="store_true", help="compact and build indices every 100 writes")
    parser.add_argument("--reopen-every", type=int, help="writes after which the store is opened again (default 200)")
    options = parser.parse_args()
    if options.cache_mib:
        memory.CACHED_BYTES = options.cache_mib * MIB
    if options.reopen_every:
        memory.REOPEN_EVERY = options.reopen_every
    if not options.grown_threshold:
        bound_allocator()
    asyncio.run(_write(options.writes, upkeep=options.upkeep))


async def _write(writes: int, *, upkeep: bool) -> None:
    fields = example(ConversationTurn)
    random = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        store = memory.MemoryStore(folder, DIMENSIONS)
        await store.open()
        _tell("before")
        for number in range(1, writes + 1):
            own = {"turn_id": str(uuid4()), "answer_id": str(number), "query": f"q {number} ", "response": "r " * 500}
            turn = ConversationTurn.model_validate(fields | own)
            await store.remember([(turn, random.normal(size=DIMENSIONS).astype(np.float32))])
            if upkeep and number % 100 == 0:
                await store.keep_up(datetime.now(UTC), 365)
            if number % (writes // 4) == 0:
                _tell(f"{number:,} writes")
        await store.close()


def _tell(when: str) -> None:
    look: Any = ctypes.CDLL(None).mallinfo2
    look.restype = Statistics
    found = look()
    lines = Path("/proc/self/status").read_text().splitlines()
    anonymous = next(int(line.split()[1]) / 1024 for line in lines if line.startswith("RssAnon"))
    print(
        f"{when:>14}: {(found.uordblks + found.hblkhd) / MIB:6.1f} MiB in use, {found.fordblks / MIB:5.1f} free, "
        f"{anonymous:6.1f} resident without files",
        flush=True,
    )


if __name__ == "__main__":
    main()
