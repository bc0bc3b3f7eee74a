"""Compare the CPU time of a call on a text and on a text eight times as long, within one run."""

import gc
import time
from collections.abc import Callable

import pytest

Run = Callable[[], object]

SHORT, FACTOR, MOST = 1_200, 8, 22.0
"""Code points of the shorter text, more than of texts whose results are kept; how much longer the other one is; how much
longer it may take (linear would be 8, quadratic 64)."""


def repeated(unit: str) -> Callable[[int], str]:
    """Return a function that repeats a unit up to a number of code points."""
    return lambda length: unit * (length // len(unit))


def check_linear(make: Callable[[str], Run], shape: Callable[[int], str], name: str) -> None:
    """Fail the test if the time of a step grows clearly faster than its text.

    Args:
        make: Prepares a call for a text; only the call is measured.
        shape: Gives a text of about as many code points as it is asked for.
        name: Names step and text in the failure.
    """
    text, longer = shape(SHORT), shape(SHORT * FACTOR)
    assert len(longer) > 0.75 * FACTOR * len(text)
    short, long = make(text), make(longer)
    for runs in (1, 2, 2, 2):
        # Most steps pass at once: a second run of the longer text would only make its time smaller.
        small, large = _cpu_seconds(short, 2), _cpu_seconds(long, runs)
        # What takes less than a few milliseconds is as much the clock's as the step's.
        if large < MOST * small + 0.004:
            return
    pytest.fail(f"{name}: {small * 1e3:.1f} ms became {large * 1e3:.1f} ms at {FACTOR} times the length")


def _cpu_seconds(run: Run, runs: int) -> float:
    """Return the shortest CPU time of some runs in this thread, without garbage collection: only the step counts."""
    best = float("inf")
    gc.disable()
    try:
        for _ in range(runs):
            started = time.thread_time()
            run()
            best = min(best, time.thread_time() - started)
    finally:
        gc.enable()
    return best
