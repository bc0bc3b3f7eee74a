"""Rebuilding a store: what each needs is opened, used and closed."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from clickhouse_connect.driver.asyncclient import AsyncClient

from workers.addresses import Addresses
from workers.delivery.producer import ConfirmedProducer
from workers.inference.embedding import EmbeddingService
from workers.inference.opening import open_embedding
from workers.replay.archive import Archive
from workers.replay.rebuilding import Progress, RebuildImpossible, Rebuilt
from workers.replay.rebuilding_memory import Embed, rebuild_memory
from workers.replay.rebuilding_posteriors import rebuild_posteriors
from workers.replay.rebuilding_records import RecordSource
from workers.replay.rebuilding_tables import rebuild_tables
from workers.replay.rebuilding_targets import Store
from workers.settings import Settings
from workers.stores.analytics import AnalyticsStore, connect
from workers.stores.feedback import FeedbackStore
from workers.stores.memory import MemoryStore
from workers.stores.migrations import missing_tables, remake
from workers.stores.retention import apply_retention
from workers.topics import TopicAdministration
from workers.versions import pipeline_version

STATEMENT_SECONDS = 3_600.0
"""Longest statement: a table is compared and filled by one."""


async def rebuild(
    store: Store,
    settings: Settings,
    addresses: Addresses,
    progress: Progress,
    *,
    archive: Path | None = None,
    dry_run: bool = False,
) -> Rebuilt:
    """Restore a store from topics, after those of an archive if one is named, and verify it.

    Nothing is deleted and nothing but the store is written to; running agents may go on.

    Args:
        store: which one.
        settings: all settings, those of the workers.
        addresses: of the broker and the stores.
        progress: told of every step.
        archive: its folder.
        dry_run: compare only.

    Raises:
        TouchstoneError: the broker or a store does not answer, or there is nothing to rebuild from.
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
                f"database {database} lacks {', '.join(missing)}, so there is nothing to compare; "
                "without --dry-run they are made again"
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
