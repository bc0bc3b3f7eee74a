"""Verifiers as they are served: real cross-encoders in int8 and by name, the service, and what a start refuses."""

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.harness.paths import ROOT
from tests.unit.evaluation.grounding.test_verifier_combination import DOCUMENT
from workers.errors import InferenceFailed, InferenceTimeout
from workers.evaluation.grounding.sources.verifier_evidence import VerifierPair
from workers.inference import opening
from workers.inference.backends import model_digest, model_path
from workers.inference.opening import open_combination, open_verification, open_verifier, verifier_file
from workers.inference.transformer_verifier import TransformerVerifier
from workers.inference.verification import VerificationService
from workers.inference.verifying import Int8Verifier, Verdict, VerifierBackend, VerifierUnusable, file_version
from workers.settings import InferenceSettings, Settings

PAIRS = [
    VerifierPair("The rotor turns at 47 rpm.", "The rotor turns at 47 rpm."),
    VerifierPair("The rotor turns at 47 rpm.", "The rotor turns at 12 rpm."),
    VerifierPair("The rotor turns at 12 rpm.", "The rotor turns at 47 rpm."),
    VerifierPair("", "Nothing is known of it."),
    VerifierPair("Opening hours are long. " * 200, "The shop opens at nine."),
    VerifierPair("ローター", "漢" * 600),
    VerifierPair("Nothing.", "\x00"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cross-encoder on the packaged model, whose head is chance, with labels in an order of its own."""
    import torch
    from transformers import AutoTokenizer, BertForSequenceClassification

    path = tmp_path_factory.mktemp("verifier")
    torch.manual_seed(7)
    labels = {0: "neutral", 1: "entailment", 2: "contradiction"}
    model: Any = BertForSequenceClassification.from_pretrained(model_path("all-MiniLM-L6-v2"), num_labels=3)
    model.config.id2label, model.config.label2id = labels, {name: number for number, name in labels.items()}
    torch.nn.init.normal_(model.classifier.weight, std=0.5)
    model.save_pretrained(path)
    AutoTokenizer.from_pretrained(model_path("all-MiniLM-L6-v2")).save_pretrained(path)
    return path


@pytest.fixture(scope="module")
def file(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same as a file in int8, made as training makes it."""
    path = tmp_path_factory.mktemp("file") / "verifier.int8.onnx"
    command = [sys.executable, "-m", "workers.inference.exporting_verifier", str(folder), str(path)]
    subprocess.run(command, check=True, cwd=ROOT, capture_output=True)
    return path


@pytest.fixture(scope="module")
def int8_verifier(file: Path) -> Int8Verifier:
    return Int8Verifier(file, "a-file", threads=2)


@pytest.fixture(scope="module")
def fp32_verifier(folder: Path) -> TransformerVerifier:
    return TransformerVerifier(str(folder), threads=1)


def tiny(path: Path, kind: str, labels: Sequence[str]) -> str:
    """A model of thirty thousand words and one layer, whose weights are chance."""
    import torch
    import transformers

    torch.manual_seed(3)
    config = transformers.BertConfig(
        hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32, num_labels=len(labels),
        id2label=dict(enumerate(labels)), label2id={name: number for number, name in enumerate(labels)},
        initializer_range=0.5,
    )  # fmt: skip
    getattr(transformers, kind)(config).save_pretrained(path)
    transformers.AutoTokenizer.from_pretrained(model_path("all-MiniLM-L6-v2")).save_pretrained(path)
    return str(path)


# --- in int8 -----------------------------------------------------------------------------------


def test_verdicts_are_probabilities_and_those_of_the_model_in_fp32(
    int8_verifier: Int8Verifier, fp32_verifier: TransformerVerifier
) -> None:
    quantised, exact = int8_verifier.score(PAIRS), fp32_verifier.score(PAIRS)
    assert quantised.dtype == exact.dtype == np.float32
    assert quantised.shape == exact.shape == (len(PAIRS), 3)
    assert quantised.sum(axis=1) == pytest.approx(np.ones(len(PAIRS)), abs=1e-5)
    assert np.abs(quantised - exact).max() < 0.06
    assert np.ptp(exact, axis=0).max() > 0.06, "or anything would be near"


def test_a_verdict_depends_on_its_pair_alone(int8_verifier: Int8Verifier, file: Path) -> None:
    together = int8_verifier.score(PAIRS)
    assert np.array_equal(int8_verifier.score(PAIRS[::-1])[::-1], together)
    alone = Int8Verifier(file, "a-file", threads=1)
    for pair, row in zip(PAIRS, together, strict=True):
        assert np.array_equal(alone.score([pair])[0], row)
    assert int8_verifier.score([]).shape == (0, 3)


def test_evidence_and_claim_have_places_of_their_own(int8_verifier: Int8Verifier) -> None:
    _, there, back = int8_verifier.score(PAIRS[:3])
    assert not np.array_equal(there, back)


def test_of_a_pair_that_is_too_long_the_evidence_is_cut_and_the_claim_kept(int8_verifier: Int8Verifier) -> None:
    long = "Opening hours are long. " * 400
    first, second = int8_verifier.score([VerifierPair(long, "It opens at nine."), VerifierPair(long, "It is closed.")])
    assert not np.array_equal(first, second)
    cut, more = int8_verifier.score(
        [VerifierPair(text, "It opens at nine.") for text in (long, long + "It is closed.")]
    )
    assert np.array_equal(cut, more)


def test_the_file_is_small_and_names_its_weights(int8_verifier: Int8Verifier, file: Path, folder: Path) -> None:
    assert file.stat().st_size < 30_000_000
    assert int8_verifier.version == model_digest(str(folder))[:12]
    assert list(file.parent.iterdir()) == [file], "nothing is left beside it"


def test_a_file_is_served_without_the_libraries_that_made_it(file: Path) -> None:
    code = (
        "import sys; from workers.settings import Settings; from workers.inference.opening import open_verifier;"
        f"open_verifier(Settings.model_validate({{'grounding': {{'verifier': {str(file)!r}}}}}));"
        "assert not {'torch', 'transformers', 'onnx'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


@pytest.mark.parametrize("labels", [["entailment", "neutral"], ["LABEL_0", "LABEL_1", "LABEL_2"]])
def test_what_is_no_verifier_of_three_labels_is_not_exported(labels: list[str], tmp_path: Path) -> None:
    from workers.inference.exporting_verifier import export_verifier

    tiny(tmp_path / "model", "BertForSequenceClassification", labels)
    with pytest.raises(VerifierUnusable, match="labels"):
        export_verifier(tmp_path / "model", tmp_path / "file.onnx")


@pytest.mark.parametrize("library", ["onnxruntime", "tokenizers"])
def test_a_missing_library_is_named_with_its_remedy(file: Path, library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(
        VerifierUnusable, match=rf"{library} is not installed; run pip install 'touchstone-worker\[int8\]'"
    ):
        Int8Verifier(file, "builtin")


# --- by name -----------------------------------------------------------------------------------


def test_a_cross_encoder_with_one_output_tells_the_probability_of_supported(tmp_path: Path) -> None:
    verdicts = TransformerVerifier(tiny(tmp_path, "BertForSequenceClassification", ["LABEL_0"]), 1).score(PAIRS)
    assert (verdicts[:, 1] == 0).all()
    assert verdicts[:, 0] + verdicts[:, 2] == pytest.approx(np.ones(len(PAIRS)))
    assert len(set(verdicts[:, 0])) > 3


def test_labels_are_read_by_their_names_whatever_their_order(tmp_path: Path) -> None:
    named = ["entailment", "neutral", "contradiction"]
    one = TransformerVerifier(tiny(tmp_path / "one", "BertForSequenceClassification", named), 1).score(PAIRS)
    turned = TransformerVerifier(tiny(tmp_path / "two", "BertForSequenceClassification", named[::-1]), 1).score(PAIRS)
    # The same weights: what was the first output is now called contradiction.
    assert np.array_equal(one, turned[:, [1, 0, 2]])
    two = TransformerVerifier(
        tiny(tmp_path / "three", "BertForSequenceClassification", ["unsupported", "supported"]), 1
    )
    verdicts = two.score(PAIRS)
    assert (verdicts[:, 1] == 0).all() and verdicts.sum(axis=1) == pytest.approx(np.ones(len(PAIRS)))


def test_of_a_token_classifier_the_claims_worst_token_counts(tmp_path: Path) -> None:
    verifier = TransformerVerifier(tiny(tmp_path, "BertForTokenClassification", ["LABEL_0", "LABEL_1"]), 1)
    verdicts = verifier.score(PAIRS[:2])
    encoded = verifier._tokenizer(PAIRS[0].evidence, PAIRS[0].claim, return_tensors="pt")
    tokens = verifier._model(**encoded).logits[0].detach().double().softmax(-1)[:, 1]
    begin, end = encoded.sequence_ids(0).index(1), len(tokens) - 1
    assert verdicts[0, 2] == pytest.approx(float(tokens[begin:end].max()), abs=1e-6)
    assert verdicts[0, 0] == pytest.approx(1 - verdicts[0, 2])
    assert (verdicts[:, 1] == 0).all()


def test_a_name_that_cannot_be_loaded_is_told_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(VerifierUnusable, match=r"cannot be loaded: .*or set grounding\.verifier to none"):
        TransformerVerifier(str(tmp_path))


def test_a_model_without_a_head_is_refused_and_not_given_one_by_chance() -> None:
    with pytest.raises(VerifierUnusable, match=r"no weights for classifier"):
        TransformerVerifier(model_path("all-MiniLM-L6-v2"))


def test_labels_without_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(VerifierUnusable, match="id2label"):
        TransformerVerifier(tiny(tmp_path, "BertForSequenceClassification", ["LABEL_0", "LABEL_1"]))


# --- the service -------------------------------------------------------------------------------


class Scripted:
    """A verifier that counts, waits and fails as told."""

    name, version = "scripted", "1"

    def __init__(self) -> None:
        self.calls: list[list[VerifierPair]] = []
        self.verdict: Callable[[Sequence[VerifierPair]], Any] = lambda pairs: np.tile(
            np.array([0.5, 0.25, 0.25], dtype=np.float32), (len(pairs), 1)
        )
        self.gate = threading.Event()
        self.gate.set()
        self.entered = threading.Event()

    def score(self, pairs: Sequence[VerifierPair]) -> Verdict:
        self.calls.append(list(pairs))
        self.entered.set()
        assert self.gate.wait(60)
        found: Verdict = self.verdict(pairs)
        return found


Make = Callable[..., VerificationService]


@pytest.fixture
async def make() -> AsyncIterator[Make]:
    running: list[tuple[VerificationService, object]] = []

    def start(backend: VerifierBackend, **settings: float) -> VerificationService:
        service = VerificationService(backend, InferenceSettings.model_validate(settings))
        service.start()
        running.append((service, backend))
        return service

    yield start
    for service, backend in running:
        if isinstance(backend, Scripted):
            backend.gate.set()
        await service.stop()


async def test_company_changes_no_bit_of_a_verdict(int8_verifier: Int8Verifier, make: Make) -> None:
    among = await make(int8_verifier, batch_pairs=32).verify(PAIRS)
    for size in (1, 2):
        service = make(int8_verifier, batch_pairs=size)
        for pair in reversed(PAIRS):
            assert np.array_equal((await service.verify([pair]))[pair], among[pair])


async def test_a_pair_is_judged_once_and_kept(make: Make) -> None:
    backend = Scripted()
    service = make(backend, batch_wait_seconds=0.05)
    await asyncio.gather(*(service.verify([PAIRS[0], PAIRS[1]]) for _ in range(9)))
    verdicts = await service.verify([PAIRS[1]])
    assert sum(map(len, backend.calls)) == 2
    assert verdicts[PAIRS[1]].shape == (3,)
    assert not verdicts[PAIRS[1]].flags.writeable


async def test_pairs_are_told_apart_wherever_their_texts_meet(make: Make) -> None:
    backend = Scripted()
    await make(backend).verify([VerifierPair("ab", "c"), VerifierPair("a", "bc"), VerifierPair("", "abc")])
    assert sum(map(len, backend.calls)) == 3


async def test_batches_and_cache_are_those_of_the_settings(make: Make) -> None:
    backend = Scripted()
    service = make(backend, batch_pairs=2, cache_pairs=1)
    await service.verify(PAIRS[:5])
    assert max(map(len, backend.calls)) == 2
    await service.verify(PAIRS[:1])
    assert sum(map(len, backend.calls)) == 6


@pytest.mark.parametrize(
    "verdict",
    [
        lambda pairs: 1 / 0,
        lambda pairs: np.zeros((len(pairs), 2), dtype=np.float32),
        lambda pairs: np.full((len(pairs), 3), np.nan, dtype=np.float32),
        lambda pairs: np.full((len(pairs), 3), 1.5, dtype=np.float32),
    ],
    ids=["raises", "too narrow", "not a number", "no probability"],
)
async def test_a_failing_verifier_fails_and_the_service_goes_on(make: Make, verdict: Any) -> None:
    backend = Scripted()
    good, backend.verdict = backend.verdict, verdict
    service = make(backend)
    with pytest.raises(InferenceFailed):
        await service.verify(PAIRS[:1])
    backend.verdict = good
    assert await service.verify(PAIRS[:1])


async def test_a_hanging_verifier_is_late_and_works_once_it_returns(make: Make) -> None:
    backend = Scripted()
    backend.gate.clear()
    service = make(backend, timeout_seconds=0.1)
    with pytest.raises(InferenceTimeout, match=r"scripted did not finish 1 pairs within 0\.1 s"):
        await service.verify(PAIRS[:1])
    backend.gate.set()
    service._limits = replace(service._limits, timeout_seconds=60.0)
    assert await service.verify(PAIRS[:1])


# --- what the settings name --------------------------------------------------------------------


def settings_of(**grounding: Any) -> Settings:
    return Settings.model_validate({"grounding": grounding, "inference": {"threads": 1}})


async def test_none_is_the_default_and_opens_nothing() -> None:
    settings = settings_of()
    assert settings.grounding.verifier == "none"
    assert open_verifier(settings) is None
    assert await open_verification(settings) is None
    assert open_combination(settings.grounding) is None


async def test_a_file_or_a_name_is_opened(file: Path, tmp_path: Path) -> None:
    assert isinstance(open_verifier(settings_of(verifier=str(file))), Int8Verifier)
    named = tiny(tmp_path, "BertForSequenceClassification", ["supported", "unsupported"])
    service = await open_verification(settings_of(verifier=named))
    assert service is not None
    assert set(await service.verify(PAIRS[:1])) == set(PAIRS[:1])
    await service.stop()


def test_builtin_is_the_file_of_the_package_with_its_combination() -> None:
    found = open_verifier(settings_of(verifier="builtin"))
    assert isinstance(found, Int8Verifier) and found.name == "builtin"
    path = verifier_file("builtin")
    assert path is not None and path.stat().st_size < 30_000_000
    combination = open_combination(settings_of(verifier="builtin").grounding)
    assert combination is not None and combination.weights == file_version(path)


def test_builtin_is_refused_where_its_file_is_missing_or_is_another_one(
    file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "data").mkdir()
    monkeypatch.setattr(opening, "files", lambda package: tmp_path)
    with pytest.raises(
        VerifierUnusable, match=r"is builtin, but the package lacks .*; install the package again, or set"
    ):
        open_verifier(settings_of(verifier="builtin"))
    (tmp_path / "data" / "verifier.int8.onnx").symlink_to(file)
    with pytest.raises(VerifierUnusable, match=r"verifier\.json was fitted for another file.*to none"):
        open_verifier(settings_of(verifier="builtin"))


def test_a_file_is_refused_whose_combination_was_fitted_for_another_one(file: Path, tmp_path: Path) -> None:
    combination = tmp_path / "combination.json"
    given = settings_of(verifier=str(file), verifier_combination=combination)
    combination.write_text(json.dumps(DOCUMENT | {"weights": file_version(file)}), encoding="utf-8")
    assert isinstance(open_verifier(given), Int8Verifier)
    combination.write_text(json.dumps(DOCUMENT | {"weights": "0" * 64}), encoding="utf-8")
    with pytest.raises(VerifierUnusable, match=r"combination\.json was fitted for another file"):
        open_verifier(given)
    for named in (tmp_path, "some/model"):
        with pytest.raises(VerifierUnusable, match=r"combination\.json was fitted for the file with sha256"):
            open_verifier(settings_of(verifier=str(named), verifier_combination=combination))


def test_the_packages_combination_joins_no_other_verifier(file: Path) -> None:
    for name in (str(file), "a/model"):
        with pytest.raises(
            VerifierUnusable, match=r"set grounding\.verifier_combination to a file fitted for this verifier"
        ):
            open_combination(settings_of(verifier=name).grounding)


@pytest.mark.parametrize(
    ("content", "message"), [(None, "this file does not exist"), (b"no model", "cannot|not a verifier")]
)
def test_a_file_that_is_none_is_named(content: bytes | None, message: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.onnx"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(VerifierUnusable, match=message):
        open_verifier(settings_of(verifier=str(path)))


@pytest.mark.parametrize("content", [None, "{}", "no JSON"])
def test_without_a_combination_a_start_says_what_to_set(content: str | None, tmp_path: Path) -> None:
    path = tmp_path / "combination.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(
        VerifierUnusable, match=r"set grounding\.verifier_combination to a file fitted for this verifier"
    ):
        open_combination(settings_of(verifier="a/model", verifier_combination=path).grounding)
