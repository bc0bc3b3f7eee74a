"""An installation without PyTorch and the libraries that need it, as the smaller image is."""

import sys

import pytest

from workers.inference.opening import Fp32Unusable, open_backend, open_verifier
from workers.inference.verifying import VerifierUnusable
from workers.settings import Settings


@pytest.mark.parametrize("library", ["torch", "sentence_transformers", "transformers"])
def test_fp32_is_refused_with_the_remedy(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for loaded in [name for name in sys.modules if name.startswith(f"{library}.")]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(Fp32Unusable, match=rf"{library}\S* is not installed; set inference\.precision to int8"):
        open_backend(Settings(inference={"precision": "fp32"}))


@pytest.mark.parametrize("library", ["torch", "transformers"])
def test_a_verifier_that_needs_it_is_refused_with_the_remedy(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(VerifierUnusable, match=rf"{library} is not installed; name a file in ONNX"):
        open_verifier(Settings(grounding={"verifier": "some/model"}))
