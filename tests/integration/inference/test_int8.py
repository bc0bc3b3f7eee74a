"""The model in int8: near the one in fp32, made once, and clear about what it lacks."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from schemas.answers import GeneratedAnswer
from tests.harness.paths import ROOT
from workers.evaluation.quality.quality_evaluator import prepare_quality
from workers.inference import int8 as module
from workers.inference.backends import PACKAGED_MODEL, SentenceTransformerBackend
from workers.inference.int8 import Int8Backend, Int8Unusable, exported_path
from workers.inference.opening import open_backend
from workers.process.paths import examples_directory
from workers.settings import Settings


@pytest.fixture(scope="module")
def folder(int8: Int8Backend, models: Path) -> Path:
    """Where the session's model lies."""
    return models


def _models(folder: Path) -> list[Path]:
    return [each for each in folder.iterdir() if each.name != "lock"]


def texts() -> list[str]:
    lines = (examples_directory() / "answers.jsonl").read_bytes().splitlines()[:40]
    prepared = (prepare_quality(GeneratedAnswer.from_bytes(line)) for line in lines)
    return list(dict.fromkeys(text for each in prepared for text in each.texts))


def test_vectors_mean_what_they_mean_in_fp32(backend: SentenceTransformerBackend, int8: Int8Backend) -> None:
    some = texts()
    exact, quantised = backend.encode(some), int8.encode(some)
    assert (exact * quantised).sum(axis=1).mean() > 0.985
    pairs = np.abs(exact @ exact.T - quantised @ quantised.T)
    assert pairs.mean() < 0.02
    assert pairs.max() < 0.12


def test_every_number_of_threads_gives_the_same_vectors_in_the_order_of_the_texts(folder: Path) -> None:
    some = sorted(texts()[:60], key=len)  # threads take the longest first
    alone, side_by_side = (Int8Backend(PACKAGED_MODEL, folder, threads=threads) for threads in (1, 3))
    assert np.array_equal(alone.encode(some), side_by_side.encode(some))


def test_it_reads_as_many_tokens_as_in_fp32(backend: SentenceTransformerBackend, int8: Int8Backend) -> None:
    long = "The ingester restarts. " * 400
    assert np.array_equal(int8.encode([long]), int8.encode([long + "Quarterly revenue rose."]))
    assert float(backend.encode([long])[0] @ int8.encode([long])[0]) > 0.98


def test_a_model_that_is_there_is_loaded_without_the_libraries_that_made_it(folder: Path) -> None:
    (made,) = _models(folder)
    before = made.stat().st_mtime_ns
    code = (
        "import sys; from pathlib import Path; from workers.inference.int8 import Int8Backend;"
        "from workers.evaluation.text.parser import load_parser;"
        f"Int8Backend({PACKAGED_MODEL!r}, Path({str(folder)!r}), 1); load_parser();"
        "assert not {'torch', 'transformers', 'onnx'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
    assert _models(folder) == [made]
    assert made.stat().st_mtime_ns == before


def test_the_settings_choose_it(folder: Path) -> None:
    settings = Settings.model_validate({"inference": {"precision": "int8", "export_dir": folder, "threads": 1}})
    assert open_backend(settings).name == settings.inference.model_name == "all-MiniLM-L6-v2 (int8)"


def test_another_library_model_or_recipe_has_a_file_of_its_own(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = exported_path(PACKAGED_MODEL, folder)
    assert known.exists()
    assert exported_path("another", folder) != known
    versions: Mapping[str, str] = {"onnxruntime": "99"}
    real = module.version
    with monkeypatch.context() as patched:
        patched.setattr(module, "version", lambda name: versions.get(name) or real(name))
        assert exported_path(PACKAGED_MODEL, folder) != known
    recipe = tmp_path / "exporting.py"
    recipe.write_bytes(module.EXPORTING.read_bytes().replace(b"per_channel=True", b"per_channel=False"))
    monkeypatch.setattr(module, "EXPORTING", recipe)
    assert exported_path(PACKAGED_MODEL, folder) != known, "what was made otherwise before is not loaded for it"


@pytest.mark.parametrize("library", ["onnxruntime", "tokenizers"])
def test_a_missing_library_is_named_with_its_remedy(
    folder: Path, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(Int8Unusable, match=rf"{library} is not installed; run pip install 'touchstone-worker\[int8\]'"):
        Int8Backend(PACKAGED_MODEL, folder)


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    path = exported_path(PACKAGED_MODEL, tmp_path)
    path.write_bytes(b"not a model")
    with pytest.raises(Int8Unusable, match="remove it, and it is exported again"):
        Int8Backend(PACKAGED_MODEL, tmp_path)


def test_a_folder_that_cannot_be_written_names_the_setting(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with pytest.raises(Int8Unusable, match=r"set inference\.export_dir"):
        Int8Backend(PACKAGED_MODEL, tmp_path / "file")


def test_a_model_that_cannot_be_exported_leaves_nothing_behind(tmp_path: Path) -> None:
    model = tmp_path / "model"
    model.mkdir()
    (model / "config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(Int8Unusable, match=r"cannot be exported to int8: .+; set inference\.precision to fp32"):
        Int8Backend(str(model), tmp_path / "models")
    assert list((tmp_path / "models").iterdir()) == []


@pytest.fixture
def killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An interpreter that is killed by the signal in the file beside it, once it has begun to write."""
    script = tmp_path / "python"
    script.write_text(f'#!/bin/sh\necho part > "$4"\nkill -"$(cat {tmp_path}/signal)" $$\n', encoding="utf-8")
    script.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(script))
    return tmp_path


@pytest.mark.parametrize("name", ["KILL", "SEGV", "TERM"])
def test_an_export_that_a_signal_ends_names_it_and_memory(killed: Path, name: str) -> None:
    (killed / "signal").write_text(name, encoding="utf-8")
    with pytest.raises(Int8Unusable, match=rf"ended by SIG{name}.*memory.*set inference\.precision to fp32"):
        Int8Backend(PACKAGED_MODEL, killed / "models")
    assert list((killed / "models").iterdir()) == []


START = (
    "import sys; from pathlib import Path; from workers.inference import int8;"
    "sys.executable = sys.argv[2]; int8.Int8Backend('all-MiniLM-L6-v2', Path(sys.argv[1]), 1)"
)


def test_what_a_killed_export_left_is_removed_at_the_next_start_and_what_is_in_work_is_not(
    folder: Path, tmp_path: Path
) -> None:
    models, pipe = tmp_path / "models", tmp_path / "pipe"
    os.mkfifo(pipe)
    script = tmp_path / "python"  # an exporter that says that it has begun, and goes on until it is killed
    script.write_text(f'#!/bin/sh\necho part > "$4"\necho $$ > {pipe}\nexec sleep 600\n', encoding="utf-8")
    script.chmod(0o700)
    starting = subprocess.Popen([sys.executable, "-c", START, str(models), str(script)], cwd=ROOT)
    exporter = int(pipe.read_text(encoding="utf-8"))
    try:
        (working,) = models.iterdir()
        (made,) = _models(folder)
        shutil.copy(made, models)
        Int8Backend(PACKAGED_MODEL, models, 1)
        assert working.is_dir(), "another process exports in it"
        starting.kill()
        starting.wait()
        assert working.is_dir(), "nothing removes it at its end"
        Int8Backend(PACKAGED_MODEL, models, 1)
        assert [each.name for each in models.iterdir()] == [made.name]
    finally:
        starting.kill()
        starting.wait()
        os.kill(exporter, signal.SIGKILL)
