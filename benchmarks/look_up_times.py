"""Measure citation lookups among a million (goal: 100 ms), and the response validator (goal: 5 ms).

python -m benchmarks.look_up_times
"""

import argparse
import json
import statistics
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.look_ups import look_up_seconds
from schemas.answers import GeneratedAnswer
from workers.evaluation.quality.validation import validate_response
from workers.process.cores import available_cores
from workers.process.paths import examples_directory

LOOK_UPS = 400
"""Look-ups of each kind that are timed."""
TEN_KB = 10_000


def main() -> None:
    """Measure, print a table, and write JSON if requested."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--citations", type=int, default=1_000_000, help="citations to look up among (default 1000000)")
    parser.add_argument("--json", type=Path, help="write the figures to a file")
    options = parser.parse_args()
    look_ups = {
        name: {"p50_ms": _percentile(times, 50), "p95_ms": _percentile(times, 95)}
        for name, times in look_up_seconds(options.citations, LOOK_UPS).items()
    }
    for name, figures in look_ups.items():
        print(f"{'look up a ' + name:<28} {figures['p95_ms']:6.1f} ms p95 ({figures['p50_ms']:.1f} ms p50)")
    validator = _validator_milliseconds()
    print(f"{'validator, 10 KB':<28} {validator:6.2f} ms (goal: under 5)")
    if options.json:
        document = {
            "cores": available_cores(), "citations": options.citations, "look_ups": look_ups,
            "validator_10kb_ms": validator,
        }  # fmt: skip
        options.json.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def _percentile(seconds: Sequence[float], share: int) -> float:
    """Return a percentile in milliseconds."""
    return float(np.percentile(seconds, share)) * 1_000


def _validator_milliseconds() -> float:
    """Return the median time of the response validator for 10,000 characters, with and without signals."""
    lines = (examples_directory() / "answers.jsonl").read_bytes().splitlines()
    long = "\n\n".join(GeneratedAnswer.from_bytes(line).answer for line in lines)
    while len(long) < 3 * TEN_KB:
        long += "\n\n" + long
    hedged = "I'm not sure, but this is probably right.\n\n"
    texts = [long[start : start + TEN_KB] for start in range(0, 3 * TEN_KB, TEN_KB)]
    texts += [(hedged + text)[:TEN_KB] for text in texts]
    times = []
    for _ in range(20):
        for text in texts:
            started = time.perf_counter()
            validate_response(text)
            times.append(time.perf_counter() - started)
    return statistics.median(times) * 1_000


if __name__ == "__main__":
    main()
