"""Measure the review queue with 100,000 open requests: a page, an item and the next one (goal: a page in 200 ms).

Rows as agents write them, on the local ClickHouse engine; as many decided ones beside them, one in
a hundred open ones escalated, and each request's content of a few kilobytes. The alternative, a
projection in memory, is measured by what it takes to begin: to read the requests' records and
keep what a page shows.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from schemas.identifiers import fact_id
from schemas.review import ReviewRequest
from workers.local.services import LocalServices
from workers.settings import ClickHouseSettings
from workers.stores.clickhouse.analytics_store import AnalyticsStore, connect
from workers.stores.clickhouse.migrations import migrate
from workers.stores.queries.reviews.review_queries import ReviewStore
from workers.stores.queries.reviews.review_queue_rows import QueueCursor, QueueFilters

AT = datetime(2026, 11, 2, tzinfo=UTC)
IDENTIFIER = "lower(concat(hex(sipHash64(number)), '-', toString(number)))"
TENANT = "concat('t', toString(number % 4))"
PERSON = "concat('p', toString(number % 9))"
"""Person of a final decision; those of one request are the same in all tables."""
CONTENT_BYTES = 6_000
CHUNK = 10_000
"""Requests in one insert: their content goes through memory."""
ROUNDS = 30
SAMPLE = 2_000
"""Requests that the projection in memory is timed on."""


def main() -> None:
    """Measure and print; write JSON if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--open", type=int, default=100_000, help="open requests (default 100000)")
    parser.add_argument("--json", type=Path, help="write the figures to a file")
    options = parser.parse_args()
    seconds = asyncio.run(_measure(options.open))
    figures = {
        name: {"best_ms": min(times) * 1_000, "p50_ms": _percentile(times, 50), "p95_ms": _percentile(times, 95)}
        for name, times in seconds.items()
    }
    for name, figure in figures.items():
        print(f"{name:<34} {figure['p95_ms']:9.1f} ms p95 ({figure['p50_ms']:.1f} p50, {figure['best_ms']:.1f} best)")
    begin, size = _in_memory(options.open)
    print(f"{'projection in memory':<34} {begin:9.1f} s to begin, {size / 2**20:.0f} MiB")
    if options.json:
        document = {"open": options.open, "queue": figures, "in_memory": {"seconds": begin, "bytes": size}}
        options.json.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def _percentile(seconds: list[float], share: int) -> float:
    return float(np.percentile(seconds, share)) * 1_000


async def _measure(count: int) -> dict[str, list[float]]:
    with tempfile.TemporaryDirectory() as folder:
        services = LocalServices(Path(folder), kafka=False, redis=False, clickhouse=True)
        addresses = await services.start()
        try:
            return await _timed(addresses.clickhouse_url or "", count)
        finally:
            await services.stop()


async def _timed(url: str, count: int) -> dict[str, list[float]]:
    settings = ClickHouseSettings()
    client = await connect(settings, url)
    await migrate(client, settings.database)
    await fill(client, settings.database, count)
    store = ReviewStore(AnalyticsStore(client, settings.database), settings.database)
    some = await store.page(QueueFilters(), limit=25)
    middle = QueueCursor(0.5, AT, "")
    cases: dict[str, Callable[[], Awaitable[Any]]] = {
        "first page of 25": lambda: store.page(QueueFilters(), limit=26),
        "a page in the middle": lambda: store.page(QueueFilters(), limit=26, after=middle),
        "a page with filters": lambda: store.page(
            QueueFilters(tenants=("t1",), model="m1", min_risk="high", reason="high_hallucination_risk"), limit=26
        ),
        "a page of an escalated queue": lambda: store.page(QueueFilters(queue="escalated"), limit=26),
        "page and count together": lambda: asyncio.gather(
            store.page(QueueFilters(), limit=26), store.count(QueueFilters())
        ),
        "one place": lambda: store.place(some[7].review_id, ()),
        "one request": lambda: store.requests([some[9].key]),
        "figures": lambda: store.figures((), AT),
    }
    seconds: dict[str, list[float]] = {name: [] for name in cases}
    for number in range(ROUNDS + 3):
        for name, case in cases.items():
            started = time.perf_counter()
            if not await case():
                raise RuntimeError(f"{name}: nothing was found")
            if number >= 3:
                seconds[name].append(time.perf_counter() - started)
    await client.close()
    return seconds


async def fill(client: Any, database: str, count: int, gap: int = 1) -> None:
    """Write the rows of open requests, of as many decided ones, and their content.

    Args:
        client: of ClickHouse.
        database: with the tables.
        count: open requests.
        gap: seconds between two decisions, the latest of now.
    """
    for state, start, rank in (("open", 0, 4), ("open", count, 4), ("released", count, 100)):
        by, decided = ("''", "NULL") if state == "open" else (PERSON, f"now64(3) - (number - {start}) * {gap}")
        await client.command(
            f"INSERT INTO {database}.review_queue (review_id, answer_id, tenant, rank, state, held, risk_mode, reasons,"
            " signals, hallucination_risk, gate_score, priority, model_id, title, completed_at, requested_at, deadline_at,"
            " decided_by, decided_at)"
            f" SELECT {IDENTIFIER}, concat('a-', toString(number)), {TENANT}, {rank}, '{state}',"
            " number % 3 = 0, 'observer', ['high_hallucination_risk'], ['hedging'],"
            " ['low', 'medium', 'high'][number % 3 + 1], (number % 100) / 100, (sipHash64(number) % 1000) / 1000,"
            " concat('m', toString(number % 5)), concat('Why does number ', toString(number), ' restart again?'),"
            f" toDateTime64('2026-11-01 00:00:00', 3) - number, toDateTime64('2026-11-01 00:00:00', 3) - number,"
            f" toDateTime64('2036-11-05 00:00:00', 3), {by}, {decided} FROM numbers({start}, {count})"
        )
    await client.command(
        f"INSERT INTO {database}.review_events (review_id, event_id, answer_id, tenant, kind, reviewer, queue, deadline_at,"
        f" occurred_at) SELECT {IDENTIFIER}, toString(number), '', {TENANT}, 'escalated', 'first', 'escalated',"
        f" toDateTime64('2036-11-06 00:00:00', 3), toDateTime64('2026-11-02 00:00:00', 3) FROM numbers({count})"
        " WHERE number % 100 = 0"
    )
    request = _request(1).model_dump_json(exclude={"query", "answer", "review_id", "answer_id", "tenant"})
    for start in range(0, count, CHUNK):
        await client.command(
            f"INSERT INTO {database}.reviews (tenant, review_id, answer_id, pipeline_version, rank, state, held, risk_mode,"
            " reasons, priority, query, answer, completed_at, requested_at, request)"
            f" SELECT {TENANT}, {IDENTIFIER}, concat('a-', toString(number)), 'v', 4, 'open', 0, 'observer', [], 0.5, 'q', 'a',"
            " toDateTime64('2026-11-01 00:00:00', 3) - number, toDateTime64('2026-11-01 00:00:00', 3),"
            f' concat(\'{{"review_id": "\', {IDENTIFIER}, \'", "answer_id": "a-\', toString(number), \'", "tenant": "\', {TENANT},'
            " '\",', substring({request:String}, 2))"
            f" FROM numbers({start}, {min(CHUNK, count - start)})",
            parameters={"request": request},
        )


def _request(number: int) -> ReviewRequest:
    rng = np.random.default_rng(number)
    words = " ".join(
        rng.choice(["Loki", "needs", "memory", "and", "restarts", "often", "2", "GiB"], CONTENT_BYTES // 6)
    )
    return ReviewRequest(
        review_id=fact_id("default", f"a-{number}", "review"),
        answer_id=f"a-{number}",
        query="Why does it restart?",
        answer="It needs 2 GiB.",
        risk_mode="observer",
        held=False,
        contexts=[{"number": 1, "chunk_id": "c", "content": words}],
        contexts_total=1,
        pipeline_version="v",
        requested_at=AT,
        deadline_at=AT + timedelta(days=1),
    )


def _in_memory(count: int) -> tuple[float, int]:
    """Return the seconds to read that many requests from their records, and the bytes of a page's view of them."""
    values = [_request(number).to_bytes() for number in range(SAMPLE)]
    shown = set(ReviewRequest.model_fields) - {"contexts", "claims", "answer", "releasable"}
    started = time.perf_counter()
    kept = [{name: value for name, value in orjson.loads(record).items() if name in shown} for record in values]
    seconds = time.perf_counter() - started
    size = sum(sys.getsizeof(entry) + sum(sys.getsizeof(value) for value in entry.values()) for entry in kept)
    return seconds / SAMPLE * count, size * count // SAMPLE


if __name__ == "__main__":
    main()
