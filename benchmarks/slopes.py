"""Measure how the cost of final states, memory and posteriors grows with what is stored.

    python -m benchmarks.slopes --sizes 100000 1000000 10000000 --json slopes.json
    python -m benchmarks.slopes --only memory posteriors --sizes 100000 1000000

Everything is synthetic and goes through the code of the workers: the files of final states, LanceDB, ClickHouse's engine.
Rows are made by the store itself where it can. Vectors have ``--dimensions`` numbers. A flat line is a cost that does not
depend on the size.
"""

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa

from workers.delivery.followers.final_state_file import (
    DAY_MS,
    PIPELINE,
    FinalStateFile,
    LastRecord,
    NotedRecord,
    digest_number,
)
from workers.local.services import LocalServices
from workers.process.cores import available_cores
from workers.settings import Settings
from workers.settings.addresses import local_addresses
from workers.stores.clickhouse.analytics_store import AnalyticsStore, connect
from workers.stores.clickhouse.migrations import migrate
from workers.stores.clickhouse.rollups import refresh_rollups
from workers.stores.lancedb.memory_rows import memory_row, memory_schema, question_digest
from workers.stores.lancedb.memory_store import AskedBefore, MemoryStore
from workers.stores.queries.feedback_store import FeedbackStore

DAYS = 30
BATCH = 50_000
NOW = datetime(2026, 11, 20, tzinfo=UTC)
CACHE_BYTES = 8 * 2**20

Figures = dict[str, float]
"""Milliseconds, seconds and bytes by name."""


def main() -> None:
    """Measure, print a table, and write JSON if requested."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000, 1_000_000], help="numbers of stored things")
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS), help="parts to measure")
    parser.add_argument("--dimensions", type=int, default=384, help="length of the vectors (default 384)")
    parser.add_argument("--look-ups", type=int, default=50, help="look-ups of each kind (default 50)")
    parser.add_argument("--json", type=Path, help="write the figures to a file; parts and sizes that it has stay")
    options = parser.parse_args()
    document = json.loads(options.json.read_text()) if options.json and options.json.exists() else {"slopes": {}}
    document["cores"] = available_cores()
    for part in options.only:
        for size in options.sizes:
            with tempfile.TemporaryDirectory() as folder:
                figures: Figures = asyncio.run(_measured(part, Path(folder), size, options))
            document["slopes"].setdefault(part, {})[str(size)] = figures
            print(f"{part:<13} {size:>11,}  " + "  ".join(f"{name} {value:,.3f}" for name, value in figures.items()))
            if options.json:
                options.json.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


async def _measured(part: str, folder: Path, size: int, options: argparse.Namespace) -> Figures:
    return await PARTS[part](folder, size, options)


async def final_states(folder: Path, size: int, options: argparse.Namespace) -> Figures:
    """Write a file of final states, and measure opening it again and looking answers up."""
    path = folder / "0.sqlite"
    file = FinalStateFile(path, CACHE_BYTES)
    first = int(NOW.timestamp() * 1000) // DAY_MS - DAYS
    started = time.perf_counter()
    for begin in range(0, size, BATCH):
        numbers = range(begin, min(size, begin + BATCH))
        records = [
            NotedRecord(n, (first + n * DAYS // size) * DAY_MS, None, digest_number(b"answer-%d" % n), PIPELINE)
            for n in numbers
        ]
        file.note(records, LastRecord(numbers[-1], 0))
    written = time.perf_counter() - started
    file.close()
    started = time.perf_counter()
    file = FinalStateFile(path, CACHE_BYTES)
    opened = time.perf_counter() - started
    rng = np.random.default_rng(1)
    known = [digest_number(b"answer-%d" % n) for n in rng.integers(size, size=options.look_ups)]
    unknown = [digest_number(b"unknown-%d" % n) for n in range(options.look_ups)]
    times = [_timed(lambda number=number: file.standing(number)) for number in (*known, *unknown)]
    file.close()
    return {
        "records_per_second": size / written,
        "open_ms": 1e3 * opened,
        "look_up_ms": _p95(times),
        "bytes_each": path.stat().st_size / size,
    }


async def memory(folder: Path, size: int, options: argparse.Namespace) -> Figures:
    """Fill a memory, build its indices, and measure the look-up of a question and the search by meaning.

    CPU is that of all threads, a mean over the look-ups: unlike times, it does not depend on other work.
    """
    store = MemoryStore(str(folder), options.dimensions)
    await store.open()
    rng = np.random.default_rng(1)
    for begin in range(0, size, BATCH):
        await store._table.add(_turns(range(begin, min(size, begin + BATCH)), options.dimensions, rng))
    started = time.perf_counter()
    await store.keep_up(NOW, 0)
    built = time.perf_counter() - started
    later = NOW + timedelta(days=1)
    asked = [AskedBefore("acme", f"Question {n}?", later) for n in rng.integers(size, size=options.look_ups)]
    begun = time.process_time()
    look_ups = [await _timed_async(lambda each=each: store.same_questions([each], 3)) for each in asked]
    looked_up = time.process_time()
    vectors = rng.standard_normal((options.look_ups, options.dimensions), dtype=np.float32)
    searching = time.process_time()
    searches = [await _timed_async(lambda vector=vector: store.nearest("acme", vector, 5)) for vector in vectors]
    searched = time.process_time()
    await store.close()
    return {
        "look_up_ms": _p95(look_ups),
        "look_up_cpu_ms": 1e3 * (looked_up - begun) / len(asked),
        "search_ms": _p95(searches),
        "search_cpu_ms": 1e3 * (searched - searching) / len(vectors),
        "index_seconds": built,
    }


def _turns(numbers: range, dimensions: int, rng: np.random.Generator) -> pa.Table:
    """Return rows of turns: one is made as the workers make it, the others differ in names, question and vector."""
    from schemas.export import example
    from schemas.memory import ConversationTurn

    count = len(numbers)
    row = memory_row(ConversationTurn.model_validate(example(ConversationTurn)), np.zeros(dimensions, np.float32))
    queries = [f"Question {number}?" for number in numbers]
    values = pa.array(rng.standard_normal(count * dimensions, dtype=np.float32))
    own = {
        "turn_id": [f"turn_{number}" for number in numbers],
        "answer_id": [f"answer-{number}" for number in numbers],
        "tenant": ["acme"] * count,
        "session_id": [f"session-{number // 5}" for number in numbers],
        "user_id": [f"user-{number // 50}" for number in numbers],
        "query": queries,
        "question": [question_digest("acme", query) for query in queries],
        "timestamp": [NOW - timedelta(seconds=number % 10_000) for number in numbers],
        "vector": pa.FixedSizeListArray.from_arrays(values, dimensions),
    }
    schema = memory_schema(dimensions)
    columns = [
        own[field.name] if field.name in own else pa.array([row[field.name]] * count, field.type) for field in schema
    ]
    return pa.table(
        [
            column if isinstance(column, pa.Array) else pa.array(column, field.type)
            for column, field in zip(columns, schema, strict=True)
        ],
        schema=schema,
    )


async def posteriors(folder: Path, size: int, _: argparse.Namespace) -> Figures:
    """Store rewards of 250 days, sum them by hour, and measure one round of the publisher."""
    settings = Settings(_env_file=None)
    async with LocalServices(folder, kafka=False, redis=False) as services:
        client = await connect(settings.clickhouse, local_addresses(services.addresses).clickhouse)
        database = settings.clickhouse.database
        await migrate(client, database)
        for begin in range(0, size, REWARDS_AT_ONCE):
            count = min(REWARDS_AT_ONCE, size - begin)
            await client.command(REWARDS.format(database=database, begin=begin, count=count))
        await refresh_rollups(client, database)
        store = FeedbackStore(AnalyticsStore(client, database), database)
        times = [await _timed_async(lambda: store.weighted_rewards(NOW, 14.0)) for _ in range(10)]
        parameters = {"now": NOW.replace(tzinfo=None), "half_life": 14.0 * 86_400}
        result = await client.query(store._weighted, parameters=parameters)
        await client.close()
    return {"round_ms": _p95(times), "rows_read": float(result.summary["read_rows"])}


REWARDS_AT_ONCE = 500_000
"""Rows of one insert, which must end within the timeout of the client."""

REWARDS = """
INSERT INTO {database}.reward_facts (tenant, hour, answer_key, revision, counts, inserted_at, answer_id, model_id,
    query_type, reward)
SELECT concat('tenant-', toString(number % 3)), toDateTime('2026-11-19 23:00:00', 'UTC') - toIntervalHour(number % 6000),
    number, 1, true, now64(3, 'UTC') - toIntervalMinute(10), toString(number), concat('m', toString(number % 2)), 'ops',
    (number % 10) / 10
FROM numbers({begin}, {count}) SETTINGS max_partitions_per_insert_block = 0
"""

PARTS: Mapping[str, Callable[[Path, int, argparse.Namespace], Awaitable[Figures]]] = {
    "final_states": final_states, "memory": memory, "posteriors": posteriors,
}  # fmt: skip


def _timed(act: Callable[[], object]) -> float:
    started = time.perf_counter()
    act()
    return time.perf_counter() - started


async def _timed_async(act: Callable[[], Awaitable[object]]) -> float:
    started = time.perf_counter()
    await act()
    return time.perf_counter() - started


def _p95(seconds: Sequence[float]) -> float:
    return 1e3 * float(np.percentile(seconds, 95))


if __name__ == "__main__":
    main()
