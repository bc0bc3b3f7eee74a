"""The packaged embedding model, which embeds a text once in a process."""

from collections.abc import Sequence

import numpy as np

from workers.inference.backends import SentenceTransformerBackend, Vectors


class RememberingBackend(SentenceTransformerBackend):
    """Keep each vector: a vector depends on its text alone, to the last bit, and tests embed the same texts many times.

    More than half of the CPU of an evaluation in fp32 is the model's. Tests of the model itself use one that forgets.
    """

    def __init__(self, model: str, threads: int = 0) -> None:
        self._known: dict[str, Vectors] = {}
        super().__init__(model, threads)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Embed texts; see :class:`EmbeddingBackend`."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known.update(zip(new, super().encode(new), strict=True))
        return np.ascontiguousarray(np.stack([self._known[text] for text in texts]), dtype=np.float32)
