"""Loading the model that the settings name, off the loop, and the service in front of it."""

import asyncio

from workers.inference.backends import EmbeddingBackend, SentenceTransformerBackend
from workers.inference.embedding import EmbeddingService
from workers.inference.int8 import Int8Backend
from workers.settings import Settings


def open_backend(settings: Settings) -> EmbeddingBackend:
    """The model; takes seconds.

    Raises:
        Int8Unusable: int8 is asked for, and a library is missing or the model cannot be exported.
    """
    inference = settings.inference
    if inference.precision == "int8":
        return Int8Backend(inference.model, inference.export_dir or settings.state_dir / "models", inference.threads)
    return SentenceTransformerBackend(inference.model, inference.threads)


async def open_embedding(settings: Settings, backend: EmbeddingBackend | None = None) -> EmbeddingService:
    """The service, started; whoever opens it stops it.

    Args:
        settings: model, precision, batches, cache.
        backend: the model, if it is loaded already.

    Raises:
        Int8Unusable: see :func:`open_backend`.
    """
    if backend is None:
        backend = await asyncio.to_thread(open_backend, settings)
    service = EmbeddingService(backend, settings.inference)
    service.start()
    return service
