"""Measure the cost of one answer for docs/operations/scaling.md: ``python -m benchmarks.sizing [FILE]``.

Sends the example answers (or those of FILE, one a line) through a worker process of its own on local
servers and reports CPU time, bytes on each topic, rows and bytes in ClickHouse, bytes in Redis and in memory.
CPU time, not wall clock: it says the same on a machine that others use as well.
"""

import asyncio
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson
import redis.asyncio
from aiokafka.codec import zstd_encode

from schemas.topics import ROUTING_POSTERIORS, TOPICS
from tests.harness.deployment import Deployment, WorkerProcess, until
from workers.local.services import LocalServices
from workers.settings.addresses import Addresses, local_addresses
from workers.stores.lancedb.memory_store import MemoryStore

EXAMPLES = Path(__file__).resolve().parent.parent / "examples" / "answers.jsonl"
GROUPS = {
    path.stem: re.findall(r'--agents, "([\w,]+)"', text)[0].split(",")
    for path in sorted((EXAMPLES.parent.parent / "deploy" / "kubernetes").glob("*.yaml"))
    if "--agents" in (text := path.read_text(encoding="utf-8"))
}
"""The agents that run together, as they are deployed."""
IDLE_SECONDS = 30
"""Time over which is measured what a worker uses with nothing to do; it is no part of an answer's cost."""
TICKS = os.sysconf("SC_CLK_TCK")
COMPRESSED = "SELECT table, sum(rows), sum(data_compressed_bytes) FROM system.parts WHERE active AND database = '{db}' GROUP BY table ORDER BY table"


def cpu_seconds(worker: WorkerProcess) -> float:
    fields = Path(f"/proc/{worker.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def records(file: Path) -> Iterator[tuple[bytes, bytes]]:
    for line in file.read_bytes().splitlines():
        yield orjson.loads(line)["answer_id"].encode(), line


def size_of(path: Path) -> int:
    return sum(file.stat().st_size for file in (path, *path.rglob("*")) if file.is_file())


async def settled(deployment: Deployment, answers: int) -> None:
    client = await deployment.client()

    async def waiting(name: str) -> float:
        return sum([await worker.metric(name) for worker in deployment.workers])

    async def done() -> bool:
        stored = (await deployment.query(client, "SELECT count() FROM {db}.answers FINAL"))[0]
        busy = await waiting("touchstone_consumer_lag_records") + await waiting("touchstone_records_in_flight")
        return int(stored) >= answers and busy == 0

    await until(done, "all answers stored", 1_800)
    await client.close()


async def measure(addresses: Addresses, directory: Path, file: Path) -> None:
    deployment = Deployment(addresses, directory)
    await deployment.prepare()
    workers = {name: await deployment.start_worker(agents) for name, agents in GROUPS.items()}
    before = {name: cpu_seconds(worker) for name, worker in workers.items()}
    await asyncio.sleep(IDLE_SECONDS)
    idle = {name: (cpu_seconds(worker), worker.peak_bytes()) for name, worker in workers.items()}
    started = time.monotonic()
    answers = await deployment.send(records(file))
    await settled(deployment, answers)
    seconds = time.monotonic() - started
    print(f"{answers} answers of {size_of(file) / answers:,.0f} bytes in {seconds:.0f} s")
    print("process        CPU ms an answer; CPU share with nothing to do; memory in MB with nothing to do and at most")
    for name, worker in workers.items():
        rate = (idle[name][0] - before[name]) / IDLE_SECONDS
        cpu = 1_000 * (cpu_seconds(worker) - idle[name][0] - rate * seconds) / answers
        print(f"  {name:<20} {cpu:6.1f} {rate:6.3f} {idle[name][1] / 1e6:6,.0f} {worker.peak_bytes() / 1e6:6,.0f}")
    await report_topics(deployment, answers)
    await report_clickhouse(deployment, answers)
    await report_redis(deployment)
    for worker in workers.values():
        assert await worker.terminate() == 0
    await report_memory(deployment)


async def report_topics(deployment: Deployment, answers: int) -> None:
    totals = [0, 0, 0]
    print("topics         records, bytes with keys and headers, and bytes of each record compressed alone, an answer")
    for topic in TOPICS:
        contents = [content(record) for record in await deployment.read(topic)]
        # Posteriors grow with models and query types, not with answers.
        figures = [len(contents), sum(map(len, contents)), sum(len(zstd_encode(each)) for each in contents)]
        if contents:
            print(f"  {topic.name:<20} {figures_of(figures, answers)}")
        if topic is not ROUTING_POSTERIORS:
            totals = [total + figure for total, figure in zip(totals, figures, strict=True)]
    print(f"  {'without posteriors':<20} {figures_of(totals, answers)}")


def content(record: Any) -> bytes:
    """Return key, headers and value of a record in one."""
    headers = b"".join(name.encode() + (value or b"") for name, value in record.headers)
    return (record.key or b"") + headers + (record.value or b"")


def figures_of(figures: Sequence[int], answers: int) -> str:
    records, size, compressed = figures
    return f"{records / answers:6.2f} {size / answers:10,.0f} {compressed / answers:10,.0f}"


async def report_clickhouse(deployment: Deployment, answers: int) -> None:
    client = await deployment.client()
    tables = [row[0] for row in (await client.query(COMPRESSED.format(db=deployment.name))).result_rows]
    for table in tables:
        await client.command(f"OPTIMIZE TABLE {deployment.name}.{table} FINAL")
    print("ClickHouse     an answer, after merging")
    totals = [0.0, 0.0]
    for table, rows, size in (await client.query(COMPRESSED.format(db=deployment.name))).result_rows:
        totals = [totals[0] + rows, totals[1] + size]
        print(f"  {table:<20} {rows / answers:6.2f} rows    {size / answers:10,.0f} bytes")
    print(f"  {'together':<20} {totals[0] / answers:6.2f} rows    {totals[1] / answers:10,.0f} bytes")
    await client.close()


async def report_redis(deployment: Deployment) -> None:
    async with redis.asyncio.Redis.from_url(deployment.addresses.redis) as store:
        keys = [key async for key in store.scan_iter(f"{deployment.name}:*")]
        size = sum([await store.memory_usage(key) or 0 for key in keys])
        people = {key.partition(b"{")[2].partition(b"}")[0] for key in keys}
        entries = sum(not key.endswith(b":index") for key in keys)
    print(
        f"Redis          {size / max(1, len(people)):,.0f} bytes a person, {size / max(1, entries):,.0f} a query, 5 minutes"
    )


async def report_memory(deployment: Deployment) -> None:
    store = MemoryStore(deployment.settings.memory_uri, 384)
    await store.open()
    turns = len(await store.turns())
    await store.close()
    size = size_of(Path(deployment.settings.memory_uri))
    print(
        f"LanceDB        {size / max(1, turns):,.0f} bytes a turn ({turns} turns, old versions of its files included)"
    )


async def main() -> None:
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else EXAMPLES
    with tempfile.TemporaryDirectory() as directory:
        async with LocalServices(Path(directory) / "services") as services:
            await measure(local_addresses(services.addresses), Path(directory), file)


if __name__ == "__main__":
    asyncio.run(main())
