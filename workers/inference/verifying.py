"""Define verifiers (cross-encoders that read evidence and claim together), and run one in int8 with ONNX Runtime.

Each pair is run separately and without padding, for the same reason as the texts in ``int8``: dynamic quantisation
depends on the range of all values in a run. The number of parallel runs is the number of threads.
"""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import file_digest
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from workers.errors import TouchstoneError
from workers.evaluation.grounding.sources.verifier_evidence import VerifierPair
from workers.inference.int8 import MAX_TOKENS, TOKENIZER
from workers.process.cores import available_cores

WEIGHTS = "touchstone.weights"
"""Name of the metadata entry with the digest of the weights from which the file was exported."""
OUTCOMES = ("supported", "contradicted", "unsupported")
"""Columns of a verdict, in order."""

Verdict = NDArray[np.float32]


class VerifierUnusable(TouchstoneError):
    """The verifier of the settings cannot be used; the message names the cause and the remedy."""


class VerifierBackend(Protocol):
    """A model that verifies claims against their evidence.

    Attributes:
        name: name of the verifier in the settings.
        version: identifies the weights.
    """

    name: str
    version: str

    def score(self, pairs: Sequence[VerifierPair]) -> Verdict:
        """Score pairs.

        Args:
            pairs: any number of pairs.

        Returns:
            float32 of shape (len(pairs), 3): probabilities of supported, contradicted and
            unsupported, which sum to 1. A row depends only on its pair, to the last bit.
        """


class Int8Verifier:
    """A verifier in one ONNX file; see the module. ``exporting_verifier`` exports such files.

    Args:
        path: the file.
        name: name of the verifier in the settings.
        threads: number of pairs verified in parallel, 0 for as many as this process has cores.

    Raises:
        VerifierUnusable: a library or the file is missing, or the file is no verifier.
    """

    def __init__(self, path: Path, name: str, threads: int = 0) -> None:
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        try:
            import onnxruntime
            from tokenizers import Tokenizer
        except ImportError as error:
            raise VerifierUnusable(
                f"grounding.verifier is {name}, but {error.name} is not installed; run pip install "
                "'touchstone-worker[int8]', or set grounding.verifier to none"
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
                f"grounding.verifier: {path} is not a verifier that can be loaded ({type(error).__name__}); "
                "export it with python -m workers.inference.exporting_verifier, or set grounding.verifier to none"
            ) from error
        self.name = name
        workers = threads or available_cores()
        self._pool = ThreadPoolExecutor(max_workers=workers, thread_name_prefix="verifier") if workers > 1 else None

    def score(self, pairs: Sequence[VerifierPair]) -> Verdict:
        """Score pairs; see :class:`VerifierBackend`."""
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
            # The library refuses to truncate the evidence alone if the claim exceeds the model's limit. This happens
            # in scripts where each character is a token.
            return self._fallback.encode(pair.evidence, pair.claim)


def _tokenizer(tokenizer: Any, max_tokens: int, strategy: str) -> Any:
    tokenizer.enable_truncation(max_tokens, strategy=strategy)
    tokenizer.no_padding()
    return tokenizer


def softmax(logits: Verdict) -> Verdict:
    """Return the probabilities of logits; both have shape (n,)."""
    powers = np.exp(logits - logits.max())
    found: Verdict = powers / powers.sum()
    return found


def file_version(path: Path) -> str:
    """Return the hexadecimal digest of a file, or "missing"; the code that opens the file reports the error."""
    if not path.is_file():
        return "missing"
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
