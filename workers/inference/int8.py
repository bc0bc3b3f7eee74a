"""Run the embedding model in int8 with ONNX Runtime: a third of the CPU time, and vectors independent of the batch.

The weights are quantised by channel. Activations are quantised dynamically, by the range of the values in a run. In
a batch this range depends on all texts, so a vector would depend on the other texts of its batch. Therefore every
text is run separately and without padding. Several runs use the cores in parallel, each on one thread. Short texts
lose little speed; docs/reference/performance.md has the figures.

The model is exported once, to one file with graph, tokenizer and length. Loading the file needs neither torch nor
transformers, which saves their memory and most of the start time.
"""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from workers.errors import TouchstoneError
from workers.inference.backends import Vectors, model_digest
from workers.process.cores import available_cores

OPSET = 17
"""ONNX operator set of the exported graph; it has every operator of such models."""
EXPORTERS = ("onnx", "onnxruntime", "sentence-transformers", "torch", "transformers")
"""Libraries that export the file; another version of one of them exports a different file."""
EXPORTING = Path(__file__).with_name("exporting.py")
"""Module that exports the file; its code determines every vector."""
WORKING = "export-"
"""Beginning of the names of the folders in which exports work."""
TOKENIZER, MAX_TOKENS = "touchstone.tokenizer", "touchstone.max_tokens"
"""Names of metadata entries in the exported file."""


class Int8Unusable(TouchstoneError):
    """The model cannot be used in int8; the message names the cause and the remedy."""


class Int8Backend:
    """Embedding model in int8; see the module.

    Args:
        model: ``all-MiniLM-L6-v2`` for the packaged one, or any name or path.
        folder: folder of the exported models, created with the first export, which takes about 15 s.
        threads: number of texts embedded in parallel, 0 for as many as this process has cores.

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
                f"inference.precision is int8, but {error.name} is not installed; run pip install "
                "'touchstone-worker[int8]', or set inference.precision to fp32"
            ) from error
        _remove_abandoned(path.parent)
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
                f"{path} cannot be loaded ({type(error).__name__}); remove it, and it is exported again"
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
        # Run the longest texts first, so that no thread runs a long text alone at the end.
        order = sorted(range(len(tokens)), key=lambda place: -len(tokens[place]))
        rows = dict(zip(order, self._pool.map(self._run, (tokens[place] for place in order)), strict=True))
        return np.stack([rows[place] for place in range(len(tokens))])

    def _run(self, tokens: list[int]) -> Vectors:
        ids = np.array([tokens], dtype=np.int64)
        vector: Vectors = self._session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})[0][0]
        return vector


def exported_path(model: str, folder: Path) -> Path:
    """Return the path of a model's int8 file, which may not exist yet.

    The name contains a digest of the weights, of the exporting code and of the versions of the
    libraries. So another model, exporting code or library gets another file.

    Raises:
        PackageNotFoundError: one of the libraries is not installed.
    """
    made_by = " ".join(f"{name}=={version(name)}" for name in EXPORTERS)
    recipe = sha256(EXPORTING.read_bytes()).hexdigest()
    digest = sha256(f"{model_digest(model)} {recipe} {made_by} opset {OPSET}".encode()).hexdigest()[:16]
    return folder.absolute() / f"{digest}.int8.onnx"


def _export(model: str, path: Path) -> None:
    """Export the model in a separate process, since the exporting libraries take half a gigabyte of memory."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with _exporting(path.parent), TemporaryDirectory(prefix=WORKING, dir=path.parent) as working:
            made = Path(working) / path.name
            command = [sys.executable, "-m", "workers.inference.exporting", model, str(made)]
            ended = subprocess.run(command, capture_output=True, text=True, check=False)  # runs this package's module
            if ended.returncode:
                raise Int8Unusable(f"inference.model {model} cannot be exported to int8: {_cause(ended)}")
            made.replace(path)
    except OSError as error:
        raise Int8Unusable(
            f"the int8 model cannot be written to {path.parent} ({error.strerror or error}); make the folder "
            "writable, or set inference.export_dir to a writable folder"
        ) from error


def _cause(ended: subprocess.CompletedProcess[str]) -> str:
    """Return why an export failed, and the remedy."""
    if ended.returncode < 0:
        try:
            name = signal.Signals(-ended.returncode).name
        except ValueError:
            name = f"signal {-ended.returncode}"
        return (
            f"the export was ended by {name}, which for SIGKILL mostly means that memory ran out; give this process "
            "a gigabyte more for its first start, or set inference.precision to fp32"
        )
    reason = (ended.stderr.strip().splitlines() or [f"exit code {ended.returncode}, no reason given"])[-1]
    return (
        f"{reason}; set inference.precision to fp32, or use a model of sentence-transformers whose only inputs are "
        "token numbers and a mask"
    )


@contextmanager
def _exporting(folder: Path) -> Iterator[None]:
    """Hold a shared lock of a folder during an export, so that no other process removes what is in work."""
    with _opened_folder(folder) as descriptor:
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield


def _remove_abandoned(folder: Path) -> None:
    """Remove what killed exports have left in a folder, unless another process exports there."""
    if not (left := list(folder.glob(f"{WORKING}*"))):
        return
    try:
        with _opened_folder(folder) as descriptor:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for each in left:
                shutil.rmtree(each, ignore_errors=True)
    except OSError:
        return  # an export is in work, or the file system has no locks


@contextmanager
def _opened_folder(folder: Path) -> Iterator[int]:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
