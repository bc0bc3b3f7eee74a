"""Measure answers a second, CPU and latency on the light broker and on Apache Kafka, in turns.

    KAFKA_HOME=/opt/kafka python -m benchmarks.brokers --json brokers.json

One worker with all agents in one process, int8, repeated traffic as in ``benchmarks.pipeline``. Both brokers run all the
time and share Valkey and ClickHouse; each has one node. In each turn a new worker settles the same answers on one broker
and then on the other. Then answers come evenly, at the same rate on both: half of the lower rate of that turn.
Figures are medians of the turns.
"""

import argparse
import asyncio
import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any

from rich.progress import Progress

from benchmarks.pipeline import STUB, WARM_UP, Bench
from benchmarks.traffic import add_options, answers_with_contexts, repeated
from schemas.answers import GeneratedAnswer
from schemas.export import example
from workers.local.services import LocalServices
from workers.settings.addresses import local_addresses

HALF = 0.5


def main() -> None:
    """Measure and print; write JSON if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=120, help="answers in each turn (default 120)")
    parser.add_argument("--stubbed", type=int, default=2_000, help="answers with evaluation stubbed (default 2000)")
    parser.add_argument("--turns", type=int, default=3, help="turns (default 3)")
    parser.add_argument("--seconds", type=float, default=15.0, help="of even traffic in each turn (default 15)")
    add_options(parser)
    parser.add_argument("--json", type=Path, help="write the figures to a file")
    options = parser.parse_args()
    turns = asyncio.run(_measure(options))
    for broker, measured in turns.items():
        print(f"{broker:<8}" + "  ".join(f"{name} {value:.1f}" for name, value in measured.medians().items()))
    if options.json:
        document = {name: {"medians": each.medians(), "turns": each.turns} for name, each in turns.items()}
        options.json.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


@dataclass
class Turns:
    """Hold the figures of one broker by turn."""

    turns: list[dict[str, float]] = field(default_factory=list)

    def medians(self) -> dict[str, float]:
        """Return the median of each figure."""
        return {name: median(turn[name] for turn in self.turns) for name in self.turns[0]}


async def _measure(options: argparse.Namespace) -> dict[str, Turns]:
    answers = answers_with_contexts(options.data)
    first, others = answers[:WARM_UP], answers[WARM_UP:]
    again = repeated(others, options.answers, options.zipf)
    # The answer in which the constants were found.
    constant = repeated([GeneratedAnswer.model_validate(example(GeneratedAnswer))], options.stubbed + 1, 0)
    with tempfile.TemporaryDirectory(prefix="touchstone-bench-") as name, Progress(transient=True) as progress:
        folder = Path(name)
        async with (
            LocalServices(folder / "light") as light,
            LocalServices(folder / "kafka", redis=False, clickhouse=False, light_broker=False) as kafka,
        ):
            addresses = local_addresses(light.addresses)
            stores = {store: light.pids[store] for store in ("redis", "clickhouse")}
            benches = {
                broker: Bench(
                    replace(
                        addresses,
                        kafka=services.addresses.kafka_bootstrap_servers or "",
                        light_broker=broker == "light",
                    ),
                    folder,
                    {"broker": services.pids["kafka"]} | stores,
                    "int8",
                    progress,
                )
                for broker, services in (("light", light), ("kafka", kafka))
            }
            found = {broker: Turns() for broker in benches}
            for _ in range(options.turns):
                turn: dict[str, dict[str, float]] = {}
                for broker, bench in benches.items():
                    async with bench.workers(constant[:1], module=STUB):
                        turn[broker] = _named(await bench.saturated(constant[1:]), "stubbed ")
                for broker, bench in benches.items():
                    async with bench.workers(first):
                        turn[broker] |= _named(await bench.saturated(again), "")
                rate = min(each["answers_per_second"] for each in turn.values())
                for broker, bench in benches.items():
                    async with bench.workers(first):
                        taken = await bench.latency(others, options, HALF, rate)
                    found[broker].turns.append(
                        turn[broker] | {f"{name}_ms": 1e3 * taken[name] for name in ("p50", "p95", "p99")}
                    )
    return found


def _named(figures: Mapping[str, Any], prefix: str) -> dict[str, float]:
    wanted = ("answers_per_second", "worker_cpu_ms", "broker_cpu_ms", "clickhouse_cpu_ms")
    return {prefix + name: figures[name] for name in wanted}


if __name__ == "__main__":
    main()
