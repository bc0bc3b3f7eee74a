"""Measure time and memory of a comparison of two runs with many answers.

    python -m benchmarks.comparison --answers 1000000

The answers are those of benchmarks.analytics; the second run is a copy of the first one inside the
engine, in which every tenth answer has a lower gate score and one in a hundred another state. Sessions
have four answers. The engine's memory is that of its process, which also caches; what matters is that
it does not grow with the answers.
"""

import argparse
import asyncio
import json
import resource
import tempfile
import time
from pathlib import Path

from benchmarks.analytics import ANSWERS, DATABASE, MADE, SINCE, STEP, UNTIL
from workers.comparison.results import findings
from workers.local.services import LocalServices
from workers.settings import ClickHouseSettings
from workers.stores.clickhouse.analytics_store import AnalyticsStore, connect
from workers.stores.clickhouse.migrations import migrate
from workers.stores.queries.runs.comparison_queries import DIMENSIONS, ComparisonStore, Wanted

COPY = """
INSERT INTO bench.answers
SELECT * EXCEPT n REPLACE('b' AS run, if(n % 10 = 0, gate_score * 0.9, gate_score) AS gate_score,
                 if(n % 100 = 0, 'held', state::String) AS state, toString(intDiv(n, 4)) AS session_id)
FROM (SELECT *, answer_offset AS n FROM bench.answers WHERE run = 'live' AND answer_offset BETWEEN {first} AND {last})
"""


async def measure(answers: int, slices: tuple[str, ...]) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder:
        services = LocalServices(Path(folder), kafka=False, redis=False, clickhouse=True)
        found = await services.start()
        client = await connect(ClickHouseSettings(timeout_seconds=1_800), found.clickhouse_url or "")
        try:
            await migrate(client, DATABASE)
            # What dashboards read is not asked here, and would take most of the time to fill.
            await client.command(f"DROP VIEW {DATABASE}.answer_facts_of_answers")
            span = int((UNTIL - SINCE).total_seconds() * 1_000)
            for first in range(0, answers, STEP):
                count = min(STEP, answers - first)
                made = MADE.format(span=span, answers=answers, corpus=0)
                await client.command(ANSWERS.format(made=made, first=first, count=count))
                await client.command(COPY.format(first=first, last=first + count - 1))
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            began = time.perf_counter()
            wanted = Wanted("live", "b", slices=slices, top=100)
            result = findings(await ComparisonStore(AnalyticsStore(client, DATABASE), DATABASE).compare(wanted))
            seconds = time.perf_counter() - began
            return {
                "pairs": result.comparison.pairs, "moved": result.comparison.moved(), "slices": len(result.comparison.slices),
                "seconds": round(seconds, 1), "pairs_per_second": round(result.comparison.pairs / seconds),
                "own_memory_mb": round(before / 1_024), "engine_peak_mb": peak_mb(services.pids["clickhouse"]),
                "own_memory_after_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_024),
            }  # fmt: skip
        finally:
            await client.close()
            await services.stop()


def peak_mb(pid: int) -> int:
    """Return the peak resident memory of a process in MB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) // 1_024


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--answers", type=int, default=1_000_000)
    parser.add_argument("--slices", action="store_true", help="by model, source and query type as well")
    arguments = parser.parse_args()
    print(json.dumps(asyncio.run(measure(arguments.answers, DIMENSIONS if arguments.slices else ()))))


if __name__ == "__main__":
    main()
