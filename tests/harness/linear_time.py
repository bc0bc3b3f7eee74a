"""Compare the CPU time of a call on a text and on a text four times as long, within one run."""

import gc
import time
from collections.abc import Callable

import pytest

Run = Callable[[], object]

SHORT, FACTOR, MOST = 3_000, 4, 8.0
"""Code points of the shorter text; how much longer the other one is; how much longer it may take
(linear would be 4, quadratic 16)."""


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
    assert len(longer) > 3 * len(text)
    short, long = make(text), make(longer)
    for _ in range(4):
        small, large = _cpu_seconds(short), _cpu_seconds(long)
        # What takes less than a few milliseconds is as much the clock's as the step's.
        if large < MOST * small + 0.004:
            return
    pytest.fail(f"{name}: {small * 1e3:.1f} ms became {large * 1e3:.1f} ms at {FACTOR} times the length")


def _cpu_seconds(run: Run) -> float:
    """Best of two; CPU time of the thread without garbage collection, so that only the step counts."""
    best = float("inf")
    gc.disable()
    try:
        for _ in range(2):
            started = time.thread_time()
            run()
            best = min(best, time.thread_time() - started)
    finally:
        gc.enable()
    return best
