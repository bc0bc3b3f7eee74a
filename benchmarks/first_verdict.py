"""Measure the time from the end of a stream's first sentence to its first verdict (goal: 300 ms at half load).

    python -m benchmarks.first_verdict
    TOUCHSTONE_INFERENCE__PRECISION=int8 python -m benchmarks.first_verdict --callers 1

The service of the console evaluates answers that are written word by word: ``benchmarks.check`` says of what kind. A
verdict can begin when the next sentence has begun, so the time between two words is part of it. Half load is half of the
slots of ``TOUCHSTONE_CHECK__CONCURRENT``: one stream at a time of two.
"""

import argparse
import asyncio
import os
import re
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.check import _answer
from workers.check.check_models import AnswerToCheck, CheckedPart
from workers.check.check_service import CheckService
from workers.check.growing_answer import GrowingAnswer, checked_parts
from workers.inference.opening import open_embedding
from workers.pipeline.versions import pipeline_version
from workers.settings import CheckSettings, Settings

Measured = list[tuple[float, float]]
"""Seconds on the clock and of CPU, which is more reliable on a shared machine."""


def main() -> None:
    """Measure and print a line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=40, help="number of streams (default 40)")
    parser.add_argument("--callers", type=int, default=1, help="streams at once (default 1)")
    parser.add_argument("--words", type=float, default=40.0, help="words a second of a stream (default 40)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        first, whole = asyncio.run(_measure(options.answers, options.callers, 1 / options.words, Path(folder)))
    print(f"{len(first)} streams, {options.callers} at once, load {os.getloadavg()[0]:.1f}")
    for name, measured in (("first sentence", first), ("whole answer", whole)):
        seconds, processor = zip(*measured, strict=True)
        p50, p95 = (float(np.percentile(seconds, share)) * 1_000 for share in (50, 95))
        cpu = float(np.median(processor)) * 1_000
        print(f"{name:<16} p50 {p50:6.0f} ms  p95 {p95:6.0f} ms  CPU {cpu:6.0f} ms")


async def _measure(count: int, callers: int, pause: float, folder: Path) -> tuple[Measured, Measured]:
    settings = Settings(_env_file=None, state_dir=folder, check=CheckSettings(deadline_seconds=30.0))
    embedding = await open_embedding(settings)
    service = CheckService(
        settings, embedding, pipeline_version(settings), lambda: AnswerToCheck(answer="").completed_at
    )
    first: Measured = []
    whole: Measured = []
    for number in (-2, -1):
        await _stream(service, number, 0.0, [], [])
    waiting = list(range(count))

    async def call() -> None:
        while waiting:
            await _stream(service, waiting.pop(), pause, first, whole)

    await asyncio.gather(*(call() for _ in range(callers)))
    await service.stop()
    await embedding.stop()
    return first, whole


async def _stream(service: CheckService, number: int, pause: float, first: Measured, whole: Measured) -> None:
    """Write an answer word by word; note the seconds to its first verdict and to that on the whole."""
    answer = AnswerToCheck.model_validate(_answer(number))
    growing = GrowingAnswer()
    sentence_end = answer.answer.index("[1].") + len("[1].")
    ended: list[tuple[float, float]] = []

    async def write() -> None:
        for word in re.findall(r"\S+\s*", answer.answer):
            growing.add(word)
            if not ended and len(growing.text) >= sentence_end:
                ended.append((time.perf_counter(), time.process_time()))
            await asyncio.sleep(pause)
        growing.end()
        ended.append((time.perf_counter(), time.process_time()))

    writing = asyncio.create_task(write())
    told = False
    async for found in checked_parts(
        growing, lambda text, memory: service.check(answer.model_copy(update={"answer": text}), None, memory)
    ):
        if isinstance(found, CheckedPart) and not told:
            told = True
            first.append((time.perf_counter() - ended[0][0], time.process_time() - ended[0][1]))
    await writing
    whole.append((time.perf_counter() - ended[1][0], time.process_time() - ended[1][1]))


if __name__ == "__main__":
    main()
