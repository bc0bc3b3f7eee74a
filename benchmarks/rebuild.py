"""Measure a rebuild of ClickHouse from nothing, and a comparison of existing rows.

Rows of answers and claims as agents write them, on the local broker and ClickHouse engine; the time
of inserting the same rows once, without topics and staging tables, beside it.
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from aiokafka import AIOKafkaProducer

from schemas.export import example
from schemas.feedback import AnalyticsRow
from schemas.topics import FEEDBACK_ANALYTICS
from workers.delivery.topics.topic_administration import TopicAdministration
from workers.local.services import LocalServices
from workers.rebuild.rebuild_targets import Store
from workers.rebuild.store_rebuild import rebuild
from workers.settings import Settings
from workers.settings.addresses import Addresses, apply_local_defaults, local_addresses
from workers.stores.clickhouse.analytics_store import AnalyticsStore, connect
from workers.stores.clickhouse.migrations import migrate

CLAIMS = 5
"""Of one answer."""
BATCH = 500


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=10_000, help="answers, each with five claims (default 10000)")
    options = parser.parse_args()
    rows = options.answers * (1 + CLAIMS)
    for name, seconds in asyncio.run(_measure(options.answers)).items():
        print(f"{name:<40} {seconds:8.1f} s {rows / seconds:10.0f} rows/s")


async def _measure(answers: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        async with LocalServices(Path(folder)) as services:
            addresses = local_addresses(services.addresses)
            return await _timed(apply_local_defaults(Settings(_env_file=None), addresses), addresses, answers)


async def _timed(settings: Settings, addresses: Addresses, answers: int) -> dict[str, float]:
    async with TopicAdministration(settings, addresses.kafka) as administration:
        await administration.create()
    await _send(settings, addresses, answers)
    seconds: dict[str, float] = {}
    for name, dry_run in (("rebuild from nothing", False), ("comparison (--dry-run)", True)):
        started = time.perf_counter()
        done = await rebuild(Store.CLICKHOUSE, settings, addresses, lambda *_: None, dry_run=dry_run)
        seconds[name] = time.perf_counter() - started
        assert done.is_verified
        assert done.parts["claims"].expected == answers * CLAIMS
    seconds["the inserts alone"] = await _inserts(settings, addresses, answers)
    return seconds


async def _send(settings: Settings, addresses: Addresses, answers: int) -> None:
    producer = AIOKafkaProducer(bootstrap_servers=addresses.kafka, linger_ms=20)
    await producer.start()
    try:
        topic = settings.topic_name(FEEDBACK_ANALYTICS.name)
        pending = []
        for table, columns in _rows(answers):
            key, row = str(columns["answer_id"]).encode(), AnalyticsRow(table=table, columns=columns)
            pending.append(await producer.send(topic, row.to_bytes(), key=key))
            if len(pending) == BATCH:
                await asyncio.gather(*pending)
                pending.clear()
        await asyncio.gather(*pending)
    finally:
        await producer.stop()


async def _inserts(settings: Settings, addresses: Addresses, answers: int) -> float:
    client = await connect(settings.clickhouse, addresses.clickhouse)
    try:
        await migrate(client, "beside")
        store = AnalyticsStore(client, "beside")
        waiting: dict[str, list[dict[str, Any]]] = {"answers": [], "claims": []}
        started = time.perf_counter()
        for table, columns in _rows(answers):
            waiting[table].append(columns)
            if len(waiting[table]) == BATCH:
                await store.insert(table, waiting[table])
                waiting[table] = []
        for each, rest in waiting.items():
            await store.insert(each, rest)
        return time.perf_counter() - started
    finally:
        await client.close()


def _rows(answers: int) -> Iterator[tuple[str, dict[str, Any]]]:
    columns = AnalyticsRow.model_validate(example(AnalyticsRow)).columns
    now = datetime.now(UTC)
    for number in range(answers):
        shared = {"answer_id": f"a-{number}", "completed_at": (now - timedelta(seconds=60 * number)).isoformat()}
        yield "answers", columns | shared
        for claim in range(CLAIMS):
            yield "claims", _claim(shared, number, claim)


def _claim(shared: dict[str, Any], number: int, claim: int) -> dict[str, Any]:
    return shared | {
        "tenant": "acme", "claim_id": f"c-{number}-{claim}", "pipeline_version": "v", "rank": 4, "start": 100 * claim,
        "end": 100 * claim + 80, "text": f"The pump of line {number} runs at {claim}.2 bar under load, as measured.",
        "kind": "factual", "hedged": False, "verdict": "supported", "score": 0.9, "evidence": "runs at 4.2 bar " * 20,
    }  # fmt: skip


if __name__ == "__main__":
    main()
