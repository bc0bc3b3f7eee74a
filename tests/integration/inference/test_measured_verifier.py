"""``touchstone eval grounding --verifier``: the packaged verifier beside the rules on labelled answers."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.integration.inference.test_builtin_verifier import NOT_SAID, SAID, SOURCE
from workers.cli.main import app
from workers.evaluation.grounding.verifier_combination import shipped_path

ROWS = [(text, 0) for text in SAID] + [(text, 1) for text in NOT_SAID]


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    file = tmp_path / "street.jsonl"
    rows = [
        {
            "id": str(number), "dataset": "street", "contexts": [SOURCE], "answer": text, "label": label,
            "spans": [[0, len(text), "x"]] if label else [],
        }
        for number, (text, label) in enumerate(ROWS)
    ]  # fmt: skip
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


def measured(file: Path, *options: str) -> dict[str, dict[str, Any]]:
    out = file.with_suffix(".json")
    done = CliRunner().invoke(app, ["eval", "grounding", "--data", str(file), "--json", str(out), *options])
    assert done.exit_code == 0, done.output
    return {each["method"]: each for each in json.loads(out.read_text(encoding="utf-8"))["figures"]}


def test_what_the_verifier_adds_is_measured_beside_the_rules(labelled: Path) -> None:
    figures = measured(labelled, "--verifier", "builtin", "--method", "seed")
    assert list(figures) == ["seed", "verified"]
    both = measured(labelled, "--verifier", "builtin")
    # The rules find nothing wrong in a changed noun, the verifier does: see the tests of the judgement itself.
    assert both["touchstone"]["claim_balanced_accuracy"] == 0.5
    assert both["verified"]["claim_balanced_accuracy"] > 0.7
    assert both["verified"]["claim_auroc"] > 0.9
    assert both["verified"]["answers"] == len(ROWS)
    assert both["verified"]["milliseconds"] > both["touchstone"]["milliseconds"]


def test_without_being_asked_for_nothing_is_verified(labelled: Path) -> None:
    assert list(measured(labelled)) == ["touchstone"]


@pytest.mark.parametrize(
    ("combination", "said"),
    [(str(shipped_path()), "this file does not exist"), ("", "without a combination with the rules")],
)
def test_a_verifier_that_cannot_be_used_is_told_of_before_anything_is_embedded(
    labelled: Path, combination: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if combination:
        monkeypatch.setenv("TOUCHSTONE_GROUNDING__VERIFIER_COMBINATION", combination)
    monkeypatch.setattr("workers.cli.analysis.evaluate.open_backend", lambda _: pytest.fail("opened for nothing"))
    options = ["--data", str(labelled), "--verifier", "absent.onnx"]
    done = CliRunner().invoke(app, ["eval", "grounding", *options])
    assert (done.exit_code, said in str(done.exception)) == (1, True)


def test_a_fit_without_each_source_is_refused_with_a_verifier(labelled: Path) -> None:
    both = ["--verifier", "builtin", "--cross-validate", str(labelled)]
    done = CliRunner().invoke(app, ["eval", "grounding", "--data", str(labelled), *both])
    assert (done.exit_code, "training.combine" in str(done.exception)) == (1, True)
