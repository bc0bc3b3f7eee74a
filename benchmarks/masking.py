"""Measure masking of an answer, by kind: ``python -m benchmarks.masking``."""

import json
import time
from pathlib import Path

from workers.masking.masks import Masker
from workers.masking.personal_data import KINDS, MaskRules

ANSWERS = Path(__file__).resolve().parent.parent / "examples" / "answers.jsonl"
ROUNDS = 5


def milliseconds(rules: MaskRules, lines: list[bytes]) -> float:
    """Return the CPU milliseconds of reading and masking one answer, the best of several rounds."""
    masker = Masker("bench", rules, b"0" * 32)
    best = float("inf")
    for _ in range(ROUNDS):
        started = time.process_time()
        for line in lines:
            masker.event(json.loads(line))
        best = min(best, time.process_time() - started)
    return 1_000 * best / len(lines)


def main() -> None:
    lines = ANSWERS.read_bytes().splitlines()
    print(f"{len(lines)} answers of {sum(map(len, lines)) / len(lines):.0f} bytes in the mean; ms for one:")
    print(f"  nothing      {milliseconds(MaskRules(), lines):.2f}")
    for kind in KINDS:
        print(f"  {kind:<12} {milliseconds(MaskRules(mask=(kind,), phone_regions=('DE', 'US')), lines):.2f}")
    print(f"  everything   {milliseconds(MaskRules(mask=KINDS, phone_regions=('DE', 'US')), lines):.2f}")


if __name__ == "__main__":
    main()
