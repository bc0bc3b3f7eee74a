"""Looking citations up in the local ClickHouse engine, among many (seed 004: within 100 ms).

Rows are spread over two years; each look-up asks for another citation, so that none is answered
from a cache of results.
"""

import asyncio
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from workers.local.services import LocalServices
from workers.settings import ClickHouseSettings
from workers.stores.analytics import connect
from workers.stores.citations import CitationStore
from workers.stores.migrations import migrate

SOURCES = 20_000
"""Different records that are cited."""
SPACING_SECONDS = 63_072_000
"""The time over which the citations are spread: two years."""


def look_up_seconds(citations: int, look_ups: int) -> dict[str, list[float]]:
    """Seconds of each look-up by kind.

    Args:
        citations: rows in the table.
        look_ups: how many of each kind are timed.
    """
    return asyncio.run(_measure(citations, look_ups))


async def _measure(citations: int, look_ups: int) -> dict[str, list[float]]:
    with tempfile.TemporaryDirectory() as folder:
        services = LocalServices(Path(folder), kafka=False, redis=False, clickhouse=True)
        addresses = await services.start()
        try:
            return await _timed(addresses.clickhouse_url or "", citations, look_ups)
        finally:
            await services.stop()


async def _timed(url: str, citations: int, look_ups: int) -> dict[str, list[float]]:
    settings = ClickHouseSettings()
    client = await connect(settings, url)
    await migrate(client, settings.database)
    await client.command(
        f"INSERT INTO {settings.database}.citations (tenant, answer_id, citation_id, pipeline_version, rank, completed_at,"
        " valid, chunk_id, source_type, source_table, record_id, source_digest, forms)"
        " SELECT 't', toString(number), concat('citation-', toString(number)), 'v', 4,"
        f" toDateTime64('2025-01-01 00:00:00', 3) + toUInt32(number * {SPACING_SECONDS} / {citations}), 1, 'c',"
        " 'database', 'daily_summaries',"
        f" concat('record-', toString(number % {SOURCES})), hex(number % {SOURCES}), [] FROM numbers({citations})"
    )
    await client.command(
        f"INSERT INTO {settings.database}.sources (tenant, source_digest, content)"
        f" SELECT 't', hex(number), repeat('Loki needs 2 GiB. ', 20) FROM numbers({SOURCES})"
    )
    store, now = CitationStore(client, settings.database), datetime(2026, 11, 2, tzinfo=UTC)
    seconds: dict[str, list[float]] = {"citation": [], "source": []}
    for number in range(look_ups + 5):
        chosen = number * (citations // (look_ups + 5))
        for kind, look_up in (
            ("citation", store.citation(["t"], f"citation-{chosen}", now=now)),
            ("source", store.source("t", "daily_summaries", f"record-{chosen % SOURCES}", now=now)),
        ):
            started = time.perf_counter()
            if await look_up is None:
                raise RuntimeError(f"the {kind} of row {chosen} was not found")
            if number >= 5:
                seconds[kind].append(time.perf_counter() - started)
    await client.close()
    return seconds
