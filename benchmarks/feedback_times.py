"""Measure the cost of feedback: signals of one answer, and a retry check with 100,000 queries in Valkey.

    python -m benchmarks.feedback_times

Starts a Valkey of its own. Retry checks are timed from the call to the pairs, the query's
embedding not included: the quality agent needs the same vector, and the cache keeps it.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from schemas.answers import GeneratedAnswer
from workers.evaluation.thresholds import FeedbackRules, QualityThresholds
from workers.feedback.implicit_signals import execution_signals, latency_tolerance
from workers.feedback.retry_detection import AskedQuery, find_retries
from workers.local.services import LocalServices
from workers.process.paths import examples_directory
from workers.settings import RedisSettings
from workers.stores.redis.query_history import PersonQuery, QueryHistory

RULES, QUALITY = FeedbackRules(), QualityThresholds()
BATCH = 500
DIMENSIONS = 384


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=100_000, help="queries in history (default 100,000)")
    parser.add_argument("--checks", type=int, default=1_000, help="retry checks timed (default 1,000)")
    options = parser.parse_args()
    print(f"{'':<36}{'p50 ms':>9}{'p95 ms':>9}")
    for name, seconds in signal_times().items():
        show(name, seconds)
    seconds, megabytes = asyncio.run(retry_times(options.queries, options.checks))
    show(f"retry, {options.queries:,} queries in history", seconds)
    print(f"{'Valkey then holds':<36}{megabytes:>9.0f} MB")


def show(name: str, seconds: Sequence[float]) -> None:
    """Print one line."""
    cuts = statistics.quantiles(seconds, n=20)
    print(f"{name:<36}{cuts[9] * 1e3:>9.4f}{cuts[18] * 1e3:>9.4f}")


def signal_times() -> dict[str, list[float]]:
    """Return the CPU seconds of the signals of each example, the best of five."""
    lines = (examples_directory() / "answers.jsonl").read_bytes().splitlines()
    answers = [GeneratedAnswer.from_bytes(line) for line in lines]

    def best(call: Callable[[], object]) -> float:
        times = []
        for _ in range(5):
            started = time.thread_time()
            call()
            times.append(time.thread_time() - started)
        return min(times)

    return {
        "error and latency, one answer": [best(lambda a=answer: execution_signals(a, RULES, QUALITY)) for answer in answers],
        "latency alone": [best(lambda: latency_tolerance(12.0, RULES)) for _ in answers],
    }  # fmt: skip


async def retry_times(queries: int, checks: int) -> tuple[list[float], float]:
    """Return the seconds of each check and the megabytes in Valkey; each person has ten queries."""
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as directory:
        async with LocalServices(Path(directory), kafka=False, clickhouse=False) as services:
            settings = RedisSettings(timeout_seconds=60)
            history = QueryHistory(services.addresses.redis_url or "", settings, 3_600)
            for start in range(0, queries, BATCH):
                await history.exchange([_query(number, rng) for number in range(start, min(start + BATCH, queries))])
            seconds = []
            for number in range(queries, queries + checks):
                asked = _query(int(rng.integers(queries)), rng, name=f"check-{number}")
                started = time.perf_counter()
                others = await history.exchange([asked])
                assert others is not None and others[0]
                find_retries(asked.query, others[0], RULES)
                seconds.append(time.perf_counter() - started)
            used = (await history._redis.info("memory"))["used_memory"]
            await history.close()
    return seconds, used / 1e6


def _query(number: int, rng: np.random.Generator, name: str | None = None) -> PersonQuery:
    vector = rng.standard_normal(DIMENSIONS)
    vector = (vector / np.linalg.norm(vector)).astype(np.float16)
    return PersonQuery(f"{number // 10:064d}", AskedQuery(name or f"a-{number}", 1.7e9 + number, vector))


if __name__ == "__main__":
    main()
