"""Loading the model that the settings name, off the loop, and the service in front of it."""

import asyncio

from workers.inference.backends import EmbeddingBackend, SentenceTransformerBackend
from workers.inference.embedding import EmbeddingService
from workers.settings import InferenceSettings


def open_backend(inference: InferenceSettings) -> EmbeddingBackend:
    """The model; takes seconds."""
    return SentenceTransformerBackend(inference.model, inference.threads)


async def open_embedding(inference: InferenceSettings, backend: EmbeddingBackend | None = None) -> EmbeddingService:
    """The service, started; whoever opens it stops it.

    Args:
        inference: model, batches, cache.
        backend: the model, if it is loaded already.
    """
    if backend is None:
        backend = await asyncio.to_thread(open_backend, inference)
    service = EmbeddingService(backend, inference)
    service.start()
    return service
