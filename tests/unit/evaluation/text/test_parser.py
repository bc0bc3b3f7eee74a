"""Loading the parser of English sentences."""

import subprocess
import sys
from threading import Thread

import pytest

from tests.harness.paths import ROOT
from workers.evaluation.text.parser import _HidesTorch


def test_only_the_thread_that_loads_the_parser_is_refused_pytorch() -> None:
    finder = _HidesTorch()
    found: list[object] = []

    def elsewhere() -> None:
        found.append(finder.find_spec("torch", None))

    thread = Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert found == [None]
    assert finder.find_spec("torchtext", None) is None
    with pytest.raises(ModuleNotFoundError):
        finder.find_spec("torch", None)


def test_pytorch_is_imported_after_the_parser_and_changes_no_parse() -> None:
    code = (
        "import sys; from workers.evaluation.text.parser import load_parser, parse;"
        "load_parser(); assert 'torch' not in sys.modules;"
        "read = lambda: [(word.lemma_, word.dep_, word.head.i) for word in parse('The ingester restarts after a fault.')];"
        "before = read(); import torch; assert torch.tensor([1]).item() == 1 and read() == before"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
