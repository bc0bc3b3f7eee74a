"""Measure answers a second from topic to ClickHouse, their cost, and their latency.

    python -m benchmarks.pipeline --json pipeline.json

One worker with all agents in one process, broker, Valkey and ClickHouse's engine as processes of their own on this machine.

*distinct*: every answer once, so every text is new to the model. *repeated*: sources come back by Zipf's
law, as retrieval's do. *stubbed*: judgement gives constants and the model random vectors; what is left is the framework. Each
is sent at once and counted until the last answer is confirmed in ClickHouse, CPU seconds by process. Then
answers come evenly at shares of the rate of *repeated*, and the time from the record of an answer to the
record of its enriched answer is read from the topics. *verified* is with a verifier, *apart* with an
evaluation process, as `touchstone worker` starts it on two cores; the three take turns, since a machine's speed changes from minute to minute: rates and CPU
are medians of the turns, and each has its latency in the last turn, at shares of the rate of its own. The tokens of
distinct answers are divided by what the quantised graph alone takes in full batches (``benchmarks.limit``), measured
in the same run.
"""

import argparse
import asyncio
import json
import os
import platform
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from aiokafka import AIOKafkaProducer
from rich.progress import Progress

from benchmarks.limit import texts_of, tokens_and_ceiling
from benchmarks.traffic import add_options, answers_with_contexts, distinct, repeated
from schemas.answers import GeneratedAnswer
from schemas.export import example
from schemas.memory import ConversationTurn
from schemas.topics import ANSWERS_ENRICHED, ANSWERS_GENERATED, MEMORY_TURNS
from tests.harness.deployment import Deployment, WorkerProcess, until
from workers.evaluation.quality.quality_evaluator import prepare_quality
from workers.local.services import LocalServices
from workers.process.cores import available_cores
from workers.settings.addresses import Addresses, local_addresses
from workers.stores.lancedb.memory_store import turn_text

SHARES = (0.25, 0.5, 0.8)
"""Of the rate at saturation, at which latency is measured."""
WARM_UP = 40
"""Answers judged before anything counts."""
STUB = "benchmarks.stubbed_worker"
TICKS = os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Measure and print; write JSON if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=250, help="answers of each traffic, at most (default 250)")
    parser.add_argument("--turns", type=int, default=3, help="turns of repeated traffic (default 3)")
    parser.add_argument("--stubbed", type=int, default=4_000, help="answers with judgement stubbed (default 4000)")
    parser.add_argument("--seconds", type=float, default=30.0, help="at each share of the rate (default 30)")
    parser.add_argument("--precision", choices=["fp32", "int8"], default="int8", help="of the model (default int8)")
    parser.add_argument("--verifier", default="", help="also with this verifier, such as builtin")
    parser.add_argument(
        "--apart",
        action="store_true",
        help="also with evaluation in a process of its own",
    )
    add_options(parser)
    parser.add_argument("--json", type=Path, help="write the figures to a file")
    options = parser.parse_args()
    document = {"machine": {"cores": available_cores(), "processor": platform.processor() or platform.machine()}}
    document |= asyncio.run(_measure(options))
    _print(document)
    if options.json:
        options.json.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


async def _measure(options: argparse.Namespace) -> dict[str, Any]:
    answers = answers_with_contexts(options.data)
    first = answers[:WARM_UP]
    others = answers[WARM_UP:]
    new = distinct(others, min(options.answers, len(others)))
    again = repeated(others, options.answers, options.zipf)
    found: dict[str, Loaded] = {}
    cold: dict[str, dict[str, float]] = {}
    cold_layouts = {"distinct": False} | ({"distinct apart": True} if options.apart else {})
    async with bench_beside_servers(options.precision) as bench:
        for name, apart in cold_layouts.items():
            async with bench.workers(first, apart=apart):
                cold[name] = await bench.saturated(new)
                remembered = await bench.remembered({answer.answer_id for answer in new})
        tokens, ceiling = tokens_and_ceiling(_texts_of(new, remembered))
        for turn in range(options.turns):
            for name, how in _layouts(options).items():
                async with bench.workers(first, **how):
                    loaded = found.setdefault(name, Loaded())
                    loaded.rates.append(await bench.saturated(again))
                    if turn == options.turns - 1:
                        await loaded.measure(bench, others, options)
        # The answer that the constants were found in.
        one = [GeneratedAnswer.model_validate(example(GeneratedAnswer))]
        async with bench.workers(repeated(one, 1, 0), module=STUB):
            stubbed = await bench.saturated(repeated(one, options.stubbed + 1, 0)[1:])
    return {
        "saturated": cold | {name: each.rate for name, each in found.items()} | {"stubbed": stubbed},
        "turns": {name: [rate["answers_per_second"] for rate in each.rates] for name, each in found.items()},
        "model_tokens": {name: tokens / len(new) * rate["answers_per_second"] for name, rate in cold.items()}
        | {"ceiling": ceiling},
        "latency": {name: each.latency for name, each in found.items()},
        "peak_bytes": {name: each.peak_bytes for name, each in found.items()},
        "pauses": {name: each.pauses for name, each in found.items()},
    }


def _layouts(options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """Return the start options of workers for repeated traffic, by name."""
    layouts: dict[str, dict[str, Any]] = {"repeated": {}}
    if options.verifier:
        layouts["verified"] = {"environment": {"TOUCHSTONE_GROUNDING__VERIFIER": options.verifier}}
    if options.apart:
        layouts["apart"] = {"apart": True}
    return layouts


@dataclass
class Loaded:
    """Hold the results of one layout under repeated traffic.

    Attributes:
        rates: answers a second and CPU milliseconds an answer, of each turn.
        latency: at each share of the median rate, seconds.
        peak_bytes: most resident memory that one of its workers has had, its processes added up.
        pauses: looks at the event loops, and how many found one over 50 ms.
    """

    rates: list[dict[str, float]] = field(default_factory=list)
    latency: list[dict[str, float]] = field(default_factory=list)
    peak_bytes: int = 0
    pauses: dict[str, float] = field(default_factory=dict)

    @property
    def rate(self) -> dict[str, float]:
        """Return the medians of the rounds."""
        return {name: statistics.median(rate[name] for rate in self.rates) for name in self.rates[0]}

    async def measure(self, bench: "Bench", answers: Sequence[GeneratedAnswer], options: argparse.Namespace) -> None:
        """Measure latency at shares of the rate, memory and pauses of the running workers."""
        rate = self.rate["answers_per_second"]
        self.latency = [await bench.latency(answers, options, share, rate) for share in SHARES]
        self.peak_bytes, self.pauses = bench.peak_bytes(), await bench.pauses()


def _texts_of(answers: Sequence[GeneratedAnswer], remembered: Sequence[str]) -> list[str]:
    """Return the distinct texts embedded for answers: for evaluation, retry detection and memory."""
    quality = (text for answer in answers for text in prepare_quality(answer).texts)
    queries = (answer.query for answer in answers if answer.query)
    return list(dict.fromkeys([*texts_of(answers), *quality, *queries, *remembered]))


@asynccontextmanager
async def bench_beside_servers(precision: str, threads: int = 0) -> "AsyncIterator[Bench]":
    """Start broker, Valkey and a separate ClickHouse engine; yield a bench that measures workers on them.

    Args:
        precision: of the model.
        threads: of the model in each worker; 0 takes all cores.
    """
    with tempfile.TemporaryDirectory(prefix="touchstone-bench-") as folder, Progress(transient=True) as progress:
        async with LocalServices(Path(folder) / "services") as services:
            addresses = local_addresses(services.addresses)
            yield Bench(addresses, Path(folder), services.pids, precision, progress, threads)


class Bench:
    """Run workers against servers on this machine.

    Args:
        addresses: of the servers.
        folder: for logs and state.
        servers: their process identifiers by name.
        precision: of the model.
        progress: shows how far it is.
        threads: of the model in each worker; 0 takes all cores.
    """

    def __init__(
        self,
        addresses: Addresses,
        folder: Path,
        servers: Mapping[str, int],
        precision: str,
        progress: Progress,
        threads: int = 0,
    ) -> None:
        self._addresses = addresses
        self._folder = folder
        self._servers = dict(servers)
        self._progress = progress
        self._environment = {
            "TOUCHSTONE_INFERENCE__PRECISION": precision,
            "TOUCHSTONE_INFERENCE__EXPORT_DIR": str(folder / "models"),
            "TOUCHSTONE_INFERENCE__THREADS": str(threads),
        }

    @asynccontextmanager
    async def workers(
        self,
        first: Sequence[GeneratedAnswer],
        module: str = "workers.cli",
        count: int = 1,
        environment: Mapping[str, str] | None = None,
        *,
        apart: bool = False,
    ) -> AsyncIterator[None]:
        """Start workers with separate names that have already evaluated some answers.

        Args:
            first: those answers.
            module: what each worker runs.
            count: how many share the partitions.
            environment: settings beside those of the benchmark.
            apart: whether each worker evaluates in a process of its own.
        """
        self._sent, self._module = 0, module
        self._deployment = Deployment(
            self._addresses,
            self._folder,
            environment=self._environment
            | {"TOUCHSTONE_EVALUATORS__PROCESSES": str(int(apart))}
            | dict(environment or {}),
        )
        await self._deployment.prepare()
        self._client = await self._deployment.client()
        try:
            # One after the other: the first exports the model, and the others find it.
            self._processes: list[WorkerProcess] = [
                await self._deployment.start_worker(module=module) for _ in range(count)
            ]
            await self._send_all(first, "warming up")
            yield
        finally:
            await self._deployment.stop()
            await self._client.command(f"DROP DATABASE IF EXISTS {self._deployment.name}")
            await self._client.close()

    async def saturated(self, answers: Sequence[GeneratedAnswer]) -> dict[str, float]:
        """Return answers a second at saturation, CPU milliseconds an answer by process, and cores in use.

        Workers count together. A neighbour on the same host makes rate and CPU worse alike, so the cores tell apart
        layouts that the rates of a noisy machine do not.
        """
        before = self._cpu_seconds()
        began = time.perf_counter()
        await self._send_all(answers, "all at once")
        seconds = time.perf_counter() - began
        used = {name: now - before[name] for name, now in self._cpu_seconds().items()}
        costs = {f"{name}_cpu_ms": 1e3 * spent / len(answers) for name, spent in used.items()}
        busy = sum(used.values()) / seconds
        return {"answers": len(answers), "answers_per_second": len(answers) / seconds, "cores_busy": busy} | costs

    async def latency(
        self, answers: Sequence[GeneratedAnswer], options: argparse.Namespace, share: float, rate: float
    ) -> dict[str, float]:
        """Return the seconds from an answer's record to its enriched answer's, at a share of the rate."""
        chosen = repeated(answers, max(20, int(options.seconds * rate * share)), options.zipf)
        named = [each.model_copy(update={"answer_id": f"{share}-{each.answer_id}"}) for each in chosen]
        topic = self._deployment.settings.topic_name(ANSWERS_GENERATED.name)
        async with AIOKafkaProducer(bootstrap_servers=self._addresses.kafka, max_request_size=2_000_000) as producer:
            began = time.perf_counter()
            for number, answer in enumerate(named):
                await asyncio.sleep(max(0.0, began + number / (rate * share) - time.perf_counter()))
                key, value = _record(answer)
                await producer.send(topic, value=value, key=key)
        self._sent += len(named)
        await self._until_stored(f"at {share:.0%}")
        written = {
            answer_id_of(record): record.timestamp / 1e3 for record in await self._deployment.read(ANSWERS_ENRICHED)
        }
        came = {
            answer_id_of(record): record.timestamp / 1e3 for record in await self._deployment.read(ANSWERS_GENERATED)
        }
        taken = [written[each.answer_id] - came[each.answer_id] for each in named]
        p50, p95, p99 = np.percentile(taken, [50, 95, 99]).tolist()
        return {"share": share, "answers": len(named), "p50": p50, "p95": p95, "p99": p99}

    async def remembered(self, answer_ids: Collection[str]) -> list[str]:
        """Return the embedded texts of some answers, for later search in memory."""
        await self._deployment.all_caught_up()
        turns = [ConversationTurn.from_bytes(each.value) for each in await self._deployment.read(MEMORY_TURNS)]
        return [turn_text(turn) for turn in turns if turn.answer_id in answer_ids]

    async def judged(self) -> list[float]:
        """Return the number of grounding evaluations of each worker."""
        name = "touchstone_judgements_total"
        return [await worker.metric(name, agent="grounding") for worker in self._processes]

    def peak_bytes(self) -> int:
        """Return the peak resident memory of a worker in bytes, its processes added up."""
        return max(worker.peak_bytes() for worker in self._processes)

    async def pauses(self) -> dict[str, float]:
        """Return the number of event-loop pauses and of those longer than 50 ms."""
        name = "touchstone_event_loop_pause_seconds"
        looks = sum([await worker.metric(f"{name}_count") for worker in self._processes])
        short = sum([await worker.metric(f"{name}_bucket", le="0.05") for worker in self._processes])
        return {"looks": looks, "over_50_ms": looks - short}

    async def _send_all(self, answers: Sequence[GeneratedAnswer], what: str) -> None:
        await self._deployment.send(map(_record, answers))
        self._sent += len(answers)
        await self._until_stored(what)

    async def _until_stored(self, what: str) -> None:
        task = self._progress.add_task(f"{self._module}: {what}", total=self._sent)

        async def stored() -> bool:
            (count,) = await self._deployment.query(self._client, "SELECT uniqExact(answer_id) FROM {db}.answers")
            self._progress.update(task, completed=count)
            return int(count) >= self._sent

        await until(stored, "all answers are stored", 3_600, 0.1)
        self._progress.remove_task(task)

    def _cpu_seconds(self) -> dict[str, float]:
        servers = {name: _cpu_of(pid) for name, pid in self._servers.items()}
        return {
            "worker": sum(_cpu_of(pid) for worker in self._processes for pid in [worker.pid, *worker.evaluation_pids()])
        } | servers


def _record(answer: GeneratedAnswer) -> tuple[bytes, bytes]:
    return answer.answer_id.encode(), answer.to_bytes()


def _cpu_of(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def answer_id_of(record: Any) -> str:
    """Return the identifier of the answer of a record; keys name the tenant, too."""
    return str(orjson.loads(record.value)["answer_id"])


def _print(document: Mapping[str, Any]) -> None:
    for name, figures in document["saturated"].items():
        costs = "  ".join(f"{key} {value:6.1f}" for key, value in figures.items() if key.endswith("_cpu_ms"))
        print(f"{name:<15}{figures['answers_per_second']:8.1f} answers/s on {figures['cores_busy']:.2f} cores  {costs}")
    tokens = document["model_tokens"]
    for name in [name for name in tokens if name != "ceiling"]:
        share = tokens[name] / tokens["ceiling"]
        print(f"{name:<15}{tokens[name]:,.0f} tokens a second, {share:.0%} of the ceiling")
    for name, rates in document["turns"].items():
        print(f"{name:<15}in turns {', '.join(f'{rate:.1f}' for rate in rates)} answers/s")
    for name, latency in document["latency"].items():
        for each in latency:
            print(
                f"{name:<15}at {each['share']:4.0%}   p50 {each['p50'] * 1e3:6.0f}  p95 {each['p95'] * 1e3:6.0f}  "
                f"p99 {each['p99'] * 1e3:6.0f} ms"
            )
        pauses = document["pauses"][name]
        print(
            f"{name:<15}{document['peak_bytes'][name] / 2**20:,.0f} MiB at most, "
            f"{pauses['over_50_ms']:.0f} of {pauses['looks']:.0f} looks found a pause over 50 ms"
        )


if __name__ == "__main__":
    main()
