"""Measure half an hour of answers: memory of the worker, its lag, and the pauses of its event loop.

    python -m benchmarks.soak --minutes 30 --picture docs/images/soak.png

Answers come evenly, each with a sentence of its own over sources that repeat. The cache of vectors is kept
small, so that it is full after the first minutes and what grows afterwards is no cache.
"""

import argparse
import asyncio
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from aiokafka import AIOKafkaProducer
from rich.progress import Progress

from benchmarks.traffic import add_options, answers_with_contexts, repeated
from schemas.answers import GeneratedAnswer
from schemas.topics import ANSWERS_GENERATED
from tests.harness.deployment import Deployment, WorkerProcess, until
from workers.local.services import LocalServices
from workers.settings.addresses import local_addresses

SAMPLE_SECONDS = 10.0
CACHED = 2_000
"""Vectors kept."""
SETTLED = 1 / 3
"""Share of the time after which nothing new is loaded and the cache is full."""


def main() -> None:
    """Measure and print; write JSON and a picture if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30.0, help="how long (default 30)")
    parser.add_argument("--rate", type=float, default=8.0, help="answers a second (default 8)")
    parser.add_argument("--precision", choices=["fp32", "int8"], default="int8", help="of the model (default int8)")
    add_options(parser)
    parser.add_argument("--picture", type=Path, help="draw memory over time into a file")
    parser.add_argument("--json", type=Path, help="write the figures to a file")
    options = parser.parse_args()
    samples, answers = asyncio.run(_measure(options))
    document = _summed_up(samples) | {"answers": answers, "minutes": options.minutes, "rate": options.rate}
    print(
        f"{answers:,} answers in {options.minutes:g} minutes: {document['settled_mib']:.0f} MiB once settled, "
        f"{document['mib_an_hour']:+.1f} MiB an hour since, {document['peak_mib']:.0f} at most; "
        f"largest lag {document['largest_lag']:.0f} records; "
        f"{document['pauses_over_50_ms']:.0f} of {document['looks']:.0f} looks found a pause over 50 ms"
    )
    if options.json:
        options.json.write_text(json.dumps(document | {"samples": samples}, indent=2) + "\n", encoding="utf-8")
    if options.picture:
        _draw(samples, options.picture)


async def _measure(options: argparse.Namespace) -> tuple[list[dict[str, float]], int]:
    answers = repeated(answers_with_contexts(options.data), int(options.minutes * 60 * options.rate), options.zipf)
    with tempfile.TemporaryDirectory(prefix="touchstone-soak-") as folder, Progress(transient=True) as progress:
        services = LocalServices(Path(folder) / "services")
        found = await services.start()
        addresses = local_addresses(found)
        environment = {
            "TOUCHSTONE_INFERENCE__PRECISION": options.precision,
            "TOUCHSTONE_INFERENCE__CACHE_TEXTS": str(CACHED),
            "TOUCHSTONE_INFERENCE__THREADS": "0",
        }
        deployment = Deployment(addresses, Path(folder), environment=environment)
        try:
            await deployment.prepare()
            worker = await deployment.start_worker()
            sampling = asyncio.create_task(_sample(worker))
            await _send(deployment, answers, options.rate, progress)
            await _stored(deployment, len(answers))
            sampling.cancel()
            samples = (await asyncio.gather(sampling, return_exceptions=True))[0]
            assert isinstance(samples, list), samples
            return samples, len(answers)
        finally:
            await deployment.stop()
            await services.stop()


async def _send(deployment: Deployment, answers: list[GeneratedAnswer], rate: float, progress: Progress) -> None:
    topic = deployment.settings.topic_name(ANSWERS_GENERATED.name)
    task = progress.add_task("answers sent", total=len(answers))
    async with AIOKafkaProducer(bootstrap_servers=deployment.addresses.kafka, max_request_size=2_000_000) as producer:
        began = time.perf_counter()
        for number, answer in enumerate(answers):
            await asyncio.sleep(max(0.0, began + number / rate - time.perf_counter()))
            await producer.send(topic, value=answer.to_bytes(), key=answer.answer_id.encode())
            progress.update(task, advance=1)


async def _stored(deployment: Deployment, answers: int) -> None:
    client = await deployment.client()

    async def all_there() -> bool:
        (count,) = await deployment.query(client, "SELECT uniqExact(answer_id) FROM {db}.answers")
        return int(count) >= answers

    try:
        await until(all_there, "all answers are stored", 600, 0.5)
    finally:
        await client.close()


async def _sample(worker: WorkerProcess) -> list[dict[str, float]]:
    """Sample memory in MiB, lag in records and pauses over time until cancelled."""
    samples: list[dict[str, float]] = []
    began = time.monotonic()
    pauses = "touchstone_event_loop_pause_seconds"
    try:
        while True:
            looks = await worker.metric(f"{pauses}_count")
            samples.append(
                {
                    "seconds": time.monotonic() - began,
                    "mib": _resident_mib(worker.pid),
                    "lag": await worker.metric("touchstone_consumer_lag_records"),
                    "looks": looks,
                    "pauses": looks - await worker.metric(f"{pauses}_bucket", le="0.05"),
                }
            )
            await asyncio.sleep(SAMPLE_SECONDS)
    except asyncio.CancelledError:
        return samples


def _resident_mib(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


def _summed_up(samples: list[dict[str, float]]) -> dict[str, Any]:
    settled = [each for each in samples if each["seconds"] >= SETTLED * samples[-1]["seconds"]]
    slope = np.polyfit([each["seconds"] / 3600 for each in settled], [each["mib"] for each in settled], 1)[0]
    return {
        "settled_mib": settled[0]["mib"],
        "mib_an_hour": float(slope),
        "peak_mib": max(each["mib"] for each in samples),
        "largest_lag": max(each["lag"] for each in settled),
        "looks": samples[-1]["looks"],
        "pauses_over_50_ms": samples[-1]["pauses"],
    }


def _draw(samples: list[dict[str, float]], path: Path) -> None:
    from matplotlib import pyplot

    figure, axis = pyplot.subplots(figsize=(8, 3), layout="constrained")
    axis.plot([each["seconds"] / 60 for each in samples], [each["mib"] for each in samples])
    axis.set(xlabel="minutes", ylabel="resident, MiB", title="Memory of a worker with all agents", ylim=(0, None))
    axis.grid(alpha=0.3)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
