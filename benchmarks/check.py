"""Measure a check: POST /v1/check, a 150-word answer with five chunks (goal: p95 under 300 ms on two cores).

    python -m benchmarks.check
    TOUCHSTONE_INFERENCE__PRECISION=int8 python -m benchmarks.check

The console's application is called in this process, with token, validation and JSON, and without a socket. Each
answer is told by nothing that was judged before: figures and names differ, so that the cache of vectors does not help. Then
the same with several callers at once, and one caller with the answer of before, whose vectors are known.
"""

import argparse
import asyncio
import json
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import create_autospec

import httpx
import numpy as np

from workers.check.check_service import CheckService
from workers.console.app import create_app
from workers.console.resources import ConsoleResources
from workers.inference.opening import open_embedding
from workers.pipeline.versions import pipeline_version
from workers.settings import AccessToken, CheckSettings, ConsoleSettings, Settings

SENTENCES = (
    "The pump P-{0} in building {1} was stopped at {2}:15 because its bearing temperature rose to {3} degrees [1].",
    "Its vibration had grown from {4} to {5} mm/s within {6} hours, which is above the limit of 4.5 mm/s [2].",
    "The shift leader switched to the standby pump P-{7} at {2}:22, so that the flow of {8} m³/h was kept [3].",
    "According to the maintenance plan the bearing is replaced every {9} operating hours, and it had run {10} [4].",
    "The spare part {11} is in stock in warehouse {1} and can be delivered within {6} hours [5].",
    "Order the part today and plan the exchange for the next shift, since a repeat would stop line {12}.",
    "The costs of the repair are about {13} euros, of which {14} euros are for the part itself [5].",
    "The last failure of this kind was on {15} March 2026 and took {6} hours to mend [4].",
)
TOKEN = "benchmark-token-0123456789"


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=100, help="answers judged in each case (default 100)")
    parser.add_argument("--json", type=Path, help="write the figures to a file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        cases = asyncio.run(_measure(options.answers, Path(folder)))
    figures = {
        name: {f"p{share}_ms": float(np.percentile(seconds, share)) * 1_000 for share in (50, 95, 99)}
        | {"cpu_ms": processor * 1_000}
        for name, (seconds, processor) in cases.items()
    }
    print(f"{'':<44}{'p50 ms':>9}{'p95 ms':>9}{'p99 ms':>9}{'CPU ms':>9}")
    for name, figure in figures.items():
        print(f"{name:<44}" + "".join(f"{value:>9.1f}" for value in figure.values()))
    if options.json:
        told = {"cores": os.cpu_count(), "check": figures}
        options.json.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")


def _answer(number: int) -> dict[str, Any]:
    """Return a unique answer of about 150 words with five chunks."""
    figures = [str((number * 37 + place * 113) % 900 + 100) for place in range(16)]
    sentences = [sentence.format(*figures) for sentence in SENTENCES]
    chunks = [
        f"{sentence.rpartition(' [')[0]}. Recorded by the control system, entry {number}-{place}; the next inspection is "
        f"due in {place + 2} weeks and is done by the maintenance team of building {figures[1]}."
        for place, sentence in enumerate(sentences[:5])
    ]
    return {
        "query": f"Why was pump P-{figures[0]} stopped, and what is to be done?",
        "answer": " ".join(sentences),
        "contexts": [{"chunk_id": f"c-{place}", "content": chunk} for place, chunk in enumerate(chunks)],
    }


async def _measure(count: int, folder: Path) -> dict[str, tuple[list[float], float]]:
    settings = Settings(
        _env_file=None,
        state_dir=folder,
        check=CheckSettings(deadline_seconds=30.0),
        console=ConsoleSettings(
            tokens=(AccessToken(name="bench", token=TOKEN, scopes={"ingest"}),), requests_per_minute=1_000_000
        ),
    )
    embedding = await open_embedding(settings)
    version = pipeline_version(settings)
    resources = create_autospec(ConsoleResources, instance=True, settings=settings, pipeline_version=version)
    resources.check = CheckService(settings, embedding, version, lambda: resources.now())
    transport = httpx.ASGITransport(create_app(resources))
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(transport=transport, base_url="http://bench", headers=headers) as client:
        await _judge(client, [_answer(number) for number in range(-5, 0)], 1)
        fresh = [_answer(number) for number in range(count)]
        told = {
            "one caller": await _judge(client, fresh, 1),
            "one caller, vectors known": await _judge(client, fresh, 1),
        }
        for callers in (2, 4):
            fresh = [_answer(number) for number in range(count * callers, count * (callers + 1))]
            told[f"{callers} callers at once"] = await _judge(client, fresh, callers)
    await resources.check.stop()
    await embedding.stop()
    return told


async def _judge(
    client: httpx.AsyncClient, answers: Sequence[dict[str, Any]], callers: int
) -> tuple[list[float], float]:
    """Return the seconds of each request and the CPU seconds for one, which are more reliable on a shared machine."""
    seconds: list[float] = []
    begun = time.process_time()
    waiting = list(answers)

    async def call() -> None:
        while waiting:
            body = waiting.pop()
            started = time.perf_counter()
            response = await client.post("/v1/check", json=body)
            seconds.append(time.perf_counter() - started)
            told = response.raise_for_status().json()
            if told["degraded"] or len(told["claims"]) < len(SENTENCES) - 1:
                raise RuntimeError("the answer was not judged whole")

    await asyncio.gather(*(call() for _ in range(callers)))
    return seconds, (time.process_time() - begun) / len(answers)


if __name__ == "__main__":
    main()
