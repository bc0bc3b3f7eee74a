"""The worst CPU time of every text step at the longest text, over hostile texts.

Run as ``python benchmarks/step_times.py [CODE_POINTS]``; prints one line a step, the slowest
text first. The texts are those of ``tests/unit/test_linear_time.py``.
"""

import sys
import time
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def hostile_texts() -> Any:
    """The module with the steps and the texts."""
    sys.path.insert(0, str(ROOT))
    spec = spec_from_file_location("test_linear_time", ROOT / "tests" / "unit" / "test_linear_time.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def shapes(module: Any) -> dict[str, Callable[[int], str]]:
    """All texts by name, as functions of their length."""
    units = {repr(unit): lambda n, unit=unit: unit * (n // len(unit)) for unit in module.UNITS}
    return units | module.SHAPES


def main(code_points: int = 60_000) -> None:
    """Print the table."""
    module = hostile_texts()
    print(f"{'step':24} {'worst':>9}  {'median':>9}  text ({code_points:,} code points)")
    for step, make in module.STEPS.items():
        limit = min(code_points, 20_000) if "query" in step else code_points
        times = []
        for name, shape in shapes(module).items():
            run = make(shape(limit)[:limit])
            started = time.thread_time()
            run()
            times.append((time.thread_time() - started, name))
        times.sort(reverse=True)
        slowest = ", ".join(f"{name} {seconds * 1e3:.0f}" for seconds, name in times[:3])
        median = times[len(times) // 2][0]
        print(f"{step:24} {times[0][0] * 1e3:6.0f} ms  {median * 1e3:6.0f} ms  {slowest}", flush=True)


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:2]))
