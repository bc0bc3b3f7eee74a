"""The services that the agents and the console of one process share."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp

from workers.exporters.receiver import open_session
from workers.inference.embedding import EmbeddingService
from workers.inference.opening import open_embedding, open_verification
from workers.inference.verification import VerificationService
from workers.pipeline.shared_vectors import open_shared_vectors
from workers.services.openers import open_clickhouse
from workers.services.shared_service import SharedService
from workers.settings import Settings
from workers.settings.addresses import Addresses
from workers.stores.clickhouse.analytics_store import AnalyticsStore
from workers.stores.lancedb.memory_store import MemoryStore


class SharedServices:
    """Open services for their first user, and close them after their last.

    Args:
        settings: all settings.
        addresses: addresses of broker and stores.

    Attributes:
        clickhouse: ClickHouse with an up-to-date schema.
        embedder: the embedding model.
        verifier: the verifier, ``None`` if the settings name none.
        memory: conversational memory, with vectors of the embedding model.
        http: session of the exporters.
        failures: one future for each open model, done if the model fails permanently.
    """

    def __init__(self, settings: Settings, addresses: Addresses) -> None:
        self._settings = settings
        self._addresses = addresses
        self.clickhouse: SharedService[AnalyticsStore] = SharedService(
            lambda: open_clickhouse(settings, addresses.clickhouse)
        )
        self.embedder: SharedService[EmbeddingService] = SharedService(self._open_embedder)
        self.verifier: SharedService[VerificationService | None] = SharedService(self._open_verifier)
        self.memory: SharedService[MemoryStore] = SharedService(self._open_memory)
        self.http: SharedService[aiohttp.ClientSession] = SharedService(lambda: open_session(settings.exports))
        self.failures: list[asyncio.Future[Exception]] = []

    @asynccontextmanager
    async def _open_embedder(self) -> AsyncIterator[EmbeddingService]:
        shared = open_shared_vectors(self._settings, self._addresses.redis)
        service = await open_embedding(self._settings, shared=shared)
        async with self._running(service):
            yield service

    @asynccontextmanager
    async def _open_verifier(self) -> AsyncIterator[VerificationService | None]:
        service = await open_verification(self._settings)
        if service is None:
            yield None
            return
        async with self._running(service):
            yield service

    @asynccontextmanager
    async def _open_memory(self) -> AsyncIterator[MemoryStore]:
        async with self.embedder() as embedder:
            store = MemoryStore(self._settings.memory_uri, embedder.dimensions)
            try:
                await store.open()
                yield store
            finally:
                await store.close()

    @asynccontextmanager
    async def _running(self, service: EmbeddingService | VerificationService) -> AsyncIterator[None]:
        self.failures.append(service.failure)
        try:
            yield
        finally:
            self.failures.remove(service.failure)
            await service.stop()
