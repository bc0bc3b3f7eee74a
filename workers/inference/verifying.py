"""Cross-encoders that read evidence and claim together, and the one in int8 with ONNX Runtime.

A pair has a run of its own, without padding, for the reason that a text has one in ``int8``: dynamic
quantisation takes the range of what is in the run. As many runs go side by side as there are threads.
"""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import file_digest
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from workers.delivery.errors import TouchstoneError
from workers.inference.cores import available_cores
from workers.inference.int8 import MAX_TOKENS, TOKENIZER
from workers.steps.verification import VerifierPair

WEIGHTS = "touchstone.weights"
"""Name of the metadata that holds the digest of the weights that the file was made of."""
OUTCOMES = ("supported", "contradicted", "unsupported")
"""What the columns of a verdict stand for, in order."""

Verdict = NDArray[np.float32]


class VerifierUnusable(TouchstoneError):
    """The verifier of the settings cannot be had; the message says why and what to do."""


class VerifierBackend(Protocol):
    """A model that judges claims by their evidence.

    Attributes:
        name: as the settings call it.
        version: tells other weights apart.
    """

    name: str
    version: str

    def score(self, pairs: Sequence[VerifierPair]) -> Verdict:
        """Judge pairs.

        Args:
            pairs: any number of pairs.

        Returns:
            float32 of shape (len(pairs), 3): probabilities of supported, contradicted and
            unsupported, which sum to 1. A row depends on its pair alone, to the last bit.
        """


class Int8Verifier:
    """A verifier of one ONNX file; see the module, and ``exporting_verifier`` for what makes the file.

    Args:
        path: the file.
        name: as the settings call it.
        threads: pairs judged side by side, 0 for as many as there are cores for this process.

    Raises:
        VerifierUnusable: a library is missing, or the file is none or no verifier.
    """

    def __init__(self, path: Path, name: str, threads: int = 0) -> None:
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        try:
            import onnxruntime
            from tokenizers import Tokenizer
        except ImportError as error:
            raise VerifierUnusable(
                f"grounding.verifier is {name}, and {error.name} is not installed; "
                "pip install 'touchstone-worker[int8]', or set it to none"
            ) from error
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        try:
            self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
            metadata = self._session.get_modelmeta().custom_metadata_map
            self._tokenizer, self._fallback = (
                _tokenizer(Tokenizer.from_str(metadata[TOKENIZER]), int(metadata[MAX_TOKENS]), strategy)
                for strategy in ("only_first", "longest_first")
            )
            self.version = str(metadata[WEIGHTS])[:12]
        except Exception as error:
            raise VerifierUnusable(
                f"grounding.verifier: {path} is no verifier that can be loaded ({type(error).__name__}); make it with "
                "python -m workers.inference.exporting_verifier, or set grounding.verifier to none"
            ) from error
        self.name = name
        workers = threads or available_cores()
        self._pool = ThreadPoolExecutor(max_workers=workers, thread_name_prefix="verifier") if workers > 1 else None

    def score(self, pairs: Sequence[VerifierPair]) -> Verdict:
        """Judge pairs; see :class:`VerifierBackend`."""
        rows = map(self._run, pairs) if self._pool is None else self._pool.map(self._run, pairs)
        return np.array(list(rows), dtype=np.float32).reshape(len(pairs), len(OUTCOMES))

    def _run(self, pair: VerifierPair) -> Verdict:
        encoding = self._encoded(pair)
        ids = np.array([encoding.ids], dtype=np.int64)
        inputs = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.array([encoding.type_ids], dtype=np.int64),
        }
        logits: Verdict = self._session.run(None, inputs)[0][0]
        return softmax(logits)

    def _encoded(self, pair: VerifierPair) -> Any:
        try:
            return self._tokenizer.encode(pair.evidence, pair.claim)
        except Exception:
            # The library refuses to cut the evidence alone where the claim is longer than the model reads, as in a
            # script in which each character is a token.
            return self._fallback.encode(pair.evidence, pair.claim)


def _tokenizer(tokenizer: Any, max_tokens: int, strategy: str) -> Any:
    tokenizer.enable_truncation(max_tokens, strategy=strategy)
    tokenizer.no_padding()
    return tokenizer


def softmax(logits: Verdict) -> Verdict:
    """Probabilities of logits, shape (n,) each."""
    powers = np.exp(logits - logits.max())
    found: Verdict = powers / powers.sum()
    return found


def file_version(path: Path) -> str:
    """Digest of a file, hexadecimal; of one that is not there, of nothing: whoever opens it says so."""
    if not path.is_file():
        return "missing"
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
