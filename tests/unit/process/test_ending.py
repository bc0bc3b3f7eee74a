"""The end of a service's process: no thread holds it up, and its exit code and output arrive."""

import subprocess
import sys

import pytest

SERVICE = """
import asyncio, sys, threading, time
from workers.process.ending import run_service

async def service():
    begun = threading.Event()
    def load():
        begun.set()
        time.sleep(600)
    loading = asyncio.ensure_future(asyncio.to_thread(load))
    await asyncio.to_thread(begun.wait)
    print("stopped")
    {end}

run_service(service())
"""


@pytest.mark.parametrize("code", [0, 3])
def test_a_thread_that_loads_a_model_does_not_hold_up_the_end(code: int) -> None:
    done = _run(f"return {code}")
    assert (done.returncode, done.stdout) == (code, "stopped\n")


def test_an_error_of_a_service_is_raised() -> None:
    source = SERVICE.replace("time.sleep(600)", "pass").format(end="raise ValueError('no topics')")
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "ValueError: no topics" in done.stderr


def _run(end: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", SERVICE.format(end=end)], capture_output=True, text=True, timeout=60, check=False
    )
