"""The C library's allocator: what is freed is given back, unless the operator has chosen otherwise."""

import os
import platform
import subprocess
import sys

import pytest

from workers.process.allocator import ARROW_POOL

pytestmark = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library has other parameters")

CHOICES = {"MALLOC_MMAP_THRESHOLD_": "65536", "GLIBC_TUNABLES": "glibc.malloc.mmap_threshold=65536"}

MAPPED_IN_A_COMMAND = """
import ctypes
from workers.cli import main as cli

SIZE = 8 * 2**20
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes, libc.free.argtypes = [ctypes.c_size_t], [ctypes.c_void_p]

class Statistics(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")]

libc.mallinfo2.restype = Statistics

def command():
    libc.free(libc.malloc(SIZE))  # from here on glibc would serve blocks of this size from an arena
    before = libc.mallinfo2().hblkhd
    libc.malloc(SIZE)
    print("mapped" if libc.mallinfo2().hblkhd - before >= SIZE else "from an arena")

cli.app = command
cli.main()
"""


POOL_OF_A_COMMAND = """
from workers.cli import main as cli

def command():
    import pyarrow
    print(pyarrow.default_memory_pool().backend_name)

cli.app = command
cli.main()
"""


# In a process of its own each time: what is set stays, and other tests look at what large buffers cost.
CHOSEN = """
import sys
from workers.process.allocator import bound_allocator

print(bound_allocator({"MALLOC_ARENA_MAX": "2"}), bound_allocator({sys.argv[1]: sys.argv[2]}))
"""


def said(program: str, *arguments: str, **chosen: str) -> str:
    kept = {name: value for name, value in os.environ.items() if name not in (*CHOICES, ARROW_POOL)}
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120, env=kept | chosen)
    return done.stdout.strip()


def test_a_command_goes_on_mapping_large_blocks_by_themselves() -> None:
    assert said(MAPPED_IN_A_COMMAND) == "mapped"


@pytest.mark.parametrize(("name", "value"), CHOICES.items())
def test_what_the_operator_has_chosen_stays(name: str, value: str) -> None:
    assert said(CHOSEN, name, value) == "True False"


def test_arrow_gives_back_what_a_command_frees_unless_the_operator_has_chosen_its_allocator() -> None:
    assert said(POOL_OF_A_COMMAND) == "system"
    assert said(POOL_OF_A_COMMAND, **{ARROW_POOL: "mimalloc"}) == "mimalloc"
