"""Measure the growth of evaluation cost with contexts, claims and answers.

    python -m benchmarks.growth --precision int8

CPU time of preparing, embedding and judging by grounding, citations and quality, one thread, nothing in a cache, no
garbage collected, while one of three numbers grows by powers of two and the others stay. *distinct*: every chunk has
sentences of its own. *repeated*: one chunk stands for all, so that the number of chunks grows and the evidence does
not. The exponent is the slope of cost over size, both as logarithms, over the upper half of the sizes: 1 is linear,
2 quadratic, and less than 1 says that what does not grow still counts.
"""

import argparse
import gc
import json
import statistics
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.stages import Judgement, Stopwatch, open_judgement
from benchmarks.traffic import COMPLETED
from schemas.answers import ContextChunk, GeneratedAnswer

LARGEST = 64
SENTENCES = 4
"""Of each chunk."""
PARTS = ("prepare", "embed", "judge")
"""First words of the names of stages, which are those of the rows."""
PLACES = ("northern", "southern", "eastern", "western", "upper", "lower", "central", "outer")
MACHINES = ("pump", "valve", "turbine", "compressor", "conveyor", "furnace", "mixer")


@dataclass(frozen=True, slots=True)
class Size:
    """Describe the size of an input.

    Attributes:
        chunks: of each answer.
        claims: of each answer.
        answers: that come together.
    """

    chunks: int = 4
    claims: int = 4
    answers: int = 1


def main() -> None:
    """Measure and print; write JSON if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--largest", type=int, default=LARGEST, help=f"size, from 1 by doubling (default {LARGEST})")
    parser.add_argument("--repetitions", type=int, default=5, help="of every size; medians count (default 5)")
    parser.add_argument("--precision", choices=["fp32", "int8"], default="int8", help="of the model (default int8)")
    parser.add_argument("--json", type=Path, help="write the figures to a file")
    options = parser.parse_args()
    rows = measure_growth(options.precision, options.largest, options.repetitions)
    print_growth(rows)
    if options.json:
        document = {"precision": options.precision, "repetitions": options.repetitions, "growth": rows}
        options.json.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def measure_growth(precision: str, largest: int, repetitions: int) -> list[dict[str, Any]]:
    """Measure the CPU of evaluation by size, and the exponents of its growth.

    Args:
        precision: of the model, fp32 or int8.
        largest: size, at least 4; sizes are the powers of two up to it.
        repetitions: of every size, each with texts of its own.

    Returns:
        For each number that grows (chunks, claims, answers) and each kind of evidence: ``sizes``, ``cpu_ms`` (medians
        by part and of all, milliseconds at each size) and ``exponents``, by part and of all.

    Raises:
        SystemExit: there are fewer than three sizes, over which nothing can be fitted.
    """
    sizes = [2**power for power in range(largest.bit_length())]
    if len(sizes) < 3:
        raise SystemExit("give --largest 4 or more: an exponent needs three sizes")
    with tempfile.TemporaryDirectory() as folder:
        judgement = open_judgement(precision, Path(folder))
        # The first calls of model and rules cost more than any later ones.
        _cpu_ms(judgement, made(Size(chunks=sizes[-1], claims=sizes[-1]), distinct=True, edition=0))
        return [
            _along(judgement, along, sizes, repetitions, distinct)
            for along in ("chunks", "claims", "answers")
            for distinct in (True, False)
        ]


def _along(judgement: Judgement, along: str, sizes: Sequence[int], repetitions: int, distinct: bool) -> dict[str, Any]:
    cpu_ms: dict[str, list[float]] = {part: [] for part in (*PARTS, "all")}
    for size in sizes:
        # Steps keep what they know of texts: every repetition has others.
        found = [
            _cpu_ms(judgement, made(replace(Size(), **{along: size}), distinct=distinct, edition=edition))
            for edition in range(1, repetitions + 1)
        ]
        for part, medians in cpu_ms.items():
            medians.append(statistics.median(each[part] for each in found))
    return {
        "along": along,
        "evidence": "distinct" if distinct else "repeated",
        "sizes": list(sizes),
        "cpu_ms": cpu_ms,
        "exponents": {part: exponent(sizes, costs) for part, costs in cpu_ms.items()},
    }


def _cpu_ms(judgement: Judgement, answers: Sequence[GeneratedAnswer]) -> dict[str, float]:
    watch = Stopwatch()
    # When garbage is collected is chance, and costs by what the process has loaded.
    gc.collect()
    gc.disable()
    try:
        judgement.judge(answers, watch.stage)
    finally:
        gc.enable()
    parts = {part: 1e3 * sum(spent for name, spent in watch.seconds.items() if name.startswith(part)) for part in PARTS}
    return parts | {"all": sum(parts.values())}


def exponent(sizes: Sequence[int], costs: Sequence[float]) -> float:
    """Return the exponent of cost by size, by least squares over logarithms of the upper half of the sizes.

    Args:
        sizes: growing, at least three.
        costs: at each of them, above 0.
    """
    upper = slice(len(sizes) // 2, None)
    return float(np.polyfit(np.log(sizes[upper]), np.log(costs[upper]), 1)[0])


def made(size: Size, *, distinct: bool, edition: int) -> list[GeneratedAnswer]:
    """Generate answers of a size with right and wrong claims about sentences of their chunks.

    Args:
        size: how many of what.
        distinct: whether every chunk of every answer has sentences of its own.
        edition: another one has other texts.
    """
    return [_answer(size, number, distinct, edition) for number in range(size.answers)]


def _answer(size: Size, number: int, distinct: bool, edition: int) -> GeneratedAnswer:
    first = number * size.chunks
    chunks = [first + chunk if distinct else 0 for chunk in range(size.chunks)]
    contexts = [
        ContextChunk(
            chunk_id=f"chunk-{first + place}",
            content=" ".join(_sentence(chunk * SENTENCES + line, edition) for line in range(SENTENCES)),
        )
        for place, chunk in enumerate(chunks)
    ]
    claims = [_claim(number * size.claims + claim, chunks, claim, edition) for claim in range(size.claims)]
    return GeneratedAnswer(
        answer_id=f"{edition}-{number}",
        query="How much did the machines move?",
        answer=" ".join(claims),
        contexts=contexts,
        completed_at=COMPLETED,
    )


def _sentence(number: int, edition: int) -> str:
    return f"The {_machine(number)} moved {_litres(number, edition)} litres in week {1 + number % 52}."


def _claim(named: int, chunks: Sequence[int], claim: int, edition: int) -> str:
    place = claim % len(chunks)
    number = chunks[place] * SENTENCES + claim // len(chunks) % SENTENCES
    figure = _litres(number, edition) + claim % 2
    return f"In report {1_000 + named}, the {_machine(number)} moved {figure} litres [{place + 1}]."


def _machine(number: int) -> str:
    return f"{PLACES[number % len(PLACES)]} {MACHINES[number % len(MACHINES)]} {100 + number}"


def _litres(number: int, edition: int) -> int:
    return 10_000 + (number * 37 + edition * 7_919) % 80_000


def print_growth(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print a line for each varied number and each kind of evidence."""
    for row in rows:
        costs = row["cpu_ms"]["all"]
        powers = "  ".join(f"{part} {power:5.2f}" for part, power in row["exponents"].items())
        ends = f"{row['sizes'][0]} to {row['sizes'][-1]}"
        print(f"{row['along']:<8} {row['evidence']:<9} {ends:>8} {costs[0]:8.1f} to {costs[-1]:8.1f} ms  {powers}")


if __name__ == "__main__":
    main()
