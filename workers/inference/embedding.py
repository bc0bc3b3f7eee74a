"""Embed texts in batches across answers, each distinct text once, without blocking the event loop."""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from workers.inference.backends import EmbeddingBackend
from workers.inference.batching import BatchingService, BatchLimits, BatchMetrics
from workers.observability import metrics
from workers.settings import InferenceSettings
from workers.stores.redis.shared_vector_store import SharedVectors

Vector = NDArray[np.float32]


class EmbeddingService(BatchingService[str]):
    """Vectors for texts, from the cache, other workers or the model; see :class:`BatchingService`.

    Args:
        backend: the model.
        settings: batch size, cache size and deadline.
        shared: vectors of the same model shared with other workers, ``None`` if not shared; closed with the service.
    """

    def __init__(
        self, backend: EmbeddingBackend, settings: InferenceSettings, shared: SharedVectors | None = None
    ) -> None:
        limits = BatchLimits(
            settings.batch_texts, settings.batch_wait_seconds, settings.cache_texts, settings.timeout_seconds
        )
        counted = BatchMetrics(metrics.INFERENCE_SECONDS, metrics.INFERENCE_BATCH, metrics.EMBEDDING_CACHE)
        super().__init__(backend.name, "texts", limits, counted)
        self._backend = backend
        self._shared = shared

    @property
    def version(self) -> str:
        """Return the name of the model."""
        return self._backend.name

    @property
    def dimensions(self) -> int:
        """Return the length of the model's vectors."""
        return self._backend.dimensions

    async def embed(self, texts: Iterable[str]) -> dict[str, Vector]:
        """Return the vectors of texts.

        The deadline covers one call of the model, not the wait for the texts of other callers.
        A burst therefore delays answers but does not degrade them.

        Args:
            texts: distinct or not, in any order.

        Returns:
            float32 of shape (dimensions,) and length 1 for each distinct text.

        Raises:
            InferenceTimeout: the model did not return within ``inference.timeout_seconds``.
            InferenceFailed: the model raised.
        """
        return await self._rows(texts)

    async def stop(self) -> None:
        """Stop, cancel the texts in progress, and close the shared vectors."""
        await super().stop()
        if self._shared is not None:
            await self._shared.close()

    def _digest(self, item: str) -> bytes:
        return blake2b(item.encode("utf-8", "surrogatepass"), digest_size=16).digest()

    def _compute(self, batch: Sequence[str]) -> Vector:
        vectors = self._backend.encode(batch)
        if vectors.shape != (len(batch), self._backend.dimensions) or not np.isfinite(vectors).all():
            raise ValueError(f"the model returned shape {vectors.shape} or values that are not finite")
        return vectors

    async def _find_shared(self, digests: Sequence[bytes]) -> Mapping[bytes, Vector]:
        return {} if self._shared is None else await self._shared.find(digests, self.dimensions)

    def _share(self, rows: Mapping[bytes, Vector]) -> None:
        if self._shared is not None:
            self._shared.keep(rows)
