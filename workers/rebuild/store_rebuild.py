"""Rebuild a store: open its connections, restore, verify and close them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

from clickhouse_connect.driver.asyncclient import AsyncClient

from workers.archive.archive_files import Archive
from workers.delivery.producer import ConfirmedProducer
from workers.delivery.topics.topic_administration import TopicAdministration
from workers.inference.embedding import EmbeddingService
from workers.inference.opening import open_embedding
from workers.pipeline.versions import pipeline_version
from workers.rebuild.memory_rebuild import Embed, rebuild_memory
from workers.rebuild.posteriors_rebuild import rebuild_posteriors
from workers.rebuild.rebuild_result import Progress, RebuildImpossible, Rebuilt
from workers.rebuild.rebuild_sources import RecordSource
from workers.rebuild.rebuild_targets import Store
from workers.rebuild.table_rebuild import rebuild_tables
from workers.settings import Settings
from workers.settings.addresses import Addresses
from workers.stores.clickhouse.analytics_store import AnalyticsStore, connect
from workers.stores.clickhouse.migrations import missing_tables, remake
from workers.stores.clickhouse.retention import apply_retention
from workers.stores.lancedb.memory_store import MemoryStore
from workers.stores.queries.feedback_store import FeedbackStore

STATEMENT_SECONDS = 3_600.0
"""Timeout of a statement: one statement compares and fills a table."""


async def rebuild(
    store: Store,
    settings: Settings,
    addresses: Addresses,
    progress: Progress,
    *,
    archive: str | Path | None = None,
    dry_run: bool = False,
) -> Rebuilt:
    """Restore a store from an optional archive and then from topics, and verify it.

    Nothing is deleted, and only the store is written to. Agents may continue to run.

    Args:
        store: store to rebuild.
        settings: all settings, those of the workers.
        addresses: addresses of the broker and the stores.
        progress: called after every step.
        archive: folder or address of the archive.
        dry_run: compare without writing.

    Raises:
        TouchstoneError: the broker or a store does not respond, or there is nothing to rebuild from.
    """
    async with TopicAdministration(settings, addresses.kafka) as topics:
        await topics.require()
    source = RecordSource(settings, addresses, None if archive is None else Archive(archive), progress)
    await source.start()
    if store is Store.MEMORY:
        return await _memory(source, settings, progress, dry_run=dry_run)
    async with _clickhouse(settings, addresses, dry_run=dry_run) as client:
        analytics = AnalyticsStore(client, settings.clickhouse.database)
        if store is Store.POSTERIORS:
            return await _posteriors(source, analytics, settings, addresses, dry_run=dry_run)
        return await rebuild_tables(store, source, analytics, settings, progress, dry_run=dry_run)


async def drill(
    settings: Settings, addresses: Addresses, progress: Progress, *, archive: str | Path | None = None
) -> Rebuilt:
    """Restore ClickHouse into a database of its own, verify it, and drop it: what the workers use stays untouched.

    Args:
        settings: all settings, those of the workers.
        addresses: addresses of the broker and the stores.
        progress: called after every step.
        archive: folder or address of the archive.

    Raises:
        TouchstoneError: as of ``rebuild``.
    """
    database = f"{settings.clickhouse.database}_drill_{uuid4().hex[:8]}"
    apart = settings.model_copy(update={"clickhouse": settings.clickhouse.model_copy(update={"database": database})})
    try:
        return await rebuild(Store.CLICKHOUSE, apart, addresses, progress, archive=archive)
    finally:
        client = await connect(settings.clickhouse, addresses.clickhouse)
        try:
            await client.command(f"DROP DATABASE IF EXISTS {database} SYNC")
        finally:
            await client.close()


@asynccontextmanager
async def _clickhouse(settings: Settings, addresses: Addresses, *, dry_run: bool) -> AsyncIterator[AsyncClient]:
    patient = settings.clickhouse.model_copy(update={"timeout_seconds": STATEMENT_SECONDS})
    client = await connect(patient, addresses.clickhouse)
    database = settings.clickhouse.database
    try:
        if not dry_run:
            await remake(client, database)
            await apply_retention(client, database, settings.retention)
        elif missing := await missing_tables(client, database):
            raise RebuildImpossible(
                f"database {database} lacks the tables {', '.join(missing)}; run without --dry-run to create them"
            )
        yield client
    finally:
        await client.close()


async def _memory(source: RecordSource, settings: Settings, progress: Progress, *, dry_run: bool) -> Rebuilt:
    opened: list[tuple[MemoryStore, EmbeddingService]] = []

    async def open_memory() -> tuple[MemoryStore, Embed]:
        if not opened:
            embedding = await open_embedding(settings)
            memory = MemoryStore(settings.memory_uri, embedding.dimensions)
            opened.append((memory, embedding))
            await memory.open()
        memory, embedding = opened[0]
        return memory, embedding.embed

    try:
        return await rebuild_memory(source, settings.memory_uri, open_memory, progress, dry_run=dry_run)
    finally:
        for memory, embedding in opened:
            await memory.close()
            await embedding.stop()


async def _posteriors(
    source: RecordSource, analytics: AnalyticsStore, settings: Settings, addresses: Addresses, *, dry_run: bool
) -> Rebuilt:
    producer = ConfirmedProducer(settings, addresses.kafka)
    feedback = FeedbackStore(analytics, settings.clickhouse.database)
    await producer.start()
    try:
        return await rebuild_posteriors(
            source, feedback, producer, settings.routing, pipeline_version(settings), dry_run=dry_run
        )
    finally:
        await producer.stop()
