"""The verifier in training: what the loss asks for, what tokens are marked, and a run that goes on as if never stopped."""

import json
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertForSequenceClassification

from training.evaluate import figures, predicted, read_scores, write_scores
from training.model import IGNORED, MAX_TOKENS, Verifier, encode, padded, predict, tokenizer
from training.pairs import CONTRADICTED, NOT_SUPPORTED, SUPPORTED, UNSUPPORTED, Pair, write_pairs
from training.train import Plan, main, train, verdict_losses
from workers.inference.opening import verifier_file

EVIDENCE = "The northern quay has 12 berths and opened in 1931."


def pair(number: int, claim: str, label: str, spans: tuple[tuple[int, int], ...] | None = None) -> Pair:
    return Pair(str(number), "made", str(number % 3), EVIDENCE, claim, label, False, spans)


PAIRS = [
    pair(number, claim, label)
    for number, (claim, label) in enumerate(
        [
            ("The northern quay has 12 berths.", SUPPORTED),
            ("The northern quay has 14 berths.", CONTRADICTED),
            ("The northern quay has a crane.", UNSUPPORTED),
            ("It opened in 1931.", SUPPORTED),
            ("It opened in 1913.", CONTRADICTED),
            ("It was opened by the mayor.", NOT_SUPPORTED),
        ]
        * 4
    )
]


def test_a_pair_known_only_as_not_supported_asks_for_no_class_in_particular() -> None:
    logits = torch.tensor([[0.3, 1.1, -0.4]] * 4)
    losses = verdict_losses(logits, torch.tensor([0, 1, 2, 3]))
    chances = logits[0].softmax(0)
    assert losses[:3].tolist() == pytest.approx((-chances.log()).tolist())
    assert losses[3].item() == pytest.approx(-float((chances[1] + chances[2]).log()))


def test_only_words_of_the_claim_are_marked() -> None:
    (marked,) = encode([pair(0, "The quay has 14 berths.", CONTRADICTED, ((13, 15),))])
    pieces = tokenizer().convert_ids_to_tokens(marked.ids)
    assert [piece for piece, label in zip(pieces, marked.tokens, strict=True) if label == 1.0] == ["14"]
    claim = [piece for piece, label in zip(pieces, marked.tokens, strict=True) if label != IGNORED]
    assert claim == ["the", "quay", "has", "14", "berth", "##s", "."]
    (unmarked,) = encode([pair(0, "The quay has 14 berths.", CONTRADICTED)])
    assert set(unmarked.tokens) == {IGNORED}


def test_of_a_long_pair_the_evidence_is_cut_and_the_claim_stays() -> None:
    long = Pair("1", "made", "1", EVIDENCE * 100, "It opened in 1931.", SUPPORTED, False)
    (encoded,) = encode([long])
    assert len(encoded.ids) == MAX_TOKENS
    (short,) = encode([pair(0, "It opened in 1931.", SUPPORTED)])
    assert encoded.ids[-6:] == short.ids[-6:]


def test_padding_is_masked() -> None:
    ids, mask, types, words = padded(encode(PAIRS[:3]))
    assert ids.shape == mask.shape == types.shape == words.shape
    assert (ids[mask == 0] == 0).all()
    assert (words[mask == 0] == IGNORED).all()


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Threads that wait for each other by spinning are slow where something else runs."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of the verifier's form that learns in seconds."""
    torch.manual_seed(5)
    folder = tmp_path_factory.mktemp("tiny")
    form = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    BertForSequenceClassification(BertConfig(**form, num_labels=3)).save_pretrained(folder)
    return folder


def test_a_run_that_was_stopped_goes_on_as_if_it_never_was(tmp_path: Path, tiny: Path) -> None:
    plan = Plan(rate=1e-3, epochs=2, batch=8, seed=4)
    whole = train(PAIRS, plan, tmp_path / "whole", start=tiny, every=2)
    steps = [json.loads(line)["step"] for line in (tmp_path / "whole" / "log.jsonl").read_text().splitlines()]
    assert steps == [2, 4, 6]

    class Stopped(Exception):
        pass

    real, calls = torch.save, 0

    def stopping(*arguments: object) -> None:
        nonlocal calls
        calls += 1
        real(*arguments)
        raise Stopped

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch, "save", stopping)
        with pytest.raises(Stopped):
            train(PAIRS, plan, tmp_path / "stopped", start=tiny, every=2)
    resumed = train(PAIRS, plan, tmp_path / "stopped", start=tiny, every=2, resume=True)
    assert calls == 1
    for (name, own), other in zip(whole.state_dict().items(), resumed.state_dict().values(), strict=True):
        assert torch.equal(own, other), name
    assert not (tmp_path / "stopped" / "checkpoint.pt").exists()


@pytest.mark.parametrize(
    "given",
    [["--rate", "nan"], ["--rate", "inf"], ["--epochs", "-1"], ["--every", "0"], ["--without", "made"]],
    ids=str,
)
def test_a_training_that_teaches_nothing_is_refused(
    given: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], tiny: Path
) -> None:
    write_pairs(tmp_path / "pairs.jsonl.gz", PAIRS)
    paths = ["--pairs", str(tmp_path / "pairs.jsonl.gz"), "--out", str(tmp_path / "model"), "--start", str(tiny)]
    with pytest.raises(SystemExit) as ended:
        main([*paths, *given])
    assert ended.value.code == 2
    assert "more than 0" in (said := capsys.readouterr().err) or "no pairs" in said
    assert not (tmp_path / "model").exists()


def test_a_loss_that_is_no_number_ends_a_training(tmp_path: Path, tiny: Path) -> None:
    damaged = [replace(pair, weight=float("nan")) for pair in PAIRS]
    with pytest.raises(ValueError, match="not finite"):
        train(damaged, Plan(batch=8), tmp_path / "model", start=tiny, every=1)
    assert not (tmp_path / "model" / "checkpoint.pt").exists()


def test_what_is_learnt_is_kept_and_told_again(tmp_path: Path, tiny: Path) -> None:
    model = train(PAIRS, Plan(rate=5e-3, epochs=80, batch=8), tmp_path / "model", start=tiny, every=1_000)
    model.save(tmp_path / "model")
    again = Verifier(tmp_path / "model")
    (one, words), (other, other_words) = predict(model, encode(PAIRS)), predict(again, encode(PAIRS))
    assert np.allclose(one, other, atol=1e-6)
    assert np.allclose(np.concatenate(words), np.concatenate(other_words), atol=1e-6)
    right = one[[each.is_supported for each in PAIRS], 0].mean()
    wrong = one[[not each.is_supported for each in PAIRS], 0].mean()
    assert right - wrong > 0.3, "it fits 24 pairs"
    write_scores(tmp_path / "scores.jsonl", PAIRS, one)
    kept = list(read_scores(tmp_path / "scores.jsonl"))
    assert [name for name, _ in kept] == [("made", each.id) for each in PAIRS]
    assert np.allclose([row for _, row in kept], one, atol=1e-6)
    found = figures(PAIRS, one, words)["made"]
    assert found["auroc"] > 0.8
    assert found["words_f1"] is None


def test_the_file_that_is_served_is_measured_as_a_folder_is() -> None:
    served = verifier_file("builtin")
    assert served is not None
    probabilities, words = predicted(served, PAIRS[:6], threads=1)
    assert words is None
    assert probabilities.shape == (6, 3)
    assert probabilities.sum(axis=1) == pytest.approx(np.ones(6), abs=1e-6)
    found = figures(PAIRS[:6], probabilities, None)["made"]
    assert found["pairs"] == 6 and found["auroc"] is not None and found["words_f1"] is None


@pytest.mark.parametrize("command", ["prepare", "train", "evaluate", "combine"])
def test_every_command_says_how_it_is_used(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        import_module(f"training.{command}").main(["--help"])
    assert exit_.value.code == 0
    told = capsys.readouterr().out
    assert f"python -m training.{command} --" in told, "an example"
