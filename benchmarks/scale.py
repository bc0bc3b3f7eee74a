"""Measure answers a second by number of workers.

    python -m benchmarks.scale --json scale.json

1, 2 and 4 workers with all agents share the partitions, the model with one thread in each; the same
repeated traffic is sent at once to each number, and counted until the last answer is confirmed in ClickHouse. CPU is
summed over the workers. All share this machine with broker and ClickHouse: more workers than it has cores show what
they cost each other and no more answers.
"""

import argparse
import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.pipeline import WARM_UP, bench_beside_servers
from benchmarks.traffic import add_options, answers_with_contexts, repeated
from workers.process.cores import available_cores


def main() -> None:
    """Measure and print; write JSON if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--workers", type=int, nargs="+", default=[1, 2, 4], metavar="N", help="numbers of workers (default 1 2 4)"
    )
    parser.add_argument("--answers", type=int, default=400, help="sent to each number of workers (default 400)")
    parser.add_argument("--precision", choices=["fp32", "int8"], default="int8", help="of the model (default int8)")
    add_options(parser)
    parser.add_argument("--json", type=Path, help="write the figures to a file")
    options = parser.parse_args()
    rows = asyncio.run(_over_workers(options))
    _print_workers(rows)
    if options.json:
        document = {"cores": available_cores(), "precision": options.precision, "workers": rows}
        options.json.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


async def _over_workers(options: argparse.Namespace) -> list[dict[str, Any]]:
    answers = answers_with_contexts(options.data)
    first, sent = answers[:WARM_UP], repeated(answers[WARM_UP:], options.answers, options.zipf)
    rows = []
    async with bench_beside_servers(options.precision, threads=1) as bench:
        for count in options.workers:
            async with bench.workers(first, count=count):
                before = await bench.judged()
                figures = await bench.saturated(sent)
                judged = [now - then for now, then in zip(await bench.judged(), before, strict=True)]
                rows.append({"workers": count, **figures, "judged": judged})
    return rows


def _print_workers(rows: Sequence[Mapping[str, Any]]) -> None:
    for row in rows:
        costs = "  ".join(f"{key} {value:6.1f}" for key, value in row.items() if key.endswith("_cpu_ms"))
        ratio = row["answers_per_second"] / rows[0]["answers_per_second"]
        parts = " + ".join(f"{each:.0f}" for each in row["judged"])
        print(f"{row['workers']} workers {row['answers_per_second']:8.1f} answers/s {ratio:5.2f}  {costs}  ({parts})")


if __name__ == "__main__":
    main()
