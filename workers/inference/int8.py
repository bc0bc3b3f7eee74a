"""The embedding model in int8 with ONNX Runtime: the same vectors in any company, at a third of the CPU.

The weights are quantised by channel, activations as they come by (dynamically), by the range of what is
in the run. In a batch, that range is everybody's, so that a vector would depend on its batch-mates; so
every text has a run of its own, without padding, and texts share the cores instead: as many runs side by
side as there are threads, each on one. Short texts lose little by that; docs/reference/performance.md has
the figures.

What is exported once is one file: graph, tokenizer and length. Loading it needs neither torch nor
transformers, which saves their memory and most of the start.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from workers.delivery.errors import TouchstoneError
from workers.inference.backends import Vectors, model_digest
from workers.inference.cores import available_cores

OPSET = 17
"""Of the exported graph; every operator of such models is in it."""
EXPORTERS = ("onnx", "onnxruntime", "sentence-transformers", "torch", "transformers")
"""Libraries that make the file; another version of theirs makes another one."""
EXPORTING = Path(__file__).with_name("exporting.py")
"""What makes it, and so decides on every vector."""
TOKENIZER, MAX_TOKENS = "touchstone.tokenizer", "touchstone.max_tokens"
"""Names of the file's metadata."""


class Int8Unusable(TouchstoneError):
    """The model cannot be had in int8; the message says why and what to do."""


class Int8Backend:
    """See the module.

    Args:
        model: ``all-MiniLM-L6-v2`` for the packaged one, or any name or path.
        folder: where exported models are kept; made with the first, which takes some 15 s.
        threads: texts embedded side by side, 0 for as many as there are cores for this process.

    Raises:
        Int8Unusable: a library is missing, or the model cannot be exported or loaded.
    """

    def __init__(self, model: str, folder: Path, threads: int = 0) -> None:
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        try:
            import onnxruntime
            from tokenizers import Tokenizer

            path = exported_path(model, folder)
        except (ImportError, PackageNotFoundError) as error:
            raise Int8Unusable(
                f"inference.precision is int8, and {error.name} is not installed; "
                "pip install 'touchstone-worker[int8]', or set it to fp32"
            ) from error
        if not path.exists():
            _export(model, path)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        try:
            self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
            metadata = self._session.get_modelmeta().custom_metadata_map
            self._tokenizer: Any = Tokenizer.from_str(metadata[TOKENIZER])
            self._tokenizer.enable_truncation(int(metadata[MAX_TOKENS]))
        except Exception as error:
            raise Int8Unusable(
                f"{path} cannot be loaded ({type(error).__name__}); remove it, and it is made anew"
            ) from error
        self._tokenizer.no_padding()
        self.name = f"{model} (int8)"
        workers = threads or available_cores()
        self._pool = ThreadPoolExecutor(max_workers=workers, thread_name_prefix="int8") if workers > 1 else None
        self.dimensions = int(self.encode(["how long is a vector?"]).shape[1])

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Embed texts; see :class:`EmbeddingBackend`."""
        tokens = [encoding.ids for encoding in self._tokenizer.encode_batch_fast(list(texts))]
        if self._pool is None:
            return np.stack([self._run(each) for each in tokens])
        # The longest first: at the end no thread is left alone with a long one.
        order = sorted(range(len(tokens)), key=lambda place: -len(tokens[place]))
        rows = dict(zip(order, self._pool.map(self._run, (tokens[place] for place in order)), strict=True))
        return np.stack([rows[place] for place in range(len(tokens))])

    def _run(self, tokens: list[int]) -> Vectors:
        ids = np.array([tokens], dtype=np.int64)
        vector: Vectors = self._session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})[0][0]
        return vector


def exported_path(model: str, folder: Path) -> Path:
    """The file of a model in int8, whether it is there or not.

    Its name holds digests of the weights, of the code that makes it and the versions of its libraries,
    so another model, recipe or library has a file of its own.

    Raises:
        PackageNotFoundError: one of these libraries is not installed.
    """
    made_by = " ".join(f"{name}=={version(name)}" for name in EXPORTERS)
    recipe = sha256(EXPORTING.read_bytes()).hexdigest()
    digest = sha256(f"{model_digest(model)} {recipe} {made_by} opset {OPSET}".encode()).hexdigest()[:16]
    return folder.absolute() / f"{digest}.int8.onnx"


def _export(model: str, path: Path) -> None:
    """Make the file, in a process of its own, whose libraries take half a gigabyte."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with TemporaryDirectory(dir=path.parent) as working:
            made = Path(working) / path.name
            command = [sys.executable, "-m", "workers.inference.exporting", model, str(made)]
            ended = subprocess.run(command, capture_output=True, text=True, check=False)  # our own module
            if ended.returncode:
                reason = (ended.stderr.strip().splitlines() or ["no reason given"])[-1]
                raise Int8Unusable(
                    f"inference.model {model} cannot be exported to int8: {reason}; set inference.precision to fp32, "
                    "or name a model of sentence-transformers that takes token numbers and a mask alone"
                )
            made.replace(path)
    except OSError as error:
        raise Int8Unusable(
            f"{path.parent} cannot be written ({error.strerror or error}), and the model in int8 is kept there; "
            "make it writable, or set inference.export_dir to a folder that is"
        ) from error
