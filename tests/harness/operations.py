"""Count the operations of project code: lines executed, with each turn of a comprehension as one."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = str(Path(__file__).parents[2] / "workers")

Tracer = Callable[[FrameType, str, Any], Any]


def count_operations(run: Callable[[], object]) -> int:
    """Return the number of lines that a call executes in project code; it does not depend on the machine or its load."""
    counted = 0

    def line(_: FrameType, event: str, __: Any) -> Tracer:
        nonlocal counted
        counted += 1
        return line

    def enter(frame: FrameType, _: str, __: Any) -> Tracer | None:
        return line if frame.f_code.co_filename.startswith(ROOT) else None

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        run()
    finally:
        sys.settrace(before)
    return counted
